package dev.lookback.workloads.shop;

import dev.lookback.workloads.shop.repository.BasketRepository;
import dev.lookback.workloads.shop.repository.Database;
import dev.lookback.workloads.shop.repository.OrderRepository;
import dev.lookback.workloads.shop.repository.ProductRepository;
import dev.lookback.workloads.shop.service.CatalogueRefresher;
import dev.lookback.workloads.shop.service.OrderService;
import dev.lookback.workloads.shop.service.ProductIndex;
import dev.lookback.workloads.shop.service.ProductService;
import dev.lookback.workloads.shop.service.SearchService;
import dev.lookback.workloads.shop.web.HealthHandler;
import dev.lookback.workloads.shop.web.OrderHandler;
import dev.lookback.workloads.shop.web.ProductHandler;
import dev.lookback.workloads.shop.web.SearchHandler;
import dev.lookback.workloads.shop.web.ShopServlet;

/** A running shop: wires the layers and owns their life. */
public final class Shop implements AutoCloseable {
    private final Database database;
    private final SearchService search;
    private final CatalogueRefresher refresher;
    private final WebServer server;

    private Shop(ShopOptions options) {
        this.database = Database.open(options.seed(), options.products(), options.cause() != Cause.MISSING_INDEX);
        ProductRepository products = new ProductRepository(database);
        this.search = new SearchService(products, new ProductIndex());
        search.reindex();
        this.refresher = new CatalogueRefresher(search, options.cause() == Cause.REINDEX, options.verbose());
        ProductService productService = new ProductService(products, new BasketRepository(database));
        OrderService orders = new OrderService(database, products, new OrderRepository());
        Readiness.warm(search, productService, orders);
        this.server = WebServer.start(options.port(), new ShopServlet(
                new SearchHandler(search),
                new ProductHandler(productService),
                new OrderHandler(orders),
                new HealthHandler(database)));
        Readiness.await(url());
        refresher.start(options.refreshAfterSeconds(), options.refreshEverySeconds());
    }

    /**
     * Fills the database, builds the index and listens; returns when requests are answered.
     *
     * @throws ShopException if the port is taken or the database cannot be set up
     */
    public static Shop start(ShopOptions options) {
        return new Shop(options);
    }

    /** Where it listens, without a trailing slash. */
    public String url() {
        return "http://" + WebServer.ADDRESS + ":" + port();
    }

    /** The port it listens on. */
    public int port() {
        return server.port();
    }

    /** Runs one refresh of the catalogue now, in the calling thread, as the maintenance thread would. */
    public void refreshNow() {
        refresher.refresh();
    }

    @Override
    public void close() {
        refresher.close();
        server.close();
        search.close();
        database.close();
    }
}
