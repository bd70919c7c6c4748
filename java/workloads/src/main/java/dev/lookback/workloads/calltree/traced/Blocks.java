package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Catch, finally and try-with-resources around calls. */
final class Blocks {
    private Blocks() {
    }

    /** Catches what each of its callees throws, and goes on. */
    static int catching(Tape tape) {
        int sum = 8;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            try {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Recursion.deep(tape);
                    case Tape.SECOND -> withResource(tape);
                    case Tape.THIRD -> Figure.CIRCLE.area(tape);
                    default -> throw new Signal(tape.pos);
                };
            } catch (Signal signal) {
                sum = sum * 31 + signal.mark;
            }
        }
        return sum;
    }

    /** Catches once, and returns. */
    static int catchingOnce(Tape tape) {
        int sum = 9;
        try {
            for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Mutual.pong(tape);
                    case Tape.SECOND -> rethrowing(tape);
                    case Tape.THIRD -> new Leaf(tape).value;
                    default -> throw new Signal(tape.pos);
                };
            }
        } catch (Signal signal) {
            sum = sum * 31 + signal.mark;
        }
        return sum;
    }

    /** Its finally block calls, and what it calls may throw in turn. */
    static int withFinally(Tape tape) {
        int sum = 10;
        try {
            for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> catching(tape);
                    case Tape.SECOND -> new Node(tape).value;
                    case Tape.THIRD -> ((Monitored) tape.subject).enter(tape);
                    default -> throw new Signal(tape.pos);
                };
            }
        } finally {
            sum = sum * 31 + cleanup(tape);
        }
        return sum;
    }

    /** Runs in a finally block, or as any other. */
    static int cleanup(Tape tape) {
        int sum = 11;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Contended.update();
                case Tape.SECOND -> Pair.SAMPLE.visit(tape);
                case Tape.THIRD -> Operation.UP.apply(tape);
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }

    /** Its finally block calls a method that lets nothing out. */
    static int carefulFinally(Tape tape) {
        int sum = 12;
        try {
            for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Mutual.ping(tape);
                    case Tape.SECOND -> Descriptors.boxed(tape);
                    case Tape.THIRD -> Figure.SQUARE.area(tape);
                    default -> throw new Signal(tape.pos);
                };
            }
        } finally {
            sum = sum * 31 + careful(tape);
        }
        return sum;
    }

    /** Lets nothing out. */
    static int careful(Tape tape) {
        int sum = 13;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            try {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Recursion.viaReference(tape);
                    case Tape.SECOND -> Walker.STEPPER.walk(tape);
                    case Tape.THIRD -> Anonymous.TASK.run(tape);
                    default -> throw new Signal(tape.pos);
                };
            } catch (Signal signal) {
                sum = sum * 31 + signal.mark;
            }
        }
        return sum;
    }

    /** Turns what is thrown into something else that is thrown. */
    static int rethrowing(Tape tape) {
        int sum = 14;
        try {
            for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> catchingOnce(tape);
                    case Tape.SECOND -> Captures.capture(tape);
                    case Tape.THIRD -> ((Monitored) tape.subject).block(tape);
                    default -> throw new Signal(tape.pos);
                };
            }
        } catch (Signal signal) {
            throw new Signal(signal.mark);
        }
        return sum;
    }

    /** Opens and closes a resource around its calls. */
    static int withResource(Tape tape) {
        int sum = 15;
        try (Resource resource = new Resource(tape)) {
            sum = sum * 31 + resource.value;
            for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
                sum = sum * 31 + switch (op) {
                    case Tape.FIRST -> Mutual.pang(tape);
                    case Tape.SECOND -> Descriptors.array(tape)[0];
                    case Tape.THIRD -> carefulFinally(tape);
                    default -> throw new Signal(tape.pos);
                };
            }
        }
        return sum;
    }
}
