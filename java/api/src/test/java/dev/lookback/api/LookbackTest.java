package dev.lookback.api;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** The API where nobody records: these tests run without an agent and without a ring. */
final class LookbackTest {
    private static final Lookback.Span SPAN = Lookback.span("test", "span");
    private static final Lookback.Instant INSTANT = Lookback.instant("test", "instant");

    @Test
    void aProgramRunsTheSame() {
        int sum = 0;
        try (var outer = SPAN.begin()) {
            for (int i = 0; i < 10; i++) {
                try (var inner = SPAN.begin()) {
                    INSTANT.record();
                    INSTANT.record(i);
                    INSTANT.record(i, Long.MIN_VALUE);
                    sum += i;
                }
            }
        }
        assertEquals(45, sum);
        assertFalse(Lookback.isRecording());
        assertFalse(Lookback.dump("no reason"));
    }

    @Test
    void anExceptionPassesThrough() {
        assertThrows(IllegalStateException.class, () -> {
            try (var s = SPAN.begin()) {
                throw new IllegalStateException("the program's own");
            }
        });
    }

    @Test
    void noArgumentIsRefused() {
        for (String text : new String[] {null, "", "\0", "\ud800", "x".repeat(1_000_000)}) {
            assertDoesNotThrow(() -> Lookback.span(text, text).begin().close());
            assertDoesNotThrow(() -> Lookback.instant(text, text).record(1, 2));
            assertDoesNotThrow(() -> Lookback.dump(text));
        }
    }

    @Test
    void wrongUseDoesNoHarm() {
        assertDoesNotThrow(() -> {
            var s = SPAN.begin();
            s.close();
            s.close();
            SPAN.begin();
        });
    }

    @Test
    void beginningAllocatesNothing() {
        assertSame(SPAN.begin(), SPAN.begin());
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        // What the measurement itself allocates, it allocates each time.
        long[] allocated = new long[4];
        for (int round = 0; round < allocated.length; round++) {
            long before = threads.getThreadAllocatedBytes(id);
            for (int i = 0; i < 10_000 * (round / 2); i++) {
                try (var s = SPAN.begin()) {
                    INSTANT.record(i);
                }
            }
            allocated[round] = threads.getThreadAllocatedBytes(id) - before;
        }
        assertEquals(allocated[1], allocated[3]);
    }
}
