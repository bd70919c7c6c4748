package dev.lookback.workloads.shop.model;

import java.util.List;

/**
 * An order as a client sends it.
 *
 * @param ref      the client's own number: sending an order twice books it once
 * @param customer who orders
 * @param lines    what
 */
public record OrderRequest(String ref, String customer, List<Line> lines) {
    /**
     * So many of one product.
     *
     * @param product its id
     * @param count   at least 1
     */
    public record Line(int product, int count) {
    }
}
