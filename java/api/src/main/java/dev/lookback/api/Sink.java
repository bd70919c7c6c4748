package dev.lookback.api;

/**
 * Where marks go, and by itself the place where they go when nobody records: nowhere.
 *
 * <p>The constraint that shaped it: of this class and its subclasses one object exists, in a static final
 * field, so the compiler knows its class and inlines its methods; those of this class into nothing.
 *
 * <p>It must not throw: whatever fails in a subclass means that nothing is recorded.
 */
class Sink {
    Sink() {
    }

    /** The sink of this process. */
    static Sink choose() {
        try {
            if (AgentSink.isThere()) {
                return new AgentSink();
            }
            Sink ring = RingSink.open();
            return ring != null ? ring : new Sink();
        } catch (Throwable anything) {
            // An error here would be one in the program's own class initialiser.
            return new Sink();
        }
    }

    /** The key of a kind of span; what it means, each sink knows. */
    long span(String category, String name) {
        return 0;
    }

    /** The key of a kind of instant. */
    long instant(String category, String name) {
        return 0;
    }

    void begin(long key) {
    }

    void end(long key) {
    }

    void record(long key) {
    }

    /** A sink that records no values leaves them out. */
    void record(long key, long value) {
        record(key);
    }

    /** A sink that records no values leaves them out. */
    void record(long key, long first, long second) {
        record(key);
    }

    boolean dump(String reason) {
        return false;
    }

    boolean isRecording() {
        return false;
    }
}
