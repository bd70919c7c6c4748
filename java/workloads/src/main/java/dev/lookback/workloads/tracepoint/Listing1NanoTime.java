package dev.lookback.workloads.tracepoint;

/**
 * The same method with what a tracer with a clock in each trace point does at least: {@code System.nanoTime()}
 * at entry and exit, stored into a ring.
 *
 * <p>Not thread-safe: one object a thread.
 */
public final class Listing1NanoTime {
    /** A power of two, so that the index is a mask; 4,096 stamps are 32 KiB and stay in the first-level cache. */
    private static final int SLOTS = 4_096;

    private final long[] ring = new long[SLOTS];
    private int next;

    /** As {@link Listing1#test}. */
    public long test(int depth, int work, long sum) {
        ring[next++ & SLOTS - 1] = System.nanoTime();
        try {
            for (int i = 0; i < work; i++) {
                sum *= i - 1;
                sum /= i + 2;
            }
            if (depth > 1) {
                return test(depth - 1, work, sum);
            }
            return sum;
        } finally {
            ring[next++ & SLOTS - 1] = System.nanoTime();
        }
    }

    /** Number of stamps taken, and the stamps' parity: proof for the JIT that somebody reads them. */
    public long digest() {
        long parity = next;
        for (long stamp : ring) {
            parity ^= stamp;
        }
        return parity;
    }
}
