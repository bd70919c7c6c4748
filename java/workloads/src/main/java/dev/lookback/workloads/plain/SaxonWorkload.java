package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import javax.xml.transform.sax.SAXSource;
import net.sf.saxon.s9api.Processor;
import net.sf.saxon.s9api.QName;
import net.sf.saxon.s9api.SaxonApiException;
import net.sf.saxon.s9api.Serializer;
import net.sf.saxon.s9api.XQueryEvaluator;
import net.sf.saxon.s9api.XQueryExecutable;
import net.sf.saxon.s9api.XdmAtomicValue;
import org.apache.xerces.parsers.SAXParser;
import org.xml.sax.InputSource;

/**
 * XQuery with Saxon: each item parses a generated document and runs one query on it, with joins, grouping,
 * sorting and functions that recurse 200 calls deep.
 *
 * <p>Saxon is an interpreter of expression trees: every call of the query is several of the JVM. The deepest
 * stack must fit half of the default of one megabyte in interpreted code.
 */
public final class SaxonWorkload implements Workload {
    private static final QName DEPTH = new QName("depth");

    private final int queries;
    private final Clients clients;
    private final Processor processor = new Processor(false);
    private final XQueryExecutable query;
    private final byte[][] input = new byte[8][];

    /** Compiles the query and generates the documents; one thread unless the settings say otherwise. */
    public SaxonWorkload(Settings settings) throws IOException, SaxonApiException {
        this.queries = settings.size(6, 60);
        this.clients = new Clients("saxon", settings.threadsOr(1));
        try (InputStream text = SaxonWorkload.class.getResourceAsStream("auction.xq")) {
            this.query = processor.newXQueryCompiler().compile(text);
        }
        Corpus corpus = new Corpus(23);
        for (int i = 0; i < input.length; i++) {
            input[i] = auction(corpus, i).getBytes(StandardCharsets.UTF_8);
        }
    }

    private static String auction(Corpus corpus, int document) {
        SplittableRandom random = corpus.random(document);
        StringBuilder xml = new StringBuilder("<auction>");
        for (int id = 0; id < 120; id++) {
            xml.append("<person id='p").append(id).append("' city='").append(random.nextInt(20)).append("'>")
                    .append(corpus.text(random, 3)).append("</person>");
        }
        for (int id = 0; id < 200; id++) {
            xml.append("<item id='i").append(id).append("' seller='p").append(random.nextInt(120)).append("'>")
                    .append(corpus.text(random, 12)).append("</item>");
        }
        for (int n = 0; n < 600; n++) {
            xml.append("<bid item='i").append(random.nextInt(200)).append("' person='p")
                    .append(random.nextInt(120)).append("'>").append(random.nextInt(1, 500)).append("</bid>");
        }
        return xml.append("</auction>").toString();
    }

    @Override
    public long iterate() throws Exception {
        return clients.sum(queries, item -> {
            StringWriter result = new StringWriter(1 << 14);
            Serializer serializer = processor.newSerializer(result);
            XQueryEvaluator evaluator = query.load();
            byte[] document = input[item % input.length];
            evaluator.setSource(new SAXSource(new SAXParser(), new InputSource(new ByteArrayInputStream(document))));
            evaluator.setExternalVariable(DEPTH, new XdmAtomicValue(100 + item % 10 * 15));
            evaluator.run(serializer);
            return new Checksum().add(result.toString()).value();
        });
    }

    @Override
    public void close() {
        clients.close();
    }
}
