package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Monitors: synchronized methods and blocks. */
public final class Monitored {
    private final Object lock = new Object();

    /** An object of one thread: its monitor is taken again and again, but never contended. */
    public Monitored() {
    }

    /** A synchronized method. */
    synchronized int enter(Tape tape) {
        int sum = 21;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> again(tape);
                case Tape.SECOND -> Mutual.pang(tape);
                case Tape.THIRD -> Blocks.catchingOnce(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }

    /** Entered with the monitor held. */
    synchronized int again(Tape tape) {
        int sum = 22;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> block(tape);
                case Tape.SECOND -> enter(tape);
                case Tape.THIRD -> Lambdas.inline(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }

    /** A synchronized block. */
    int block(Tape tape) {
        int sum = 23;
        synchronized (lock) {
            for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Recursion.deep(tape);
                    case Tape.SECOND -> again(tape);
                    case Tape.THIRD -> Blocks.rethrowing(tape);
                    default -> throw new Signal(tape.pos);
                };
            }
        }
        return sum;
    }

    /** A synchronized method with a finally block. */
    synchronized int guarded(Tape tape) {
        int sum = 24;
        try {
            for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> enter(tape);
                    case Tape.SECOND -> Makers.make(tape);
                    case Tape.THIRD -> (int) Descriptors.wide(7L, 0.5, tape, 3);
                    default -> throw new Signal(tape.pos);
                };
            }
        } finally {
            sum = sum * 31 + release(tape);
        }
        return sum;
    }

    /** Private, called in a finally block. */
    private int release(Tape tape) {
        int sum = 25;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Contended.update();
                case Tape.SECOND -> Walker.start(tape);
                case Tape.THIRD -> Pair.SAMPLE.visit(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
