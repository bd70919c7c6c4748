package dev.lookback.workloads.desktop;

import dev.lookback.workloads.IterationCallback;
import dev.lookback.workloads.IterationCallbacks;
import dev.lookback.workloads.Options;
import dev.lookback.workloads.OutOfMemory;
import dev.lookback.workloads.UsageException;
import dev.lookback.workloads.desktop.frames.FrameClock;
import dev.lookback.workloads.desktop.mail.ArchiveWriter;
import java.awt.AWTError;
import java.awt.HeadlessException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/**
 * The application: {@code desktop.sh -- java ... desktop.Main [--iterations N] [--size small|default]}.
 *
 * <p>Commands come on standard input; their answers go to standard output among the rest, marked ({@link Bridge}). The
 * {@link Controller}, which starts this program, keeps the answers and passes on the rest, one line a fact:
 * <pre>
 * iteration K desktop MS ms
 * frames K count N p50 MS ms p90 MS ms p99 MS ms max MS ms janky P %
 * inputs K count N p50 MS ms p90 MS ms p99 MS ms max MS ms
 * work K opened N searches N edits N
 * checksum desktop HEX
 * </pre>
 * Exit codes: 0 done; 1 failed, or a checksum that differs; 2 wrong option; 3 the heap is too small.
 */
public final class Main {
    private static final String USAGE = """
            examples:
              desktop.sh -- java -cp 'target/lookback-workloads.jar:target/lib/*' \\
                  dev.lookback.workloads.desktop.Main --iterations 3

            options:
              --iterations N         how often the script is played (default 5)
              --size small|default   small is about a tenth, for tests
              --seed N               of the letters and the script (default 1)
              --hertz N              frames a second (default 60)
              --callback CLASS       tell this IterationCallback of every iteration
              --expect-checksum HEX  fail unless every iteration has this checksum
            """;
    private static final int MESSAGES = 20_000;
    private static final int MESSAGES_SMALL = 2_000;

    private Main() {
    }

    /** The program; see the class description. */
    public static void main(String[] args) {
        OutOfMemory outOfMemory = new OutOfMemory(Bridge.NAME);
        outOfMemory.endWithAnyThread();
        try {
            int exit = outOfMemory.exit(run(args, System.out, System.err));
            if (exit != OutOfMemory.EXIT) {
                System.exit(exit);
            }
        } catch (OutOfMemoryError e) {
            outOfMemory.halt();
        }
        // A hook could wait for a thread that has died.
        Runtime.getRuntime().halt(OutOfMemory.EXIT);
    }

    private static int run(String[] args, PrintStream out, PrintStream err) {
        if (args.length > 0 && args[0].equals("--help")) {
            out.print(USAGE);
            return 0;
        }
        try {
            Options options = Options.parse(args, 0,
                    Set.of("iterations", "size", "seed", "hertz", "callback", "expect-checksum"), Set.of());
            play(options, out);
            return 0;
        } catch (UsageException e) {
            err.println(e.getMessage());
            return 2;
        } catch (HeadlessException | AWTError | LinkageError e) {
            if (OutOfMemory.caused(e)) {
                throw new OutOfMemoryError();
            }
            err.println("the window cannot be opened: " + e
                    + "; start it by desktop.sh, with a JDK that has AWT for X11 (Debian: openjdk-17-jre, not"
                    + " only openjdk-17-jre-headless) and a font (fonts-dejavu-core)");
            return 1;
        } catch (DesktopException e) {
            err.println("workload " + Bridge.NAME + " failed: " + e.getMessage());
            return 1;
        } catch (IOException | InterruptedException | RuntimeException e) {
            if (OutOfMemory.caused(e)) {
                throw new OutOfMemoryError();
            }
            err.println("workload " + Bridge.NAME + " failed: " + e);
            e.printStackTrace(err);
            return 1;
        }
    }

    private static void play(Options options, PrintStream out) throws IOException, InterruptedException {
        String size = options.text("size", "default");
        if (!size.equals("small") && !size.equals("default")) {
            throw new UsageException("--size must be small or default, not '" + size + "'");
        }
        int iterations = options.count("iterations", 5, 1);
        long seed = options.number("seed", 1, 0);
        IterationCallback callback = options.has("callback")
                ? IterationCallbacks.load(options.text("callback", null)) : IterationCallbacks.NONE;
        FrameClock clock = FrameClock.ofHertz(options.count("hertz", 60, 1));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Application application =
                Application.open(clock, ArchiveWriter.write(seed, size.equals("small") ? MESSAGES_SMALL : MESSAGES));
        Bridge bridge = new Bridge(application, callback, options.text("expect-checksum", null), out);
        bridge.answer("ready " + iterations + " " + size + " " + seed);
        bridge.serve(commands);
        out.println("checksum " + Bridge.NAME + " " + bridge.checksum());
    }
}
