package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Three methods that call one another. */
final class Mutual {
    private Mutual() {
    }

    /** To pong. */
    static int ping(Tape tape) {
        int sum = 5;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> pong(tape);
                case Tape.SECOND -> (int) Descriptors.wide(7L, 0.5, tape, 3);
                case Tape.THIRD -> Recursion.direct(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }

    /** To pang and back. */
    static int pong(Tape tape) {
        int sum = 6;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> pang(tape);
                case Tape.SECOND -> ping(tape);
                case Tape.THIRD -> Blocks.withFinally(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }

    /** To ping. */
    static int pang(Tape tape) {
        int sum = 7;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> ping(tape);
                case Tape.SECOND -> Lambdas.inline(tape);
                case Tape.THIRD -> Blocks.rethrowing(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
