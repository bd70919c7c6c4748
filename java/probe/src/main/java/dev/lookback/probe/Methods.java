package dev.lookback.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** The methods with a probe, by number. Threads that load classes add to it at the same time. */
final class Methods {
    private final int most;
    private final List<String> names = new ArrayList<>();

    Methods(int most) {
        this.most = most;
    }

    /** Gives a method its number, or -1 when there are as many as there may be. */
    synchronized int add(String className, String method, String descriptor) {
        if (names.size() == most) {
            return -1;
        }
        names.add(className.replace('/', '.') + "\t" + method + "\t" + descriptor);
        return names.size() - 1;
    }

    /** Hands over number and {@code class TAB method TAB descriptor} of each. */
    synchronized void each(BiConsumer<Integer, String> reader) {
        for (int id = 0; id < names.size(); id++) {
            reader.accept(id, names.get(id));
        }
    }
}
