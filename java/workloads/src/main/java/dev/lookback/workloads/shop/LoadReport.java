package dev.lookback.workloads.shop;

import dev.lookback.workloads.Checksum;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Latencies, errors and the checksum of one load run. Safe for many clients; few enough requests for a lock. */
final class LoadReport {
    private final Map<LoadPlan.Kind, List<Long>> nanos = new EnumMap<>(LoadPlan.Kind.class);
    private int planned;
    private int errors;
    private int slow;
    private String firstError;
    private long checksum;
    private long elapsed;

    synchronized void answered(LoadPlan.Kind kind, long latency, boolean ok, boolean wasSlow) {
        nanos.computeIfAbsent(kind, k -> new ArrayList<>()).add(latency);
        if (wasSlow) {
            slow++;
        }
        if (!ok) {
            error(kind.label() + " was refused");
        }
    }

    synchronized void failed(LoadPlan.Kind kind, IOException e) {
        error(kind.label() + ": " + e);
    }

    private void error(String what) {
        errors++;
        if (firstError == null) {
            firstError = what;
        }
    }

    synchronized void finish(int plannedRequests, long sum, long elapsedNanos) {
        planned = plannedRequests;
        checksum = sum;
        elapsed = elapsedNanos;
    }

    /** True when every planned request was answered well. */
    synchronized boolean complete() {
        return errors == 0 && answers() == planned;
    }

    synchronized long checksum() {
        return checksum;
    }

    private int answers() {
        return nanos.values().stream().mapToInt(List::size).sum();
    }

    synchronized void print(PrintStream out) {
        nanos.forEach((kind, latencies) -> {
            Collections.sort(latencies);
            out.printf(Locale.ROOT, "%s requests %d p50 %.1f ms p99 %.1f ms max %.1f ms%n", kind.label(),
                    latencies.size(), quantile(latencies, 0.5), quantile(latencies, 0.99), quantile(latencies, 1));
        });
        if (firstError != null) {
            out.println("first error: " + firstError);
        }
        if (answers() + errors < planned) {
            out.println("gave up " + (planned - answers() - errors) + " requests: out of time");
        }
        out.printf(Locale.ROOT, "requests %d errors %d slow %d seconds %.1f%n", answers(), errors, slow, elapsed / 1e9);
        out.println("checksum load " + Checksum.hex(checksum));
    }

    /** In milliseconds, by nearest rank. */
    private static double quantile(List<Long> sorted, double q) {
        int rank = (int) Math.ceil(q * sorted.size());
        return sorted.get(Math.max(0, rank - 1)) / 1e6;
    }
}
