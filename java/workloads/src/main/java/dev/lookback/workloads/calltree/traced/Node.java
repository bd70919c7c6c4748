package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** A constructor that calls. */
class Node {
    final int value;

    /** Plays its part of the tape. */
    Node(Tape tape) {
        int sum = 19;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Recursion.direct(tape);
                case Tape.SECOND -> Walker.JUMPER.walk(tape);
                case Tape.THIRD -> Blocks.withFinally(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        value = sum;
    }
}
