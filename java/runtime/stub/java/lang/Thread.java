package java.lang;

/**
 * What LookbackTracePoint uses of Thread, to compile it against: a JDK has no currentCarrierThread before
 * 21, and the trace point calls it only where it exists. Never loaded, never shipped.
 */
public class Thread {
    /** As in every JDK. */
    public static native Thread currentThread();

    /** As in JDK 21 and later. */
    static native Thread currentCarrierThread();
}
