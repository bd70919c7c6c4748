package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/**
 * A method of a record.
 *
 * @param left  added to nothing
 * @param right likewise
 */
record Pair(int left, int right) {
    /** Made before any thread plays. */
    static final Pair SAMPLE = new Pair(1, 2);

    /** Calls. */
    int visit(Tape tape) {
        int sum = 41;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Recursion.deep(tape);
                case Tape.SECOND -> Lambdas.inline(tape);
                case Tape.THIRD -> Blocks.withFinally(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
