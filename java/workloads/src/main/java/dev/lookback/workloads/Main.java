package dev.lookback.workloads;

import java.io.PrintStream;
import java.util.Locale;
import java.util.Set;

/**
 * Runs one plain workload: {@code Main NAME [--iterations N] [--size small|default] [--threads T]}.
 *
 * <p>Standard output is the whole contract, one line a fact:
 * <pre>
 * iteration K NAME MS ms
 * checksum NAME HEX
 * </pre>
 * {@code K} counts from 1, {@code MS} has one decimal, {@code HEX} has 16 digits and is the same for
 * every run of the same workload and size on the same JDK. With {@code --cpu} an iteration's line
 * ends in {@code cpu MS ms}, the CPU time of the whole process. Exit codes: 0 done; 1 unknown name,
 * failed workload, or a checksum that differs; 2 wrong option.
 */
public final class Main {
    private static final String USAGE = """
            examples:
              Main list
              Main h2 --iterations 5
              Main lucene-search --iterations 3 --size small --threads 4
              Main ecj --iterations 2 --expect-checksum 0123456789abcdef

            options:
              --iterations N         equal iterations to run (default 5)
              --size small|default   small is about a tenth, for tests
              --threads T            client threads (default: the workload's own)
              --cpu                  also print the process's CPU time per iteration
              --expect-checksum HEX  fail unless every iteration has this checksum
            """;

    private Main() {
    }

    /** The program; see the class description. */
    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    /**
     * The program without the exit, for tests.
     *
     * @return the exit code
     */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        if (args.length == 0 || args[0].equals("--help") || args[0].equals("help")) {
            out.print(USAGE);
            return 0;
        }
        if (args[0].equals("list")) {
            for (Catalog.Entry entry : Catalog.entries()) {
                out.printf(Locale.ROOT, "%-14s %s%n", entry.name(), entry.about());
            }
            return 0;
        }
        Catalog.Entry entry = Catalog.find(args[0]).orElse(null);
        if (entry == null) {
            err.println("no workload is called '" + args[0] + "'; 'list' prints the names");
            return 1;
        }
        try {
            Options options = Options.parse(args, 1,
                    Set.of("iterations", "size", "threads", "expect-checksum"), Set.of("cpu"));
            return measure(entry, options, out, err);
        } catch (UsageException e) {
            err.println(e.getMessage());
            return 2;
        } catch (Exception e) {
            err.println("workload " + entry.name() + " failed: " + e);
            e.printStackTrace(err);
            return 1;
        }
    }

    private static int measure(Catalog.Entry entry, Options options, PrintStream out, PrintStream err)
            throws Exception {
        int iterations = options.count("iterations", 5, 1);
        Settings settings = new Settings(isSmall(options.text("size", "default")), options.count("threads", 0, 1));
        String expected = options.text("expect-checksum", null);
        boolean cpu = options.has("cpu");
        Logs.quiet();
        try (Workload workload = entry.factory().create(settings)) {
            for (int k = 1; k <= iterations; k++) {
                long cpuBefore = cpu ? ProcessCpu.nanos() : 0;
                long before = System.nanoTime();
                String checksum = Checksum.hex(workload.iterate());
                double wallMs = (System.nanoTime() - before) / 1e6;
                String tail = cpu
                        ? String.format(Locale.ROOT, " cpu %.1f ms", (ProcessCpu.nanos() - cpuBefore) / 1e6) : "";
                out.printf(Locale.ROOT, "iteration %d %s %.1f ms%s%n", k, entry.name(), wallMs, tail);
                if (expected == null) {
                    expected = checksum;
                }
                if (!checksum.equals(expected)) {
                    err.println("checksum of " + entry.name() + " differs: iteration " + k + " computed " + checksum
                            + ", expected " + expected);
                    return 1;
                }
            }
        }
        out.println("checksum " + entry.name() + " " + expected);
        return 0;
    }

    private static boolean isSmall(String size) {
        return switch (size) {
            case "small" -> true;
            case "default" -> false;
            default -> throw new UsageException("--size must be small or default, not '" + size + "'");
        };
    }
}
