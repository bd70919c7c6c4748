package dev.lookback.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a callback is told of a run, and what becomes of a class that is none. */
class CallbackTest {
    /** What happened, in order; filled by the callback that the program makes itself. */
    private static final List<String> EVENTS = new ArrayList<>();
    private static long began;
    private static long ended;

    /** Notes what it is told. */
    public static final class Recorder implements IterationCallback {
        @Override
        public void begin(String workload, int iteration) {
            EVENTS.add("begin " + workload + " " + iteration);
            began = System.nanoTime();
        }

        @Override
        public void end(String workload, int iteration) {
            ended = System.nanoTime();
            EVENTS.add("end " + workload + " " + iteration);
        }

        @Override
        public void requests(String workload, int iteration, long[] starts, long[] ends) {
            assertEquals(starts.length, ends.length);
            for (int i = 0; i < starts.length; i++) {
                assertTrue(began <= starts[i] && starts[i] <= ends[i] && ends[i] <= ended, "request " + i);
            }
            EVENTS.add("requests " + workload + " " + iteration + ": " + starts.length);
        }
    }

    /** Does not take part. */
    public static final class Unwilling implements IterationCallback {
        /** Fails. */
        public Unwilling() {
            throw new IllegalStateException("not today");
        }

        @Override
        public void begin(String workload, int iteration) {
        }

        @Override
        public void end(String workload, int iteration) {
        }
    }

    @BeforeEach
    void forget() {
        EVENTS.clear();
    }

    private static Captured run(String workload, String callback, String... more) throws Exception {
        List<String> args = new ArrayList<>(List.of(workload, "--size", "small", "--callback", callback));
        args.addAll(List.of(more));
        return Captured.of((out, err) -> Main.run(args.toArray(String[]::new), out, err));
    }

    @Test
    void everyIterationBeginsAndEnds() throws Exception {
        Captured run = run("steady", Recorder.class.getName(), "--iterations", "2");
        assertEquals(0, run.exit(), run.err());
        assertEquals(List.of("begin steady 1", "end steady 1", "begin steady 2", "end steady 2"), EVENTS);
    }

    @ParameterizedTest
    @CsvSource({"h2, 1600", "lucene-search, 150", "hibernate, 150", "tomcat, 400", "activemq, 400", "threads, 600"})
    void everyRequestOfAnIterationLiesInsideIt(String workload, int count) throws Exception {
        Captured run = run(workload, Recorder.class.getName(), "--iterations", "1");
        assertEquals(0, run.exit(), run.err());
        assertEquals(List.of("begin " + workload + " 1", "end " + workload + " 1",
                "requests " + workload + " 1: " + count), EVENTS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"no.such.Callback", "java.lang.String", "dev.lookback.workloads.IterationCallback",
        "dev.lookback.workloads.CallbackTest$Unwilling"})
    void anythingElseIsRefusedByName(String name) throws Exception {
        Captured run = run("steady", name);
        assertEquals(2, run.exit());
        assertTrue(run.err().startsWith("--callback: ") && run.err().contains(name), run.err());
    }
}
