package dev.lookback.harness;

import org.renaissance.Plugin;

/**
 * What the Renaissance suite calls (0.10 and later): {@code --plugin lookback-harness.jar}.
 *
 * <p>It is told after the operation's set-up and before its tear-down, so that what is measured is the operation.
 */
public final class RenaissancePlugin
    implements Plugin.AfterOperationSetUpListener, Plugin.BeforeOperationTearDownListener {
  /** For the suite, which makes one by its name. */
  public RenaissancePlugin() {}

  @Override
  public void afterOperationSetUp(String benchmark, int opIndex, boolean isLastOp) {
    Harness.begin(benchmark, opIndex);
  }

  @Override
  public void beforeOperationTearDown(String benchmark, int opIndex, long durationNanos) {
    Harness.end(benchmark, opIndex);
  }
}
