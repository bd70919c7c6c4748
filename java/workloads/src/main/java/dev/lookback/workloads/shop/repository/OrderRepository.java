package dev.lookback.workloads.shop.repository;

import dev.lookback.workloads.shop.model.OrderReceipt;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Books orders, always inside the caller's transaction. */
public final class OrderRepository {
    /** True when an order with that client number is already booked. */
    public boolean exists(Connection connection, String ref) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("select 1 from orders where ref = ?")) {
            select.setString(1, ref);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next();
            }
        }
    }

    /** Writes the order and its lines. */
    public void insert(Connection connection, String customer, OrderReceipt order) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into orders values(?, ?, ?)")) {
            insert.setString(1, order.ref());
            insert.setString(2, customer);
            insert.setLong(3, order.totalCents());
            insert.executeUpdate();
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into order_line values(?, ?, ?, ?)")) {
            for (OrderReceipt.Line line : order.lines()) {
                insert.setString(1, order.ref());
                insert.setInt(2, line.product());
                insert.setInt(3, line.count());
                insert.setLong(4, line.priceCents());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }
}
