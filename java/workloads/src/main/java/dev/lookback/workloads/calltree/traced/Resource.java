package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Calls while it is opened; closing is a leaf. */
final class Resource implements AutoCloseable {
    final int value;

    /** Opens it. */
    Resource(Tape tape) {
        int sum = 16;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Contended.update();
                case Tape.SECOND -> Operation.DOWN.apply(tape);
                case Tape.THIRD -> Recursion.direct(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        value = sum;
    }

    @Override
    public void close() {
        int sum = 17;
        for (int i = 0; i < 20; i++) {
            sum = sum * 31 + i;
        }
        Contended.sink = sum;
    }
}
