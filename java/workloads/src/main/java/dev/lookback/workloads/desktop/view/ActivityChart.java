package dev.lookback.workloads.desktop.view;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Dimension;
import java.awt.GradientPaint;
import java.awt.Graphics;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Path2D;
import javax.swing.JComponent;

/** A curve of how much there is in each part of the list, with the part that is seen; it glides to what is new. */
final class ActivityChart extends JComponent {
    private static final long serialVersionUID = 1L;
    static final int BUCKETS = 160;
    private static final double GLIDE_NANOS = 350e6;
    private static final double STILL = 1e-3;
    private static final int MARGIN = 8;
    private static final int STEPS = 4;

    private double[] shown = new double[BUCKETS];
    private double[] wanted = new double[BUCKETS];
    private double from;
    private double to = 1;
    private double wantedFrom;
    private double wantedTo = 1;
    private long last;

    ActivityChart() {
        setPreferredSize(new Dimension(200, 110));
    }

    /** Glides to these values from now on; {@link #advance} moves it. */
    void show(double[] values) {
        wanted = values;
    }

    /** Glides to this part of the list, both between 0 and 1. */
    void window(double first, double end) {
        wantedFrom = first;
        wantedTo = end;
    }

    /** Moves the curve by the time that has passed; false when it stands still. */
    boolean advance(long now) {
        double step = last == 0 ? 0 : 1 - Math.exp(-4 * (now - last) / GLIDE_NANOS);
        last = now;
        double furthest = Math.max(Math.abs(wantedFrom - from), Math.abs(wantedTo - to));
        from += (wantedFrom - from) * step;
        to += (wantedTo - to) * step;
        double[] next = new double[BUCKETS];
        double scale = 1;
        for (int i = 0; i < BUCKETS; i++) {
            next[i] = shown[i] + (wanted[i] - shown[i]) * step;
            scale = Math.max(scale, wanted[i]);
            furthest = Math.max(furthest, Math.abs(wanted[i] - next[i]) / scale);
        }
        shown = next;
        repaint();
        if (furthest > STILL) {
            return true;
        }
        shown = wanted.clone();
        from = wantedFrom;
        to = wantedTo;
        last = 0;
        return false;
    }

    @Override
    protected void paintComponent(Graphics graphics) {
        Graphics2D g = (Graphics2D) graphics.create();
        g.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        int width = getWidth() - 2 * MARGIN;
        int height = getHeight() - 2 * MARGIN;
        g.setColor(Color.WHITE);
        g.fillRect(0, 0, getWidth(), getHeight());
        g.setColor(Palette.LINE);
        for (int i = 0; i <= STEPS; i++) {
            int y = MARGIN + height * i / STEPS;
            g.drawLine(MARGIN, y, MARGIN + width, y);
        }
        g.setColor(new Color(47, 111, 222, 40));
        int left = MARGIN + (int) (from * width);
        g.fillRect(left, MARGIN, Math.max(2, (int) ((to - from) * width)), height);
        Path2D curve = curve(width, height);
        g.setColor(Palette.ACCENT);
        g.setStroke(new BasicStroke(1.6f, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND));
        g.draw(curve);
        curve.lineTo(MARGIN + width, MARGIN + height);
        curve.lineTo(MARGIN, MARGIN + height);
        curve.closePath();
        g.setPaint(new GradientPaint(0, MARGIN, new Color(47, 111, 222, 110), 0, MARGIN + height,
                new Color(47, 111, 222, 10)));
        g.fill(curve);
        g.dispose();
    }

    private Path2D curve(int width, int height) {
        double most = 1;
        for (double value : shown) {
            most = Math.max(most, value);
        }
        Path2D path = new Path2D.Double();
        double step = width / (double) (BUCKETS - 1);
        for (int i = 0; i < BUCKETS; i++) {
            double x = MARGIN + i * step;
            double y = MARGIN + height * (1 - shown[i] / most);
            if (i == 0) {
                path.moveTo(x, y);
            } else {
                double before = MARGIN + height * (1 - shown[i - 1] / most);
                path.curveTo(x - step / 2, before, x - step / 2, y, x, y);
            }
        }
        return path;
    }
}
