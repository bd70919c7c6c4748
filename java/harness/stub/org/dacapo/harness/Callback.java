package org.dacapo.harness;

/** What the generations of DaCapo declare, taken together; only to compile against. */
public class Callback {
  public Callback(CommandLineArgs args) {}

  public void start(String benchmark) {}

  /** Of the first 9.12. */
  public void stop() {}

  /** Of those since. */
  public void stop(long duration) {}

  /** Of Chopin. */
  public void requestStart(int id) {}

  /** Of Chopin. */
  public void requestEnd(int id) {}
}
