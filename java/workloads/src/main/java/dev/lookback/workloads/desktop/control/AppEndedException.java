package dev.lookback.workloads.desktop.control;

/** The application has ended before its script; its own message and its exit code say why. */
public final class AppEndedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    AppEndedException() {
        super("the application has ended before its script");
    }
}
