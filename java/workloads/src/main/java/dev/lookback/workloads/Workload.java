package dev.lookback.workloads;

import java.io.IOException;

/**
 * One plain workload: a library driven in a loop of equal iterations.
 *
 * <p>Constraint: every call of {@link #iterate()} on one instance returns the same value, on any
 * number of threads, whatever the scheduling. What depends on order (row locks, segment numbers,
 * completion order) must stay out of the result.
 *
 * <p>An implementation must not print, exit, read the clock into its result, or touch the network beyond the
 * loopback address or the file system beyond the jars on its own class path. Nor may it go on, or wait for
 * ever, when one of its threads has met an {@link OutOfMemoryError}.
 */
public interface Workload extends AutoCloseable {
    /**
     * Does the work of one iteration.
     *
     * @return a checksum of everything the iteration computed
     * @throws Exception whatever the library throws; the run fails
     */
    long iterate() throws Exception;

    /** When the requests of the last iteration started and ended; the same object for every iteration. */
    default Requests requests() {
        return Requests.NONE;
    }

    /** What the last iteration measured of itself: words and numbers to print, or an empty text. */
    default String known() {
        return "";
    }

    /** Releases what the constructor acquired, without waiting for threads. */
    @Override
    default void close() throws IOException {
    }
}
