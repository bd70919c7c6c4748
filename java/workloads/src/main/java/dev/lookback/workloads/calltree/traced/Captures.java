package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;
import java.util.function.ToIntFunction;

/** A lambda that captures: its body is the synthetic method {@code lambda$capture$0}. */
final class Captures {
    private Captures() {
    }

    /** Calls a capturing lambda, then others. */
    static int capture(Tape tape) {
        int base = tape.code.length > 0 ? 37 : 0;
        ToIntFunction<Tape> body = t -> {
            int sum = base;
            for (int op; (op = t.code[t.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Mutual.ping(t);
                    case Tape.SECOND -> Operation.DOWN.apply(t);
                    case Tape.THIRD -> new Leaf(t).value;
                    default -> throw new Signal(t.pos);
                };
            }
            return sum;
        };
        int sum = body.applyAsInt(tape) * 31 + 36;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Recursion.deep(tape);
                case Tape.SECOND -> Pair.SAMPLE.visit(tape);
                case Tape.THIRD -> Blocks.rethrowing(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
