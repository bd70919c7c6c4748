package dev.lookback.workloads.desktop.frames;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Ticks, deadlines and what becomes of a sequence of frames, in numbers that can be checked by hand. */
class FrameLogTest {
    private static final FrameClock CLOCK = new FrameClock(1_000, 100);

    @Test
    void ticksLieOnTheGridBeforeAndAfterTheOrigin() {
        assertEquals(1_000, CLOCK.tickAtOrAfter(1_000));
        assertEquals(1_100, CLOCK.tickAtOrAfter(1_001));
        assertEquals(1_100, CLOCK.tickAtOrAfter(1_100));
        assertEquals(900, CLOCK.tickAtOrAfter(801));
        assertEquals(-100, CLOCK.tickAtOrAfter(-199));
    }

    @Test
    void frameIsLateFromTheFirstNanosecondBehindItsDeadline() {
        FrameLog log = new FrameLog(CLOCK);
        log.add(1_000, 1_016);
        log.add(1_100, 1_200);
        log.add(1_200, 1_301);
        log.add(1_300, 1_950);
        assertArrayEquals(new long[] {16, 100, 101, 650}, log.times());
        assertArrayEquals(new long[] {0, 0, 1, 1}, log.late());
        assertEquals(50.0, Summary.percentSet(log.late()));

        log.clear();
        assertEquals(0, log.times().length);
        assertEquals(0.0, Summary.percentSet(log.late()), "nothing is late of nothing");
    }

    @Test
    void logKeepsAllFramesOfALongIteration() {
        FrameLog log = new FrameLog(CLOCK);
        for (int i = 0; i < 10_000; i++) {
            log.add(i, 3L * i);
        }
        assertEquals(10_000, log.times().length);
        assertEquals(2 * 9_999, log.times()[9_999]);
    }

    @Test
    void summaryHasTheNearestRanks() {
        long[] hundred = new long[100];
        for (int i = 0; i < 100; i++) {
            hundred[i] = (100 - i) * 1_000_000L;
        }
        assertEquals("count 100 p50 50.00 ms p90 90.00 ms p99 99.00 ms max 100.00 ms", Summary.of(hundred));
        assertEquals("count 1 p50 2.50 ms p90 2.50 ms p99 2.50 ms max 2.50 ms", Summary.of(new long[] {2_500_000}));
        assertEquals("count 0", Summary.of(new long[0]));
    }
}
