package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Walks its own way. */
final class Jumper implements Walker {
    /** Calls the default method, then others. */
    @Override
    public int walk(Tape tape) {
        int sum = Walker.super.walk(tape) * 31 + 30;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Descriptors.boxed(tape);
                case Tape.SECOND -> Blocks.withResource(tape);
                case Tape.THIRD -> Figure.CIRCLE.area(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
