package dev.lookback.torture;

/** Java code that calls native code that calls Java code. */
final class Native {
    private Native() {}

    /** Runs the task from native code. */
    static native void upcall(Runnable task);
}
