package dev.lookback.harness;

import org.dacapo.harness.Callback;
import org.dacapo.harness.CommandLineArgs;

/**
 * What the DaCapo suite calls: {@code -c dev.lookback.harness.DacapoCallback}.
 *
 * <p>The constraint that shaped it: the suite's base class has changed. The first 9.12 ends an iteration with {@code
 * stop()}; later ones and Chopin with {@code stop(long)}, and Chopin tells of requests as well. All are overridden here;
 * those that a suite does not have are never called, so what they call above is never looked for. The suite's own lines
 * are printed outside of what is measured. Iterations are numbered from 0, warm-up ones among them.
 */
public final class DacapoCallback extends Callback {
  private final RequestTimes requests = new RequestTimes();
  private String benchmark;
  private int iteration = -1;

  /**
   * For the suite, which makes one by its name.
   *
   * @param args the suite's command line
   */
  public DacapoCallback(CommandLineArgs args) {
    super(args);
  }

  @Override
  public void start(String name) {
    iteration = name.equals(benchmark) ? iteration + 1 : 0;
    benchmark = name;
    super.start(name);
    Harness.begin(name, iteration);
  }

  @Override
  public void stop() {
    end();
    super.stop();
  }

  @Override
  public void stop(long duration) {
    end();
    super.stop(duration);
  }

  private void end() {
    Harness.end(benchmark, iteration);
    requests.tell();
  }

  @Override
  public void requestStart(int id) {
    requests.start(id);
  }

  @Override
  public void requestEnd(int id) {
    requests.end(id);
  }
}
