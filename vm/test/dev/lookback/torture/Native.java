package dev.lookback.torture;

/** Java code that calls native code: which calls Java code, takes all kinds of arguments, holds a lock, or throws. */
final class Native {
    private Native() {}

    /** Runs the task from native code. */
    static native void upcall(Runnable task);

    /** A sum of all, each by its number, in registers of both kinds and on the stack. */
    static native double mixed(
            int a, long b, float c, double d, int e, long f, float g, double h, int i, long j);

    /** Three times the value. */
    static native synchronized long locked(long value);

    /** Throws that. */
    static native Object thrown(Throwable what);
}
