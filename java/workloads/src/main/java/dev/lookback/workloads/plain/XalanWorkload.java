package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import javax.xml.transform.Templates;
import javax.xml.transform.sax.SAXSource;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.xalan.processor.TransformerFactoryImpl;
import org.apache.xerces.parsers.SAXParser;
import org.xml.sax.InputSource;

/**
 * XSLT by interpretation: each item parses a generated document with Xerces and transforms it with Xalan.
 *
 * <p>The library's classes are named here rather than found through JAXP, whose default would be the copy
 * inside the JDK, which is not application code.
 */
public final class XalanWorkload implements Workload {
    private final int documents;
    private final Clients clients;
    private final Templates templates;
    private final byte[][] input;

    /** Compiles the stylesheet and generates the documents; one thread unless the settings say otherwise. */
    public XalanWorkload(Settings settings) throws Exception {
        this.documents = settings.size(6, 48);
        this.clients = new Clients("xalan", settings.threadsOr(1));
        try (InputStream stylesheet = XalanWorkload.class.getResourceAsStream("report.xsl")) {
            this.templates = new TransformerFactoryImpl().newTemplates(new StreamSource(stylesheet));
        }
        Corpus corpus = new Corpus(11);
        this.input = new byte[8][];
        for (int i = 0; i < input.length; i++) {
            input[i] = shop(corpus, i).getBytes(StandardCharsets.UTF_8);
        }
    }

    private static String shop(Corpus corpus, int document) {
        SplittableRandom random = corpus.random(document);
        StringBuilder xml = new StringBuilder("<shop>");
        for (int id = 0; id < 60; id++) {
            xml.append("<product id='p").append(id).append("' kind='").append((char) ('a' + random.nextInt(8)))
                    .append("' price='").append(random.nextInt(100, 9_999) / 100.0).append("'><title>")
                    .append(corpus.text(random, 3)).append("</title></product>");
        }
        for (int id = 0; id < 60; id++) {
            xml.append("<customer id='c").append(id).append("' country='").append(random.nextInt(12))
                    .append("'><name>").append(corpus.text(random, 2)).append("</name></customer>");
        }
        for (int id = 0; id < 500; id++) {
            xml.append("<order id='").append(id).append("' customer='c").append(random.nextInt(60))
                    .append("' product='p").append(random.nextInt(60)).append("' count='")
                    .append(random.nextInt(1, 9)).append("'><note>").append(corpus.text(random, 10))
                    .append("</note></order>");
        }
        return xml.append("</shop>").toString();
    }

    @Override
    public long iterate() throws Exception {
        return clients.run(documents, (first, step, count) -> {
            long sum = 0;
            for (int item = first; item < count; item += step) {
                sum += transform(input[item % input.length]) * (item + 1L);
            }
            return sum;
        });
    }

    private long transform(byte[] document) throws Exception {
        ByteArrayOutputStream html = new ByteArrayOutputStream(1 << 16);
        InputSource source = new InputSource(new ByteArrayInputStream(document));
        templates.newTransformer().transform(new SAXSource(new SAXParser(), source), new StreamResult(html));
        return new Checksum().add(html.toByteArray()).value();
    }

    @Override
    public void close() {
        clients.close();
    }
}
