package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * What the public API (`java/api`) calls: spans and instants that a program marks itself.
 *
 * <p>The constraint that shaped it: both ends of a span have their exact time, and a call into the agent costs
 * more than reading the clock. So the usual case, room in the first page of the slab and no poll, is written
 * here, and everything else goes the way of a timed trace point. Any code of the program can call this class
 * with any number: a wrong one must cost it no more than a wrong record.
 *
 * <p>It must not throw, and must not use anything of the class library but Unsafe, Thread and the clock.
 */
public final class LookbackSpans {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** First word of the record that tells the next slot's time, low half first. */
    private static final int TIME = 0x82200000;
    /** Bits of a slot that hold the id. */
    private static final int ID = (1 << 30) - 1;
    /** Bytes of a slot and of the record with its time. */
    private static final int EXACT = 16;

    /** Whether every thread's cursor is valid, as it is from the first use of this class on unless the VM refused. */
    private static final boolean READY = ready();

    /** Whether the VM keeps the threads' cursors: then nothing can be written from here. */
    private static final boolean BY_VM = READY && isByVm();

    private LookbackSpans() {}

    private static native boolean isByVm();

    /** Has the agent see every thread from now on: before, what holds the cursor may hold the size of a stack. */
    private static native boolean ready();

    /**
     * Gives a span (role 1) or an instant (role 2) its key: the id, and above it the number of the detector's
     * rule that watches it, counted from 1. 0 when there is no room for its name.
     */
    public static native long register(String category, String name, int role);

    /** Asks for an incident; false when nobody can take the wish now. Does not wait for the incident. */
    public static native boolean dump(String reason);

    /** Whether the calling thread is recorded now. */
    public static boolean isRecording() {
        if (BY_VM) {
            return LookbackNativePoint.isRecording();
        }
        return READY && U.getLong(LookbackTracePoint.home(), LookbackTracePoint.CURSOR) != 0;
    }

    /** A span begins. */
    public static void begin(long key) {
        put(key, (int) key & ID);
    }

    /** A span ends. */
    public static void end(long key) {
        put(key, (int) key & ID | LookbackTracePoint.EXIT);
    }

    /** Something happens: a span without a length. */
    public static void instant(long key) {
        int id = (int) key & ID;
        if (BY_VM) {
            LookbackNativePoint.instant(id);
            return;
        }
        Object home = LookbackTracePoint.home();
        long cursor = U.getLong(home, LookbackTracePoint.CURSOR);
        if (READY && cursor != 0 && id != 0) {
            if (isPlain(cursor, 2 * EXACT)) {
                long now = System.nanoTime();
                write(cursor, id, now);
                write(cursor + EXACT, id | LookbackTracePoint.EXIT, now);
                cursor += 2 * EXACT;
            } else {
                cursor = moment(cursor, id);
            }
            U.putLong(home, LookbackTracePoint.CURSOR, cursor);
        }
    }

    /** As a timed trace point, of an instant: one time for entry and exit; gives the new cursor. */
    private static native long moment(long cursor, int id);

    private static void put(long key, int slot) {
        int rule = (int) (key >>> 32);
        if (BY_VM) {
            LookbackNativePoint.span(slot, rule - 1);
            return;
        }
        Object home = LookbackTracePoint.home();
        long cursor = U.getLong(home, LookbackTracePoint.CURSOR);
        if (READY && cursor != 0 && (slot & ID) != 0) {
            if (rule != 0) {
                cursor = LookbackTracePoint.watched(cursor, slot, rule - 1);
            } else if (isPlain(cursor, EXACT)) {
                write(cursor, slot, System.nanoTime());
                cursor += EXACT;
            } else {
                cursor = LookbackTracePoint.timed(cursor, slot);
            }
            U.putLong(home, LookbackTracePoint.CURSOR, cursor);
        }
    }

    /** Whether the thread is not braked, so many bytes fit into what is left of the slab's first page, and the poll word is not set. */
    private static boolean isPlain(long cursor, int bytes) {
        long slab = cursor & LookbackTracePoint.SLAB;
        return cursor > 0 && cursor - slab <= -LookbackTracePoint.PAGE - bytes && U.getInt(slab) == 0;
    }

    /** The time before the slot: who reads meanwhile takes what is there up to the first word that is not. */
    private static void write(long cursor, int slot, long now) {
        U.putInt(cursor, TIME);
        U.putLong(cursor + 4, now);
        U.putInt(cursor + 12, slot);
    }
}
