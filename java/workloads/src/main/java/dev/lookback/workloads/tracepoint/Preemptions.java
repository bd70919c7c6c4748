package dev.lookback.workloads.tracepoint;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Counts how often the calling thread lost its processor, from {@code /proc/thread-self/status} (Linux).
 *
 * <p>A burst of calls that was interrupted says nothing about the cost of a call; elsewhere than on Linux
 * every burst counts as undisturbed.
 */
final class Preemptions {
    private static final Path STATUS = Path.of("/proc/thread-self/status");

    private Preemptions() {
    }

    /** Voluntary and involuntary context switches of this thread so far, or 0 where that is not known. */
    static long count() {
        try {
            long sum = 0;
            for (String line : Files.readString(STATUS, StandardCharsets.US_ASCII).split("\n")) {
                if (line.contains("ctxt_switches:")) {
                    sum += Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
                }
            }
            return sum;
        } catch (IOException e) {
            return 0;
        }
    }
}
