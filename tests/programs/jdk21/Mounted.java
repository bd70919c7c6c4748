// Virtual threads of which is known where they are whenever they run, for samplers.
//
// The constraint: they park all the time, so that a sampler meets them on all carriers, and also between two.
// Threads that yield instead may keep the carriers for good: the scheduler looks for others only when a carrier's
// queue is empty.

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Usage: Mounted N. Prints "ready" once N virtual threads compute, by the names `worker-0` and on. */
final class Mounted {
    private static volatile boolean over;
    private static volatile long sum;

    private Mounted() {}

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        CountDownLatch began = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            Thread.ofVirtual().name("worker-" + i).start(() -> outer(began));
        }
        began.await();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        over = true;
        System.out.println("over");
    }

    static void outer(CountDownLatch began) {
        began.countDown();
        while (!over) {
            sum += inner(1 << 16);
            LockSupport.parkNanos(1_000_000);
        }
    }

    static long inner(int n) {
        long x = n;
        for (int i = 0; i < n; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L ^ x >>> 17;
        }
        return x;
    }
}
