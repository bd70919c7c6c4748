package dev.lookback.workloads.shop.repository;

import dev.lookback.workloads.shop.ShopException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import org.h2.jdbcx.JdbcConnectionPool;

/**
 * The shop's in-memory database behind a connection pool.
 *
 * <p>All access goes through {@link #query} and {@link #transaction}, which alone borrow connections: none
 * can leak.
 */
public final class Database implements AutoCloseable {
    private static final int CONNECTIONS = 12;

    private final JdbcConnectionPool pool;

    /** Work with a borrowed connection. */
    @FunctionalInterface
    public interface Work<T> {
        /** Does it; the connection goes back to the pool afterwards. */
        T apply(Connection connection) throws SQLException;
    }

    private Database(JdbcConnectionPool pool) {
        this.pool = pool;
    }

    /**
     * Creates and fills a new database.
     *
     * @param basketIndex whether the baskets can be looked up by their id without a scan
     */
    public static Database open(long seed, int products, boolean basketIndex) {
        // A name of its own, so that shops in one process do not share tables; it lives until close().
        String url = "jdbc:h2:mem:shop-" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000";
        JdbcConnectionPool pool = JdbcConnectionPool.create(url, "shop", "");
        pool.setMaxConnections(CONNECTIONS);
        Database database = new Database(pool);
        database.query("fill the database", connection -> {
            Schema.create(connection, basketIndex);
            Schema.fill(connection, seed, products);
            return null;
        });
        return database;
    }

    /** Runs reads; every statement commits by itself. */
    public <T> T query(String what, Work<T> work) {
        try (Connection connection = pool.getConnection()) {
            return work.apply(connection);
        } catch (SQLException e) {
            throw new ShopException("cannot " + what, e);
        }
    }

    /** Runs reads and writes that take effect together or not at all. */
    public <T> T transaction(String what, Work<T> work) {
        return query(what, connection -> {
            connection.setAutoCommit(false);
            try {
                T result = work.apply(connection);
                connection.commit();
                return result;
            } catch (SQLException | RuntimeException e) {
                connection.rollback();
                throw e;
            } finally {
                connection.setAutoCommit(true);
            }
        });
    }

    @Override
    public void close() {
        query("shut the database down", connection -> connection.createStatement().execute("shutdown"));
        pool.dispose();
    }
}
