package dev.lookback.workloads;

/** As the workloads declare it. */
public interface IterationCallback {
    void begin(String workload, int iteration);

    void end(String workload, int iteration);

    default void requests(String workload, int iteration, long[] starts, long[] ends) {}
}
