package dev.lookback.harness;

import dev.lookback.workloads.IterationCallback;

/** What Lookback's own workloads call: {@code --callback dev.lookback.harness.WorkloadsCallback}. */
public final class WorkloadsCallback implements IterationCallback {
  /** For the workloads, which make one by its name. */
  public WorkloadsCallback() {}

  @Override
  public void begin(String workload, int iteration) {
    Harness.begin(workload, iteration);
  }

  @Override
  public void end(String workload, int iteration) {
    Harness.end(workload, iteration);
  }

  @Override
  public void requests(String workload, int iteration, long[] starts, long[] ends) {
    Harness.requests(starts, ends);
  }

  @Override
  public void series(String workload, int iteration, String name, long[] values) {
    Harness.series(name, values);
  }
}
