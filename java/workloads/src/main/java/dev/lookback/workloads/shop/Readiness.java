package dev.lookback.workloads.shop;

import dev.lookback.workloads.shop.model.OrderRequest;
import dev.lookback.workloads.shop.model.Views;
import dev.lookback.workloads.shop.repository.CatalogueText;
import dev.lookback.workloads.shop.service.OrderService;
import dev.lookback.workloads.shop.service.ProductService;
import dev.lookback.workloads.shop.service.SearchService;
import dev.lookback.workloads.shop.web.Json;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Pays the costs of first use before the first customer comes: without it four clients meet a program that
 * is still loading classes, and the first requests take 400 ms for a reason that nobody looks for.
 */
final class Readiness {
    private static final int ROUNDS = 40;

    private Readiness() {
    }

    /** Asks the services for what customers will ask, and turns the answers into JSON. */
    static void warm(SearchService search, ProductService products, OrderService orders) {
        try {
            for (int i = 0; i < ROUNDS; i++) {
                String text = CatalogueText.THINGS.get(i % CatalogueText.THINGS.size());
                Json.bytes(Views.Summary.class, search.search(text));
                Json.bytes(Views.Detail.class, products.page(20 + i).orElseThrow());
                byte[] order = ("{\"ref\":\"warm-up-" + i + "\",\"customer\":\"nobody\",\"lines\":[{\"product\":"
                        + (20 + i) + ",\"count\":1}]}").getBytes(StandardCharsets.UTF_8);
                Json.bytes(Views.Summary.class, orders.place(Json.read(order, OrderRequest.class)));
            }
        } catch (IOException e) {
            throw new ShopException("the warm-up failed", e);
        }
    }

    /** Sends one request of each kind that reads, over HTTP, and checks that it is answered. */
    static void await(String url) {
        for (String target : List.of("/health", "/product?id=20", "/search?q=lamp")) {
            try {
                HttpURLConnection connection = (HttpURLConnection) URI.create(url + target).toURL().openConnection();
                if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
                    throw new IOException("status " + connection.getResponseCode());
                }
                connection.getInputStream().readAllBytes();
            } catch (IOException e) {
                throw new ShopException("GET " + target + " is not answered", e);
            }
        }
    }
}
