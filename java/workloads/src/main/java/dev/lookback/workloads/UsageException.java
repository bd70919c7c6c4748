package dev.lookback.workloads;

/** A command line that cannot be obeyed; the message says why and what to try. */
public final class UsageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Carries the message for the user. */
    public UsageException(String message) {
        super(message);
    }
}
