package dev.lookback.workloads.desktop;

/** What keeps the application or its controller from going on; the message is for the user. */
public final class DesktopException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Carries the message. */
    public DesktopException(String message) {
        super(message);
    }

    /** Carries the message and its cause. */
    public DesktopException(String message, Throwable cause) {
        super(message, cause);
    }
}
