package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The trace points that rewritten methods call.
 *
 * <p>The constraint that shaped it: an entry or an exit may cost well under a nanosecond in compiled code.
 * So each reads no clock, takes no lock and allocates nothing. The second compiler inlines it where it is hot; to
 * force that everywhere made the first compiler's code twice as large, and programs warm up half as fast. What is live
 * across a call, however rare the call, the compiler keeps in the stack all the time; so an entry calls
 * nothing at all, and the value that a method returns goes through the exit's rare call as an argument
 * (measured in {@code docs/TRACEPOINT.md}). The agent defines this class in {@code java.base}, because class loaders of every
 * kind delegate {@code java.*} to the VM's own loader, and because nothing needs to be exported then.
 *
 * <p>A thread's cursor is the address of its next slot, 0 while the thread is not traced, and negative while it is
 * braked: then only timed and watched methods are recorded. It lives in the field that holds a thread's requested stack size, which the VM reads once, when the thread starts: a Java
 * field, because the compiler then knows that a stored slot does not change it and keeps it in a register
 * from one trace point to the next. The slab that it points into is described in {@code docs/FORMAT.md}.
 *
 * <p>It must not use anything of the class library but Unsafe and Thread: it runs inside every method of it.
 */
public final class LookbackTracePoint {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Bit of an exit's slot. */
    static final int EXIT = 1 << 30;
    /** Takes a cursor to the start of its slab: slabs are 64 KiB long and aligned to it. */
    static final long SLAB = -65536L;
    /** First word of a TIME record; two more hold the nanoseconds. */
    private static final int TIME = 0x82200000;
    /** Length of a TIME record and a slot. */
    private static final long EXACT_BYTES = 16;
    /** First word of a GAP record of a braked thread; 2 more when precise methods are held back as well. A 0 follows. */
    private static final int GAP = 0x83100003;
    private static final long GAP_BYTES = 8;
    /** Offset of the first slot in a slab. */
    private static final long SLOTS = 64;
    /**
     * Takes a cursor to the start of its page. The first page begins with the poll word, the others with a
     * word that is not 0: so an exit sees with one look that a tick has passed or that a page is filled.
     */
    static final long PAGE = -4096L;
    /** The last place in a slab's first page that has room for an exact time, a slot and a GAP record. */
    private static final long ROOM = -PAGE - EXACT_BYTES - GAP_BYTES;
    /** The poll word's value when a tick has passed. */
    private static final int TICK_PASSED = 2;
    /** The poll word's value when the coarse time is written and the exact one is wanted. */
    private static final int EXACT_WANTED = 1;

    /** Offset in a slab of the id of the virtual thread that the thread carries. */
    private static final long MOUNTED = 40;
    /** What stands there when the end of the last one's turn is recorded. */
    private static final long UNMOUNTED = -1;
    /** Offset in a slab of the word that is not 0 when, of a braked thread, precise methods are not recorded either. */
    private static final long HELD = 52;

    /** Offset of Thread.holder, where there is one (JDK 19 and later); else 0. */
    private static final long HOLDER;
    /** Offset of the cursor in Thread or in its holder. */
    static final long CURSOR;
    /** Offsets of a thread's id and of its name. */
    private static final long TID;
    private static final long NAME;
    /**
     * Address of the record that says which tick it is. The agent finds this number in the class file and
     * puts the address in its place, so that it is a constant and nothing native runs in the initialiser.
     */
    private static final long TICK = 0x7469636b61646472L;

    static {
        long holder = 0;
        Class<?> home = Thread.class;
        try {
            holder = U.objectFieldOffset(Thread.class, "holder");
            home = Class.forName("java.lang.Thread$FieldHolder", false, null);
        } catch (InternalError | ClassNotFoundException olderThan19) {
            // The field is in Thread itself.
        }
        HOLDER = holder;
        CURSOR = U.objectFieldOffset(home, "stackSize");
        TID = U.objectFieldOffset(Thread.class, "tid");
        NAME = U.objectFieldOffset(Thread.class, "name");
    }

    /**
     * How often trace points run at first on a thread that is not traced. Without it, nearly all compiled code would be
     * thrown away when the first threads are braked: the second compiler leaves out a branch that was never taken. It is told by
     * counters that the VM makes when a method has run some 400 times.
     */
    private static final int OFTEN = 1_000;

    private LookbackTracePoint() {}

    /** A method is entered. Calls nothing. */
    public static void enter(int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor > 0) {
            U.putInt(cursor, id);
            cursor += 4;
            U.putLong(home, CURSOR, cursor);
            if (U.getInt(cursor & SLAB) > EXACT_WANTED) {
                U.putLong(home, CURSOR, late(cursor, id));
            }
        }
    }

    /** A method is left by return of nothing or of a reference. */
    public static void exit(int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor > 0) {
            U.putInt(cursor, id | EXIT);
            cursor += 4;
            U.putLong(home, CURSOR, cursor);
            if (U.getInt(cursor & PAGE) != 0) {
                leave(id);
            }
        } else {
            lookAgain();
        }
    }

    /** A method is left by return of an int or what the VM takes for one. */
    public static int exit(int value, int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor > 0) {
            U.putInt(cursor, id | EXIT);
            cursor += 4;
            U.putLong(home, CURSOR, cursor);
            if (U.getInt(cursor & PAGE) != 0) {
                value = leave(value, id);
            }
        } else {
            lookAgain();
        }
        return value;
    }

    /** A method is left by return of a long. */
    public static long exit(long value, int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor > 0) {
            U.putInt(cursor, id | EXIT);
            cursor += 4;
            U.putLong(home, CURSOR, cursor);
            if (U.getInt(cursor & PAGE) != 0) {
                value = leave(value, id);
            }
        } else {
            lookAgain();
        }
        return value;
    }

    /** A method is left by return of a float. */
    public static float exit(float value, int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor > 0) {
            U.putInt(cursor, id | EXIT);
            cursor += 4;
            U.putLong(home, CURSOR, cursor);
            if (U.getInt(cursor & PAGE) != 0) {
                value = leave(value, id);
            }
        } else {
            lookAgain();
        }
        return value;
    }

    /** A method is left by return of a double. */
    public static double exit(double value, int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor > 0) {
            U.putInt(cursor, id | EXIT);
            cursor += 4;
            U.putLong(home, CURSOR, cursor);
            if (U.getInt(cursor & PAGE) != 0) {
                value = leave(value, id);
            }
        } else {
            lookAgain();
        }
        return value;
    }

    /**
     * A method is left by an exception. Not in line: each method has such a place, the compilers translate it
     * whether it is ever come to or not, and nearly none ever is.
     */
    @DontInline
    public static void unwind(int id) {
        exit(id);
    }

    /** A method is entered whose times are exact. */
    public static void enterTimed(int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor != 0) {
            U.putLong(home, CURSOR, exact(cursor, id));
        }
    }

    /** A method is left whose times are exact. */
    public static void exitTimed(int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor != 0) {
            U.putLong(home, CURSOR, exact(cursor, id | EXIT));
        }
    }

    /** A method is entered whose times are exact, as long as a braked thread has not entered too many such. */
    public static void enterPrecise(int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor > 0 || cursor < 0 && U.getInt((-cursor & SLAB) + HELD) == 0) {
            U.putLong(home, CURSOR, precise(cursor, id));
        }
    }

    /** Such a method is left. */
    public static void exitPrecise(int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor > 0 || cursor < 0 && U.getInt((-cursor & SLAB) + HELD) == 0) {
            U.putLong(home, CURSOR, precise(cursor, id | EXIT));
        } else {
            lookAgain();
        }
    }

    /** A method is entered that a detector watches. */
    public static void enterWatched(int id, int rule) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor != 0) {
            U.putLong(home, CURSOR, watched(cursor, id, rule));
        }
    }

    /** A method is left that a detector watches. */
    public static void exitWatched(int id, int rule) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor != 0) {
            U.putLong(home, CURSOR, watched(cursor, id | EXIT, rule));
        }
    }

    /** A carrier is about to run a virtual thread. An Object, so that a verifier has nothing to load. */
    public static void mount(Object virtualThread, int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor != 0) {
            long tid = U.getLong(virtualThread, TID);
            U.putLong(home, CURSOR, mounted(cursor, id, tid));
            Object name = U.getReference(virtualThread, NAME);
            // Most have none: that is this very string.
            if (name != "") {
                named(tid, name);
            }
        }
    }

    /** A carrier does not run a virtual thread any more; nothing happens when that was said before. */
    public static void unmount(int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        // Said three times of each turn, and worth a call only once.
        if (cursor != 0 && U.getLong(((cursor < 0 ? -cursor : cursor) & SLAB) + MOUNTED) != UNMOUNTED) {
            U.putLong(home, CURSOR, unmounted(cursor, id | EXIT));
        }
    }

    /** A virtual thread is handed to its scheduler. */
    public static void ready(Object virtualThread) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor != 0) {
            U.putLong(home, CURSOR, readied(cursor, U.getLong(virtualThread, TID)));
        }
    }

    /**
     * The thread is not recorded, or braked. A compiler that has seen that the loop which it compiles does not change
     * the cursor reads it once, before the loop; but another thread may change it. So it is kept from that here, where it
     * costs no instruction on x86-64.
     */
    @ForceInline
    private static void lookAgain() {
        U.loadFence();
    }

    /** The object that holds the current thread's cursor. */
    @ForceInline
    static Object home() {
        return HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
    }

    /**
     * An entry, its slot written, finds its poll word set: a tick has passed, or the slots have come to the
     * slab's end (the guard word there is greater than any poll). Puts which tick it is before the slot, and
     * begins the slab anew at its end; the agent counts what that loses. In line, for the reason given above.
     */
    @ForceInline
    private static long late(long cursor, int id) {
        long slab = cursor & SLAB;
        if (U.getInt(slab) == TICK_PASSED) {
            U.putInt(slab, EXACT_WANTED);
            U.putByte(U.getLong(slab + 8), (byte) 1);
            U.putInt(cursor - 4, U.getInt(TICK));
            U.putInt(cursor, id);
            cursor += 4;
        }
        if ((cursor & ~SLAB) == 0) {
            slab = cursor + SLAB;
            U.putInt(slab + 4, U.getInt(slab + 4) + 1);
            cursor = slab + SLOTS;
        }
        return cursor;
    }

    /**
     * As timed, without a native call when there is nothing else to do: no tick has passed, and the slab's first page has room
     * for it. {@code System.nanoTime} reads the clock that records are told in. Of a braked thread a GAP record follows. With one
     * branch, which every thread takes at some tick: compiled code is not thrown away when the first one is braked.
     */
    private static long exact(long cursor, int slot) {
        long braked = cursor >> 63;
        long at = (cursor ^ braked) - braked;
        long slab = at & SLAB;
        if ((U.getInt(slab) | (int) (ROOM - (at & ~SLAB) >> 63)) != 0) {
            return timed(cursor, slot);
        }
        long now = System.nanoTime();
        U.putInt(at, TIME);
        U.putInt(at + 4, (int) now);
        U.putInt(at + 8, (int) (now >> 32));
        U.putInt(at + 12, slot);
        // What stands there is 0 already.
        U.putInt(at + EXACT_BYTES, GAP + 2 * U.getInt(slab + HELD) & (int) braked);
        at += EXACT_BYTES + (GAP_BYTES & braked);
        return (at ^ braked) - braked;
    }

    /** An exit, its slot written, finds its poll word set or its page filled. Not in line, for the reason given above. */
    @DontInline
    private static void leave(int id) {
        Object home =
                HOLDER == 0 ? Thread.currentThread() : U.getReference(Thread.currentCarrierThread(), HOLDER);
        long cursor = U.getLong(home, CURSOR);
        if (cursor > 0) {
            U.putLong(home, CURSOR, poll(cursor, id | EXIT));
        }
    }

    @DontInline
    private static int leave(int value, int id) {
        leave(id);
        return value;
    }

    @DontInline
    private static long leave(long value, int id) {
        leave(id);
        return value;
    }

    @DontInline
    private static float leave(float value, int id) {
        leave(id);
        return value;
    }

    @DontInline
    private static double leave(double value, int id) {
        leave(id);
        return value;
    }

    /** Puts the exact time before the slot just written, obeys requests, empties a filled slab; gives the new cursor. */
    private static native long poll(long cursor, int slot);

    /** Writes the exact time and the slot; gives the new cursor. */
    static native long timed(long cursor, int slot);

    /** As timed, and counts for what it costs against what the thread may record. */
    private static native long precise(long cursor, int slot);

    /** As timed, for the entry into the method that runs a virtual thread; tells which one. */
    private static native long mounted(long cursor, int slot, long tid);

    /** Tells what a virtual thread that runs now is called, unless that was told not long ago. */
    private static native void named(long tid, Object name);

    /** As timed, for its exit. */
    private static native long unmounted(long cursor, int slot);

    /** Writes that a virtual thread waits for a carrier from now on; gives the new cursor. */
    private static native long readied(long cursor, long tid);

    /** As timed, and tells the detector. */
    static native long watched(long cursor, int slot, int rule);

    /** Lets a braked thread record again, unless it has moved its cursor since that was read. */
    private static boolean release(Object home, long cursor) {
        return U.compareAndSetLong(home, CURSOR, cursor, -cursor);
    }

    /** Called by the agent, on a thread not traced, before any class is rewritten: fails as long as the natives are not linked. */
    private static void start() {
        link();
        for (int i = 0; i < OFTEN; i++) {
            enter(0);
            exit(0);
            exit(0, 0);
            exit(0L, 0);
            exit(0f, 0);
            exit(0d, 0);
            enterPrecise(0);
            exitPrecise(0);
        }
    }

    /** Binds the JDK's native wait points again, from inside the boot loader. */
    private static native void link();
}
