import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;

/**
 * What a JFR event of two longs costs: {@code JfrCost NAME ROUNDS}.
 *
 * <p>The constraint: figures are compared with the ring's, so bursts count by the rules of its benchmark: no thread
 * switched out, and two threads' windows overlapping by 80 %. JFR reads its clock itself, and the event has neither
 * duration nor stack trace: JFR at its cheapest. Must not write a recording to disk.
 */
final class JfrCost {
    private static final int EVENTS = 10_000;
    private static final int WARM_UP = 30;
    private static final AtomicInteger ARRIVED = new AtomicInteger();

    @Name("lookback.Cost")
    @StackTrace(false)
    static final class TwoLongs extends Event {
        long a;
        long b;
    }

    private record Burst(long start, long end, boolean clean) {
        double nanos() {
            return end - start;
        }
    }

    private static void event(long number) {
        TwoLongs event = new TwoLongs();
        event.a = number;
        event.b = number;
        event.commit();
    }

    /** Context switches of this thread so far. */
    private static long switches() throws IOException {
        long sum = 0;
        for (String line : Files.readAllLines(Path.of("/proc/thread-self/status"))) {
            if (line.contains("ctxt_switches")) {
                sum += Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
            }
        }
        return sum;
    }

    private static void bursts(Burst[] bursts, CyclicBarrier gate) {
        try {
            for (int round = 0; round < bursts.length; round++) {
                gate.await();
                // The barrier sleeps; the last steps together are spun.
                ARRIVED.incrementAndGet();
                while (ARRIVED.get() < (round + 1) * gate.getParties()) {
                    Thread.onSpinWait();
                }
                long before = switches();
                long start = System.nanoTime();
                for (int i = 0; i < EVENTS; i++) {
                    event(i);
                }
                long end = System.nanoTime();
                bursts[round] = new Burst(start, end, switches() == before);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void measure(String name, int threads, int rounds) throws InterruptedException {
        ARRIVED.set(0);
        Burst[][] all = new Burst[threads][WARM_UP + rounds];
        CyclicBarrier gate = new CyclicBarrier(threads);
        List<Thread> writers = new ArrayList<>();
        for (Burst[] bursts : all) {
            Thread writer = new Thread(() -> bursts(bursts, gate));
            writer.start();
            writers.add(writer);
        }
        for (Thread writer : writers) {
            writer.join();
        }
        List<Double> kept = new ArrayList<>();
        for (int round = WARM_UP; round < WARM_UP + rounds; round++) {
            Burst a = all[0][round];
            Burst b = all[threads - 1][round];
            double overlap = Math.min(a.end, b.end) - Math.max(a.start, b.start);
            if (a.clean && b.clean && overlap >= 0.8 * Math.max(a.nanos(), b.nanos())) {
                kept.add((a.nanos() + b.nanos()) / 2 / EVENTS);
            }
        }
        kept.sort(null);
        String figure = name + "." + threads + "t.2longs";
        if (kept.isEmpty()) {
            System.out.println("# " + figure + ": no clean burst of " + rounds);
            return;
        }
        System.out.printf("result %s %.2f ns (lower quartile %.2f, %d of %d bursts kept)%n", figure,
                kept.get(kept.size() / 2), kept.get(kept.size() / 4), kept.size(), rounds);
    }

    /** Nanoseconds of single events, by System.nanoTime on both sides, which alone shows as 20 to 30 ns. */
    private static double[] single(int events) {
        double[] took = new double[events];
        for (int i = 0; i < events; i++) {
            long start = System.nanoTime();
            event(i);
            took[i] = System.nanoTime() - start;
        }
        return took;
    }

    private static void latency(String name, int events) {
        // The first time is for the compiler.
        single(events);
        double[] took = single(events);
        double logarithms = Arrays.stream(took).map(nanos -> Math.log(Math.max(nanos, 1))).sum();
        Arrays.sort(took);
        String figure = name + ".1t.2longs";
        double[] parts = {0.5, 0.99, 0.999};
        String[] names = {"p50", "p99", "p99.9"};
        for (int i = 0; i < parts.length; i++) {
            System.out.printf("result %s.%s %.0f ns%n", figure, names[i], took[(int) (events * parts[i])]);
        }
        System.out.printf("result %s.gm %.1f ns%nlatency %s", figure, Math.exp(logarithms / events), figure);
        for (int i = 0; i < 200; i++) {
            System.out.printf(" %.0f", took[events / 200 * i]);
        }
        System.out.println();
    }

    public static void main(String[] arguments) throws InterruptedException {
        String name = arguments[0];
        int rounds = Integer.parseInt(arguments[1]);
        try (Recording recording = new Recording()) {
            recording.setToDisk(false);
            recording.enable("lookback.Cost");
            recording.start();
            measure(name, 1, rounds);
            measure(name, 2, rounds);
            latency(name, rounds * 1_000);
        }
    }

    private JfrCost() {}
}
