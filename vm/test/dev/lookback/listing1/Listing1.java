package dev.lookback.listing1;

import java.util.Arrays;

/**
 * What a trace point costs on the extended HotSpot: {@code Listing1 ROUNDS}.
 *
 * <p>The measured method is that of Hubble's Listing 1 (OSDI 2022, section 8.1) with work 0, in two copies: one has no trace
 * points, one has; the VM's option keeps both from being inlined. Each round measures the first, and the second with the thread
 * traced and not; prints nanoseconds a call of each, one line a round. A figure is the median of bursts that are short enough for
 * most to be disturbed by nothing.
 */
public final class Listing1 {
    private static final int DEPTH = 10;
    private static final int CALLS = 20_000;
    private static final int BURSTS = 25;

    private static long sink;

    private Listing1() {}

    /** Gives this class's method trace points. */
    private static native void trace(String method);

    /** Has this thread traced, or not. */
    private static native void turn(boolean isOn);

    static long plain(int depth, int work, long sum) {
        for (int i = 0; i < work; i++) {
            sum *= i - 1;
            sum /= i + 2;
        }
        if (depth > 1) {
            return plain(depth - 1, work, sum);
        }
        return sum;
    }

    static long traced(int depth, int work, long sum) {
        for (int i = 0; i < work; i++) {
            sum *= i - 1;
            sum /= i + 2;
        }
        if (depth > 1) {
            return traced(depth - 1, work, sum);
        }
        return sum;
    }

    private static long callPlain() {
        long sum = 0;
        for (int i = 0; i < CALLS; i++) {
            sum += plain(DEPTH, 0, i);
        }
        return sum;
    }

    private static long callTraced() {
        long sum = 0;
        for (int i = 0; i < CALLS; i++) {
            sum += traced(DEPTH, 0, i);
        }
        return sum;
    }

    private static double nanosACall(boolean isTraced) {
        double[] bursts = new double[BURSTS];
        for (int i = 0; i < BURSTS; i++) {
            long start = System.nanoTime();
            sink += isTraced ? callTraced() : callPlain();
            bursts[i] = (System.nanoTime() - start) / (double) (CALLS * DEPTH);
        }
        Arrays.sort(bursts);
        return bursts[BURSTS / 2];
    }

    /** Measures so many rounds, after some for the compilers. */
    public static void main(String[] arguments) {
        int rounds = Integer.parseInt(arguments[0]);
        trace("traced");
        for (int round = -10; round < rounds; round++) {
            double plain = nanosACall(false);
            double off = nanosACall(true);
            turn(true);
            double on = nanosACall(true);
            turn(false);
            if (round >= 0) {
                System.out.printf("round %.4f %.4f %.4f%n", plain, off, on);
            }
        }
    }
}
