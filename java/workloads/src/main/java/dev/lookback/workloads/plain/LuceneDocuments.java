package dev.lookback.workloads.plain;

import java.util.SplittableRandom;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;

/** The documents of both Lucene workloads: title, body, category, price. */
final class LuceneDocuments {
    private static final int CATEGORIES = 24;

    private final Corpus corpus = new Corpus(42);

    /** Document {@code id} with a body of {@code words} words. */
    Document document(int id, int words) {
        SplittableRandom random = corpus.random(id);
        Document document = new Document();
        int price = random.nextInt(100, 10_000);
        document.add(new StringField("id", Integer.toString(id), Field.Store.YES));
        document.add(new TextField("title", corpus.text(random, 6), Field.Store.YES));
        document.add(new TextField("body", corpus.text(random, words), Field.Store.NO));
        document.add(new StringField("category", "c" + random.nextInt(CATEGORIES), Field.Store.YES));
        document.add(new IntPoint("price", price));
        document.add(new NumericDocValuesField("price", price));
        document.add(new StoredField("price_shown", price));
        return document;
    }

    /** A word of the same vocabulary, for queries. */
    String word(SplittableRandom random) {
        return corpus.word(random);
    }
}
