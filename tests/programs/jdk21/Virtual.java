// Ten thousand virtual threads that park, sleep, and wait for monitors and locks.
//
// The constraint: what is printed depends on no timing, so that two runs can be compared.

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Usage: Virtual THREADS [wait]: with wait, it waits for a line at the end. */
final class Virtual {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Object MONITOR = new Object();
    private static final AtomicLong SUM = new AtomicLong();
    private static long guarded;

    private Virtual() {}

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int n = i;
            all.add(Thread.ofVirtual().name("virtual-" + i).start(() -> task(n)));
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println("sum " + SUM.get() + " guarded " + guarded);
        if (args.length > 1) {
            System.out.println("ready");
            System.in.read();
        }
    }

    static void task(int n) {
        switch (n % 4) {
            case 0 -> parks();
            case 1 -> sleeps(n);
            case 2 -> locks(n);
            default -> monitors(n);
        }
        SUM.addAndGet(Work.outer(n));
    }

    private static void parks() {
        LockSupport.parkNanos(1_000_000);
    }

    private static void sleeps(int n) {
        try {
            Thread.sleep(n % 3);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void locks(int n) {
        LOCK.lock();
        try {
            guarded += n;
            Thread.yield();
        } finally {
            LOCK.unlock();
        }
    }

    private static void monitors(int n) {
        synchronized (MONITOR) {
            SUM.addAndGet(n);
        }
    }

    /** Calls that are never interrupted by an unmount: nothing in them blocks. */
    static final class Work {
        private Work() {}

        static long outer(int n) {
            long sum = 0;
            for (int i = 0; i < 5; i++) {
                sum += inner(n + i);
            }
            return sum;
        }

        static long inner(int n) {
            return n % 7;
        }
    }
}
