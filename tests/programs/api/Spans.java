// Marks of the public API among traced methods.
//
// The constraint: what is printed depends on no timing and on no recorder, so that two runs can be compared.

import dev.lookback.api.Lookback;
import java.io.IOException;

/** Usage: Spans WHAT..., each a part below; a part that is done says so. */
final class Spans {
    private static final Lookback.Span CHECKOUT = Lookback.span("shop", "checkout");
    private static final Lookback.Span PAY = Lookback.span("shop", "pay");
    private static final Lookback.Instant RETRY = Lookback.instant("shop", "retry");

    private Spans() {}

    public static void main(String[] args) throws Exception {
        for (String part : args) {
            switch (part) {
                case "nest" -> System.out.println(Work.outer(3));
                case "many" -> many();
                case "odd" -> odd();
                case "names" -> names();
                case "slow" -> slow();
                case "sized" -> sized();
                case "dump" -> Lookback.dump("the stock\nis wrong");
                case "wait" -> waitForLine();
                default -> throw new IllegalArgumentException(part);
            }
            System.out.println("did " + part);
        }
    }

    private static void waitForLine() throws IOException {
        System.out.println("waits");
        System.in.read();
    }

    /** More than a slab holds, from several threads, compiled. */
    private static void many() throws InterruptedException {
        Thread[] threads = new Thread[3];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                for (int i = 0; i < 50_000; i++) {
                    try (Lookback.Open s = PAY.begin()) {
                        RETRY.record(i);
                    }
                }
            }, "many-" + t);
            threads[t].start();
        }
        for (Thread t : threads) {
            t.join();
        }
    }

    /** Text and use of which nothing good can come. */
    private static void odd() {
        for (String text : new String[] {null, "", "\0\u001b[31m", "\ud800", "x".repeat(1 << 20)}) {
            try (Lookback.Open s = Lookback.span(text, text).begin()) {
                Lookback.instant(text, text).record(Long.MIN_VALUE, Long.MAX_VALUE);
            }
        }
        Lookback.Open s = CHECKOUT.begin();
        s.close();
        s.close();
        CHECKOUT.begin();
    }

    /** More names than there is room for. */
    private static void names() {
        for (int i = 0; i < 10_000; i++) {
            try (Lookback.Open s = Lookback.span("names", "name " + i).begin()) {
                RETRY.record();
            }
        }
    }

    /** On a thread that asks for a stack of its own size. */
    private static void sized() throws InterruptedException {
        Thread thread = new Thread(null, () -> System.out.println(Work.outer(2)), "sized", 256 << 10);
        thread.start();
        thread.join();
    }

    private static void slow() throws InterruptedException {
        try (Lookback.Open s = CHECKOUT.begin()) {
            Thread.sleep(30);
        }
    }

    /** Traced methods around and inside of spans. */
    static final class Work {
        private Work() {}

        static int outer(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++) {
                try (Lookback.Open s = CHECKOUT.begin()) {
                    sum += inner(i);
                } catch (IllegalStateException thrown) {
                    sum += 100;
                }
            }
            return sum;
        }

        static int inner(int i) {
            try (Lookback.Open s = PAY.begin()) {
                RETRY.record(i);
                return leaf(i);
            }
        }

        static int leaf(int i) {
            if (i == 2) {
                throw new IllegalStateException();
            }
            return i;
        }
    }
}
