package dev.lookback.workloads.shop.model;

import com.fasterxml.jackson.annotation.JsonView;
import java.util.List;

/**
 * Products found for a text.
 *
 * @param query    the text as it came
 * @param products best first
 */
public record SearchResult(
        @JsonView(Views.Summary.class) String query,
        @JsonView(Views.Summary.class) List<Product> products) {
}
