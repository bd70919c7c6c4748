/**
 * Begin and end of what is measured.
 *
 * <p>{@link dev.lookback.harness.Harness} talks to the agent {@code liblookback_harness.so}; the other classes are what
 * benchmark suites call at the begin and the end of each iteration.
 */
package dev.lookback.harness;
