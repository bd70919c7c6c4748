package dev.lookback.workloads;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What a program printed and how it ended. */
public record Captured(int exit, List<String> out, String err) {
    /** A program's body with its streams. */
    @FunctionalInterface
    public interface Program {
        /** Runs it and returns the exit code. */
        int run(PrintStream out, PrintStream err) throws Exception;
    }

    /** Runs a program. */
    public static Captured of(Program program) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exit;
        try (PrintStream o = new PrintStream(out, true, StandardCharsets.UTF_8);
                PrintStream e = new PrintStream(err, true, StandardCharsets.UTF_8)) {
            exit = program.run(o, e);
        }
        return new Captured(exit, out.toString(StandardCharsets.UTF_8).lines().toList(),
                err.toString(StandardCharsets.UTF_8));
    }

    /** The last line printed. */
    public String last() {
        return out.get(out.size() - 1);
    }
}
