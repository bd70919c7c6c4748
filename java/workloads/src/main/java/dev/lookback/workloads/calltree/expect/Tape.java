package dev.lookback.workloads.calltree.expect;

/**
 * The decisions of one thread, in the order in which they are taken.
 *
 * <p>Plain public fields, because traced code may read a field without an event, but not call a method. A
 * traced method reads one byte per turn of its loop: {@link #END} leaves it, {@link #FIRST} to {@link #THIRD}
 * call the first to third method that it can call, {@link #THROW} throws.
 */
public final class Tape {
    /** Return. */
    public static final byte END = 0;
    /** Call the first callee. */
    public static final byte FIRST = 1;
    /** Call the second callee. */
    public static final byte SECOND = 2;
    /** Call the third callee. */
    public static final byte THIRD = 3;
    /** Throw the signal exception. */
    public static final byte THROW = 4;

    /** The decisions; as long as the thread takes decisions. */
    public final byte[] code;
    /** The next decision; only the thread that plays the tape writes it. */
    public int pos;

    /** The traced object that belongs to this thread alone, made before the tape is played. */
    public final Object subject;

    /** A tape at its beginning. */
    public Tape(byte[] code, Object subject) {
        this.code = code;
        this.subject = subject;
    }
}
