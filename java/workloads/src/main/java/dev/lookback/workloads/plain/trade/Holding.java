package dev.lookback.workloads.plain.trade;

import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;

/** Some shares of one company in one account. */
@Entity
public class Holding {
    @Id
    private int id;
    @ManyToOne(fetch = FetchType.LAZY)
    private Account account;
    @ManyToOne(fetch = FetchType.LAZY)
    private Quote quote;
    private int quantity;

    protected Holding() {
    }

    /** {@code quantity} shares. */
    public Holding(int id, Account account, Quote quote, int quantity) {
        this.id = id;
        this.account = account;
        this.quote = quote;
        this.quantity = quantity;
    }

    /** Its number. */
    public int id() {
        return id;
    }

    /** Whose shares they are. */
    public Account account() {
        return account;
    }

    /** Which company's shares they are. */
    public Quote quote() {
        return quote;
    }

    /** How many shares. */
    public int quantity() {
        return quantity;
    }

    /** What they are worth, in cents. */
    public long value() {
        return quantity * quote.price();
    }
}
