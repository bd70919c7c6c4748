package dev.lookback.workloads;

import dev.lookback.workloads.calltree.expect.EventSink;
import dev.lookback.workloads.calltree.expect.EventWriter;
import dev.lookback.workloads.calltree.expect.Methods;
import dev.lookback.workloads.calltree.expect.Planner;
import dev.lookback.workloads.calltree.expect.Simulator;
import dev.lookback.workloads.calltree.expect.Tape;
import dev.lookback.workloads.calltree.traced.Monitored;
import dev.lookback.workloads.calltree.traced.Root;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * A program whose call tree is exactly known: each thread plays a random but seeded tree of calls over some
 * fifty methods, and an independent simulator says what a tracer must have seen.
 *
 * <p>To be traced with the pattern {@code dev.lookback.workloads.calltree.traced.**} and nothing else. All
 * traced classes are initialised by the main thread beforehand, so the threads called {@code calltree-N}
 * show the expected events and no other. Standard output:
 * <pre>
 * thread NAME calls N events N result HEX
 * checksum calltree HEX
 * </pre>
 * Exit codes: 0 done; 1 a thread computed something else than the simulator, or the file cannot be written;
 * 2 wrong option.
 */
public final class CallTree {
    private static final String USAGE = """
            examples:
              CallTree --threads 8 --seed 7 --calls 100000
              CallTree --threads 1 --calls 2000 --expect expected.txt

            options:
              --threads T     threads, each with a tree of its own (default 1)
              --seed S        of the trees (default 1)
              --calls N       calls of each thread, about (default 100000)
              --expect FILE   write the expected events of every thread
              --super-throws  let exceptions fly through super constructors too
            """;

    private CallTree() {
    }

    /** The program; see the class description. */
    public static void main(String[] args) throws Exception {
        System.exit(run(args, System.out, System.err));
    }

    /** One thread: its tape, what it computed, and what went wrong if anything did. */
    private static final class Player {
        private final String name;
        private final Tape tape;
        private int result;
        private Throwable failure;

        Player(String name, Tape tape) {
            this.name = name;
            this.tape = tape;
        }
    }

    /** The program without the exit, for tests; returns the exit code. */
    public static int run(String[] args, PrintStream out, PrintStream err) throws Exception {
        if (args.length > 0 && args[0].equals("--help")) {
            out.print(USAGE);
            return 0;
        }
        try {
            Options options = Options.parse(args, 0, Set.of("threads", "seed", "calls", "expect"),
                    Set.of("super-throws"));
            List<Player> players = plan(options);
            play(players);
            String file = options.text("expect", null);
            if (file == null) {
                return check(players, null, out, err);
            }
            try (Writer writer = Files.newBufferedWriter(Path.of(file), StandardCharsets.UTF_8)) {
                return check(players, new EventWriter(writer), out, err);
            }
        } catch (UsageException e) {
            err.println(e.getMessage());
            return 2;
        } catch (IOException e) {
            err.println("the expected events cannot be written: " + e);
            return 1;
        }
    }

    private static List<Player> plan(Options options) throws ClassNotFoundException {
        int threads = options.count("threads", 1, 1);
        long seed = options.number("seed", 1, 0);
        int calls = options.count("calls", 100_000, 1);
        for (String name : Methods.classes()) {
            Class.forName(name, true, CallTree.class.getClassLoader());
        }
        List<Player> players = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            byte[] code = Planner.plan(Checksum.mix(seed * 1_000 + t), calls, options.has("super-throws"));
            players.add(new Player("calltree-" + t, new Tape(code, new Monitored())));
        }
        return players;
    }

    private static void play(List<Player> players) throws InterruptedException {
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (Player player : players) {
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                    player.result = Root.run(player.tape);
                } catch (InterruptedException | RuntimeException | Error e) {
                    player.failure = e;
                }
            }, player.name);
            thread.start();
            threads.add(thread);
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static int check(List<Player> players, EventWriter writer, PrintStream out, PrintStream err)
            throws IOException {
        Checksum checksum = new Checksum();
        for (Player player : players) {
            if (writer != null) {
                writer.thread(player.name);
            }
            Simulator simulator = new Simulator(player.tape.code, writer == null ? EventSink.NONE : writer);
            int expected = simulator.play();
            if (player.failure != null || player.result != expected || player.tape.pos != player.tape.code.length) {
                err.println("thread " + player.name + " computed " + Integer.toHexString(player.result) + ", not "
                        + Integer.toHexString(expected) + ", and stopped at decision " + player.tape.pos + " of "
                        + player.tape.code.length + (player.failure == null ? "" : ": " + player.failure));
                return 1;
            }
            out.println("thread " + player.name + " calls " + simulator.events() / 2 + " events " + simulator.events()
                    + " result " + String.format("%08x", expected));
            checksum.add(expected).add(simulator.events());
        }
        out.println("checksum calltree " + Checksum.hex(checksum.value()));
        return 0;
    }
}
