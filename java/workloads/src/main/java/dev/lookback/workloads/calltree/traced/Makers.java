package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Makes objects. */
final class Makers {
    private Makers() {
    }

    /** Calls constructors. */
    static int make(Tape tape) {
        int sum = 18;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> new Node(tape).value;
                case Tape.SECOND -> new Leaf(tape).value;
                case Tape.THIRD -> ((Monitored) tape.subject).guarded(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
