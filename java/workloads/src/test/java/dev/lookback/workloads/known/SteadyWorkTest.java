package dev.lookback.workloads.known;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** The unit of work that the programs of known cost are made of. */
class SteadyWorkTest {
    private final SteadyWork work = new SteadyWork();

    @Test
    void nothingIsAllocated() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        work.units(0, 1, 100);
        // The first reading of the counter may itself allocate.
        threads.getCurrentThreadAllocatedBytes();
        long before = threads.getCurrentThreadAllocatedBytes();
        work.units(0, 1, 1_000);
        assertEquals(0, threads.getCurrentThreadAllocatedBytes() - before);
    }

    @Test
    void theSameUnitIsTheSameWorkAndOthersDiffer() {
        assertEquals(work.unit(1), new SteadyWork().unit(1));
        assertNotEquals(work.unit(1), work.unit(2));
        assertEquals(work.units(0, 1, 10), work.units(0, 2, 10) + work.units(1, 2, 10));
    }
}
