package dev.lookback.workloads.plain.trade;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** A share's name and price, which does not change. */
@Entity
public class Quote {
    @Id
    private int id;
    private String company;
    private long price;

    protected Quote() {
    }

    /** A new quote; {@code price} in cents. */
    public Quote(int id, String company, long price) {
        this.id = id;
        this.company = company;
        this.price = price;
    }

    /** Its number. */
    public int id() {
        return id;
    }

    /** The company's name. */
    public String company() {
        return company;
    }

    /** Cents for one share. */
    public long price() {
        return price;
    }
}
