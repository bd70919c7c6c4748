package dev.lookback.workloads.shop.web;

import dev.lookback.workloads.shop.model.Views;
import dev.lookback.workloads.shop.service.SearchService;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** {@code GET /search?q=TEXT}: products that match, best first. */
public final class SearchHandler {
    private static final int MAX_LENGTH = 100;

    private final SearchService search;

    /** Asks that service. */
    public SearchHandler(SearchService search) {
        this.search = search;
    }

    /** Answers one request. */
    public void handleSearch(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String text = request.getParameter("q");
        if (text == null || text.isBlank() || text.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("q must be a text of at most " + MAX_LENGTH + " characters");
        }
        Json.write(response, HttpServletResponse.SC_OK, Views.Summary.class, search.search(text));
    }
}
