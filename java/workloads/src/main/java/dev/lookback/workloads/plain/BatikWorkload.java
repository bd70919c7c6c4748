package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.util.SplittableRandom;
import org.apache.batik.transcoder.TranscoderInput;
import org.apache.batik.transcoder.TranscoderOutput;
import org.apache.batik.transcoder.image.PNGTranscoder;

/**
 * Drawing with Batik: each item turns a generated SVG picture with paths, gradients, clips, transforms and
 * filters into a PNG.
 *
 * <p>Without text, since it would be drawn with the fonts of the machine. The JDK draws the shapes, so checksums
 * may differ between JDKs.
 */
public final class BatikWorkload implements Workload {
    private static final int WIDTH = 480;
    private static final int HEIGHT = 360;

    private final int pictures;
    private final Clients clients;
    private final String[] input = new String[8];

    /** Generates the pictures; one thread unless the settings say otherwise. */
    public BatikWorkload(Settings settings) {
        // No screen is needed, and none must be looked for.
        System.setProperty("java.awt.headless", "true");
        this.pictures = settings.size(1, 6);
        this.clients = new Clients("batik", settings.threadsOr(1));
        for (int i = 0; i < input.length; i++) {
            input[i] = picture(new SplittableRandom(i));
        }
    }

    private static String picture(SplittableRandom random) {
        StringBuilder svg = new StringBuilder("<svg xmlns='http://www.w3.org/2000/svg'"
                + " xmlns:xlink='http://www.w3.org/1999/xlink' width='480' height='360'><defs>"
                + "<linearGradient id='sky' x1='0' y1='0' x2='0' y2='1'><stop offset='0' stop-color='#204080'/>"
                + "<stop offset='1' stop-color='#c0d8f0'/></linearGradient>"
                + "<radialGradient id='sun'><stop offset='0' stop-color='#ffe080'/>"
                + "<stop offset='1' stop-color='#ff8000' stop-opacity='0'/></radialGradient>"
                + "<filter id='soft'><feGaussianBlur stdDeviation='3'/></filter>"
                + "<clipPath id='frame'><circle cx='240' cy='180' r='170'/></clipPath></defs>"
                + "<rect width='480' height='360' fill='url(#sky)'/><g clip-path='url(#frame)'>");
        for (int i = 0; i < 40; i++) {
            svg.append("<g transform='translate(").append(random.nextInt(WIDTH)).append(' ')
                    .append(random.nextInt(HEIGHT)).append(") rotate(").append(random.nextInt(360)).append(")'>");
            shape(svg, random, i);
            svg.append("</g>");
        }
        return svg.append("</g><circle cx='120' cy='90' r='80' fill='url(#sun)'/></svg>").toString();
    }

    private static void shape(StringBuilder svg, SplittableRandom random, int i) {
        String look = String.format("fill='#%06x' fill-opacity='0.%d' stroke='#102030' stroke-width='%d'%s",
                random.nextInt(1 << 24), random.nextInt(3, 9), random.nextInt(1, 4),
                i % 20 == 0 ? " filter='url(#soft)'" : "");
        if (i % 3 == 0) {
            svg.append("<ellipse rx='").append(random.nextInt(5, 60)).append("' ry='")
                    .append(random.nextInt(5, 60)).append("' ").append(look).append("/>");
            return;
        }
        svg.append("<path d='M0 0");
        for (int n = 0; n < 12; n++) {
            svg.append(i % 3 == 1 ? " Q" : " T");
            for (int c = i % 3 == 1 ? 4 : 2; c > 0; c--) {
                svg.append(' ').append(random.nextInt(-70, 70));
            }
        }
        svg.append("' ").append(look).append("/>");
    }

    @Override
    public long iterate() throws Exception {
        return clients.sum(pictures, item -> {
            ByteArrayOutputStream png = new ByteArrayOutputStream(1 << 16);
            TranscoderInput picture = new TranscoderInput(new StringReader(input[item % input.length]));
            new PNGTranscoder().transcode(picture, new TranscoderOutput(png));
            return new Checksum().add(png.toByteArray()).value();
        });
    }

    @Override
    public void close() {
        clients.close();
    }
}
