package dev.lookback.workloads.shop;

/** The shop cannot do what it was asked for a reason outside the request: database, index, port. */
public final class ShopException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What failed, and why. */
    public ShopException(String message, Throwable cause) {
        super(message + ": " + cause.getMessage(), cause);
    }
}
