package dev.lookback.workloads.desktop;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.IterationCallback;
import dev.lookback.workloads.desktop.frames.Summary;
import java.awt.Rectangle;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Locale;

/**
 * The application's end of the line to its controller.
 *
 * <pre>
 * ready ITERATIONS SIZE SEED         the application, once its window can be seen
 * place NAME                         at X Y WIDTH HEIGHT   where on the screen, see {@link Places}
 * await N                            ok    once N inputs of the iteration have come and can be seen
 * still N                            ok    and nothing moves any more
 * begin K inside|outside             ok    iteration K begins; whether the application tells the callback
 * end K inside|outside               ok    it has ended
 * report K NANOS...                  ok    when each of its inputs was made; the application prints and hands on
 * quit                               ok    and the application ends
 * </pre>
 *
 * <p>Each command is answered as said, or with {@code error WHY}. An answer begins with {@link #MARK}; whatever else the
 * program or its VM writes to standard output is none.
 */
final class Bridge {
    static final String NAME = "desktop";
    /** What a line that answers begins with. */
    static final String MARK = "> ";

    private final Application application;
    private final IterationCallback callback;
    private final PrintStream out;
    private String expected;
    private String stateAtBegin = "";
    private long begun;
    private long ended;

    /**
     * A bridge into the application.
     *
     * @param expected the checksum that each iteration must have; null for that of the first
     */
    Bridge(Application application, IterationCallback callback, String expected, PrintStream out) {
        this.application = application;
        this.callback = callback;
        this.expected = expected;
        this.out = out;
    }

    /** The checksum of all iterations; null if there was none. */
    String checksum() {
        return expected;
    }

    /**
     * Answers commands until {@code quit}.
     *
     * @throws DesktopException if the controller has gone, or an iteration was not as it should be
     */
    void serve(BufferedReader commands) throws IOException, InterruptedException {
        for (String line; (line = commands.readLine()) != null; ) {
            if (line.equals("quit")) {
                answer("ok");
                return;
            }
            try {
                answer(obey(line.split(" ")));
            } catch (DesktopException e) {
                answer("error " + e.getMessage());
                throw e;
            }
        }
        throw new DesktopException("the controller is not there or has ended before its script; start the program by"
                + " desktop.sh");
    }

    /** Sends an answer. */
    void answer(String text) {
        out.println(MARK + text);
        out.flush();
    }

    private String obey(String[] words) throws InterruptedException {
        switch (words[0]) {
            case "place" -> {
                return place(words[1]);
            }
            case "await" -> await(Integer.parseInt(words[1]), false);
            case "still" -> await(Integer.parseInt(words[1]), true);
            case "begin" -> begin(Integer.parseInt(words[1]), words[2].equals("inside"));
            case "end" -> end(Integer.parseInt(words[1]), words[2].equals("inside"));
            case "report" -> report(Integer.parseInt(words[1]),
                    Arrays.stream(words).skip(2).mapToLong(Long::parseLong).toArray());
            default -> throw new DesktopException("there is no command '" + words[0] + "'");
        }
        return "ok";
    }

    private String place(String name) throws InterruptedException {
        Rectangle at = application.place(name).orElseThrow(
                () -> new DesktopException("nothing that can be seen is called '" + name + "'"));
        return "at " + at.x + " " + at.y + " " + at.width + " " + at.height;
    }

    private void await(int inputs, boolean still) throws InterruptedException {
        try {
            application.await(inputs, still);
        } catch (IllegalStateException e) {
            throw new DesktopException(e.getMessage(), e);
        }
    }

    private void begin(int iteration, boolean tell) throws InterruptedException {
        stateAtBegin = application.clear();
        begun = System.nanoTime();
        if (tell) {
            callback.begin(NAME, iteration);
        }
    }

    private void end(int iteration, boolean tell) {
        if (tell) {
            callback.end(NAME, iteration);
        }
        ended = System.nanoTime();
    }

    private void report(int iteration, long[] made) throws InterruptedException {
        Application.Pass pass;
        try {
            pass = application.pass(made);
        } catch (IllegalStateException e) {
            throw new DesktopException("iteration " + iteration + ": " + e.getMessage(), e);
        }
        out.printf(Locale.ROOT, "iteration %d %s %.1f ms%n", iteration, NAME, (ended - begun) / 1e6);
        out.printf(Locale.ROOT, "frames %d %s janky %.1f %%%n", iteration, Summary.of(pass.frames()),
                Summary.percentSet(pass.late()));
        out.println("inputs " + iteration + " " + Summary.of(pass.inputs()));
        out.println("work " + iteration + " " + pass.counts());
        callback.series(NAME, iteration, "frame_ns", pass.frames());
        callback.series(NAME, iteration, "frame_late", pass.late());
        callback.series(NAME, iteration, "input_ns", pass.inputs());
        if (!pass.state().equals(stateAtBegin)) {
            throw new DesktopException("iteration " + iteration + " ended with " + pass.state() + ", it began with "
                    + stateAtBegin);
        }
        String checksum = Checksum.hex(pass.checksum());
        if (expected == null) {
            expected = checksum;
        }
        if (!checksum.equals(expected)) {
            throw new DesktopException("checksum of " + NAME + " differs: iteration " + iteration + " computed "
                    + checksum + ", expected " + expected);
        }
    }
}
