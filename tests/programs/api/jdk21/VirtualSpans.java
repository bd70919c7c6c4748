// Spans of virtual threads, some of which change their carrier inside one.
//
// The constraint: what is printed depends on no timing, so that two runs can be compared.

import dev.lookback.api.Lookback;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Usage: VirtualSpans THREADS. */
final class VirtualSpans {
    private static final Lookback.Span TASK = Lookback.span("virtual", "task");
    private static final Lookback.Span STEP = Lookback.span("virtual", "step");
    private static final AtomicLong SUM = new AtomicLong();

    private VirtualSpans() {}

    public static void main(String[] args) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            int n = i;
            all.add(Thread.ofVirtual().start(() -> task(n)));
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println("sum " + SUM.get());
    }

    private static void task(int n) {
        try (Lookback.Open task = TASK.begin()) {
            if (n % 2 == 0) {
                Thread.yield();
            }
            for (int i = 0; i < 3; i++) {
                try (Lookback.Open step = STEP.begin()) {
                    SUM.addAndGet(n + i);
                }
            }
        }
    }
}
