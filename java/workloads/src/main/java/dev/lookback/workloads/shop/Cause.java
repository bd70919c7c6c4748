package dev.lookback.workloads.shop;

import dev.lookback.workloads.UsageException;

/** Why the shop is slow now and then: the defect that somebody with an incident should find. */
public enum Cause {
    /** The periodic rebuild of the search index holds the lock that every search needs. */
    REINDEX,
    /** "Also bought" lacks an index, which is felt only on the few best-selling products. */
    MISSING_INDEX,
    /** Both mended: the control. */
    NONE;

    /** Reads {@code reindex}, {@code missing-index} or {@code none}. */
    public static Cause parse(String text) {
        return switch (text) {
            case "reindex" -> REINDEX;
            case "missing-index" -> MISSING_INDEX;
            case "none" -> NONE;
            default -> throw new UsageException("--cause must be reindex, missing-index or none, not '" + text + "'");
        };
    }
}
