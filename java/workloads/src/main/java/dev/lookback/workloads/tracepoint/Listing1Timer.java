package dev.lookback.workloads.tracepoint;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.Locale;

/** Warms one variant up at one work value, measures its rounds and prints them. */
public final class Listing1Timer {
    /** The paper's criterion: runs until the variance of the runtime is at most five per cent. */
    private static final double STABLE = 1.05;
    private static final int WARM_UP_WINDOW = 3;
    /** On a machine too noisy for the criterion the warm-up ends here, and the summary says so. */
    private static final int WARM_UP_LIMIT = 12;
    /** Nanoseconds a turn of the work loop takes, roughly: a multiplication and a division of 64 bits. */
    private static final int NANOS_PER_WORK = 5;

    private final String variant;
    private final Burst burst;
    private final int work;
    private final long calls;
    private final int rounds;
    private final PrintStream out;

    private Listing1Timer(String variant, Burst burst, int work, long calls, int rounds, PrintStream out) {
        this.variant = variant;
        this.burst = burst;
        this.work = work;
        // A round of more work takes about as long as one of none.
        this.calls = Math.max(1_000, calls / (1 + (long) work * NANOS_PER_WORK));
        this.rounds = rounds;
        this.out = out;
    }

    /** The bare method. */
    public static Listing1Timer plain(int work, long calls, int rounds, PrintStream out) {
        return new Listing1Timer("plain", new Burst.Plain(), work, calls, rounds, out);
    }

    /** The method with its own clock reads. */
    public static Listing1Timer withNanoTime(int work, long calls, int rounds, PrintStream out) {
        return new Listing1Timer("nanotime", new Burst.WithNanoTime(), work, calls, rounds, out);
    }

    /** Warms up, measures and prints. */
    public void run() {
        // The first sizing meets interpreted code, so it is only good for the warm-up.
        boolean stable = warmUp(Round.chainsPerBurst(burst, work));
        long chains = Round.chainsPerBurst(burst, work);
        double[] wall = new double[rounds];
        double[] cpu = new double[rounds];
        for (int k = 0; k < rounds; k++) {
            Round round = Round.measure(burst, work, calls, chains);
            wall[k] = round.nsPerCall();
            cpu[k] = round.cpuNsPerCall();
            out.printf(Locale.ROOT, "work %d ns_per_call %.4f cpu_ns_per_call %.4f round %d variant %s clean %d of %d%n",
                    work, wall[k], cpu[k], k + 1, variant, round.cleanBursts(), round.bursts());
        }
        out.printf(Locale.ROOT, "summary work %d variant %s median %.4f min %.4f cpu_median %.4f stable %b digest %x%n",
                work, variant, Round.median(wall), Arrays.stream(wall).min().orElseThrow(),
                Round.median(cpu), stable, burst.digest());
    }

    private boolean warmUp(long firstChains) {
        double[] last = new double[WARM_UP_WINDOW];
        long chains = firstChains;
        for (int k = 0; k < WARM_UP_LIMIT; k++) {
            last[k % WARM_UP_WINDOW] = Round.measure(burst, work, calls, chains).nsPerCall();
            chains = Round.chainsPerBurst(burst, work);
            if (k >= WARM_UP_WINDOW - 1 && spread(last) <= STABLE) {
                return true;
            }
        }
        return false;
    }

    private static double spread(double[] values) {
        double least = values[0];
        double most = values[0];
        for (double value : values) {
            least = Math.min(least, value);
            most = Math.max(most, value);
        }
        return most / least;
    }
}
