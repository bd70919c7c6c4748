package dev.lookback.workloads.calltree.traced;

/** Walks as the interface says. */
final class Stepper implements Walker {
}
