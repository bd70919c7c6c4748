package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Arguments and results of every kind. */
final class Descriptors {
    private Descriptors() {
    }

    /** Two-slot arguments around the others, and a two-slot result. */
    static long wide(long a, double b, Tape tape, int c) {
        int sum = 42;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Mutual.pong(tape);
                case Tape.SECOND -> (int) Descriptors.real(tape, 1.0f);
                case Tape.THIRD -> Contended.update();
                default -> throw new Signal(tape.pos);
            };
        }
        return sum + a * 0 + (long) (b * 0) + c * 0;
    }

    /** A double; any int passes through it unharmed. */
    static double real(Tape tape, float scale) {
        int sum = 43;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Recursion.viaReference(tape);
                case Tape.SECOND -> boxed(tape);
                case Tape.THIRD -> Walker.JUMPER.walk(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum * (double) scale;
    }

    /** Calls a method without a result. */
    static int viaVoid(Tape tape) {
        int[] result = new int[1];
        nothing(tape, result);
        int sum = result[0] * 31 + 44;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Mutual.ping(tape);
                case Tape.SECOND -> (int) Descriptors.wide(7L, 0.5, tape, 3);
                case Tape.THIRD -> Blocks.withResource(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }

    /** Returns nothing. */
    private static void nothing(Tape tape, int[] result) {
        int sum = 45;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> array(tape)[0];
                case Tape.SECOND -> Figure.SQUARE.area(tape);
                case Tape.THIRD -> ((Monitored) tape.subject).guarded(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        result[0] = sum;
    }

    /** An object. */
    static Integer boxed(Tape tape) {
        int sum = 46;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Recursion.direct(tape);
                case Tape.SECOND -> viaVoid(tape);
                case Tape.THIRD -> Walker.STEPPER.walk(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }

    /** An array. */
    static int[] array(Tape tape) {
        int sum = 47;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Mutual.pang(tape);
                case Tape.SECOND -> Figure.CIRCLE.area(tape);
                case Tape.THIRD -> new Leaf(tape).value;
                default -> throw new Signal(tape.pos);
            };
        }
        return new int[] {sum};
    }
}
