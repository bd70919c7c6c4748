package dev.lookback.workloads.shop.service;

import dev.lookback.workloads.shop.ShopException;
import dev.lookback.workloads.shop.model.Product;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.queryparser.classic.MultiFieldQueryParser;
import org.apache.lucene.queryparser.classic.ParseException;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;

/**
 * The Lucene index over the catalogue. Not thread-safe: its user decides who may touch it when.
 *
 * <p>Documents keep the catalogue's order (serial, order-preserving merges), so that products with equal
 * scores come in the same order from every index of the same catalogue.
 */
public final class ProductIndex {
    private final Analyzer analyzer = new EnglishAnalyzer();
    private IndexSearcher searcher;

    /** A new index over these products, not yet in use; for {@link #use}. */
    public DirectoryReader build(List<Product> products) {
        IndexWriterConfig config = new IndexWriterConfig(analyzer)
                .setMergePolicy(new LogDocMergePolicy())
                .setMergeScheduler(new SerialMergeScheduler());
        try {
            Directory directory = new ByteBuffersDirectory();
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                for (Product product : products) {
                    writer.addDocument(document(product));
                }
            }
            return DirectoryReader.open(directory);
        } catch (IOException e) {
            throw new ShopException("cannot build the search index", e);
        }
    }

    /** Searches go to that index from now on; the one before is closed. */
    public void use(DirectoryReader reader) {
        close();
        searcher = new IndexSearcher(reader);
    }

    /** Ids of the best products for a text, best first. */
    public List<Integer> search(String text, int limit) {
        try {
            QueryParser parser = new MultiFieldQueryParser(new String[] {"title", "category", "description"}, analyzer);
            parser.setDefaultOperator(QueryParser.Operator.AND);
            StoredFields stored = searcher.storedFields();
            List<Integer> ids = new ArrayList<>(limit);
            for (ScoreDoc hit : searcher.search(parser.parse(QueryParser.escape(text)), limit).scoreDocs) {
                ids.add(stored.document(hit.doc).getField("id").numericValue().intValue());
            }
            return ids;
        } catch (IOException | ParseException e) {
            throw new ShopException("cannot search", e);
        }
    }

    /** Closes the index in use. */
    public void close() {
        if (searcher == null) {
            return;
        }
        try {
            searcher.getIndexReader().close();
        } catch (IOException e) {
            throw new ShopException("cannot close the search index", e);
        }
    }

    private static Document document(Product product) {
        Document document = new Document();
        document.add(new StoredField("id", product.id()));
        document.add(new StringField("sku", product.sku(), Field.Store.NO));
        document.add(new TextField("title", product.title(), Field.Store.NO));
        document.add(new TextField("category", product.category(), Field.Store.NO));
        document.add(new TextField("description", product.description(), Field.Store.NO));
        return document;
    }
}
