/**
 * Programs whose cost is known beforehand or which measure themselves: what a measuring program must find.
 *
 * <p>They use no library, so that nothing but the JVM stands between the work and its cost.
 */
package dev.lookback.workloads.known;
