package dev.lookback.workloads.calltree.expect;

import dev.lookback.workloads.calltree.expect.Method.Body;
import java.io.ByteArrayOutputStream;
import java.util.SplittableRandom;

/**
 * Draws a random call tree and writes it down as a tape.
 *
 * <p>It follows exceptions as they will fly, because the methods that are left by one take no further
 * decision. A subtree is given up to chance; the root goes on until there have been enough calls.
 */
public final class Planner {
    /** Below that depth no loop makes a further call; helpers may add a few frames. */
    private static final int MAX_DEPTH = 200;
    private static final double STOP = 0.52;
    private static final double THROW = 0.03;
    /** A chain of {@link Methods#DEEP} goes on with this chance: 33 frames on average. */
    private static final double CHAIN = 0.97;

    private final SplittableRandom random;
    private final long limit;
    private final boolean superThrows;
    private final ByteArrayOutputStream code = new ByteArrayOutputStream();
    private long calls;
    private int throwForbidden;

    private Planner(long seed, long limit, boolean superThrows) {
        this.random = new SplittableRandom(seed);
        this.limit = limit;
        this.superThrows = superThrows;
    }

    /**
     * A tape of at least {@code calls} calls, a little more where helpers run on after the limit.
     *
     * @param superThrows whether a super constructor may be left by an exception, which leaves the
     *                    subclass's constructor too, at a place that no exception handler can cover
     */
    public static byte[] plan(long seed, long calls, boolean superThrows) {
        Planner planner = new Planner(seed, calls, superThrows);
        planner.method(Methods.get(Methods.ROOT), 0);
        return planner.code.toByteArray();
    }

    /** Plans one call; true if it is left by an exception. */
    private boolean method(Method method, int depth) {
        calls++;
        return switch (method.body()) {
            case LEAF -> false;
            case LEAF_PREFIX -> helper(method, 0, depth);
            case WALK -> loop(method, depth);
            case CATCH_EACH, CATCH_ONCE -> {
                // Whatever is thrown inside stays inside, also below a super constructor.
                int forbidden = throwForbidden;
                throwForbidden = 0;
                loop(method, depth);
                throwForbidden = forbidden;
                yield false;
            }
            case RETHROW -> {
                boolean thrown = loop(method, depth);
                calls += thrown ? 1 : 0;
                yield thrown;
            }
            case FINALLY -> loop(method, depth) | helper(method, 0, depth);
            case PREFIX -> prefix(method, depth) || loop(method, depth);
            case RESOURCE -> helper(method, 0, depth) || loop(method, depth) | helper(method, 1, depth);
        };
    }

    private boolean prefix(Method method, int depth) {
        boolean guarded = method.name().equals(Methods.SUBCLASS_CONSTRUCTOR) && !superThrows;
        throwForbidden += guarded ? 1 : 0;
        boolean thrown = helper(method, 0, depth);
        throwForbidden -= guarded ? 1 : 0;
        return thrown;
    }

    private boolean helper(Method method, int index, int depth) {
        return method(Methods.get(method.helpers().get(index)), depth + 1);
    }

    private boolean loop(Method method, int depth) {
        for (int turn = 0; ; turn++) {
            if (stops(method, depth, turn)) {
                code.write(Tape.END);
                return false;
            }
            boolean thrown;
            if (throwForbidden == 0 && random.nextDouble() < THROW) {
                code.write(Tape.THROW);
                calls++;
                thrown = true;
            } else {
                int choice = random.nextInt(3);
                code.write(Tape.FIRST + choice);
                thrown = method(Methods.get(method.callees().get(choice)), depth + 1);
            }
            if (thrown && method.body() != Body.CATCH_EACH) {
                return true;
            }
        }
    }

    private boolean stops(Method method, int depth, int turn) {
        if (calls >= limit) {
            return true;
        }
        if (depth == 0) {
            return false;
        }
        if (depth >= MAX_DEPTH) {
            return true;
        }
        if (method.name().equals(Methods.DEEP)) {
            return random.nextDouble() < (turn == 0 ? 1 - CHAIN : CHAIN);
        }
        return random.nextDouble() < STOP;
    }
}
