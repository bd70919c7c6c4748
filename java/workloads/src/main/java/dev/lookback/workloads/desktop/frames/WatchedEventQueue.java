package dev.lookback.workloads.desktop.frames;

import java.awt.AWTEvent;
import java.awt.EventQueue;
import java.awt.event.InputEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The event queue, with an eye on the inputs that pass.
 *
 * <p>Belongs to the event dispatch thread, like what it tells.
 */
public final class WatchedEventQueue extends EventQueue {
    private static final long MS = 1_000_000;

    private record Waiter(int inputs, BooleanSupplier still, Runnable then) {
    }

    private final FramePacer pacer;
    private final InputLog inputs;
    private final List<Waiter> waiters = new ArrayList<>();
    /** What is added to a time in milliseconds since 1970 to make it one of {@code System.nanoTime()}. */
    private final long nanosSinceEpoch = System.nanoTime() - System.currentTimeMillis() * MS;

    /** A queue that tells these; to be pushed on the toolkit's. */
    public WatchedEventQueue(FramePacer pacer, InputLog inputs) {
        this.pacer = pacer;
        this.inputs = inputs;
    }

    /**
     * Calls {@code then} once {@code count} inputs have come, and what they led to can be seen.
     *
     * @param still what else must be so
     */
    public void whenSeen(int count, BooleanSupplier still, Runnable then) {
        waiters.add(new Waiter(count, still, then));
    }

    @Override
    protected void dispatchEvent(AWTEvent event) {
        pacer.eventBegins(arrival(event));
        try {
            super.dispatchEvent(event);
        } finally {
            Optional<InputKind> kind = InputKind.of(event);
            if (kind.isPresent()) {
                inputs.handled(kind.get(), pacer.pending());
            }
            pacer.eventEnds();
        }
        tellWaiters();
    }

    private void tellWaiters() {
        if (!waiters.isEmpty() && inputs.allSeen() && peekEvent() == null) {
            waiters.removeIf(waiter -> {
                boolean done = inputs.handled() >= waiter.inputs() && waiter.still().getAsBoolean();
                if (done) {
                    waiter.then().run();
                }
                return done;
            });
        }
    }

    /**
     * When the event came, nanoseconds of {@code System.nanoTime()}. Of an input the toolkit knows it to a few
     * milliseconds, which decides between two ticks at most; of all else the turn that it has now is good enough.
     */
    private long arrival(AWTEvent event) {
        long now = System.nanoTime();
        return event instanceof InputEvent input ? Math.min(now, input.getWhen() * MS + nanosSinceEpoch) : now;
    }
}
