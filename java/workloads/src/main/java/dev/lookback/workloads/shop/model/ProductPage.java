package dev.lookback.workloads.shop.model;

import com.fasterxml.jackson.annotation.JsonView;
import java.util.List;

/**
 * What a product's page shows.
 *
 * @param product    the product
 * @param alsoBought ids of the products most often in the same basket
 */
public record ProductPage(
        @JsonView(Views.Detail.class) Product product,
        @JsonView(Views.Detail.class) List<Integer> alsoBought) {
}
