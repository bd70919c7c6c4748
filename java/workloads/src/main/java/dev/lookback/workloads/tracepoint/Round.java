package dev.lookback.workloads.tracepoint;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * One round: so many calls in bursts.
 *
 * @param nsPerCall    median over the bursts that no context switch disturbed, wall clock
 * @param cpuNsPerCall thread CPU time of the whole round by calls: disturbed bursts included
 * @param cleanBursts  number of undisturbed bursts
 * @param bursts       number of bursts
 */
record Round(double nsPerCall, double cpuNsPerCall, int cleanBursts, int bursts) {
    /** About a tenth of a scheduler's time slice: most bursts stay undisturbed even on a busy machine. */
    private static final double BURST_NANOS = 400_000;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** Chains of calls that fill a burst, from a short trial. */
    static long chainsPerBurst(Burst burst, int work) {
        long chains = 20;
        for (; ; chains *= 2) {
            long before = System.nanoTime();
            burst.run(chains, work);
            long nanos = System.nanoTime() - before;
            if (nanos >= BURST_NANOS / 2) {
                return Math.max(1, (long) (chains * BURST_NANOS / nanos));
            }
        }
    }

    /** Makes at least {@code calls} calls. */
    static Round measure(Burst burst, int work, long calls, long chains) {
        long callsPerBurst = chains * Burst.DEPTH;
        int bursts = (int) Math.max(5, (calls + callsPerBurst - 1) / callsPerBurst);
        double[] all = new double[bursts];
        double[] clean = new double[bursts];
        int cleanCount = 0;
        long cpu = 0;
        for (int i = 0; i < bursts; i++) {
            long switches = Preemptions.count();
            long cpuBefore = THREADS.getCurrentThreadCpuTime();
            long before = System.nanoTime();
            burst.run(chains, work);
            long wall = System.nanoTime() - before;
            cpu += THREADS.getCurrentThreadCpuTime() - cpuBefore;
            all[i] = (double) wall / callsPerBurst;
            if (Preemptions.count() == switches) {
                clean[cleanCount++] = all[i];
            }
        }
        // A machine so busy that nothing ran undisturbed still gets a figure; the count says what it is worth.
        double[] used = cleanCount > 0 ? Arrays.copyOf(clean, cleanCount) : all;
        return new Round(median(used), (double) cpu / (bursts * (double) callsPerBurst), cleanCount, bursts);
    }

    /** The middle value, or the mean of the two middle ones. */
    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
}
