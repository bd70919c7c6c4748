package org.dacapo.harness;

/** The base class as the first DaCapo 9.12 has it: it times iterations itself, and they end with {@code stop()}. */
public class Callback {
    private final CommandLineArgs args;
    private int iterations;
    private boolean timed;

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
        timed = true;
    }

    public void stop() {
        stop(isWarmup());
    }

    public void stop(boolean warmup) {
        System.out.println("stopped" + (warmup ? " warmup" : "") + (timed ? "" : " untimed"));
        timed = false;
    }

    public void complete(String benchmark, boolean valid) {
        System.out.println(benchmark + (valid ? " PASSED" : " FAILED"));
    }
}
