package dev.lookback.workloads;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * How a run ends whose heap is too small: one line on standard error, exit code 3, at once.
 *
 * <p>Constraint: a search for the smallest heap starts thousands of runs that must fail, whichever thread meets the
 * error and whatever the libraries make of it. So the message is made before the heap is full, it goes to the
 * file descriptor, and the VM is halted: shutdown hooks may wait for a thread that has died. 3 is also what
 * {@code -XX:+ExitOnOutOfMemoryError} exits with.
 *
 * <p>Must not: allocate once the error has occurred.
 */
public final class OutOfMemory implements Thread.UncaughtExceptionHandler {
    /** The exit code. */
    public static final int EXIT = 3;
    /** No library nests its exceptions deeper; a cycle ends here. */
    private static final int DEEPEST_CAUSE = 64;

    private final byte[] message;
    private final FileOutputStream err = new FileOutputStream(FileDescriptor.err);
    private final Runtime runtime = Runtime.getRuntime();
    /** Written by the thread that met the error, read by others that fail because of it and must exit alike. */
    private volatile boolean met;

    /** For a run of this workload; to be made while there is memory. */
    public OutOfMemory(String workload) {
        // Not by +, whose bootstrap may be what a very small heap has no room for.
        this.message = "workload ".concat(workload)
                .concat(" failed: out of memory; give it a larger heap (-Xmx)\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** True when that is what went wrong, also below other exceptions. */
    public static boolean caused(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++) {
            if (cause instanceof OutOfMemoryError || keptFromInitialising(cause)) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    /**
     * True when a class is unusable because its initialiser had no memory. The VM keeps the reason as words only, and
     * not even these when there was no memory for them.
     */
    private static boolean keptFromInitialising(Throwable failure) {
        String words = failure.getMessage();
        if (words == null) {
            return false;
        }
        return failure instanceof ExceptionInInitializerError && words.contains("java.lang.OutOfMemoryError")
                || failure instanceof NoClassDefFoundError && failure.getCause() == null
                        && words.startsWith("Could not initialize class ");
    }

    /** Ends the program when any thread dies: what that thread should have done will never be done. */
    public void endWithAnyThread() {
        load();
        Thread.setDefaultUncaughtExceptionHandler(this);
    }

    /** Does once all that {@link #halt} does: loading a class allocates, and so does linking a call. */
    private void load() {
        try {
            Class.forName("java.lang.Shutdown");
            err.write(message, 0, 0);
        } catch (ClassNotFoundException | IOException e) {
            // Another Java library, or nobody to read: halting then needs a little memory.
        }
        caused(new IOException(new OutOfMemoryError()));
    }

    @Override
    public void uncaughtException(Thread thread, Throwable failure) {
        if (caused(failure)) {
            halt();
        }
        try {
            System.err.println("thread " + thread.getName() + " died: " + failure);
            failure.printStackTrace();
        } finally {
            runtime.halt(exit(1));
        }
    }

    /** The exit code for a run that would end with this one: a failure because of the error is the error's. */
    public int exit(int code) {
        return met && code != 0 ? EXIT : code;
    }

    /** Prints the message and ends the program, without shutdown hooks. */
    public void halt() {
        met = true;
        try {
            err.write(message);
        } catch (IOException e) {
            // Nobody reads standard error; the exit code still tells.
        } finally {
            runtime.halt(EXIT);
        }
    }

    /** Prints the message only. */
    public void print(PrintStream stream) {
        stream.write(message, 0, message.length);
        stream.flush();
    }
}
