package dev.lookback.workloads.calltree.expect;

import java.io.IOException;

/**
 * Interprets a tape with the table of {@link Methods} and says what a tracer must see and what the traced
 * code must compute.
 *
 * <p>It shares no code with the traced package and none with the planner but the table. That the traced
 * code computes the same result, which folds the constants of all methods in the order of their calls,
 * shows that both went the same way.
 */
public final class Simulator {
    /** A signal in flight. */
    private static final class Thrown extends Exception {
        private static final long serialVersionUID = 1L;
        private final int mark;

        Thrown(int mark) {
            super(null, null, false, false);
            this.mark = mark;
        }
    }

    private final byte[] code;
    private final EventSink sink;
    private int pos;
    private long events;

    /** Over a tape at its beginning. */
    public Simulator(byte[] code, EventSink sink) {
        this.code = code;
        this.sink = sink;
    }

    /**
     * Plays the whole tape.
     *
     * @return what the root method returns
     * @throws IOException           whatever the sink throws
     * @throws IllegalStateException if the tape does not fit the methods
     */
    public int play() throws IOException {
        int result;
        try {
            result = method(Methods.get(Methods.ROOT));
        } catch (Thrown e) {
            throw new IllegalStateException("an exception left the root method", e);
        }
        if (pos != code.length) {
            throw new IllegalStateException("the root method returned at decision " + pos + " of " + code.length);
        }
        return result;
    }

    /** Entries and exits so far. */
    public long events() {
        return events;
    }

    private void event(boolean exit, String method) throws IOException {
        events++;
        sink.event(exit, method);
    }

    private int method(Method method) throws IOException, Thrown {
        event(false, method.name());
        try {
            return body(method);
        } finally {
            event(true, method.name());
        }
    }

    private int body(Method method) throws IOException, Thrown {
        int constant = method.constant();
        return switch (method.body()) {
            case WALK -> loop(method, constant, false);
            case CATCH_EACH -> loop(method, constant, true);
            case CATCH_ONCE -> catchOnce(method);
            case RETHROW -> rethrow(method);
            case FINALLY -> finallyCall(method);
            case PREFIX -> loop(method, helper(method, 0) * 31 + constant, false);
            case RESOURCE -> resource(method);
            case LEAF -> fold(constant, 20);
            case LEAF_PREFIX -> helper(method, 0) * 31 + constant;
        };
    }

    private int helper(Method method, int index) throws IOException, Thrown {
        return method(Methods.get(method.helpers().get(index)));
    }

    /** The sum that the loop had reached when it was left by an exception, for those that catch around it. */
    private int sumWhenThrown;

    private int loop(Method method, int start, boolean catches) throws IOException, Thrown {
        int sum = start;
        for (byte op; (op = code[pos++]) != Tape.END; ) {
            try {
                sum = sum * 31 + decision(method, op);
            } catch (Thrown e) {
                if (!catches) {
                    sumWhenThrown = sum;
                    throw e;
                }
                sum = sum * 31 + e.mark;
            }
        }
        return sum;
    }

    private int decision(Method method, byte op) throws IOException, Thrown {
        if (op == Tape.THROW) {
            throw signal(pos);
        }
        return method(Methods.get(method.callees().get(op - Tape.FIRST)));
    }

    private Thrown signal(int seed) throws IOException {
        event(false, Methods.SIGNAL);
        event(true, Methods.SIGNAL);
        return new Thrown(fold(seed, 5));
    }

    private int catchOnce(Method method) throws IOException {
        try {
            return loop(method, method.constant(), false);
        } catch (Thrown e) {
            return sumWhenThrown * 31 + e.mark;
        }
    }

    private int rethrow(Method method) throws IOException, Thrown {
        try {
            return loop(method, method.constant(), false);
        } catch (Thrown e) {
            throw signal(e.mark);
        }
    }

    private int finallyCall(Method method) throws IOException, Thrown {
        int sum;
        try {
            sum = loop(method, method.constant(), false);
        } catch (Thrown e) {
            helper(method, 0);
            throw e;
        }
        return sum * 31 + helper(method, 0);
    }

    private int resource(Method method) throws IOException, Thrown {
        int opened = helper(method, 0);
        int sum;
        try {
            sum = loop(method, method.constant() * 31 + opened, false);
        } catch (Thrown e) {
            helper(method, 1);
            throw e;
        }
        helper(method, 1);
        return sum;
    }

    private static int fold(int seed, int turns) {
        int sum = seed;
        for (int i = 0; i < turns; i++) {
            sum = sum * 31 + i;
        }
        return sum;
    }
}
