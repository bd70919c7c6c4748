package dev.lookback.workloads.desktop.frames;

/**
 * The inputs of an iteration and when each could be seen: at the end of the first frame that was begun after the
 * program had handled it.
 *
 * <p>The times at which they were made are told afterwards by who made them, in the order in which that was: a time
 * stamp of X11 has a resolution of a millisecond and another clock.
 *
 * <p>Belongs to the event dispatch thread.
 */
public final class InputLog {
    /** Stands for an input after which there was nothing to paint. */
    private static final long NEVER = Long.MIN_VALUE;

    private final Samples kinds = new Samples();
    private final Samples shown = new Samples();
    private int settled;

    /**
     * The program has handled an input.
     *
     * @param leadsToFrame whether a frame is to come; without one nothing of the input will be seen
     */
    public void handled(InputKind kind, boolean leadsToFrame) {
        kinds.add(kind.ordinal());
        if (leadsToFrame) {
            return;
        }
        // All before it have been seen: a frame to come would show this one as well.
        shown.add(NEVER);
        settled = shown.size();
    }

    /** A frame begins: it shows what was handled until now. */
    public void frameBegins() {
        settled = kinds.size();
    }

    /** The frame that began last is done at {@code end}. */
    public void frameEnds(long end) {
        while (shown.size() < settled) {
            shown.add(end);
        }
    }

    /** How many inputs were handled, of all kinds. */
    public int handled() {
        return kinds.size();
    }

    /** Whether each input that was handled can be seen, or never will. */
    public boolean allSeen() {
        return shown.size() == kinds.size();
    }

    /**
     * How long each input took until it was seen, in the order in which they were made; without releases of buttons
     * and without inputs that led to nothing to see.
     *
     * @param made when each was made, nanoseconds of {@code System.nanoTime()} of any process of this machine
     * @throws IllegalStateException if other inputs came than were made, or not all have been seen
     */
    public long[] latencies(long[] made) {
        if (made.length != kinds.size() || !allSeen()) {
            throw new IllegalStateException(made.length + " inputs were made, " + kinds.size() + " came and "
                    + shown.size() + " were shown; does anything else use this display?");
        }
        Samples latencies = new Samples();
        for (int i = 0; i < made.length; i++) {
            if (kinds.get(i) != InputKind.RELEASE.ordinal() && shown.get(i) != NEVER) {
                latencies.add(shown.get(i) - made[i]);
            }
        }
        return latencies.toArray();
    }

    /** Forgets all inputs. */
    public void clear() {
        kinds.clear();
        shown.clear();
        settled = 0;
    }
}
