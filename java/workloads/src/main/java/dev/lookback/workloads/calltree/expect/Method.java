package dev.lookback.workloads.calltree.expect;

import java.util.List;

/**
 * What the simulator knows of one traced method.
 *
 * @param name     {@code Class.method} with the binary class name inside the traced package
 * @param body     the shape of its body
 * @param constant what its result starts from; different for each method, so that a result tells the path
 * @param helpers  names of what it calls whatever the tape says: a prefix, a finally block, a resource
 * @param callees  names of what the decisions {@link Tape#FIRST} to {@link Tape#THIRD} call
 */
record Method(String name, Body body, int constant, List<String> helpers, List<String> callees) {
    /** The shapes. "Loop" is the loop that takes decisions until {@link Tape#END}. */
    enum Body {
        /** The loop. */
        WALK,
        /** The loop, with each turn in its own try that catches. */
        CATCH_EACH,
        /** The loop inside one try that catches, and ends. */
        CATCH_ONCE,
        /** The loop inside one try that catches, and throws a new exception. */
        RETHROW,
        /** The loop, and the helper in a finally block. */
        FINALLY,
        /** The helper, then the loop. */
        PREFIX,
        /** The loop between the first helper, which opens, and the second, which closes. */
        RESOURCE,
        /** A loop of twenty turns without a decision. */
        LEAF,
        /** The helper, and no loop. */
        LEAF_PREFIX
    }

    /** The same with callees. */
    Method calls(String first, String second, String third) {
        return new Method(name, body, constant, helpers, List.of(first, second, third));
    }
}
