package dev.lookback.workloads.shop.model;

import com.fasterxml.jackson.annotation.JsonView;
import java.util.List;

/**
 * What the customer gets back.
 *
 * @param ref        the client's number
 * @param totalCents to pay
 * @param lines      in the order of product ids
 */
public record OrderReceipt(
        @JsonView(Views.Summary.class) String ref,
        @JsonView(Views.Summary.class) long totalCents,
        @JsonView(Views.Summary.class) List<Line> lines) {
    /**
     * One product of the order.
     *
     * @param product    its id
     * @param title      its title
     * @param count      how many
     * @param priceCents for one
     */
    public record Line(
            @JsonView(Views.Summary.class) int product,
            @JsonView(Views.Summary.class) String title,
            @JsonView(Views.Summary.class) int count,
            @JsonView(Views.Summary.class) long priceCents) {
    }
}
