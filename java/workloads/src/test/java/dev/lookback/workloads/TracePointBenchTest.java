package dev.lookback.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.lookback.workloads.tracepoint.Listing1;
import dev.lookback.workloads.tracepoint.Listing1NanoTime;
import org.junit.jupiter.api.Test;

/** The listing computes what the paper's program computes, and the benchmark prints its lines. */
class TracePointBenchTest {
    private static long reference(int depth, int work, long start) {
        long sum = start;
        for (int level = 0; level < depth; level++) {
            for (int i = 0; i < work; i++) {
                sum = sum * (i - 1) / (i + 2);
            }
        }
        return sum;
    }

    @Test
    void bothVariantsComputeTheListing() {
        for (int work : new int[] {0, 1, 10}) {
            for (long start : new long[] {1, 1_000_003, -5}) {
                assertEquals(reference(10, work, start), new Listing1().test(10, work, start));
                assertEquals(reference(10, work, start), new Listing1NanoTime().test(10, work, start));
            }
        }
    }

    @Test
    void printsRoundsAndSummary() throws Exception {
        Captured run = Captured.of((out, err) -> TracePointBench.run(
                new String[] {"--work", "0,10", "--calls", "2000", "--rounds", "2", "--variant", "both"}, out, err));
        assertEquals(0, run.exit(), run.err());
        assertEquals(12, run.out().size());
        assertTrue(run.out().get(0).matches("work 0 ns_per_call \\d+\\.\\d+ cpu_ns_per_call \\d+\\.\\d+ round 1"
                + " variant plain clean \\d+ of \\d+"), run.out().get(0));
        assertTrue(run.last().startsWith("summary work 10 variant nanotime median "), run.last());
    }

    @Test
    void wrongOptionsAreRefused() throws Exception {
        assertEquals(2, Captured.of((o, e) -> TracePointBench.run(new String[] {"--work", "x"}, o, e)).exit());
        assertEquals(2, Captured.of((o, e) -> TracePointBench.run(new String[] {"--variant", "x"}, o, e)).exit());
    }
}
