package dev.lookback.workloads.tracepoint;

/** The measured method, as printed in the paper. */
public final class Listing1 {
    /**
     * Does {@code work} turns of arithmetic at each of {@code depth} levels.
     *
     * <p>The recursion keeps the JIT from inlining all of it; the sum, carried from call to call, keeps the
     * loop alive.
     */
    public long test(int depth, int work, long sum) {
        for (int i = 0; i < work; i++) {
            sum *= i - 1;
            sum /= i + 2;
        }
        if (depth > 1) {
            return test(depth - 1, work, sum);
        }
        return sum;
    }
}
