package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Requests;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import dev.lookback.workloads.plain.trade.Account;
import dev.lookback.workloads.plain.trade.Holding;
import dev.lookback.workloads.plain.trade.Quote;
import jakarta.persistence.LockModeType;
import java.util.SplittableRandom;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;

/**
 * Share trading with Hibernate on an in-memory H2 database, after DayTrader: traders buy, sell and look.
 *
 * <p>Each item is one transaction in a session of its own. A sale sells a holding that is there from the start
 * and that no other transaction touches; the account is locked first in its row. So the final tables do not
 * depend on the interleaving, and what a look shows (how many shares are held at that moment) is not part of
 * the result.
 */
public final class HibernateWorkload implements Workload {
    private static final int ACCOUNTS = 200;
    private static final int QUOTES = 100;

    private final int transactions;
    private final Clients clients;
    private final Requests requests;
    private final SessionFactory sessions;

    /** Starts Hibernate; four traders unless the settings say otherwise. */
    public HibernateWorkload(Settings settings) {
        int traders = settings.threadsOr(4);
        this.transactions = settings.size(150, 1_500);
        this.clients = new Clients("trader", traders);
        this.requests = settings.requests(transactions);
        this.sessions = new Configuration()
                .addAnnotatedClass(Account.class)
                .addAnnotatedClass(Holding.class)
                .addAnnotatedClass(Quote.class)
                .setProperty("hibernate.connection.url", "jdbc:h2:mem:trade;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000")
                .setProperty("hibernate.connection.pool_size", Integer.toString(traders + 1))
                .setProperty("hibernate.hbm2ddl.auto", "create")
                .buildSessionFactory();
    }

    @Override
    public long iterate() throws Exception {
        sessions.getSchemaManager().truncateMappedObjects();
        fill();
        long seen = clients.run(transactions, (first, step, count) -> {
            long sum = 0;
            for (int item = first; item < count; item += step) {
                long start = requests.start();
                int number = item;
                sum += sessions.fromTransaction(session -> transact(session, number));
                requests.end(item, start);
            }
            return sum;
        });
        return new Checksum().add(seen).add(sessions.fromTransaction(HibernateWorkload::tables)).value();
    }

    @Override
    public Requests requests() {
        return requests;
    }

    private void fill() {
        sessions.inStatelessTransaction((StatelessSession session) -> {
            Account[] accounts = new Account[ACCOUNTS];
            for (int id = 0; id < ACCOUNTS; id++) {
                accounts[id] = new Account(id, "owner " + id, 1_000_000);
                session.insert(accounts[id]);
            }
            Quote[] quotes = new Quote[QUOTES];
            for (int id = 0; id < QUOTES; id++) {
                quotes[id] = new Quote(id, "company " + id, 100 + id * 7919L % 5_000);
                session.insert(quotes[id]);
            }
            for (int item = 0; item < transactions; item++) {
                if (item % 3 == 1) {
                    session.insert(new Holding(item, accounts[account(item)], quotes[item % QUOTES], 1 + item % 9));
                }
            }
        });
    }

    private static int account(int item) {
        return new SplittableRandom(item).nextInt(ACCOUNTS);
    }

    /** Transaction {@code item}: every third buys, every third sells, the others look at an account. */
    private static long transact(Session session, int item) {
        return switch (item % 3) {
            case 0 -> buy(session, item);
            case 1 -> sell(session, item);
            default -> look(session, item);
        };
    }

    private static long buy(Session session, int item) {
        Account account = session.find(Account.class, account(item), LockModeType.PESSIMISTIC_WRITE);
        Quote quote = session.createQuery("from Quote where company = :company", Quote.class)
                .setParameter("company", "company " + item % QUOTES)
                .getSingleResult();
        Holding holding = new Holding(item, account, quote, 1 + item % 5);
        session.persist(holding);
        account.pay(-holding.value());
        return Checksum.mix(holding.value());
    }

    private static long sell(Session session, int item) {
        Account account = session.find(Account.class, account(item), LockModeType.PESSIMISTIC_WRITE);
        Holding holding = session.find(Holding.class, item);
        long value = holding.value();
        account.pay(value);
        session.remove(holding);
        return Checksum.mix(value + holding.account().id());
    }

    private static long look(Session session, int item) {
        Account account = session.find(Account.class, account(item));
        long worth = 0;
        for (Holding holding : account.holdings()) {
            worth += holding.value();
        }
        if (worth < 0) {
            throw new IllegalStateException("account " + account.id() + " holds less than nothing: " + worth);
        }
        return new Checksum().add(account.owner()).value();
    }

    private static long tables(Session session) {
        Checksum checksum = new Checksum();
        session.createQuery("select a.id, a.cash, (select count(h) from Holding h where h.account = a),"
                        + " (select sum(h.quantity) from Holding h where h.account = a) from Account a order by a.id",
                Object[].class).getResultStream().forEach(row -> {
                    for (Object value : row) {
                        checksum.add(String.valueOf(value));
                    }
                });
        return checksum.value();
    }

    @Override
    public void close() {
        clients.close();
        sessions.close();
    }
}
