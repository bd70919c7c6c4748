// Calls, waits, loads classes and begins threads without end, and says what its work came to.
//
// The constraint: what it prints depends on how often it was asked and on nothing else, so any lost or doubled call of its
// own shows; it must do all of what an agent meets when it comes and goes: locks, sleeps, exceptions, short and long threads.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.atomic.AtomicLong;

/** Prints "ready"; to each line it answers "N rounds were right" for what went on since the one before. */
final class Churn {
    private static final Object LOCK = new Object();
    private static final AtomicLong ROUNDS = new AtomicLong();
    private static volatile boolean ended;

    private Churn() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        Thread[] workers = new Thread[3];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Thread(null, Churn::work, "worker-" + i, 1 << 20);
            workers[i].start();
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null; ) {
            long before = ROUNDS.get();
            if (line.equals("gc")) {
                System.gc();
            }
            // At least one whole round of somebody's, begun and ended after the question.
            while (ROUNDS.get() < before + workers.length + 1) {
                Thread.sleep(1);
            }
            System.out.println("right " + line);
        }
        ended = true;
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("done");
    }

    private static void work() {
        while (!ended) {
            round();
            ROUNDS.incrementAndGet();
        }
    }

    private static void round() {
        long sum = 0;
        for (int i = 0; i < 2_000; i++) {
            sum += fib(i % 12);
        }
        if (sum != 38_545) {
            throw new IllegalStateException("fib: " + sum);
        }
        try {
            thrown(5);
            throw new IllegalStateException("nothing was thrown");
        } catch (ArithmeticException expected) {
            synchronized (LOCK) {
                briefly();
            }
        }
        Thread brief = new Thread(null, () -> fib(10), "brief", 1 << 18);
        brief.start();
        try {
            brief.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    private static int thrown(int n) {
        return n == 0 ? 1 / n : thrown(n - 1);
    }

    private static void briefly() {
        try {
            Thread.sleep(0, 100_000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
