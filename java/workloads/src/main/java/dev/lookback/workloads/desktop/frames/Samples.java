package dev.lookback.workloads.desktop.frames;

import java.util.Arrays;

/** A list of longs that grows. Most of an iteration fits without growing, so that recording allocates next to nothing. */
final class Samples {
    private static final int AT_FIRST = 4_096;

    private long[] values = new long[AT_FIRST];
    private int size;

    void add(long value) {
        if (size == values.length) {
            values = Arrays.copyOf(values, 2 * size);
        }
        values[size++] = value;
    }

    long get(int index) {
        return values[index];
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    long[] toArray() {
        return Arrays.copyOf(values, size);
    }
}
