package dev.lookback.workloads.shop.web;

import dev.lookback.workloads.shop.ShopException;
import dev.lookback.workloads.shop.model.Views;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** The front controller: finds the handler for a request and turns exceptions into answers. */
public final class ShopServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient SearchHandler search;
    private final transient ProductHandler product;
    private final transient OrderHandler order;
    private final transient HealthHandler health;

    /** With one handler per kind of request. */
    public ShopServlet(SearchHandler search, ProductHandler product, OrderHandler order, HealthHandler health) {
        this.search = search;
        this.product = product;
        this.order = order;
        this.health = health;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            dispatch(request, response);
        } catch (IllegalArgumentException e) {
            problem(response, HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
        } catch (ShopException e) {
            problem(response, HttpServletResponse.SC_INTERNAL_SERVER_ERROR, e.getMessage());
        }
    }

    private void dispatch(HttpServletRequest request, HttpServletResponse response) throws IOException {
        switch (request.getMethod() + " " + request.getRequestURI()) {
            case "GET /search" -> search.handleSearch(request, response);
            case "GET /product" -> product.handleProduct(request, response);
            case "POST /order" -> order.handleOrder(request, response);
            case "GET /health" -> health.handleHealth(request, response);
            default -> problem(response, HttpServletResponse.SC_NOT_FOUND,
                    "nothing here; try GET /search?q=, GET /product?id=, POST /order, GET /health");
        }
    }

    private static void problem(HttpServletResponse response, int status, String message) throws IOException {
        Json.write(response, status, Views.Summary.class, new Problem(message));
    }
}
