package dev.lookback.workloads.calltree.expect;

import java.io.IOException;

/** Takes the events that a tracer must see, in order. */
public interface EventSink {
    /** Drops them. */
    EventSink NONE = (exit, method) -> {
    };

    /**
     * One event.
     *
     * @param exit   false when the method is entered, true when it is left, by return or exception
     * @param method {@code Class.method} inside the traced package
     */
    void event(boolean exit, String method) throws IOException;
}
