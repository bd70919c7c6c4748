package java.lang;

/**
 * The trace points that rewritten methods call where the VM itself records which methods are entered and left ({@code vm/}): only
 * those whose times are exact, and those that a detector watches.
 *
 * <p>The constraint that shaped it: there the cursor is kept by the VM, out of Java's reach, so that both kinds write to one
 * place. So each is a native method, which costs about as much as the clock that it reads.
 *
 * <p>They do what those of the same name in {@link LookbackTracePoint} do.
 */
public final class LookbackNativePoint {
    private LookbackNativePoint() {}

    /** A method is entered whose times are exact. */
    public static native void enterTimed(int id);

    /** A method is left whose times are exact. */
    public static native void exitTimed(int id);

    /** A method is entered whose times are exact, as long as a braked thread has not entered too many such. */
    public static native void enterPrecise(int id);

    /** Such a method is left. */
    public static native void exitPrecise(int id);

    /** A method is entered that a detector watches. */
    public static native void enterWatched(int id, int rule);

    /** A method is left that a detector watches. */
    public static native void exitWatched(int id, int rule);

    /** A span begins or ends, as the slot says; of a rule that watches it, the number. -1: none. */
    static native void span(int slot, int rule);

    /** Something happens: a span without a length. */
    static native void instant(int id);

    /** Whether the calling thread is recorded now. */
    static native boolean isRecording();
}
