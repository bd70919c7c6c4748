package dev.lookback.workloads.known;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.UsageException;
import dev.lookback.workloads.Workload;
import java.math.BigDecimal;
import java.util.Arrays;

/**
 * A steady loop on the processor, with a slowdown of known size if wanted: {@code --extra-percent P} does exactly
 * P percent more of the same units.
 *
 * <p>The sum that the extra units must have is computed beforehand and taken from the result: the slowed program
 * has the checksum of the other one, and an extra unit that computed something else changes it.
 */
public final class SteadyWorkload implements Workload {
    private static final BigDecimal LARGEST = BigDecimal.valueOf(10_000);

    private final int all;
    private final Clients clients;
    private final SteadyWork[] works;
    /** What the extra units add to the sum of all. */
    private final long extraSum;

    /** One thread unless the settings say otherwise. */
    public SteadyWorkload(Settings settings) {
        int units = settings.size(10_000, 40_000);
        int threads = settings.threadsOr(1);
        this.all = units + extraUnits(settings.options().text("extra-percent", "0"), units);
        this.clients = new Clients("steady", threads);
        this.works = new SteadyWork[threads];
        Arrays.setAll(works, t -> new SteadyWork());
        this.extraSum = works[0].units(units, 1, all);
    }

    private static int extraUnits(String percent, int units) {
        try {
            BigDecimal wanted = new BigDecimal(percent);
            if (wanted.signum() >= 0 && wanted.compareTo(LARGEST) <= 0) {
                return wanted.multiply(BigDecimal.valueOf(units)).movePointLeft(2).intValueExact();
            }
        } catch (ArithmeticException | NumberFormatException e) {
            // Falls through to the same message.
        }
        throw new UsageException("--extra-percent must be from 0 to " + LARGEST + " in whole units of work, of which"
                + " there are " + units + ": a multiple of " + 100.0 / units + ", not '" + percent + "'");
    }

    @Override
    public long iterate() throws Exception {
        long sum = clients.run(all, (first, step, count) -> works[first].units(first, step, count));
        return Checksum.mix(sum - extraSum);
    }

    @Override
    public void close() {
        clients.close();
    }
}
