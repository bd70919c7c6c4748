package dev.lookback.workloads.desktop.frames;

import java.awt.EventQueue;
import java.awt.Toolkit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Has the window painted at the ticks of a clock, and logs what became of each frame: what a display's
 * synchronisation is on a phone.
 *
 * <p>A frame is due at the first tick after what caused it: an input's arrival, or the frame before in an animation. So
 * the time in which the input waited for other work, and the handling of it, count for the frame when they outlast the
 * tick.
 *
 * <p>Everything but the clock's own thread and {@link #request} belongs to the event dispatch thread.
 */
public final class FramePacer {
    /** Something that moves. */
    @FunctionalInterface
    public interface Animation {
        /**
         * A frame is about to be painted.
         *
         * @return whether it goes on after that
         */
        boolean advance(long now);
    }

    private static final long NONE = Long.MIN_VALUE;

    private final FrameClock clock;
    private final FrameLog frames;
    private final InputLog inputs;
    private final List<Animation> animations = new ArrayList<>();
    private final Thread ticker = new Thread(this::tick, "frame-clock");
    private Runnable paint = () -> { };
    /** When the frame to come is due; guarded by this. */
    private long due = NONE;
    /** Whether the clock's thread has still to post it; guarded by this. */
    private boolean toPost;
    private boolean inFrame;
    /** When what the event dispatch thread works on came. */
    private long cause = NONE;

    /** A pacer that logs into these; {@link #start} sets it going. */
    public FramePacer(FrameClock clock, FrameLog frames, InputLog inputs) {
        this.clock = clock;
        this.frames = frames;
        this.inputs = inputs;
    }

    /** Starts the clock; {@code paint} paints all that is dirty. */
    public void start(Runnable paint) {
        this.paint = paint;
        ticker.setDaemon(true);
        ticker.start();
    }

    /** The event dispatch thread turns to an event that came at {@code arrival}. */
    void eventBegins(long arrival) {
        cause = arrival;
    }

    /** It is done with it. */
    void eventEnds() {
        cause = NONE;
    }

    /** Whether a frame is to come. */
    public boolean pending() {
        synchronized (this) {
            return due != NONE;
        }
    }

    /** Something is to be painted, because of what the event dispatch thread works on. */
    void request() {
        boolean onDispatchThread = EventQueue.isDispatchThread();
        if (onDispatchThread && inFrame) {
            return;
        }
        request(onDispatchThread && cause != NONE ? cause : System.nanoTime());
    }

    private void request(long since) {
        synchronized (this) {
            if (due != NONE) {
                return;
            }
            due = clock.tickAtOrAfter(since);
            toPost = true;
        }
        LockSupport.unpark(ticker);
    }

    /** Has the animation advanced in each frame from the next on, until it has come to its end. */
    public void animate(Animation animation) {
        if (!animations.contains(animation)) {
            animations.add(animation);
            request();
        }
    }

    private void tick() {
        while (true) {
            long wait;
            synchronized (this) {
                wait = toPost ? due - System.nanoTime() : Long.MAX_VALUE;
                toPost &= wait > 0;
            }
            if (wait > 0) {
                LockSupport.parkNanos(wait);
            } else {
                EventQueue.invokeLater(this::frame);
            }
        }
    }

    private void frame() {
        long begin = System.nanoTime();
        // What animations ask to be painted, this frame paints.
        inFrame = true;
        animations.removeIf(animation -> !animation.advance(begin));
        inFrame = false;
        long tick;
        synchronized (this) {
            tick = due;
            due = NONE;
        }
        if (!animations.isEmpty()) {
            request(Math.max(begin, tick + 1));
        }
        inputs.frameBegins();
        paint.run();
        Toolkit.getDefaultToolkit().sync();
        long end = System.nanoTime();
        frames.add(tick, end);
        inputs.frameEnds(end);
    }
}
