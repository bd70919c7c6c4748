package dev.lookback.workloads;

/** As {@code java/workloads} declares it; only to compile against. */
public interface IterationCallback {
  void begin(String workload, int iteration);

  void end(String workload, int iteration);

  default void requests(String workload, int iteration, long[] starts, long[] ends) {}

  default void series(String workload, int iteration, String name, long[] values) {}
}
