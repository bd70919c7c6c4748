// Computes in one loop of `main` until its standard input ends.
//
// The constraint: the loop calls nothing, so that nobody but `main` itself can be slow.

import java.io.IOException;

/** Prints "ready", computes, and prints "done". */
final class Loop {
    private static volatile boolean ended;

    private Loop() {}

    public static void main(String[] args) {
        Thread reader = new Thread(Loop::read, "reader");
        reader.start();
        System.out.println("ready");
        long x = 1;
        while (!ended) {
            x = x * 31 + (x >>> 7);
        }
        System.out.println(x == 0 ? "zero" : "done");
    }

    private static void read() {
        try {
            while (System.in.read() >= 0) {
                // Only the end counts.
            }
        } catch (IOException e) {
            // That is an end, too.
        }
        ended = true;
    }
}
