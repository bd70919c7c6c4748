package dev.lookback.workloads.shop.repository;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;

/** Reads last quarter's baskets, which no request changes. */
public final class BasketRepository {
    private final Database database;

    /** On that database. */
    public BasketRepository(Database database) {
        this.database = database;
    }

    /** Ids of at most {@code limit} other products most often in one basket with {@code product}. */
    public List<Integer> alsoBought(int product, int limit) {
        return database.query("read what is bought with product " + product, connection -> {
            List<Integer> ids = new ArrayList<>();
            try (PreparedStatement select = connection.prepareStatement(
                    "select b.product from basket_item a join basket_item b on b.basket = a.basket"
                    + " where a.product = ? and b.product <> a.product"
                    + " group by b.product order by count(*) desc, b.product limit ?")) {
                select.setInt(1, product);
                select.setInt(2, limit);
                try (ResultSet rows = select.executeQuery()) {
                    while (rows.next()) {
                        ids.add(rows.getInt(1));
                    }
                }
            }
            return ids;
        });
    }
}
