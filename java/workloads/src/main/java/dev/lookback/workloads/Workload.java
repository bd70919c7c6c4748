package dev.lookback.workloads;

import java.io.IOException;

/**
 * One plain workload: a library driven in a loop of equal iterations.
 *
 * <p>Constraint: every call of {@link #iterate()} on one instance returns the same value, on any
 * number of threads, whatever the scheduling. What depends on order (row locks, segment numbers,
 * completion order) must stay out of the result.
 *
 * <p>An implementation must not print, exit, read the clock into its result, or touch the network
 * or the file system beyond the jars on its own class path.
 */
public interface Workload extends AutoCloseable {
    /**
     * Does the work of one iteration.
     *
     * @return a checksum of everything the iteration computed
     * @throws Exception whatever the library throws; the run fails
     */
    long iterate() throws Exception;

    /** Releases what the constructor acquired. */
    @Override
    default void close() throws IOException {
    }
}
