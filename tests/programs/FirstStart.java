// Calls a library of which some is hot, for as long as its standard input says.
//
// The constraint: its own code is in another package than the library's, and is called seldom enough to cost nothing.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import org.acme.library.Library;

/** Commands: "run MILLIS". */
final class FirstStart {
    private FirstStart() {}

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null; ) {
            run(Long.parseLong(line.substring("run ".length())));
            System.out.println("did " + line);
        }
    }

    private static void run(long millis) {
        long until = System.nanoTime() + millis * 1_000_000;
        boolean right = Library.Cold.sum(100) == 4_950;
        while (System.nanoTime() < until) {
            right &= turn();
        }
        if (!right) {
            throw new AssertionError("a wrong sum");
        }
    }

    /** About 10 ms. */
    private static boolean turn() {
        long until = System.nanoTime() + 10_000_000;
        boolean right = true;
        while (System.nanoTime() < until) {
            right &= Library.Hot.sum(100) == 4_950;
        }
        return right;
    }
}
