package dev.lookback.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of known cost do what they say. */
class KnownCostTest {
    private static Captured main(String... args) throws Exception {
        return Captured.of((out, err) -> Main.run(args, out, err));
    }

    @Test
    void theSlowedProgramComputesTheSame() throws Exception {
        Captured plain = main("steady", "--iterations", "1", "--size", "small");
        Captured slowed = main("steady", "--iterations", "2", "--size", "small", "--extra-percent", "2.5",
                "--threads", "3");
        assertEquals(0, slowed.exit(), slowed.err());
        assertEquals(plain.last(), slowed.last());
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "0.001", "10001", "much", "NaN"})
    void aSlowdownThatIsNotExactIsRefused(String percent) throws Exception {
        Captured run = main("steady", "--size", "small", "--extra-percent", percent);
        assertEquals(2, run.exit());
        assertTrue(run.err().startsWith("--extra-percent must be "), run.err());
    }

    @Test
    void optionsOfOneWorkloadAreRefusedByTheOthers() throws Exception {
        assertEquals(2, main("h2", "--extra-percent", "1").exit());
        assertEquals(2, main("steady", "--live-mb", "1").exit());
    }

    private static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    }

    @Test
    void itCollectsAsOftenAsItWasTold() throws Exception {
        long before = collections();
        Captured run = main("known-gc", "--iterations", "1", "--size", "small", "--live-mb", "2", "--collections", "5");
        assertEquals(0, run.exit(), run.err());
        assertTrue(collections() - before >= 5);
        assertTrue(run.out().get(1).matches(
                "known 1 mutator_cpu_ns \\d+ gc_cpu_ns -?\\d+ gc_wall_ns \\d+"), run.out().get(1));
        assertEquals(3, run.out().size());
    }

    @Test
    void theCacheDoesNotChangeWhatIsComputed() throws Exception {
        Captured run = main("heap-reader", "--iterations", "2", "--size", "small");
        assertEquals(0, run.exit(), run.err());
        assertEquals(3, run.out().size());
    }
}
