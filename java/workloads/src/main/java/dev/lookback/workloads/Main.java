package dev.lookback.workloads;

import java.io.PrintStream;
import java.util.HashSet;
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
 * ends in {@code cpu MS ms}, the CPU time of the whole process. A workload that measures itself adds
 * {@code known K FACT NUMBER ...} after its iteration. Exit codes: 0 done; 1 unknown name,
 * failed workload, or a checksum that differs; 2 wrong option; 3 the heap is too small.
 */
public final class Main {
    private static final String USAGE = """
            examples:
              Main list
              Main h2 --iterations 5
              Main lucene-search --iterations 3 --size small --threads 4
              Main ecj --iterations 2 --expect-checksum 0123456789abcdef
              Main steady --extra-percent 2.5

            options:
              --iterations N         equal iterations to run (default 5)
              --size small|default   small is about a tenth, for tests
              --threads T            client threads (default: the workload's own)
              --cpu                  also print the process's CPU time per iteration
              --expect-checksum HEX  fail unless every iteration has this checksum
              --callback CLASS       tell this IterationCallback of every iteration

            options of single workloads:
              --extra-percent P      steady: do P % more work, a multiple of 0.01 (default 0)
              --live-mb MB           known-gc: live objects (default 64)
              --collections N        known-gc: garbage collections an iteration (default 8)
            """;
    private static final Set<String> COMMON =
            Set.of("iterations", "size", "threads", "expect-checksum", "callback");

    private Main() {
    }

    /** The program; see the class description. */
    public static void main(String[] args) {
        OutOfMemory outOfMemory = new OutOfMemory(args.length > 0 ? args[0] : "");
        outOfMemory.endWithAnyThread();
        try {
            int exit = outOfMemory.exit(run(args, System.out, System.err));
            if (exit != OutOfMemory.EXIT) {
                System.exit(exit);
            }
            // The message is out; a shutdown hook could wait for a thread that has died.
            Runtime.getRuntime().halt(exit);
        } catch (OutOfMemoryError e) {
            // There was not even enough for the message.
            outOfMemory.halt();
        }
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
        OutOfMemory outOfMemory = new OutOfMemory(entry.name());
        try {
            Set<String> known = new HashSet<>(COMMON);
            known.addAll(entry.options());
            return measure(entry, Options.parse(args, 1, known, Set.of("cpu")), out, err);
        } catch (UsageException e) {
            err.println(e.getMessage());
            return 2;
        } catch (Exception | Error e) {
            if (OutOfMemory.caused(e)) {
                outOfMemory.print(err);
                return OutOfMemory.EXIT;
            }
            err.println("workload " + entry.name() + " failed: " + e);
            e.printStackTrace(err);
            return 1;
        }
    }

    private static int measure(Catalog.Entry entry, Options options, PrintStream out, PrintStream err)
            throws Exception {
        int iterations = options.count("iterations", 5, 1);
        String expected = options.text("expect-checksum", null);
        boolean cpu = options.has("cpu");
        IterationCallback callback = options.has("callback")
                ? IterationCallbacks.load(options.text("callback", null)) : null;
        Settings settings = new Settings(isSmall(options.text("size", "default")), options.count("threads", 0, 1),
                callback != null, options);
        Logs.quiet();
        try (Workload workload = entry.factory().create(settings)) {
            for (int k = 1; k <= iterations; k++) {
                long cpuBefore = cpu ? ProcessCpu.nanos() : 0;
                long before = System.nanoTime();
                long result = callback == null ? workload.iterate() : iterate(workload, callback, entry.name(), k);
                double wallMs = (System.nanoTime() - before) / 1e6;
                String tail = cpu
                        ? String.format(Locale.ROOT, " cpu %.1f ms", (ProcessCpu.nanos() - cpuBefore) / 1e6) : "";
                out.printf(Locale.ROOT, "iteration %d %s %.1f ms%s%n", k, entry.name(), wallMs, tail);
                if (!workload.known().isEmpty()) {
                    out.println("known " + k + " " + workload.known());
                }
                String checksum = Checksum.hex(result);
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

    private static long iterate(Workload workload, IterationCallback callback, String name, int k) throws Exception {
        callback.begin(name, k);
        long result = workload.iterate();
        callback.end(name, k);
        Requests requests = workload.requests();
        if (requests.recorded()) {
            callback.requests(name, k, requests.starts(), requests.ends());
        }
        return result;
    }

    private static boolean isSmall(String size) {
        return switch (size) {
            case "small" -> true;
            case "default" -> false;
            default -> throw new UsageException("--size must be small or default, not '" + size + "'");
        };
    }
}
