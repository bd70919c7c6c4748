package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Requests;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.IOException;
import java.util.SplittableRandom;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.queryparser.classic.ParseException;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;

/**
 * Searching with Lucene: parsed term, boolean, phrase, prefix and fuzzy queries, some with a price range,
 * some sorted by price.
 *
 * <p>The index is built by one thread with order-preserving merges into one segment, so that document
 * numbers, which break ties between equal scores, are the same in every run.
 */
public final class LuceneSearchWorkload implements Workload {
    private static final int HITS = 20;

    private final int queries;
    private final Clients clients;
    private final Requests requests;
    private final LuceneDocuments source = new LuceneDocuments();
    private final Analyzer analyzer = new EnglishAnalyzer();
    private final Directory directory = new ByteBuffersDirectory();
    private final DirectoryReader reader;

    /** Builds the index; two query threads unless the settings say otherwise. */
    public LuceneSearchWorkload(Settings settings) throws IOException {
        this.queries = settings.size(150, 1_200);
        this.clients = new Clients("lucene-query", settings.threadsOr(2));
        this.requests = settings.requests(queries);
        IndexWriterConfig config = new IndexWriterConfig(analyzer)
                .setMergePolicy(new LogDocMergePolicy())
                .setMergeScheduler(new SerialMergeScheduler());
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int id = 0; id < settings.size(2_000, 12_000); id++) {
                writer.addDocument(source.document(id, 100));
            }
            writer.forceMerge(1);
        }
        this.reader = DirectoryReader.open(directory);
    }

    @Override
    public long iterate() throws Exception {
        IndexSearcher searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
        return clients.run(queries, (first, step, count) -> {
            QueryParser parser = new QueryParser("body", analyzer);
            long sum = 0;
            for (int item = first; item < count; item += step) {
                long start = requests.start();
                sum += query(searcher, parser, item);
                requests.end(item, start);
            }
            return sum;
        });
    }

    @Override
    public Requests requests() {
        return requests;
    }

    private long query(IndexSearcher searcher, QueryParser parser, int item) throws IOException, ParseException {
        SplittableRandom random = new SplittableRandom(item);
        Query query = parser.parse(text(random));
        if (random.nextInt(4) == 0) {
            int from = random.nextInt(5_000);
            query = new BooleanQuery.Builder()
                    .add(query, Occur.MUST)
                    .add(IntPoint.newRangeQuery("price", from, from + 3_000), Occur.FILTER)
                    .build();
        }
        TopDocs found = random.nextInt(5) == 0
                ? searcher.search(query, HITS, new Sort(new SortField("price", SortField.Type.INT)))
                : searcher.search(query, HITS);
        StoredFields stored = searcher.storedFields();
        Checksum checksum = new Checksum().add(found.scoreDocs.length);
        for (ScoreDoc hit : found.scoreDocs) {
            checksum.add(stored.document(hit.doc).get("title"));
        }
        return checksum.value();
    }

    private String text(SplittableRandom random) {
        String a = source.word(random);
        String b = source.word(random);
        String c = source.word(random);
        return switch (random.nextInt(8)) {
            case 0 -> a;
            case 1 -> "+" + a + " +" + b;
            case 2 -> a + " OR " + b + " OR " + c;
            case 3 -> '"' + a + ' ' + b + '"';
            case 4 -> '"' + a + ' ' + b + "\"~8 " + c;
            case 5 -> a.substring(0, Math.min(4, a.length())) + "* +" + b;
            case 6 -> a + "~1 " + b;
            default -> "title:" + a + "^3 " + b + " -" + c;
        };
    }

    @Override
    public void close() throws IOException {
        clients.close();
        reader.close();
        directory.close();
    }
}
