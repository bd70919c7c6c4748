package org.dacapo.harness;

/** Drives a callback as the first DaCapo 9.12 does: made by its name, one for each benchmark. */
final class TestHarness {
    private TestHarness() {}

    /** Usage: TestHarness CALLBACK ITERATIONS BENCHMARK... */
    public static void main(String[] args) throws Exception {
        Class<? extends Callback> type = Class.forName(args[0]).asSubclass(Callback.class);
        for (int i = 2; i < args.length; i++) {
            CommandLineArgs parsed = new CommandLineArgs(Integer.parseInt(args[1]));
            Callback callback = type.getConstructor(CommandLineArgs.class).newInstance(parsed);
            do {
                callback.start(args[i]);
                callback.stop();
                callback.complete(args[i], true);
            } while (callback.runAgain());
        }
    }
}
