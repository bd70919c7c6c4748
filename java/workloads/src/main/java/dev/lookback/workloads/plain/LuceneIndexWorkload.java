package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.IOException;
import java.util.SplittableRandom;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;

/**
 * Indexing with Lucene: English analysis with stemming, a small buffer so that segments are flushed and
 * merged in the background.
 *
 * <p>Segment and document numbers depend on timing; the checksum uses term statistics, which do not.
 */
public final class LuceneIndexWorkload implements Workload {
    private static final double BUFFER_MB = 1.0;
    private static final int PROBES = 2_000;

    private final int documents;
    private final Clients clients;
    private final LuceneDocuments source = new LuceneDocuments();

    /** One indexing thread unless the settings say otherwise. */
    public LuceneIndexWorkload(Settings settings) {
        this.documents = settings.size(600, 6_000);
        this.clients = new Clients("lucene-indexer", settings.threadsOr(1));
    }

    @Override
    public long iterate() throws Exception {
        IndexWriterConfig config = new IndexWriterConfig(new EnglishAnalyzer()).setRAMBufferSizeMB(BUFFER_MB);
        try (Directory directory = new ByteBuffersDirectory();
                IndexWriter writer = new IndexWriter(directory, config)) {
            clients.run(documents, (first, step, count) -> {
                for (int id = first; id < count; id += step) {
                    writer.addDocument(source.document(id, 120));
                }
                return 0;
            });
            writer.commit();
            return statistics(directory);
        }
    }

    private long statistics(Directory directory) throws IOException {
        Checksum checksum = new Checksum();
        EnglishAnalyzer analyzer = new EnglishAnalyzer();
        try (IndexReader reader = DirectoryReader.open(directory)) {
            checksum.add(reader.numDocs()).add(reader.getSumTotalTermFreq("body")).add(reader.getDocCount("title"));
            SplittableRandom random = new SplittableRandom(7);
            for (int i = 0; i < PROBES; i++) {
                Term term = new Term("body", analyzer.normalize("body", source.word(random)));
                checksum.add(reader.docFreq(term)).add(reader.totalTermFreq(term));
            }
        }
        return checksum.value();
    }

    @Override
    public void close() {
        clients.close();
    }
}
