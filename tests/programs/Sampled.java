// Threads of which is known where they are at any time, for samplers.
//
// The constraint: each thread says by its own call stack what it does, and that stays so until the input ends: a sampler can be
// compared with what is known, without a clock.

import java.util.concurrent.CountDownLatch;

/** Prints "ready" once all threads are where they stay: DEPTH [IDLE], frames of recursion and threads that wait. */
final class Sampled {
    private static volatile boolean over;
    private static volatile long sum;

    private Sampled() {}

    public static void main(String[] args) throws Exception {
        int idle = args.length > 1 ? Integer.parseInt(args[1]) : 1;
        CountDownLatch began = new CountDownLatch(3 + idle);
        start("busy", () -> Busy.outer(began));
        start("twice", () -> Twice.turns(began));
        start("deep", () -> Deep.down(Integer.parseInt(args[0]), began));
        for (int i = 0; i < idle; i++) {
            start("idle", () -> Idle.rest(began));
        }
        began.await();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        over = true;
        System.out.println("over");
    }

    private static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Computes in one place for ever. */
    static final class Busy {
        static void outer(CountDownLatch began) {
            began.countDown();
            while (!over) {
                sum += inner(1 << 12);
            }
        }

        static long inner(int n) {
            long x = n;
            for (int i = 0; i < n; i++) {
                x = step(x);
            }
            return x;
        }

        static long step(long x) {
            return x * 6364136223846793005L + 1442695040888963407L ^ x >>> 17;
        }
    }

    /** Takes turns between two places: three times as long in one as in the other. */
    static final class Twice {
        static void turns(CountDownLatch began) {
            began.countDown();
            while (!over) {
                sum += large() ^ small();
            }
        }

        static long large() {
            return Busy.inner(3 << 14);
        }

        static long small() {
            return Busy.inner(1 << 14);
        }
    }

    /** Computes below a recursion. */
    static final class Deep {
        static void down(int depth, CountDownLatch began) {
            if (depth > 0) {
                down(depth - 1, began);
            } else {
                Busy.outer(began);
            }
        }
    }

    /** Waits for ever. */
    static final class Idle {
        static void rest(CountDownLatch began) {
            Object never = new Object();
            synchronized (never) {
                began.countDown();
                while (!over) {
                    try {
                        never.wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        }
    }
}
