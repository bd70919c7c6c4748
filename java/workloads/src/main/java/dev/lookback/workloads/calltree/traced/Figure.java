package dev.lookback.workloads.calltree.traced;

import dev.lookback.workloads.calltree.expect.Tape;

/** Virtual calls: one method implemented twice, one inherited. */
abstract class Figure {
    /** Implements the abstract method. */
    static final Figure CIRCLE = new Circle();
    /** Implements it with the help of the inherited one. */
    static final Figure SQUARE = new Square();

    /** Left to the figures. */
    abstract int area(Tape tape);

    /** Inherited. */
    int outline(Tape tape) {
        int sum = 31;
        for (int op; (op = tape.code[tape.pos++]) != Tape.END; ) {
            sum = sum * 31 + switch (op) {
                case Tape.FIRST -> Mutual.pang(tape);
                case Tape.SECOND -> Contended.update();
                case Tape.THIRD -> new Node(tape).value;
                default -> throw new Signal(tape.pos);
            };
        }
        return sum;
    }
}
