package dev.lookback.workloads;

/** Drives a callback as the workloads do. */
final class Runner {
    private Runner() {}

    /** Usage: Runner CALLBACK ITERATIONS */
    public static void main(String[] args) throws Exception {
        Object made = Class.forName(args[0]).getConstructor().newInstance();
        IterationCallback callback = (IterationCallback) made;
        int iterations = Integer.parseInt(args[1]);
        for (int i = 0; i < iterations; i++) {
            callback.begin("shop", i);
            long[] starts = {System.nanoTime(), System.nanoTime()};
            long[] ends = {System.nanoTime(), System.nanoTime()};
            callback.end("shop", i);
            callback.requests("shop", i, starts, ends);
        }
        System.out.println("done");
    }
}
