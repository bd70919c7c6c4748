package dev.lookback.workloads.shop;

/**
 * How to set up a shop.
 *
 * @param port                TCP port on the loopback address, 0 for any
 * @param seed                of the catalogue
 * @param products            size of the catalogue
 * @param cause               the built-in defect
 * @param refreshAfterSeconds from the start to the first refresh of the catalogue
 * @param refreshEverySeconds from the end of one refresh to the next
 * @param verbose             print a line per refresh
 */
public record ShopOptions(int port, long seed, int products, Cause cause, int refreshAfterSeconds,
        int refreshEverySeconds, boolean verbose) {
    /** Products in the default catalogue. */
    public static final int DEFAULT_PRODUCTS = 20_000;
    /** Late enough for the load to have warmed the code up, early enough for a demo of half a minute. */
    public static final int DEFAULT_REFRESH_AFTER = 8;
    /** About as rare as it can be in a demo. */
    public static final int DEFAULT_REFRESH_EVERY = 25;
}
