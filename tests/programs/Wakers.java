// One thread that computes all the time, and some that wake for moments, a thousand times a second: whoever takes a sample of
// the first thread that comes along has one of those each time.
//
// The constraint: what threads really use is told by the kernel's clocks, whatever else runs on the machine.

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Prints "ready"; when the input ends "used SHARE", that of the threads `waker` in the processor time of all, `busy` as well. */
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
        long before = used(threads, wakers);
        long all = before + threads.getThreadCpuTime(busy.getId());
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        long used = used(threads, wakers);
        all = used + threads.getThreadCpuTime(busy.getId()) - all;
        System.out.println("used " + (double) (used - before) / all);
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
