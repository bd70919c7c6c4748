package org.dacapo.harness;

/** Drives a callback as DaCapo Chopin does: requests come from several threads, numbered from 0 in each iteration. */
final class TestHarness {
    private static final int REQUESTS = 70_000;

    private TestHarness() {}

    /** Usage: TestHarness CALLBACK ITERATIONS BENCHMARK... */
    public static void main(String[] args) throws Exception {
        Class<? extends Callback> type = Class.forName(args[0]).asSubclass(Callback.class);
        for (int i = 2; i < args.length; i++) {
            CommandLineArgs parsed = new CommandLineArgs(Integer.parseInt(args[1]));
            Callback callback = type.getConstructor(CommandLineArgs.class).newInstance(parsed);
            do {
                callback.start(args[i]);
                long start = System.nanoTime();
                if (args[i].equals("requests")) {
                    serve(callback);
                }
                callback.stop((System.nanoTime() - start) / 1_000_000);
                callback.complete(args[i], true);
            } while (callback.runAgain());
        }
    }

    private static void serve(Callback callback) throws InterruptedException {
        callback.requestsStarting();
        Thread[] threads = new Thread[2];
        for (int t = 0; t < threads.length; t++) {
            int first = t;
            threads[t] = new Thread(() -> {
                for (int id = first; id < REQUESTS; id += threads.length) {
                    callback.requestStart(id);
                    // One never ends.
                    if (id != 3) {
                        callback.requestEnd(id);
                    }
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        callback.requestsFinished();
    }
}
