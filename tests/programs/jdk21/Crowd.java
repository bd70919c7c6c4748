// Very many virtual threads: at once, each parked within a call, and one after the other, each short.
//
// The constraint: what is printed depends on no timing; and the program itself needs so little memory that what the agent
// needs is seen beside it.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Usage: Crowd AT_ONCE SHORT: waits for a line when so many are parked, and another when so many have run. */
final class Crowd {
    /** So many short ones are on their way, at most. */
    private static final int UNDER_WAY = 1_000;
    private static final AtomicLong PARKED = new AtomicLong();
    private static final AtomicLong SUM = new AtomicLong();
    private static volatile boolean open;

    private Crowd() {}

    public static void main(String[] args) throws Exception {
        int atOnce = Integer.parseInt(args[0]);
        int shortOnes = Integer.parseInt(args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("begun");
        in.readLine();
        Thread[] all = new Thread[atOnce];
        for (int i = 0; i < atOnce; i++) {
            all[i] = Thread.ofVirtual().start(Crowd::request);
        }
        while (PARKED.get() < atOnce) {
            Thread.yield();
        }
        System.out.println("parked " + PARKED.get());
        in.readLine();
        open = true;
        for (Thread t : all) {
            LockSupport.unpark(t);
        }
        for (Thread t : all) {
            t.join();
        }
        Semaphore free = new Semaphore(UNDER_WAY);
        for (int i = 0; i < shortOnes; i++) {
            free.acquire();
            Thread.ofVirtual().start(() -> brief(free));
        }
        free.acquire(UNDER_WAY);
        System.out.println("sum " + SUM.get());
        in.readLine();
    }

    static void request() {
        await();
        SUM.incrementAndGet();
    }

    static void await() {
        PARKED.incrementAndGet();
        while (!open) {
            LockSupport.park();
        }
    }

    static void brief(Semaphore free) {
        SUM.incrementAndGet();
        free.release();
    }
}
