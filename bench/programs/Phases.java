// Threads that do now one thing and now another, each a flood of calls of its own method.
//
// The constraint: no method of a phase has been called before it, so whoever keeps to a budget must find out anew; and the loops
// that call them are short, so that a class may be rewritten at any time.

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * {@code Phases THREADS SECONDS}: three phases of so many seconds each. Prints "phase P" at the beginning of each, and "did P FIRST
 * LATER" at its end: rounds of a thousand calls a second, in its first third and after that.
 */
final class Phases {
    /** Steps within a call: the second phase has a tenth of the calls of the others, or less. */
    private static final int[] STEPS = {20, 150, 20};

    /** Apart from each other by a cache line. */
    private static final int APART = 16;

    private static volatile int phase;
    private static volatile int sink;

    private Phases() {}

    public static void main(String[] args) throws InterruptedException {
        int threads = Integer.parseInt(args[0]);
        long third = Long.parseLong(args[1]) * 1_000 / 3;
        AtomicLongArray rounds = new AtomicLongArray((threads + 1) * APART);
        for (int i = 1; i <= threads; i++) {
            int place = i * APART;
            Thread worker = new Thread(() -> work(rounds, place), "worker-" + i);
            worker.setDaemon(true);
            worker.start();
        }
        for (int p = 0; p < STEPS.length; p++) {
            phase = p;
            System.out.println("phase " + p);
            double first = speed(rounds, third);
            double later = speed(rounds, 2 * third);
            System.out.printf("did %d %.1f %.1f%n", p, first, later);
        }
    }

    private static void work(AtomicLongArray rounds, int place) {
        while (true) {
            sink = round(phase);
            rounds.setOpaque(place, rounds.getOpaque(place) + 1);
        }
    }

    private static int round(int now) {
        int sum = 0;
        for (int i = 0; i < 1_000; i++) {
            sum += switch (now) {
                case 0 -> First.call(i);
                case 1 -> Second.call(i);
                default -> Third.call(i);
            };
        }
        return sum;
    }

    /** Rounds a second, of all threads, in so many milliseconds from now on. */
    private static double speed(AtomicLongArray rounds, long millis) throws InterruptedException {
        long before = sum(rounds);
        long begun = System.nanoTime();
        Thread.sleep(millis);
        return (sum(rounds) - before) * 1e9 / (System.nanoTime() - begun);
    }

    private static long sum(AtomicLongArray rounds) {
        long sum = 0;
        for (int i = 0; i < rounds.length(); i += APART) {
            sum += rounds.getOpaque(i);
        }
        return sum;
    }

    static final class First {
        static int call(int i) {
            int x = i;
            for (int n = 0; n < STEPS[0]; n++) {
                x = x * 31 + (x >>> 7);
            }
            return Math.abs(x);
        }
    }

    static final class Second {
        static int call(int i) {
            int x = i;
            for (int n = 0; n < STEPS[1]; n++) {
                x = x * 31 + (x >>> 7);
            }
            return Math.abs(x);
        }
    }

    static final class Third {
        static int call(int i) {
            int x = i;
            for (int n = 0; n < STEPS[2]; n++) {
                x = x * 31 + (x >>> 7);
            }
            return Math.abs(x);
        }
    }
}
