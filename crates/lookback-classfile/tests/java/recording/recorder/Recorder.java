// Trace points that check: every exit must belong to the innermost open entry of its thread.
//
// Constraint: called by the program under test, which must not notice; so it throws nothing and
// prints nothing until it is asked.

package recorder;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

public final class Recorder {
    private static final AtomicLong ENTERS = new AtomicLong();
    private static final AtomicLong EXITS = new AtomicLong();
    private static final List<String> COMPLAINTS = Collections.synchronizedList(new ArrayList<>());
    private static final List<ArrayDeque<String>> STACKS = Collections.synchronizedList(new ArrayList<>());
    private static final ThreadLocal<ArrayDeque<String>> OPEN = ThreadLocal.withInitial(() -> {
        ArrayDeque<String> stack = new ArrayDeque<>();
        STACKS.add(stack);
        return stack;
    });

    private Recorder() {
    }

    public static void enter(int id) {
        open("plain " + id);
    }

    public static void exit(int id) {
        close("plain " + id);
    }

    public static int exit(int value, int id) {
        close("plain " + id);
        return value;
    }

    public static long exit(long value, int id) {
        close("plain " + id);
        return value;
    }

    public static float exit(float value, int id) {
        close("plain " + id);
        return value;
    }

    public static double exit(double value, int id) {
        close("plain " + id);
        return value;
    }

    public static void unwind(int id) {
        close("plain " + id);
    }

    public static void enterTimed(int id) {
        open("timed " + id);
    }

    public static void exitTimed(int id) {
        close("timed " + id);
    }

    public static void enterPrecise(int id) {
        open("precise " + id);
    }

    public static void exitPrecise(int id) {
        close("precise " + id);
    }

    public static void enterWatched(int id, int rule) {
        open("watched " + id + " by " + rule);
    }

    public static void exitWatched(int id, int rule) {
        close("watched " + id + " by " + rule);
    }

    private static void open(String what) {
        ENTERS.incrementAndGet();
        OPEN.get().push(what);
    }

    private static void close(String what) {
        EXITS.incrementAndGet();
        String top = OPEN.get().poll();
        if (!what.equals(top)) {
            COMPLAINTS.add("exit of " + what + " while in " + top);
        }
    }

    /** One line: enters, exits, complaints, and what is still open. */
    public static String summary() {
        List<String> open = new ArrayList<>();
        synchronized (STACKS) {
            for (ArrayDeque<String> stack : STACKS) {
                open.addAll(stack);
            }
        }
        return "enters " + ENTERS + ", exits " + EXITS + ", complaints " + COMPLAINTS + ", open " + open;
    }
}
