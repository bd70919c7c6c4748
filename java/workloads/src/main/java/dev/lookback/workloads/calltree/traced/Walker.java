package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Default, static and private methods of an interface. */
interface Walker {
    /** Inherits the default method. */
    Walker STEPPER = new Stepper();
    /** Overrides it. */
    Walker JUMPER = new Jumper();

    /** A default method. */
    default int walk(Tape tape) {
        int sum = 28;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Recursion.direct(tape);
                case Tape.SECOND -> Walker.start(tape);
                case Tape.THIRD -> Blocks.carefulFinally(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }

    /** A static method. */
    static int start(Tape tape) {
        int sum = 29;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Walker.STEPPER.walk(tape);
                case Tape.SECOND -> Walker.JUMPER.walk(tape);
                case Tape.THIRD -> Mutual.ping(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
