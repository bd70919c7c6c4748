package dev.lookback.workloads.desktop.view;

import java.awt.Color;
import java.awt.Dimension;
import java.awt.Graphics;
import java.awt.image.BufferedImage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import javax.swing.JComponent;
import javax.swing.SwingUtilities;

/**
 * The pictures of a conversation, one below the other; those that can be seen at first are read by another thread,
 * so that the window does not wait.
 *
 * <p>Constraint: which pictures are read depends on what is opened and in which order, never on which frames were
 * painted meanwhile. What is kept is limited by a number, not by what memory is free: how much work is done must not
 * depend on the heap.
 */
final class PictureStrip extends JComponent {
    private static final long serialVersionUID = 1L;
    private static final int WIDTH = 128;
    private static final int HEIGHT = 96;
    private static final int GAP = 8;
    private static final int MOST_KEPT = 48;

    /** So many fit into the strip. */
    private static final int MOST_READ = 3;

    private transient List<Integer> seeds = List.of();
    private final transient Map<Integer, BufferedImage> kept = new LinkedHashMap<>(2 * MOST_KEPT, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, BufferedImage> eldest) {
            return size() > MOST_KEPT;
        }
    };
    private final transient Executor reader = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "picture-reader");
        thread.setDaemon(true);
        return thread;
    });
    private int unread;

    void show(List<Integer> pictures) {
        seeds = pictures.subList(0, Math.min(MOST_READ, pictures.size()));
        setPreferredSize(new Dimension(WIDTH + 2 * GAP, seeds.size() * (HEIGHT + GAP) + GAP));
        revalidate();
        repaint();
        seeds.forEach(this::read);
    }

    /** Whether pictures are still being read. */
    boolean isReading() {
        return unread > 0;
    }

    private void read(Integer seed) {
        unread++;
        // Not submitted: what it throws is to end the program.
        reader.execute(() -> {
            BufferedImage picture = Picture.thumbnail(seed, WIDTH, HEIGHT);
            SwingUtilities.invokeLater(() -> {
                unread--;
                kept.put(seed, picture);
                repaint();
            });
        });
    }

    @Override
    protected void paintComponent(Graphics g) {
        g.setColor(Palette.STRIPE);
        g.fillRect(0, 0, getWidth(), getHeight());
        int y = GAP;
        for (Integer seed : seeds) {
            if (g.hitClip(0, y, getWidth(), HEIGHT)) {
                BufferedImage picture = kept.get(seed);
                if (picture != null) {
                    g.drawImage(picture, GAP, y, null);
                }
                g.setColor(Color.GRAY);
                g.drawRect(GAP, y, WIDTH - 1, HEIGHT - 1);
            }
            y += HEIGHT + GAP;
        }
    }
}
