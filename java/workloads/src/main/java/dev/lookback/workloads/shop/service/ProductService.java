package dev.lookback.workloads.shop.service;

import dev.lookback.workloads.shop.model.ProductPage;
import dev.lookback.workloads.shop.repository.BasketRepository;
import dev.lookback.workloads.shop.repository.ProductRepository;
import java.util.Optional;

/** Puts a product's page together. */
public final class ProductService {
    private static final int ALSO_BOUGHT = 6;

    private final ProductRepository products;
    private final BasketRepository baskets;

    /** Over these repositories. */
    public ProductService(ProductRepository products, BasketRepository baskets) {
        this.products = products;
        this.baskets = baskets;
    }

    /** The page of that product. */
    public Optional<ProductPage> page(int id) {
        return products.find(id).map(product -> new ProductPage(product, baskets.alsoBought(id, ALSO_BOUGHT)));
    }
}
