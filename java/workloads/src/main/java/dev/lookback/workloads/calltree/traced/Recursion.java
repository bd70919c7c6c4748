package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;
import java.util.function.ToIntFunction;

/** Direct recursion, on wide and on deep trees. */
final class Recursion {
    private static final ToIntFunction<Tape> DEEP = Recursion::deep;

    private Recursion() {
    }

    /** Calls itself among others. */
    static int direct(Tape tape) {
        int sum = 2;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> direct(tape);
                case Tape.SECOND -> deep(tape);
                case Tape.THIRD -> Mutual.ping(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }

    /** Mostly calls itself: the planner makes long chains of it. */
    static int deep(Tape tape) {
        int sum = 3;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> deep(tape);
                case Tape.SECOND -> deep(tape);
                case Tape.THIRD -> Blocks.catchingOnce(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }

    /** Calls through a method reference. */
    static int viaReference(Tape tape) {
        int sum = DEEP.applyAsInt(tape) * 31 + 4;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Mutual.pang(tape);
                case Tape.SECOND -> (int) Descriptors.real(tape, 1.0f);
                case Tape.THIRD -> Walker.start(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
