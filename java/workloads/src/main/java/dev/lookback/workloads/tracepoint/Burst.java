package dev.lookback.workloads.tracepoint;

/**
 * A short uninterrupted stretch of calls, timed as a whole: long against the clock's resolution, short
 * against a time slice.
 */
abstract class Burst {
    /** Levels of recursion, so calls for one call from here; the paper's value. */
    static final int DEPTH = 10;

    /** What the calls computed so far; carried on, so that no call can be left out. */
    long sum = 1;

    /** Makes {@code chains * DEPTH} calls. */
    abstract void run(long chains, int work);

    /** Anything that depends on all that was computed. */
    abstract long digest();

    /** The paper's method. */
    static final class Plain extends Burst {
        private final Listing1 listing = new Listing1();

        @Override
        void run(long chains, int work) {
            long s = sum;
            for (long i = 0; i < chains; i++) {
                s = listing.test(DEPTH, work, s + i);
            }
            sum = s;
        }

        @Override
        long digest() {
            return sum;
        }
    }

    /** The method with two clock reads. */
    static final class WithNanoTime extends Burst {
        private final Listing1NanoTime listing = new Listing1NanoTime();

        @Override
        void run(long chains, int work) {
            long s = sum;
            for (long i = 0; i < chains; i++) {
                s = listing.test(DEPTH, work, s + i);
            }
            sum = s;
        }

        @Override
        long digest() {
            return sum ^ listing.digest();
        }
    }
}
