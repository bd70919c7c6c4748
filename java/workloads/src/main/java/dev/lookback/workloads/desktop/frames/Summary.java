package dev.lookback.workloads.desktop.frames;

import java.util.Arrays;
import java.util.Locale;

/** A series in a line for people. What is computed from the series is computed by who gets it whole. */
public final class Summary {
    private static final double MS = 1e6;

    private Summary() {
    }

    /** {@code count N p50 X ms p90 X ms p99 X ms max X ms}: nearest rank; {@code count 0} of nothing. */
    public static String of(long[] nanos) {
        if (nanos.length == 0) {
            return "count 0";
        }
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return String.format(Locale.ROOT, "count %d p50 %.2f ms p90 %.2f ms p99 %.2f ms max %.2f ms", sorted.length,
                percentile(sorted, 50) / MS, percentile(sorted, 90) / MS, percentile(sorted, 99) / MS,
                sorted[sorted.length - 1] / MS);
    }

    /** Percent of the elements that are not 0; 0 of nothing. */
    public static double percentSet(long[] flags) {
        long set = Arrays.stream(flags).filter(flag -> flag != 0).count();
        return flags.length == 0 ? 0 : 100.0 * set / flags.length;
    }

    /** The smallest element that at least {@code percent} of all do not exceed. */
    static long percentile(long[] sorted, int percent) {
        return sorted[(sorted.length * percent + 99) / 100 - 1];
    }
}
