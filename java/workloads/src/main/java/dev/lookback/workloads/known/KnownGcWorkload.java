package dev.lookback.workloads.known;

import com.sun.management.OperatingSystemMXBean;
import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Work without allocation in turn with explicit collections of a known live graph, which measures by itself what
 * each of the two cost.
 *
 * <p>What a collection costs is the CPU time of the process while it runs, less the calling thread's own. The
 * process's clock has a resolution of 10 ms in the JDKs up to 25, about as often too much as too little: so compare
 * sums over several iterations. It counts every thread, the JIT's too: leave the first iterations out. The sum
 * is all of the collector's cost where collections happen at {@code System.gc()} only, in stopped threads: with
 * Serial, Parallel and G1 and a heap of at least four times the live graph.
 *
 * <p>Must not: allocate outside that window, where a collection would be charged to the work.
 */
public final class KnownGcWorkload implements Workload {
    /** A chain of 7 links, each an object of 24 bytes with an array of 120, and its slot: about a kibibyte. */
    private static final int CHAIN_BYTES = 1 << 10;
    private static final int LINKS = 7;
    private static final int WORDS = 13;
    /** Each collection finds every twentieth chain dead and as many new ones. */
    private static final int STRIDE = 20;

    private final OperatingSystemMXBean process =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final SteadyWork work = new SteadyWork();
    private final int collections;
    private final int unitsEach;
    private final Link[] chains;
    private String known = "";

    /** A part of a chain. */
    private record Link(Link next, long[] words) {
    }

    /** Builds the live graph. The work is done by the calling thread, whatever the settings say of threads. */
    public KnownGcWorkload(Settings settings) {
        int liveMb = settings.options().count("live-mb", settings.size(16, 64), 1);
        this.collections = settings.options().count("collections", settings.size(2, 8), 1);
        this.unitsEach = settings.size(1_000, 4_000);
        this.chains = new Link[Math.multiplyExact(liveMb, (1 << 20) / CHAIN_BYTES)];
        replace(0, 1);
    }

    /** Makes every {@code step}th chain from {@code first} on anew. */
    private void replace(int first, int step) {
        for (int slot = first; slot < chains.length; slot += step) {
            Link chain = null;
            for (int link = 0; link < LINKS; link++) {
                long[] words = new long[WORDS];
                words[link] = Checksum.mix(slot);
                chain = new Link(chain, words);
            }
            chains[slot] = chain;
        }
    }

    @Override
    public long iterate() {
        long sum = 0;
        long collectorCpu = 0;
        long collectorWall = 0;
        long ownAtStart = threads.getCurrentThreadCpuTime();
        for (int k = 0; k < collections; k++) {
            sum += work.units(0, 1, unitsEach);
            long wall = System.nanoTime();
            long all = process.getProcessCpuTime();
            long own = threads.getCurrentThreadCpuTime();
            replace(k % STRIDE, STRIDE);
            System.gc();
            collectorCpu += process.getProcessCpuTime() - all - (threads.getCurrentThreadCpuTime() - own);
            collectorWall += System.nanoTime() - wall;
        }
        long checksum = Checksum.mix(sum + graph());
        known = "mutator_cpu_ns " + (threads.getCurrentThreadCpuTime() - ownAtStart) + " gc_cpu_ns " + collectorCpu
                + " gc_wall_ns " + collectorWall;
        return checksum;
    }

    /** A checksum of everything alive. */
    private long graph() {
        long sum = 0;
        for (Link chain : chains) {
            int position = LINKS - 1;
            for (Link link = chain; link != null; link = link.next()) {
                sum += link.words()[position] * position--;
            }
        }
        return sum;
    }

    @Override
    public String known() {
        return known;
    }
}
