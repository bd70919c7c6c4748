package org.dacapo.harness;

/** The base class as DaCapo Chopin has it: it is told how long an iteration took, and of requests. */
public class Callback {
    private final CommandLineArgs args;
    private int iterations;

    public Callback(CommandLineArgs args) {
        this.args = args;
    }

    public boolean isWarmup() {
        return iterations < args.iterations - 1;
    }

    public boolean runAgain() {
        return ++iterations < args.iterations;
    }

    public void start(String benchmark) {
        System.out.println(benchmark + " starting" + (isWarmup() ? " warmup" : ""));
    }

    public void stop(long duration) {
        stop(duration, isWarmup());
    }

    public void stop(long duration, boolean warmup) {
        System.out.println("stopped" + (warmup ? " warmup" : "") + (duration < 0 ? " too early" : ""));
    }

    public void complete(String benchmark, boolean valid) {
        System.out.println(benchmark + (valid ? " PASSED" : " FAILED"));
    }

    public void requestsStarting() {}

    public void requestsFinished() {}

    public void requestStart(int id) {
        throw new IllegalStateException("nobody is told of request " + id);
    }

    public void requestEnd(int id) {}
}
