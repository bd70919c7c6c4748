package dev.lookback.workloads;

/**
 * When each request of an iteration started and ended.
 *
 * <p>Constraint: it stands in the loop that is measured, so its arrays are made beforehand and nothing is
 * allocated, locked or even read from the clock when nobody asked for the times. Each request is recorded by the
 * one thread that serves it; the iteration's end orders the writes before the reads.
 */
public final class Requests {
    /** For workloads that do not consist of requests. */
    public static final Requests NONE = new Requests(0);

    private final long[] starts;
    private final long[] ends;

    private Requests(int count) {
        this.starts = new long[count];
        this.ends = new long[count];
    }

    /** Room for {@code count} requests if the settings ask for them. */
    static Requests of(int count, boolean wanted) {
        return wanted ? new Requests(count) : NONE;
    }

    /** True when requests are recorded. */
    public boolean recorded() {
        return this != NONE;
    }

    /** The time to give to {@link #end}: {@code System.nanoTime()}, or 0 when requests are not recorded. */
    public long start() {
        return recorded() ? System.nanoTime() : 0;
    }

    /** Request number {@code request} (from 0) began at {@code start} and has just ended. */
    public void end(int request, long start) {
        if (recorded()) {
            starts[request] = start;
            ends[request] = System.nanoTime();
        }
    }

    /** Starts by number; the array itself. */
    long[] starts() {
        return starts;
    }

    /** Ends by number; the array itself. */
    long[] ends() {
        return ends;
    }
}
