package dev.lookback.workloads.shop.model;

/** How much of a value goes into a JSON answer. */
public final class Views {
    /** A line in a list. */
    public interface Summary {
    }

    /** A page of its own. */
    public interface Detail extends Summary {
    }

    private Views() {
    }
}
