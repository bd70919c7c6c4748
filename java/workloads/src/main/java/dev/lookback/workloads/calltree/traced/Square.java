package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Another implementation. */
final class Square extends Figure {
    /** Calls the inherited method first. */
    @Override
    int area(Tape tape) {
        int sum = outline(tape) * 31 + 33;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> CIRCLE.area(tape);
                case Tape.SECOND -> Operation.UP.apply(tape);
                case Tape.THIRD -> Blocks.catchingOnce(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
