package dev.lookback.workloads;

import dev.lookback.workloads.tracepoint.Listing1Timer;
import java.io.PrintStream;
import java.util.Set;

/**
 * Times the method of Hubble's Listing 1 (OSDI'22, section 8.1), bare, traced or with its own clock reads:
 * the cost of a trace point is half of what a call costs more with a tracer than without, at work 0.
 *
 * <p>Standard output, per work value and variant: warm-up until three rounds lie within 5 %, then one line
 * a round and a summary:
 * <pre>
 * work W ns_per_call X cpu_ns_per_call X round K variant V clean N of N
 * summary work W variant V median X min X cpu_median X stable true digest HEX
 * </pre>
 * {@code ns_per_call} is the median over bursts without a context switch. Every level of the recursion is a
 * call. Exit codes: 0 done; 2 wrong option.
 */
public final class TracePointBench {
    private static final String USAGE = """
            examples:
              TracePointBench
              TracePointBench --work 0 --variant nanotime
              TracePointBench --work 0,1,10,100,1000 --calls 200000000 --rounds 10

            options:
              --work LIST   values of the work parameter (default 0,1,10,100,1000)
              --calls N     calls a round at work 0; fewer at more work, by its cost (default 50000000)
              --rounds R    measured rounds (default 10)
              --variant V   plain (default), nanotime or both
            """;

    private TracePointBench() {
    }

    /** The program; see the class description. */
    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    /** The program without the exit, for tests; returns the exit code. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        if (args.length > 0 && args[0].equals("--help")) {
            out.print(USAGE);
            return 0;
        }
        try {
            Options options = Options.parse(args, 0, Set.of("work", "calls", "rounds", "variant"), Set.of());
            long calls = options.number("calls", 50_000_000, 1_000);
            int rounds = options.count("rounds", 10, 1);
            String variant = options.text("variant", "plain");
            if (!Set.of("plain", "nanotime", "both").contains(variant)) {
                throw new UsageException("--variant must be plain, nanotime or both, not '" + variant + "'");
            }
            for (String text : options.text("work", "0,1,10,100,1000").split(",")) {
                int work = parseWork(text);
                if (!variant.equals("nanotime")) {
                    Listing1Timer.plain(work, calls, rounds, out).run();
                }
                if (!variant.equals("plain")) {
                    Listing1Timer.withNanoTime(work, calls, rounds, out).run();
                }
            }
            return 0;
        } catch (UsageException e) {
            err.println(e.getMessage());
            return 2;
        }
    }

    private static int parseWork(String text) {
        try {
            int work = Integer.parseInt(text.trim());
            if (work >= 0) {
                return work;
            }
        } catch (NumberFormatException e) {
            // Falls through to the same message.
        }
        throw new UsageException("--work must be whole numbers with commas between, not '" + text + "'");
    }
}
