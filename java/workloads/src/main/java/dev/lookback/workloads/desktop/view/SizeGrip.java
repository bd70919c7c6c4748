package dev.lookback.workloads.desktop.view;

import java.awt.Cursor;
import java.awt.Dimension;
import java.awt.Graphics;
import java.awt.Point;
import java.awt.Window;
import java.awt.event.MouseAdapter;
import java.awt.event.MouseEvent;
import javax.swing.JComponent;
import javax.swing.SwingUtilities;

/** The corner by which the window is made larger and smaller; there need not be a window manager. */
final class SizeGrip extends JComponent {
    private static final long serialVersionUID = 1L;
    private static final int SIDE = 18;

    SizeGrip() {
        setName("grip");
        setPreferredSize(new Dimension(SIDE, SIDE));
        setCursor(Cursor.getPredefinedCursor(Cursor.SE_RESIZE_CURSOR));
        MouseAdapter mouse = new MouseAdapter() {
            private Point start;
            private Dimension size;

            @Override
            public void mousePressed(MouseEvent event) {
                start = event.getLocationOnScreen();
                size = window().getSize();
            }

            @Override
            public void mouseDragged(MouseEvent event) {
                Point now = event.getLocationOnScreen();
                window().setSize(size.width + now.x - start.x, size.height + now.y - start.y);
                window().validate();
            }
        };
        addMouseListener(mouse);
        addMouseMotionListener(mouse);
    }

    private Window window() {
        return SwingUtilities.getWindowAncestor(this);
    }

    @Override
    protected void paintComponent(Graphics g) {
        g.setColor(Palette.FAINT);
        for (int i = 4; i < SIDE; i += 4) {
            g.drawLine(i, SIDE - 2, SIDE - 2, i);
        }
    }
}
