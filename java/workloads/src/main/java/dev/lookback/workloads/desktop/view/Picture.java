package dev.lookback.workloads.desktop.view;

import java.awt.Color;
import java.awt.GradientPaint;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.util.Random;

/** An attached picture: a landscape that is made from its seed, in the place of one that is read from a file. */
final class Picture {
    private static final int WIDTH = 1_280;
    private static final int HEIGHT = 960;
    private static final int RIDGES = 4;
    private static final int ROUGH = 80;

    private Picture() {
    }

    /** The picture in small, as a decoder makes it: all pixels first, then a part of them. */
    static BufferedImage thumbnail(int seed, int width, int height) {
        BufferedImage whole = paint(new Random(seed));
        BufferedImage small = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D g = small.createGraphics();
        g.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
        g.drawImage(whole, 0, 0, width, height, null);
        g.dispose();
        return small;
    }

    private static BufferedImage paint(Random random) {
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        Graphics2D g = image.createGraphics();
        float hue = random.nextFloat();
        g.setPaint(new GradientPaint(0, 0, Color.getHSBColor(hue, 0.45f, 0.95f), 0, HEIGHT,
                Color.getHSBColor(hue + 0.12f, 0.25f, 1f)));
        g.fillRect(0, 0, WIDTH, HEIGHT);
        g.setColor(new Color(255, 250, 220, 210));
        double sun = 60 + random.nextInt(120);
        g.fill(new Ellipse2D.Double(random.nextInt(WIDTH), 40 + random.nextInt(HEIGHT / 3), sun, sun));
        for (int ridge = 0; ridge < RIDGES; ridge++) {
            g.setColor(Color.getHSBColor(hue + 0.5f, 0.35f, 0.75f - 0.15f * ridge));
            g.fill(ridge(random, HEIGHT * (4 + ridge) / (5.0 + RIDGES)));
        }
        g.dispose();
        return image;
    }

    private static Path2D ridge(Random random, double base) {
        Path2D path = new Path2D.Double();
        path.moveTo(0, HEIGHT);
        double y = base;
        for (int x = 0; x <= WIDTH; x += 16) {
            y += random.nextInt(ROUGH) - ROUGH / 2.0 + (base - y) / 6;
            path.lineTo(x, y);
        }
        path.lineTo(WIDTH, HEIGHT);
        path.closePath();
        return path;
    }
}
