package dev.lookback.workloads.shop.service;

import dev.lookback.workloads.shop.model.Product;
import dev.lookback.workloads.shop.model.SearchResult;
import dev.lookback.workloads.shop.repository.ProductRepository;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;

/**
 * Finds products by text.
 *
 * <p>The index is not thread-safe, so this object's monitor guards it: a search must not meet an index that
 * is being replaced. {@link #reindex} is where that innocent decision hurts: it holds the monitor not only
 * for the swap but for the whole rebuild, and every search queues up behind it. {@link #reindexAside} is
 * what it should have been.
 */
public final class SearchService {
    private static final int HITS = 20;

    private final ProductRepository products;
    private final ProductIndex index;

    /** Over that repository; call {@link #reindex} before the first search. */
    public SearchService(ProductRepository products, ProductIndex index) {
        this.products = products;
        this.index = index;
    }

    /** The best products for a text. */
    public synchronized SearchResult search(String text) {
        List<Integer> ids = index.search(text, HITS);
        List<Product> found = products.findAll(ids);
        return new SearchResult(text, found);
    }

    /** Rebuilds the index from the catalogue. */
    public synchronized void reindex() {
        index.use(index.build(products.catalogue()));
    }

    /** Rebuilds beside the index in use and holds the monitor for the swap only. */
    public void reindexAside() {
        DirectoryReader fresh = index.build(products.catalogue());
        synchronized (this) {
            index.use(fresh);
        }
    }

    /** Closes the index. */
    public synchronized void close() {
        index.close();
    }
}
