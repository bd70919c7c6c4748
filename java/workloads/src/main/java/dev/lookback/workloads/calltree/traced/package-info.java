/**
 * The methods that a tracer is checked with. Each has a loop or a call, and calls what its
 * {@link dev.lookback.workloads.calltree.expect.Tape} says.
 *
 * <p>No method in here is reached in a way that leaves a choice to a tracer while a tape is played: objects
 * with constructors that do nothing are made beforehand, and there are no bridge methods. The expected
 * events are in {@code calltree.expect.Methods}: a change here needs the same change there.
 */
package dev.lookback.workloads.calltree.traced;
