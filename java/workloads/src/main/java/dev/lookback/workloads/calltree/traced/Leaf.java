package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** A constructor whose super constructor calls: entered before it, left after it. */
final class Leaf extends Node {
    final int value;

    /** Plays its part after that of {@link Node}. */
    Leaf(Tape tape) {
        super(tape);
        int sum = super.value * 31 + 20;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Mutual.pong(tape);
                case Tape.SECOND -> Blocks.catching(tape);
                case Tape.THIRD -> Descriptors.viaVoid(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        value = sum;
    }
}
