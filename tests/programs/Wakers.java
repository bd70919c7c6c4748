// One thread that computes all the time, and some that wake for moments, a thousand times a second: whoever takes a sample of
// the first thread that comes along has one of those each time.
//
// The constraint: what threads really use is told by the kernel's clocks, whatever else runs on the machine.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Prints "ready"; to each line "used SHARE", that of the threads `waker` in the processor time of all, `busy` as well, since the
 * answer before.
 */
final class Wakers {
    private static final int WAKERS = 4;
    private static volatile boolean over;
    private static volatile long sum;

    private Wakers() {}

    public static void main(String[] args) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Thread busy = start("busy", () -> compute(1 << 12));
        List<Thread> wakers = new ArrayList<>();
        for (int i = 0; i < WAKERS; i++) {
            wakers.add(start("waker", Wakers::wake));
        }
        Thread.sleep(500);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        long usedBefore = used(threads, wakers);
        long allBefore = usedBefore + threads.getThreadCpuTime(busy.getId());
        System.out.println("ready");
        while (in.readLine() != null) {
            long used = used(threads, wakers);
            long all = used + threads.getThreadCpuTime(busy.getId());
            System.out.println("used " + (double) (used - usedBefore) / (all - allBefore));
            usedBefore = used;
            allBefore = all;
        }
        over = true;
    }

    private static long used(ThreadMXBean threads, List<Thread> of) {
        return of.stream().mapToLong(thread -> threads.getThreadCpuTime(thread.getId())).sum();
    }

    private static Thread start(String name, Runnable turn) {
        Thread thread = new Thread(() -> {
            while (!over) {
                turn.run();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void wake() {
        LockSupport.parkNanos(1_000_000);
        compute(1 << 12);
    }

    private static void compute(int n) {
        long x = n;
        for (int i = 0; i < n; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L ^ x >>> 17;
        }
        sum += x;
    }
}
