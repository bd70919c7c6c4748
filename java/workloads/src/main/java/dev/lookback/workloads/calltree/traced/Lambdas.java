package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;
import java.util.function.ToIntFunction;

/** A lambda without captures: its body is the synthetic method {@code lambda$inline$0}. */
final class Lambdas {
    private Lambdas() {
    }

    /** Calls a lambda, then others. */
    static int inline(Tape tape) {
        ToIntFunction<Tape> body = t -> {
            int sum = 35;
            for (int op; (op = t.code[t.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Mutual.pong(t);
                    case Tape.SECOND -> Walker.STEPPER.walk(t);
                    case Tape.THIRD -> Blocks.catching(t);
                    default -> throw new Signal(t.pos);
                };
            }
            return sum;
        };
        int sum = body.applyAsInt(tape) * 31 + 34;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Recursion.direct(tape);
                case Tape.SECOND -> Captures.capture(tape);
                case Tape.THIRD -> Anonymous.TASK.run(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
