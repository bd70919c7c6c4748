package dev.lookback.workloads.desktop.frames;

/**
 * The frames of an iteration: how long each took, and whether it was late.
 *
 * <p>Belongs to the event dispatch thread.
 */
public final class FrameLog {
    private final FrameClock clock;
    private final Samples times = new Samples();
    private final Samples late = new Samples();

    /** An empty log of frames that are due at this clock's ticks. */
    public FrameLog(FrameClock clock) {
        this.clock = clock;
    }

    /**
     * A frame is done.
     *
     * @param due the tick at which it was due
     * @param end when it was on the screen
     */
    public void add(long due, long end) {
        times.add(end - due);
        late.add(end > clock.deadline(due) ? 1 : 0);
    }

    /** Nanoseconds from due to done, a frame an element, in the order of time. */
    public long[] times() {
        return times.toArray();
    }

    /** 1 for each frame that missed its deadline, else 0; as long as {@link #times}. */
    public long[] late() {
        return late.toArray();
    }

    /** Forgets all frames. */
    public void clear() {
        times.clear();
        late.clear();
    }
}
