package dev.lookback.workloads.calltree.traced;

/** A lock that all threads want. It is held for a leaf only, so that nobody waits for it with another lock held. */
final class Contended {
    /** Keeps a result that nobody needs from being optimised away; races on it are harmless. */
    static int sink;

    private Contended() {
    }

    /** A static synchronized method. */
    static synchronized int update() {
        return busy() * 31 + 26;
    }

    /** A leaf with a loop. */
    private static int busy() {
        int sum = 27;
        for (int i = 0; i < 20; i++) {
            sum = sum * 31 + i;
        }
        sink = sum;
        return sum;
    }
}
