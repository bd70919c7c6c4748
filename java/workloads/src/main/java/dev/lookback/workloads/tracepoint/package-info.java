/**
 * The method of Hubble's trace point microbenchmark (OSDI'22, section 8.1, Listing 1), and what times it.
 *
 * <p>Trace {@code Listing1} and nothing else here; {@code Listing1NanoTime} is the comparison that brings
 * its own clock reads and must not be traced.
 */
package dev.lookback.workloads.tracepoint;
