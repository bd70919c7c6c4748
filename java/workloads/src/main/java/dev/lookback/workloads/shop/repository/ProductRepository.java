package dev.lookback.workloads.shop.repository;

import dev.lookback.workloads.shop.model.Product;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads products and keeps their stock. */
public final class ProductRepository {
    private static final String COLUMNS = "select id, sku, title, category, price_cents, description from product";

    private final Database database;

    /** On that database. */
    public ProductRepository(Database database) {
        this.database = database;
    }

    /** The product with that id. */
    public Optional<Product> find(int id) {
        return database.query("read product " + id, connection -> find(connection, id));
    }

    /** The same inside a transaction of the caller. */
    public Optional<Product> find(Connection connection, int id) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(COLUMNS + " where id = ?")) {
            select.setInt(1, id);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next() ? Optional.of(map(rows)) : Optional.empty();
            }
        }
    }

    /** The products with these ids, in this order; ids that are gone are left out. */
    public List<Product> findAll(List<Integer> ids) {
        return database.query("read " + ids.size() + " products", connection -> {
            List<Product> products = new ArrayList<>(ids.size());
            for (int id : ids) {
                find(connection, id).ifPresent(products::add);
            }
            return products;
        });
    }

    /** The whole catalogue by id. */
    public List<Product> catalogue() {
        return database.query("read the catalogue", connection -> {
            List<Product> products = new ArrayList<>();
            try (PreparedStatement select = connection.prepareStatement(COLUMNS + " order by id");
                    ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    products.add(map(rows));
                }
            }
            return products;
        });
    }

    /** Takes {@code count} pieces out of stock, inside the caller's transaction. */
    public void takeFromStock(Connection connection, int id, int count) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(
                "update product set stock = stock - ? where id = ?")) {
            update.setInt(1, count);
            update.setInt(2, id);
            update.executeUpdate();
        }
    }

    private static Product map(ResultSet row) throws SQLException {
        return new Product(row.getInt(1), row.getString(2), row.getString(3), row.getString(4), row.getLong(5),
                row.getString(6));
    }
}
