package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Requests;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.SplittableRandom;

/**
 * Bank-like transactions on an in-memory H2 database.
 *
 * <p>Each item is one transaction: move an amount between two accounts, read one of them back, write a
 * history row, commit. Updates only add, accounts are locked in ascending order (so no deadlock), and
 * every iteration starts from a new database: the final tables do not depend on the interleaving.
 */
public final class H2Workload implements Workload {
    private static final int ACCOUNTS = 4_000;

    private final int transactions;
    private final Clients clients;
    private final Requests requests;
    private int databases;

    /** Two clients unless the settings say otherwise. */
    public H2Workload(Settings settings) {
        this.transactions = settings.size(1_600, 16_000);
        this.clients = new Clients("h2-client", settings.threadsOr(2));
        this.requests = settings.requests(transactions);
    }

    @Override
    public long iterate() throws Exception {
        String url = "jdbc:h2:mem:bank" + databases++ + ";LOCK_TIMEOUT=60000";
        // The database lives as long as this connection.
        try (Connection keeper = DriverManager.getConnection(url)) {
            createTables(keeper);
            long reads = clients.run(transactions, (first, step, count) -> client(url, first, step, count));
            return new Checksum().add(reads).add(tables(keeper)).value();
        }
    }

    @Override
    public Requests requests() {
        return requests;
    }

    private static void createTables(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table account(id int primary key, owner varchar(40), branch int,"
                    + " balance bigint)");
            statement.execute("create index account_branch on account(branch)");
            statement.execute("create table history(id int primary key, source int, target int, amount bigint,"
                    + " note varchar(60))");
            statement.execute("create index history_source on history(source)");
        }
        connection.setAutoCommit(false);
        try (PreparedStatement insert = connection.prepareStatement("insert into account values(?, ?, ?, ?)")) {
            for (int id = 0; id < ACCOUNTS; id++) {
                insert.setInt(1, id);
                insert.setString(2, "owner " + id * 7919L % ACCOUNTS);
                insert.setInt(3, id % 50);
                insert.setLong(4, 1_000);
                insert.addBatch();
                if (id % 500 == 499) {
                    insert.executeBatch();
                }
            }
        }
        connection.commit();
    }

    private long client(String url, int first, int step, int count) throws SQLException {
        long sum = 0;
        try (Connection connection = DriverManager.getConnection(url);
                PreparedStatement update = connection.prepareStatement(
                        "update account set balance = balance + ? where id = ?");
                PreparedStatement select = connection.prepareStatement(
                        "select owner, branch from account where id = ?");
                PreparedStatement insert = connection.prepareStatement("insert into history values(?, ?, ?, ?, ?)")) {
            connection.setAutoCommit(false);
            for (int item = first; item < count; item += step) {
                long start = requests.start();
                SplittableRandom random = new SplittableRandom(item);
                int low = random.nextInt(ACCOUNTS - 1);
                int high = random.nextInt(low + 1, ACCOUNTS);
                long amount = random.nextLong(1, 100);
                add(update, low, -amount);
                add(update, high, amount);
                sum += read(select, random.nextBoolean() ? low : high);
                insert.setInt(1, item);
                insert.setInt(2, low);
                insert.setInt(3, high);
                insert.setLong(4, amount);
                insert.setString(5, "transfer " + item);
                insert.executeUpdate();
                connection.commit();
                requests.end(item, start);
            }
        }
        return sum;
    }

    private static void add(PreparedStatement update, int account, long amount) throws SQLException {
        update.setLong(1, amount);
        update.setInt(2, account);
        update.executeUpdate();
    }

    private static long read(PreparedStatement select, int account) throws SQLException {
        select.setInt(1, account);
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                throw new IllegalStateException("account " + account + " is gone");
            }
            return new Checksum().add(row.getString(1)).add(row.getInt(2)).value();
        }
    }

    private static long tables(Connection connection) throws SQLException {
        Checksum checksum = new Checksum();
        String query = "select a.branch, sum(a.balance), count(distinct h.id), sum(h.amount), max(h.note)"
                + " from account a left join history h on h.source = a.id group by a.branch order by a.branch";
        try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(query)) {
            while (row.next()) {
                checksum.add(row.getInt(1)).add(row.getLong(2)).add(row.getLong(3)).add(row.getLong(4));
                checksum.add(String.valueOf(row.getString(5)));
            }
        }
        return checksum.value();
    }

    @Override
    public void close() {
        clients.close();
    }
}
