package dev.lookback.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The command line, and every plain workload at its small size. */
class MainTest {
    private static Captured main(String... args) throws Exception {
        return Captured.of((out, err) -> Main.run(args, out, err));
    }

    static Stream<String> names() {
        return Catalog.entries().stream().map(Catalog.Entry::name);
    }

    @ParameterizedTest
    @MethodSource("names")
    void twoIterationsAgreeAndSoDoesAnotherNumberOfThreads(String name) throws Exception {
        Captured first = main(name, "--iterations", "2", "--size", "small");
        assertEquals(0, first.exit(), first.err());
        assertEquals(2, first.out().stream().filter(line -> line.startsWith("iteration ")).count());
        assertTrue(first.out().get(0).matches("iteration 1 " + name + " \\d+\\.\\d ms"), first.out().get(0));
        assertTrue(first.last().matches("checksum " + name + " [0-9a-f]{16}"), first.last());

        Captured second = main(name, "--iterations", "1", "--size", "small", "--threads", "2");
        assertEquals(first.last(), second.last(), second.err());
    }

    @Test
    void listNamesEveryWorkload() throws Exception {
        Captured list = main("list");
        assertEquals(names().toList(), list.out().stream().map(line -> line.split(" ")[0]).toList());
    }

    @Test
    void unknownNameIsAnErrorWithAHint() throws Exception {
        Captured run = main("sunflow");
        assertEquals(1, run.exit());
        assertEquals("no workload is called 'sunflow'; 'list' prints the names", run.err().strip());
    }

    @Test
    void wrongChecksumFailsTheRun() throws Exception {
        Captured run = main("jackson", "--iterations", "1", "--size", "small", "--expect-checksum", "0".repeat(16));
        assertEquals(1, run.exit());
        assertTrue(run.err().startsWith("checksum of jackson differs: iteration 1 computed "), run.err());
    }

    @Test
    void wrongOptionsAreRefused() throws Exception {
        assertEquals(2, main("h2", "--iteration", "3").exit());
        assertEquals(2, main("h2", "--iterations", "0").exit());
        assertEquals(2, main("h2", "--iterations").exit());
        assertEquals(2, main("h2", "--size", "huge").exit());
    }

    @Test
    void cpuTimeIsPrintedOnRequest() throws Exception {
        Captured run = main("jackson", "--iterations", "1", "--size", "small", "--cpu");
        assertTrue(run.out().get(0).matches("iteration 1 jackson \\d+\\.\\d ms cpu \\d+\\.\\d ms"), run.out().get(0));
    }
}
