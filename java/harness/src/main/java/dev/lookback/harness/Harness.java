package dev.lookback.harness;

/**
 * Tells the agent when an iteration begins and ends.
 *
 * <p>The constraint that shaped it: between the two stands nothing but the program. The agent reads its clocks last of
 * all at the begin and first of all at the end. A native method is linked at its first call, which takes longer than a
 * reading; so begin and end are one native method, and the end's is linked.
 *
 * <p>All methods throw {@link IllegalStateException} without the agent, and when what they are told does not fit together:
 * a measurement that silently is none would be worse. When the agent is loaded and does not measure, because its
 * options were wrong, it has said so, and these do nothing.
 */
public final class Harness {
  private static final String NO_AGENT =
      "the harness is not loaded, so nothing is measured; start the JVM with"
          + " -agentpath:.../liblookback_harness.so=out=FILE";

  private Harness() {}

  /**
   * An iteration begins when this returns.
   *
   * @param name the workload; at most 256 bytes of UTF-8
   * @param iteration its number, as the workload counts
   */
  public static void begin(String name, int iteration) {
    try {
      check(mark(true, name, iteration));
    } catch (UnsatisfiedLinkError e) {
      throw new IllegalStateException(NO_AGENT, e);
    }
  }

  /**
   * The iteration ended when this was called.
   *
   * @param name the workload that began
   * @param iteration the number with which it began
   */
  public static void end(String name, int iteration) {
    try {
      check(mark(false, name, iteration));
    } catch (UnsatisfiedLinkError e) {
      throw new IllegalStateException(NO_AGENT, e);
    }
  }

  /**
   * A value of the iteration that goes on, else of the one that ended last.
   *
   * @param name what it is called, with its unit
   * @param value a finite number
   */
  public static void value(String name, double value) {
    try {
      check(tell(name, value));
    } catch (UnsatisfiedLinkError e) {
      throw new IllegalStateException(NO_AGENT, e);
    }
  }

  /**
   * The requests of the iteration that ended last, as {@link System#nanoTime} told.
   *
   * @param starts when each began
   * @param ends when each ended
   */
  public static void requests(long[] starts, long[] ends) {
    try {
      check(tellRequests(starts, ends));
    } catch (UnsatisfiedLinkError e) {
      throw new IllegalStateException(NO_AGENT, e);
    }
  }

  /**
   * Numbers of one kind of the iteration that ended last, one a frame or one an input event.
   *
   * @param name what they are, with the unit: {@code frame_ns}
   * @param values in the program's order
   */
  public static void series(String name, long[] values) {
    try {
      check(tellSeries(name, values));
    } catch (UnsatisfiedLinkError e) {
      throw new IllegalStateException(NO_AGENT, e);
    }
  }

  private static void check(String wrong) {
    if (wrong != null) {
      throw new IllegalStateException(wrong);
    }
  }

  private static native String mark(boolean begins, String name, int iteration);

  private static native String tell(String name, double value);

  private static native String tellRequests(long[] starts, long[] ends);

  private static native String tellSeries(String name, long[] values);
}
