package dev.lookback.workloads.desktop.frames;

import java.awt.Window;
import javax.swing.JComponent;
import javax.swing.RepaintManager;

/**
 * Swing's own repaint manager, but that it paints when the {@link FramePacer} says so.
 *
 * <p>Constraint: Swing posts an event of its own for each first dirty region and paints in it. That call comes to
 * {@link #paintDirtyRegions()}, which leaves the regions where they are; the frame takes them all.
 */
public final class PacedRepaintManager extends RepaintManager {
    private final FramePacer pacer;

    /** Leaves the time of painting to {@code pacer}, which is to be started with {@link #paintFrame}. */
    public PacedRepaintManager(FramePacer pacer) {
        this.pacer = pacer;
    }

    /** Lays out and paints everything that waits for it. */
    public void paintFrame() {
        validateInvalidComponents();
        super.paintDirtyRegions();
    }

    @Override
    public void paintDirtyRegions() {
        // Painted by the frame that addDirtyRegion has asked for.
    }

    @Override
    public void addDirtyRegion(JComponent component, int x, int y, int width, int height) {
        super.addDirtyRegion(component, x, y, width, height);
        if (width > 0 && height > 0 && component.isShowing()) {
            pacer.request();
        }
    }

    @Override
    public void addDirtyRegion(Window window, int x, int y, int width, int height) {
        super.addDirtyRegion(window, x, y, width, height);
        pacer.request();
    }

    @Override
    public synchronized void addInvalidComponent(JComponent component) {
        super.addInvalidComponent(component);
        if (component.isShowing()) {
            pacer.request();
        }
    }
}
