package dev.lookback.probe;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * {@code -javaagent:lookback-probe.jar=out=FILE[,clock=off]}: puts a probe into every method that Lookback would trace
 * without a budget, and writes at the program's end which of them ran.
 *
 * <p>The file has a line a method that ran: calls, nanoseconds, class, method, descriptor, separated by tabs. With
 * {@code clock=off} a probe only notes that its method runs, which is cheap; calls are then 1 and nanoseconds 0.
 *
 * <p>The counters are plain: what two threads add at the same moment may be lost. That makes the probe cheaper than an exact
 * one, and whoever is compared with it has the harder part.
 */
public final class Agent {
    private Agent() {
    }

    /** Called by the VM before the program's main method. */
    public static void premain(String options, Instrumentation instrumentation) {
        String out = null;
        boolean clock = true;
        for (String option : (options == null ? "" : options).split(",")) {
            if (option.startsWith("out=")) {
                out = option.substring("out=".length());
            } else if (option.equals("clock=off")) {
                clock = false;
            } else {
                throw new IllegalArgumentException("the probe knows out=FILE and clock=off, not '" + option + "'");
            }
        }
        if (out == null) {
            throw new IllegalArgumentException("the probe needs out=FILE");
        }
        Methods methods = new Methods(Counters.MOST);
        instrumentation.addTransformer(new Transformer(methods, clock));
        Path file = Path.of(out);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> write(methods, file), "probe-end"));
    }

    private static void write(Methods methods, Path file) {
        try (PrintStream lines = new PrintStream(file.toFile(), StandardCharsets.UTF_8)) {
            methods.each((id, method) -> {
                long calls = Counters.CALLS[id];
                if (calls > 0) {
                    lines.print(calls + "\t" + Counters.NANOS[id] + "\t" + method + "\n");
                }
            });
        } catch (IOException e) {
            System.err.println("the probe's file cannot be written: " + e);
        }
    }
}
