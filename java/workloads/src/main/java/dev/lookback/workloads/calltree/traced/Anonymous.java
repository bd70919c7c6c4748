package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** A method of an anonymous class, {@code Anonymous$1}. */
abstract class Anonymous {
    /** The only one of its class. */
    static final Anonymous TASK = new Anonymous() {
        @Override
        int run(Tape tape) {
            int sum = 40;
            for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Recursion.direct(tape);
                    case Tape.SECOND -> Makers.make(tape);
                    case Tape.THIRD -> Descriptors.array(tape)[0];
                    default -> throw new Signal(tape.pos);
                };
            }
            return sum;
        }
    };

    /** Left to the anonymous class. */
    abstract int run(Tape tape);
}
