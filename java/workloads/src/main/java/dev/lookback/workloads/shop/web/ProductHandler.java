package dev.lookback.workloads.shop.web;

import dev.lookback.workloads.shop.model.ProductPage;
import dev.lookback.workloads.shop.model.Views;
import dev.lookback.workloads.shop.service.ProductService;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;

/** {@code GET /product?id=N}: a product with its description and what is bought with it. */
public final class ProductHandler {
    private final ProductService products;

    /** Asks that service. */
    public ProductHandler(ProductService products) {
        this.products = products;
    }

    /** Answers one request. */
    public void handleProduct(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int id = parseId(request.getParameter("id"));
        Optional<ProductPage> page = products.page(id);
        if (page.isPresent()) {
            Json.write(response, HttpServletResponse.SC_OK, Views.Detail.class, page.get());
        } else {
            Json.write(response, HttpServletResponse.SC_NOT_FOUND, Views.Summary.class,
                    new Problem("no product " + id));
        }
    }

    private static int parseId(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("id must be a whole number", e);
        }
    }
}
