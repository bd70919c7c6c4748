// What an event of the public API costs: bursts of them, timed as a whole.
//
// The constraint: the machine is shared. A burst is about a tenth of a scheduler's time slice, and only bursts in
// which the thread lost its processor at no time count; a round's figure is their median.

import dev.lookback.api.Lookback;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/** Usage: ApiBench ROUNDS: prints `kind NS` a round and kind, nanoseconds an event (a span is two). */
final class ApiBench {
    private static final Lookback.Span SPAN = Lookback.span("bench", "span");
    private static final Lookback.Instant INSTANT = Lookback.instant("bench", "instant");
    private static final int BURSTS = 400;
    private static final int TURNS = 5_000;

    private static long work;

    private ApiBench() {}

    /** So many turns of a loop. */
    private interface Kind {
        void turns(int n);
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (int round = 0; round < rounds; round++) {
            // The loop without an event is what the others' figures contain besides.
            double empty = burst(ApiBench::empty);
            print("span", (burst(ApiBench::spans) - empty) / 2);
            print("instant", burst(ApiBench::instants) - empty);
            print("instant2", burst(ApiBench::instantsWithValues) - empty);
            print("nanotime", burst(ApiBench::clock) - empty);
            print("empty", empty);
        }
        if (work == 0) {
            throw new AssertionError("nothing was done");
        }
    }

    private static void print(String kind, double nanos) {
        System.out.printf(Locale.ROOT, "%s %.3f%n", kind, nanos);
    }

    private static void empty(int n) {
        for (int i = 0; i < n; i++) {
            work += i ^ work >>> 3;
        }
    }

    private static void clock(int n) {
        for (int i = 0; i < n; i++) {
            work += System.nanoTime() ^ work >>> 3;
        }
    }

    private static void spans(int n) {
        for (int i = 0; i < n; i++) {
            try (Lookback.Open s = SPAN.begin()) {
                work += i ^ work >>> 3;
            }
        }
    }

    private static void instants(int n) {
        for (int i = 0; i < n; i++) {
            INSTANT.record();
            work += i ^ work >>> 3;
        }
    }

    private static void instantsWithValues(int n) {
        for (int i = 0; i < n; i++) {
            INSTANT.record(i, n);
            work += i ^ work >>> 3;
        }
    }

    /** The median over clean bursts, nanoseconds a turn. */
    private static double burst(Kind kind) {
        double[] clean = new double[BURSTS];
        double[] all = new double[BURSTS];
        int n = 0;
        for (int i = 0; i < BURSTS; i++) {
            long switches = switches();
            long before = System.nanoTime();
            kind.turns(TURNS);
            all[i] = (double) (System.nanoTime() - before) / TURNS;
            if (switches() == switches) {
                clean[n++] = all[i];
            }
        }
        double[] used = n > 0 ? Arrays.copyOf(clean, n) : all;
        Arrays.sort(used);
        return used[used.length / 2];
    }

    /** How often this thread lost its processor so far; 0 where that is not known. */
    private static long switches() {
        try {
            return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                    .filter(line -> line.contains("ctxt_switches:"))
                    .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
                    .sum();
        } catch (IOException e) {
            return 0;
        }
    }
}
