// Starts and ends very many platform threads, as its standard input says.
//
// The constraint: what it prints depends on nothing but its commands, but for the lines that begin with "measured".

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Commands: "gather N", so many threads that each do a little and then wait; "disperse", they do a little more and end;
 * "bursts N TIMES", so many that do a little and end, so many times in a row; "flood SECONDS", one after the other for so long.
 */
final class Bursts {
    private static final AtomicLong SUM = new AtomicLong();
    private static final List<Thread> WAITING = new ArrayList<>();
    private static CountDownLatch end = new CountDownLatch(1);

    private Bursts() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            long begun = System.nanoTime();
            switch (words[0]) {
                case "gather" -> gather(Integer.parseInt(words[1]));
                case "disperse" -> disperse();
                case "flood" -> flood(Integer.parseInt(words[1]));
                default -> {
                    for (int i = 0; i < Integer.parseInt(words[2]); i++) {
                        gather(Integer.parseInt(words[1]));
                        disperse();
                    }
                }
            }
            System.out.println("measured " + (System.nanoTime() - begun) / 1_000_000 + " ms for " + line);
            System.out.println("sum " + SUM.get());
            System.out.println("did " + line);
        }
    }

    private static void gather(int threads) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(threads);
        CountDownLatch all = end;
        for (int i = 0; i < threads; i++) {
            int number = i;
            // Small stacks: there are many.
            Thread thread = new Thread(null, () -> live(number, begun, all), "crowd-" + i, 128 << 10);
            WAITING.add(thread);
            thread.start();
        }
        begun.await();
    }

    /** How many there are is not the same each time, so none adds to the sum. */
    private static void flood(int seconds) throws InterruptedException {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        int threads = 0;
        for (; System.nanoTime() < end; threads++) {
            Thread thread = new Thread(null, () -> little(0), "drop", 128 << 10);
            thread.start();
            thread.join();
        }
        System.out.println("measured " + threads + " threads");
    }

    private static void disperse() throws InterruptedException {
        end.countDown();
        for (Thread thread : WAITING) {
            thread.join();
        }
        WAITING.clear();
        end = new CountDownLatch(1);
    }

    private static void live(int number, CountDownLatch begun, CountDownLatch all) {
        little(number);
        begun.countDown();
        try {
            all.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        little(number);
    }

    private static void little(int number) {
        SUM.addAndGet(Math.abs(number) % 7);
    }
}
