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
import java.util.ArrayDeque;
import java.util.Deque;

/** A running shop: wires the layers and owns their life. */
public final class Shop implements AutoCloseable {
    /** How to undo what was started, the latest first. */
    private final Deque<Runnable> closers = new ArrayDeque<>();
    private CatalogueRefresher refresher;
    private WebServer server;

    private Shop() {
    }

    /**
     * Fills the database, builds the index and listens; returns when requests are answered.
     *
     * @throws ShopException if the port is taken or the database cannot be set up; nothing stays open then
     */
    public static Shop start(ShopOptions options) {
        Shop shop = new Shop();
        try {
            shop.open(options);
            return shop;
        } catch (RuntimeException e) {
            shop.close();
            throw e;
        }
    }

    private void open(ShopOptions options) {
        Database database = Database.open(options.seed(), options.products(), options.cause() != Cause.MISSING_INDEX);
        closers.push(database::close);
        ProductRepository products = new ProductRepository(database);
        SearchService search = new SearchService(products, new ProductIndex());
        search.reindex();
        closers.push(search::close);
        ProductService productService = new ProductService(products, new BasketRepository(database));
        OrderService orders = new OrderService(database, products, new OrderRepository());
        Readiness.warm(search, productService, orders);
        server = WebServer.start(options.port(), new ShopServlet(
                new SearchHandler(search),
                new ProductHandler(productService),
                new OrderHandler(orders),
                new HealthHandler(database)));
        closers.push(server::close);
        Readiness.await(url());
        refresher = new CatalogueRefresher(search, options.cause() == Cause.REINDEX, options.verbose());
        closers.push(refresher::close);
        refresher.start(options.refreshAfterSeconds(), options.refreshEverySeconds());
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

    /** Stops everything, the latest first; a second call finds nothing to do. */
    @Override
    public synchronized void close() {
        while (!closers.isEmpty()) {
            closers.pop().run();
        }
    }
}
