package dev.lookback.workloads.shop.service;

import dev.lookback.workloads.shop.model.OrderReceipt;
import dev.lookback.workloads.shop.model.OrderRequest;
import dev.lookback.workloads.shop.model.Product;
import dev.lookback.workloads.shop.repository.Database;
import dev.lookback.workloads.shop.repository.OrderRepository;
import dev.lookback.workloads.shop.repository.ProductRepository;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Takes orders.
 *
 * <p>Products are locked in the order of their ids, so two orders never deadlock; an order that is sent
 * twice is booked once and answered the same.
 */
public final class OrderService {
    private static final int MAX_LINES = 50;

    private final Database database;
    private final ProductRepository products;
    private final OrderRepository orders;

    /** Over these repositories. */
    public OrderService(Database database, ProductRepository products, OrderRepository orders) {
        this.database = database;
        this.products = products;
        this.orders = orders;
    }

    /**
     * Books an order.
     *
     * @throws IllegalArgumentException if the order makes no sense; the message is for the client
     */
    public OrderReceipt place(OrderRequest request) {
        Map<Integer, Integer> counts = validate(request);
        return database.transaction("book order " + request.ref(), connection -> {
            OrderReceipt receipt = price(connection, request.ref(), counts);
            if (!orders.exists(connection, request.ref())) {
                orders.insert(connection, request.customer(), receipt);
                for (OrderReceipt.Line line : receipt.lines()) {
                    products.takeFromStock(connection, line.product(), line.count());
                }
            }
            return receipt;
        });
    }

    private static Map<Integer, Integer> validate(OrderRequest request) {
        require(request.ref() != null && !request.ref().isBlank() && request.ref().length() <= 40, "ref");
        require(request.customer() != null && request.customer().length() <= 60, "customer");
        require(request.lines() != null && !request.lines().isEmpty() && request.lines().size() <= MAX_LINES, "lines");
        Map<Integer, Integer> counts = new TreeMap<>();
        for (OrderRequest.Line line : request.lines()) {
            require(line.count() > 0 && line.count() <= 1_000, "count");
            counts.merge(line.product(), line.count(), Integer::sum);
        }
        return counts;
    }

    private static void require(boolean condition, String member) {
        if (!condition) {
            throw new IllegalArgumentException("the order's " + member + " is missing or out of range");
        }
    }

    private OrderReceipt price(Connection connection, String ref, Map<Integer, Integer> counts) throws SQLException {
        List<OrderReceipt.Line> lines = new ArrayList<>();
        long total = 0;
        for (Map.Entry<Integer, Integer> entry : counts.entrySet()) {
            int id = entry.getKey();
            Product product = products.find(connection, id)
                    .orElseThrow(() -> new IllegalArgumentException("no product " + id));
            lines.add(new OrderReceipt.Line(id, product.title(), entry.getValue(), product.priceCents()));
            total += product.priceCents() * entry.getValue();
        }
        return new OrderReceipt(ref, total, lines);
    }
}
