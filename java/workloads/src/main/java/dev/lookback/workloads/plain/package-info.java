/**
 * The plain workloads: one class a library, each a {@link dev.lookback.workloads.Workload}.
 *
 * <p>They call the libraries the way programs do, through their public API, and generate their input
 * from fixed seeds. They must not reach into a library to make a run repeatable: what cannot be
 * repeated is left out of the checksum instead.
 */
package dev.lookback.workloads.plain;
