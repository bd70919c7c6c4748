package dev.lookback.workloads.calltree.expect;

import java.io.IOException;
import java.io.Writer;

/**
 * Writes expected events as text.
 *
 * <p>The file: {@code lookback-calltree 1}; {@code package NAME}; then for each thread {@code thread NAME}
 * and one line an event, {@code E Class.method} or {@code X Class.method}, with the binary name of the class
 * inside the package.
 */
public final class EventWriter implements EventSink {
    private final Writer out;

    /** Writes the head of the file. */
    public EventWriter(Writer out) throws IOException {
        this.out = out;
        out.write("lookback-calltree 1\npackage " + Methods.PACKAGE + "\n");
    }

    /** Starts the events of a thread. */
    public void thread(String name) throws IOException {
        out.write("thread " + name + "\n");
    }

    @Override
    public void event(boolean exit, String method) throws IOException {
        out.write(exit ? "X " : "E ");
        out.write(method);
        out.write('\n');
    }
}
