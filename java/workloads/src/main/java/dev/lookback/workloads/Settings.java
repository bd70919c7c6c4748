package dev.lookback.workloads;

/**
 * What a workload is built from.
 *
 * @param small    true for the size that tests use (about a tenth of the default)
 * @param threads  number of client threads, at least 1; 0 means the workload's own default
 * @param recorded true when somebody wants to know when each request started and ended
 * @param options  the command line, for the options that only this workload has
 */
public record Settings(boolean small, int threads, boolean recorded, Options options) {
    /** Chooses a size parameter. */
    public int size(int smallValue, int defaultValue) {
        return small ? smallValue : defaultValue;
    }

    /** The number of threads to use for a workload whose own default is {@code preferred}. */
    public int threadsOr(int preferred) {
        return threads == 0 ? preferred : threads;
    }

    /** Where a workload of {@code count} requests an iteration records them. */
    public Requests requests(int count) {
        return Requests.of(count, recorded);
    }
}
