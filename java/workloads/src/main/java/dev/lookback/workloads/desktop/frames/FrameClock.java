package dev.lookback.workloads.desktop.frames;

/**
 * The ticks at which frames are due: {@code origin + k * period}, in nanoseconds of {@code System.nanoTime()}.
 *
 * @param origin any tick
 * @param period from one tick to the next, at least 1
 */
public record FrameClock(long origin, long period) {
    private static final long SECOND = 1_000_000_000L;

    /** A clock of so many ticks a second that ticks now. */
    public static FrameClock ofHertz(int hertz) {
        return new FrameClock(System.nanoTime(), SECOND / hertz);
    }

    /** The first tick that is not before {@code time}. */
    public long tickAtOrAfter(long time) {
        return origin + -Math.floorDiv(-(time - origin), period) * period;
    }

    /** When a frame that is due at {@code tick} must be done. */
    public long deadline(long tick) {
        return tick + period;
    }
}
