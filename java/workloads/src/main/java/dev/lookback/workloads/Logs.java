package dev.lookback.workloads;

import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Keeps the libraries' own logging off the output, which other programs read line by line. */
public final class Logs {
    /** Held for ever: java.util.logging forgets the level of a logger that nobody refers to. */
    private static final List<Logger> QUIETED = List.of(
            Logger.getLogger("org.apache"), Logger.getLogger("net.sourceforge.pmd"), Logger.getLogger("org.hibernate"));

    private Logs() {
    }

    /** Lets only errors through. */
    public static void quiet() {
        for (Logger logger : QUIETED) {
            logger.setLevel(Level.SEVERE);
        }
    }
}
