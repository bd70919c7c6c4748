package dev.lookback.workloads.shop.model;

import com.fasterxml.jackson.annotation.JsonView;

/**
 * A product of the catalogue.
 *
 * @param id          1 and up
 * @param sku         the manufacturer's number
 * @param title       a few words
 * @param category    one word
 * @param priceCents  in euro cents
 * @param description some sentences
 */
public record Product(
        @JsonView(Views.Summary.class) int id,
        @JsonView(Views.Summary.class) String sku,
        @JsonView(Views.Summary.class) String title,
        @JsonView(Views.Summary.class) String category,
        @JsonView(Views.Summary.class) long priceCents,
        @JsonView(Views.Detail.class) String description) {
}
