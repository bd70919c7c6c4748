package dev.lookback.workloads.calltree.traced;

/** What the traced methods throw. Its constructor is traced like any other. */
final class Signal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Which one it is. */
    final int mark;

    /** Without a stack trace: thousands are thrown, and the stack is deep. */
    Signal(int seed) {
        super(null, null, false, false);
        int sum = seed;
        for (int i = 0; i < 5; i++) {
            sum = sum * 31 + i;
        }
        mark = sum;
    }
}
