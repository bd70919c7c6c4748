package dev.lookback.api;

/**
 * Marks in a recording what the code alone does not tell: which stage of a job this is, that a retry begins.
 *
 * <pre>{@code
 * static final Lookback.Span CHECKOUT = Lookback.span("shop", "checkout");
 * static final Lookback.Instant RETRY = Lookback.instant("shop", "retry");
 *
 * try (var s = CHECKOUT.begin()) {
 *     ...
 *     RETRY.record();
 * }
 * }</pre>
 *
 * <p>Where the marks go is decided once, when this class is initialised: to the agent of Lookback, when it is
 * in this process; else into the ring file that the property {@code lookback.ring} or the environment variable
 * {@code LOOKBACK_RING} names; else nowhere, which the compiler makes cost nothing. Keep spans and instants in
 * static final fields: then the compiler knows them as constants.
 *
 * <p>The constraint that shaped it: it runs inside somebody's program. Nothing here throws, waits or
 * allocates, and what is given to it (null, endless or unreadable names) at worst makes a strange name. It must
 * not depend on anything but {@code java.base}.
 */
public final class Lookback {
    private static final Sink SINK = Sink.choose();

    private Lookback() {
    }

    /**
     * A kind of span: something that begins, goes on for a while and ends on the same thread.
     *
     * <p>The agent shows a span as a call of the method {@code name} of the class {@code category}, inside
     * the methods that are traced, and options that name methods name spans as well: with
     * {@code slow=shop.checkout:300ms} a longer checkout writes an incident.
     *
     * @param category what it belongs to; its first 60 characters are kept
     * @param name     what it is; its first 60 characters are kept
     * @return the span; asking for the same names again gives its equal
     */
    public static Span span(String category, String name) {
        return new Span(SINK.span(category, name));
    }

    /**
     * A kind of instant: something that happens at one moment.
     *
     * @param category what it belongs to; its first 60 characters are kept
     * @param name     what it is; its first 60 characters are kept
     * @return the instant; asking for the same names again gives its equal
     */
    public static Instant instant(String category, String name) {
        return new Instant(SINK.instant(category, name));
    }

    /**
     * Asks the agent to write an incident of what is recorded now, in the background. It keeps to the options
     * {@code incidents} and {@code cooldown}: what is asked for too often is not written.
     *
     * @param reason why, for who reads the incident; its first 200 characters are kept
     * @return whether somebody took note of it; false without the agent
     */
    public static boolean dump(String reason) {
        return SINK.dump(reason);
    }

    /**
     * Whether marks of the calling thread are recorded now. Worth asking only before costly preparations.
     *
     * @return whether they are
     */
    public static boolean isRecording() {
        return SINK.isRecording();
    }

    /** A kind of span; see {@link Lookback#span}. */
    public static final class Span {
        private final Open open;

        private Span(long key) {
            open = new Open(key);
        }

        /**
         * Begins one on the calling thread. Spans nest: what began last ends first, on the same thread.
         *
         * @return what ends it; the same object each time, so that nothing is allocated
         */
        public Open begin() {
            open.begin();
            return open;
        }
    }

    /** A span that has begun; see {@link Span#begin}. */
    public static final class Open implements AutoCloseable {
        private final long key;

        private Open(long key) {
            this.key = key;
        }

        private void begin() {
            SINK.begin(key);
        }

        /** Ends the span. */
        @Override
        public void close() {
            SINK.end(key);
        }
    }

    /** A kind of instant; see {@link Lookback#instant}. */
    public static final class Instant {
        private final long key;

        private Instant(long key) {
            this.key = key;
        }

        /** It happens now. */
        public void record() {
            SINK.record(key);
        }

        /**
         * It happens now, with a number, which a ring file holds as {@code value}. The agent records names and
         * times only, and leaves it out.
         *
         * @param value the number
         */
        public void record(long value) {
            SINK.record(key, value);
        }

        /**
         * It happens now, with two numbers, which a ring file holds as {@code first} and {@code second}. The
         * agent records names and times only, and leaves them out.
         *
         * @param first  a number
         * @param second another
         */
        public void record(long first, long second) {
            SINK.record(key, first, second);
        }
    }
}
