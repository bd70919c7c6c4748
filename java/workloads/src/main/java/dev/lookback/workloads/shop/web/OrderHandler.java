package dev.lookback.workloads.shop.web;

import com.fasterxml.jackson.core.JacksonException;
import dev.lookback.workloads.shop.model.OrderReceipt;
import dev.lookback.workloads.shop.model.OrderRequest;
import dev.lookback.workloads.shop.model.Views;
import dev.lookback.workloads.shop.service.OrderService;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** {@code POST /order}: books the order in the body. */
public final class OrderHandler {
    private static final int MAX_BODY = 64 * 1024;

    private final OrderService orders;

    /** Asks that service. */
    public OrderHandler(OrderService orders) {
        this.orders = orders;
    }

    /** Answers one request. */
    public void handleOrder(HttpServletRequest request, HttpServletResponse response) throws IOException {
        OrderReceipt receipt = orders.place(parse(request));
        Json.write(response, HttpServletResponse.SC_CREATED, Views.Summary.class, receipt);
    }

    private static OrderRequest parse(HttpServletRequest request) throws IOException {
        byte[] body = request.getInputStream().readNBytes(MAX_BODY);
        try {
            return Json.read(body, OrderRequest.class);
        } catch (JacksonException e) {
            throw new IllegalArgumentException("the body is not an order: " + e.getOriginalMessage(), e);
        }
    }
}
