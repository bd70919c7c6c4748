package dev.lookback.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.lookback.workloads.calltree.expect.Methods;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The traced code computes what the simulator says, for many trees, and the expected events are well nested. */
class CallTreeTest {
    @TempDir
    private Path directory;

    private static Captured callTree(String... args) throws Exception {
        return Captured.of((out, err) -> CallTree.run(args, out, err));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void tracedCodeAndSimulatorAgree(int seed) throws Exception {
        String[] always = {"--threads", "4", "--calls", "20000", "--seed", Integer.toString(seed)};
        String[] args = Arrays.copyOf(always, always.length + seed % 2);
        if (seed % 2 == 1) {
            args[always.length] = "--super-throws";
        }
        Captured run = callTree(args);
        assertEquals(0, run.exit(), run.err());
        assertEquals(5, run.out().size());
    }

    @Test
    void theSameSeedGivesTheSameTrees() throws Exception {
        String one = callTree("--threads", "2", "--calls", "5000", "--seed", "9").last();
        assertEquals(one, callTree("--threads", "2", "--calls", "5000", "--seed", "9").last());
        assertNotEquals(one, callTree("--threads", "2", "--calls", "5000", "--seed", "10").last());
    }

    @Test
    void expectedEventsAreWellNestedAndReachEveryMethod() throws Exception {
        Path file = directory.resolve("expected.txt");
        Captured run = callTree("--threads", "2", "--calls", "60000", "--expect", file.toString());
        assertEquals(0, run.exit(), run.err());
        List<String> lines = Files.readAllLines(file);
        assertEquals("lookback-calltree 1", lines.get(0));
        assertEquals("package " + Methods.PACKAGE, lines.get(1));

        Deque<String> stack = new ArrayDeque<>();
        Set<String> seen = new HashSet<>();
        int threads = 0;
        int deepest = 0;
        for (String line : lines.subList(2, lines.size())) {
            String rest = line.substring(line.indexOf(' ') + 1);
            switch (line.charAt(0)) {
                case 't' -> assertEquals("calltree-" + threads++, rest);
                case 'E' -> stack.push(rest);
                default -> assertEquals(stack.pop(), rest);
            }
            deepest = Math.max(deepest, stack.size());
            seen.add(rest);
        }
        assertEquals(2, threads);
        assertTrue(stack.isEmpty());
        assertTrue(deepest > 100, "deepest stack " + deepest);
        seen.removeIf(name -> name.startsWith("calltree-"));
        assertEquals(48, seen.size(), seen.toString());
    }

    @Test
    void unwritableFileIsAnError() throws Exception {
        Captured run = callTree("--calls", "10", "--expect", directory.resolve("no/such/file").toString());
        assertEquals(1, run.exit());
        assertTrue(run.err().startsWith("the expected events cannot be written: "), run.err());
    }

    @Test
    void wrongOptionsAreRefused() throws Exception {
        assertEquals(2, callTree("--thread", "1").exit());
    }
}
