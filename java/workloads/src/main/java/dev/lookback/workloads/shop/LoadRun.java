package dev.lookback.workloads.shop;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends a {@link LoadPlan} to a shop on the loopback address.
 *
 * <p>Request {@code i} is due at {@code i / rate}. A client that comes late because its last request was
 * slow catches up at once, as impatient customers do; latency is measured from sending to the last byte of
 * the answer. The number of requests is fixed beforehand; what is not sent {@link #GRACE} after the planned
 * end is given up and reported.
 */
final class LoadRun {
    /** Longer than any stall that the shop has by design. */
    private static final Duration GRACE = Duration.ofSeconds(30);
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    /** From here on a request is printed as slow. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    private final String base;
    private final LoadPlan plan;
    private final int seconds;
    private final int rate;
    private final int clients;
    private final PrintStream out;
    private final LoadReport report = new LoadReport();
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(TIMEOUT)
            .build();

    LoadRun(int port, LoadPlan plan, int seconds, int rate, int clients, PrintStream out) {
        this.base = "http://127.0.0.1:" + port;
        this.plan = plan;
        this.seconds = seconds;
        this.rate = rate;
        this.clients = clients;
        this.out = out;
    }

    /** Sends everything and returns what came of it. */
    LoadReport execute() throws Exception {
        int requests = Math.multiplyExact(seconds, rate);
        long start = System.nanoTime();
        long end = start + TimeUnit.SECONDS.toNanos(seconds) + GRACE.toNanos();
        try (Clients threads = new Clients("load-client", clients)) {
            long checksum = threads.run(requests, (first, step, count) -> client(start, end, first, step, count));
            report.finish(requests, checksum, System.nanoTime() - start);
        }
        return report;
    }

    private long client(long start, long end, int first, int step, int count) throws InterruptedException {
        long sum = 0;
        for (int i = first; i < count; i += step) {
            long due = start + i * TimeUnit.SECONDS.toNanos(1) / rate;
            for (long wait; (wait = due - System.nanoTime()) > 0; ) {
                LockSupport.parkNanos(wait);
            }
            if (System.nanoTime() - end > 0) {
                break;
            }
            sum += send(i);
        }
        return sum;
    }

    private long send(int i) throws InterruptedException {
        LoadPlan.Request request = plan.request(i);
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(base + request.target())).timeout(TIMEOUT);
        if (request.body() != null) {
            builder.header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(request.body(), StandardCharsets.UTF_8));
        }
        long before = System.nanoTime();
        try {
            HttpResponse<byte[]> response = http.send(builder.build(), HttpResponse.BodyHandlers.ofByteArray());
            long nanos = System.nanoTime() - before;
            boolean slow = nanos > SLOW_NANOS;
            if (slow) {
                out.println("slow: " + request.kind().label() + " " + nanos / 1_000_000 + " ms");
            }
            report.answered(request.kind(), nanos, response.statusCode() / 100 == 2, slow);
            return request.kind().repeatable()
                    ? new Checksum().add(i).add(response.statusCode()).add(response.body()).value() : 0;
        } catch (IOException e) {
            report.failed(request.kind(), e);
            return 0;
        }
    }
}
