package dev.lookback.workloads.plain.trade;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.OneToMany;
import java.util.ArrayList;
import java.util.List;

/** Somebody who trades: cash and the holdings bought with it. Hibernate needs the constructor without parameters. */
@Entity
public class Account {
    @Id
    private int id;
    private String owner;
    private long cash;
    @OneToMany(mappedBy = "account")
    private List<Holding> holdings = new ArrayList<>();

    protected Account() {
    }

    /** A new account; {@code cash} in cents. */
    public Account(int id, String owner, long cash) {
        this.id = id;
        this.owner = owner;
        this.cash = cash;
    }

    /** Its number. */
    public int id() {
        return id;
    }

    /** Whose it is. */
    public String owner() {
        return owner;
    }

    /** Adds to the cash; negative amounts are paid. */
    public void pay(long cents) {
        cash += cents;
    }

    /** What it holds, loaded from the database at the first use. */
    public List<Holding> holdings() {
        return holdings;
    }
}
