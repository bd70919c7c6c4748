package dev.lookback.workloads.shop.web;

import com.fasterxml.jackson.annotation.JsonView;
import dev.lookback.workloads.shop.model.Views;
import dev.lookback.workloads.shop.repository.Database;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;

/** {@code GET /health}: whether the database answers, and how many orders it holds. */
public final class HealthHandler {
    /** The answer. */
    private record Health(@JsonView(Views.Summary.class) String status, @JsonView(Views.Summary.class) long orders) {
    }

    private final Database database;

    /** Checks that database. */
    public HealthHandler(Database database) {
        this.database = database;
    }

    /** Answers one request. */
    public void handleHealth(HttpServletRequest request, HttpServletResponse response) throws IOException {
        long orders = database.query("count the orders", connection -> {
            try (PreparedStatement select = connection.prepareStatement("select count(*) from orders");
                    ResultSet rows = select.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
        });
        Json.write(response, HttpServletResponse.SC_OK, Views.Summary.class, new Health("up", orders));
    }
}
