package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Where every thread starts; nothing that is thrown leaves it. */
public final class Root {
    private Root() {
    }

    /** Plays the whole tape. */
    public static int run(Tape tape) {
        int sum = 1;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            try {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Recursion.direct(tape);
                    case Tape.SECOND -> Makers.make(tape);
                    case Tape.THIRD -> Blocks.catching(tape);
                    default -> throw new Signal(tape.pos);
                };
            } catch (Signal signal) {
                sum = sum * 31 + signal.mark;
            }
        }
        return sum;
    }
}
