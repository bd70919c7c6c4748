package dev.lookback.probe;

/** What probes write to. On the boot class path, so that classes of all loaders see it. */
public final class Counters {
    /** No more methods than these get a probe. */
    static final int MOST = 1 << 17;
    /** Calls by the method's number. */
    static final long[] CALLS = new long[MOST];
    /** Nanoseconds by the method's number, those of its callees included. */
    static final long[] NANOS = new long[MOST];

    private Counters() {
    }

    /** A call that began at {@code start} by {@code System.nanoTime()} returns. */
    public static void add(long start, int id) {
        CALLS[id]++;
        NANOS[id] += System.nanoTime() - start;
    }

    /** A method runs. */
    public static void seen(int id) {
        CALLS[id] = 1;
    }
}
