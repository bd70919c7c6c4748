package dev.lookback.workloads.shop.repository;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.SplittableRandom;

/** Tables, indexes and the generated rows: products, and last quarter's baskets. */
final class Schema {
    private static final int BATCH = 1_000;
    /** Products 1 to this many sell far better than all others. */
    static final int BESTSELLERS = 8;
    /** Baskets that hold a given bestseller; with two rows a basket, what a scan per basket makes of it is felt. */
    private static final int BASKETS_PER_BESTSELLER = 250;
    /** Baskets without a bestseller, for each product: so most pages show one or no other product. */
    private static final double BASKETS_PER_PRODUCT = 0.45;

    private Schema() {
    }

    static void create(Connection connection, boolean basketIndex) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table product(id int primary key, sku varchar(20) not null,"
                    + " title varchar(80) not null, category varchar(20) not null, price_cents bigint not null,"
                    + " stock int not null, description varchar(2000) not null)");
            statement.execute("create unique index product_sku on product(sku)");
            statement.execute("create table orders(ref varchar(40) primary key, customer varchar(60) not null,"
                    + " total_cents bigint not null)");
            statement.execute("create table order_line(ref varchar(40) not null, product int not null,"
                    + " count int not null, price_cents bigint not null, primary key(ref, product))");
            statement.execute("create table basket_item(basket int not null, product int not null)");
            statement.execute("create index basket_item_product on basket_item(product)");
            if (basketIndex) {
                statement.execute("create index basket_item_basket on basket_item(basket)");
            }
        }
    }

    static void fill(Connection connection, long seed, int products) throws SQLException {
        SplittableRandom random = new SplittableRandom(seed);
        connection.setAutoCommit(false);
        fillProducts(connection, random.split(), products);
        fillBaskets(connection, random.split(), products);
        connection.commit();
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            statement.execute("analyze");
        }
    }

    private static void fillProducts(Connection connection, SplittableRandom random, int products)
            throws SQLException {
        String sql = "insert into product values(?, ?, ?, ?, ?, ?, ?)";
        try (PreparedStatement insert = connection.prepareStatement(sql)) {
            for (int id = 1; id <= products; id++) {
                insert.setInt(1, id);
                insert.setString(2, String.format("%c%c-%06d", 'A' + id % 26, 'A' + id / 26 % 26, id));
                insert.setString(3, CatalogueText.title(random));
                insert.setString(4, CatalogueText.pick(random, CatalogueText.CATEGORIES));
                insert.setLong(5, random.nextLong(199, 89_900));
                insert.setInt(6, 1_000_000);
                insert.setString(7, CatalogueText.description(random));
                insert.addBatch();
                if (id % BATCH == 0) {
                    insert.executeBatch();
                }
            }
            insert.executeBatch();
        }
    }

    private static void fillBaskets(Connection connection, SplittableRandom random, int products)
            throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into basket_item values(?, ?)")) {
            int basket = 0;
            for (int i = 0; i < BESTSELLERS * BASKETS_PER_BESTSELLER; i++) {
                addPair(insert, ++basket, 1 + i % BESTSELLERS, other(random, products));
            }
            for (int i = 0; i < products * BASKETS_PER_PRODUCT; i++) {
                addPair(insert, ++basket, other(random, products), other(random, products));
            }
            insert.executeBatch();
        }
    }

    private static int other(SplittableRandom random, int products) {
        return random.nextInt(BESTSELLERS + 1, products + 1);
    }

    private static void addPair(PreparedStatement insert, int basket, int first, int second) throws SQLException {
        for (int product : new int[] {first, second}) {
            insert.setInt(1, basket);
            insert.setInt(2, product);
            insert.addBatch();
        }
    }
}
