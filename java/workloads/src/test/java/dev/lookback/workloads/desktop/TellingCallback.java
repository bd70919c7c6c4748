package dev.lookback.workloads.desktop;

import dev.lookback.workloads.IterationCallback;
import java.util.Arrays;

/** Prints what it is told, for {@link DesktopTest}. */
public final class TellingCallback implements IterationCallback {
    @Override
    public void begin(String workload, int iteration) {
        System.out.println("told begin " + workload + " " + iteration);
    }

    @Override
    public void end(String workload, int iteration) {
        System.out.println("told end " + workload + " " + iteration);
    }

    @Override
    public void series(String workload, int iteration, String name, long[] values) {
        System.out.println("told series " + iteration + " " + name + " " + values.length + " "
                + Arrays.stream(values).min().orElse(-1) + " " + Arrays.stream(values).max().orElse(-1));
    }
}
