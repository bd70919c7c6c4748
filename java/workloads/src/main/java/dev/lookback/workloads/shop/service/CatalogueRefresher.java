package dev.lookback.workloads.shop.service;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The maintenance thread that brings the search index up to date with the catalogue now and then. */
public final class CatalogueRefresher implements AutoCloseable {
    private final SearchService search;
    private final boolean inPlace;
    private final boolean verbose;
    private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "catalogue-refresher");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * A refresher at rest.
     *
     * @param inPlace whether searches wait for the rebuild
     * @param verbose whether to print a line per refresh
     */
    public CatalogueRefresher(SearchService search, boolean inPlace, boolean verbose) {
        this.search = search;
        this.inPlace = inPlace;
        this.verbose = verbose;
    }

    /** Refreshes after so many seconds and then again and again. */
    public void start(int afterSeconds, int everySeconds) {
        scheduler.scheduleWithFixedDelay(this::refresh, afterSeconds, everySeconds, TimeUnit.SECONDS);
    }

    /** One refresh. */
    public void refresh() {
        long before = System.nanoTime();
        if (inPlace) {
            search.reindex();
        } else {
            search.reindexAside();
        }
        if (verbose) {
            System.out.println("catalogue refreshed in " + (System.nanoTime() - before) / 1_000_000 + " ms");
        }
    }

    @Override
    public void close() {
        scheduler.shutdown();
        try {
            scheduler.awaitTermination(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
