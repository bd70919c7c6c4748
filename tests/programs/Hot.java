// Calls a small method as fast as it can, for as long as its standard input says.
//
// The constraint: what is hot is known by name, changes on command, and its result depends on nothing else.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/**
 * Commands: "one MILLIS" and "two MILLIS", two methods to be hot; "watched MILLIS", one that tests watch; "request MILLIS",
 * the first within two stages of one call; "lists MILLIS", one that allocates and is not called often.
 */
final class Hot {
    private Hot() {}

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            long millis = Long.parseLong(words[1]);
            boolean right = words[0].equals("request") ? request(millis) : hot(words[0], millis);
            System.out.println("did " + line + (right ? "" : " wrongly"));
        }
    }

    private static boolean request(long millis) {
        return stage(millis / 2) & stage(millis / 2);
    }

    private static boolean stage(long millis) {
        return hot("one", millis);
    }

    private static boolean hot(String which, long millis) {
        long until = System.nanoTime() + millis * 1_000_000;
        boolean right = true;
        while (System.nanoTime() < until) {
            right &= turn(which) == 499_500;
        }
        return right;
    }

    /** A thousand calls. */
    private static long turn(String which) {
        long sum = 0;
        for (int i = 0; i < 1_000; i++) {
            switch (which) {
                case "one" -> sum += One.step(i);
                case "two" -> sum += Two.step(i);
                case "lists" -> sum += Lists.step(i);
                default -> sum += Watched.step(i);
            }
        }
        return sum;
    }

    private static int same(int i) {
        return Math.abs(i);
    }

    static final class One {
        static int step(int i) {
            return same(i);
        }
    }

    static final class Two {
        static int step(int i) {
            return same(i);
        }
    }

    static final class Lists {
        static int step(int i) {
            List<Integer> list = new ArrayList<>();
            for (int n = 0; n < 400; n++) {
                list.add(Math.abs(i));
            }
            return list.get(i % 400);
        }
    }

    static final class Watched {
        static int step(int i) {
            return same(i);
        }
    }
}
