package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Constants with bodies: the classes {@code Operation$1} and {@code Operation$2}. */
enum Operation {
    /** One body. */
    UP {
        @Override
        int apply(Tape tape) {
            int sum = 38;
            for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Recursion.direct(tape);
                    case Tape.SECOND -> DOWN.apply(tape);
                    case Tape.THIRD -> ((Monitored) tape.subject).enter(tape);
                    default -> throw new Signal(tape.pos);
                };
            }
            return sum;
        }
    },
    /** Another. */
    DOWN {
        @Override
        int apply(Tape tape) {
            int sum = 39;
            for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Mutual.pang(tape);
                    case Tape.SECOND -> UP.apply(tape);
                    case Tape.THIRD -> (int) Descriptors.real(tape, 1.0f);
                    default -> throw new Signal(tape.pos);
                };
            }
            return sum;
        }
    };

    /** Left to the constants. */
    abstract int apply(Tape tape);
}
