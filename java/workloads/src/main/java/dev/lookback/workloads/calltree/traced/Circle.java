package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** One implementation. */
final class Circle extends Figure {
    /** Calls. */
    @Override
    int area(Tape tape) {
        int sum = 32;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Recursion.viaReference(tape);
                case Tape.SECOND -> SQUARE.area(tape);
                case Tape.THIRD -> Lambdas.inline(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
