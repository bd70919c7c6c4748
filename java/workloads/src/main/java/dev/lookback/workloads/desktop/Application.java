package dev.lookback.workloads.desktop;

import dev.lookback.workloads.desktop.frames.FrameClock;
import dev.lookback.workloads.desktop.frames.FrameLog;
import dev.lookback.workloads.desktop.frames.FramePacer;
import dev.lookback.workloads.desktop.frames.InputLog;
import dev.lookback.workloads.desktop.frames.PacedRepaintManager;
import dev.lookback.workloads.desktop.frames.WatchedEventQueue;
import dev.lookback.workloads.desktop.mail.Archive;
import dev.lookback.workloads.desktop.view.Journal;
import dev.lookback.workloads.desktop.view.MailWindow;
import java.awt.Rectangle;
import java.awt.Toolkit;
import java.lang.reflect.InvocationTargetException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import javax.swing.RepaintManager;
import javax.swing.SwingUtilities;
import javax.swing.UIManager;
import javax.swing.UnsupportedLookAndFeelException;
import javax.swing.plaf.nimbus.NimbusLookAndFeel;

/**
 * The window with what counts its frames and inputs. Any thread but the event dispatch thread may call.
 */
final class Application {
    /** What one iteration was made of. */
    record Pass(long[] frames, long[] late, long[] inputs, String counts, String state, long checksum) {
    }

    private final InputLog inputs = new InputLog();
    private final FrameLog frames;
    private final FramePacer pacer;
    private final WatchedEventQueue queue;
    private final Journal journal = new Journal();
    private final MailWindow window;

    private Application(FrameClock clock, Archive archive) throws UnsupportedLookAndFeelException {
        frames = new FrameLog(clock);
        pacer = new FramePacer(clock, frames, inputs);
        queue = new WatchedEventQueue(pacer, inputs);
        Toolkit.getDefaultToolkit().getSystemEventQueue().push(queue);
        PacedRepaintManager repaints = new PacedRepaintManager(pacer);
        RepaintManager.setCurrentManager(repaints);
        UIManager.setLookAndFeel(new NimbusLookAndFeel());
        window = new MailWindow(archive, journal, motion -> pacer.animate(motion::advance));
        pacer.start(repaints::paintFrame);
        window.show();
    }

    /** Opens the window; returns once it can be seen. */
    static Application open(FrameClock clock, Archive archive) throws InterruptedException {
        Application application = dispatch(() -> new Application(clock, archive));
        application.await(0, true);
        return application;
    }

    /** Where something of the window is on the screen; see {@link Places}. */
    Optional<Rectangle> place(String name) throws InterruptedException {
        return dispatch(() -> Places.find(window, name));
    }

    /**
     * Returns once so many inputs have come since the last {@link #clear}, and what they led to can be seen.
     *
     * @param still whether to wait until nothing moves any more as well
     * @throws IllegalStateException if more have come
     */
    void await(int count, boolean still) throws InterruptedException {
        CountDownLatch seen = new CountDownLatch(1);
        dispatch(() -> {
            queue.whenSeen(count, () -> !still || !(pacer.pending() || window.isBusy()), seen::countDown);
            return null;
        });
        seen.await();
        int come = dispatch(inputs::handled);
        if (come != count) {
            throw new IllegalStateException(come + " inputs have come, " + count
                    + " were made; does anything else use this display?");
        }
    }

    /** Forgets frames, inputs and what was done, and tells the state. */
    String clear() throws InterruptedException {
        return dispatch(() -> {
            frames.clear();
            inputs.clear();
            journal.close("");
            return window.state();
        });
    }

    /**
     * What was since {@link #clear}.
     *
     * @param made when each input was made, in their order
     */
    Pass pass(long[] made) throws InterruptedException {
        return dispatch(() -> {
            String state = window.state();
            String counts = journal.counts();
            return new Pass(frames.times(), frames.late(), inputs.latencies(made), counts, state, journal.close(state));
        });
    }

    /** Runs it on the event dispatch thread. */
    private static <T> T dispatch(Callable<T> body) throws InterruptedException {
        FutureTask<T> task = new FutureTask<>(body);
        try {
            SwingUtilities.invokeAndWait(task);
            return task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InvocationTargetException e) {
            throw new IllegalStateException("a task of the event dispatch thread threw, which keeps what it throws", e);
        }
    }
}
