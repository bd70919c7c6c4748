/**
 * Programs for Lookback to trace: real libraries under repeatable load.
 *
 * <p>The constraint on all of them: one iteration does the same work whatever the timing, so that a
 * run that was disturbed by a tracer shows in its checksum. None of them knows that it is traced.
 */
package dev.lookback.workloads;
