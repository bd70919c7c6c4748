/**
 * What the call tree program is told to do and what a tracer must see of it: tape, planner, simulator.
 *
 * <p>Nothing in here is meant to be traced (exclude {@code dev.lookback.workloads.calltree.expect.**}), and
 * nothing in here calls the traced package: the simulator knows the methods from its own table, so that it
 * cannot repeat their mistakes.
 */
package dev.lookback.workloads.calltree.expect;
