package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Date;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import javax.xml.transform.Transformer;
import javax.xml.transform.sax.SAXResult;
import javax.xml.transform.sax.SAXSource;
import org.apache.fop.apps.FOUserAgent;
import org.apache.fop.apps.Fop;
import org.apache.fop.apps.FopFactory;
import org.apache.fop.apps.FopFactoryBuilder;
import org.apache.fop.apps.MimeConstants;
import org.apache.xalan.processor.TransformerFactoryImpl;
import org.apache.xerces.parsers.SAXParser;
import org.xml.sax.InputSource;

/**
 * Typesetting with FOP: each item turns a generated report with headings, justified text, lists and tables
 * that break across pages into a PDF.
 *
 * <p>Only the fonts that every PDF reader has are used, whose metrics FOP brings along: the fonts of the machine
 * must not matter. FOP writes the time of the run into the metadata and makes the document's identifier of it: these
 * two are left out of the checksum.
 */
public final class FopWorkload implements Workload {
    private static final Pattern TIME_OF_RUN = Pattern.compile("<xmp:MetadataDate>[^<]*|/ID \\[[^\\]]*");

    private final int documents;
    private final Clients clients;
    private final FopFactory factory = new FopFactoryBuilder(URI.create("memory:///")).build();
    private final byte[][] input = new byte[4][];

    /** Generates the documents; one thread unless the settings say otherwise. */
    public FopWorkload(Settings settings) {
        this.documents = settings.size(1, 8);
        this.clients = new Clients("fop", settings.threadsOr(1));
        Corpus corpus = new Corpus(5);
        for (int i = 0; i < input.length; i++) {
            input[i] = report(corpus, i).getBytes(StandardCharsets.UTF_8);
        }
    }

    private static String report(Corpus corpus, int document) {
        SplittableRandom random = corpus.random(document);
        StringBuilder fo = new StringBuilder("<fo:root xmlns:fo='http://www.w3.org/1999/XSL/Format'>"
                + "<fo:layout-master-set><fo:simple-page-master master-name='page' page-width='210mm'"
                + " page-height='297mm' margin='20mm'><fo:region-body margin-top='12mm' margin-bottom='12mm'/>"
                + "<fo:region-before extent='10mm'/></fo:simple-page-master></fo:layout-master-set>"
                + "<fo:page-sequence master-reference='page'><fo:static-content flow-name='xsl-region-before'>"
                + "<fo:block font-size='8pt' text-align='end'>page <fo:page-number/></fo:block></fo:static-content>"
                + "<fo:flow flow-name='xsl-region-body'>");
        for (int chapter = 0; chapter < 6; chapter++) {
            fo.append("<fo:block font-family='Helvetica' font-size='16pt' space-before='12pt'"
                    + " keep-with-next='always'>").append(corpus.text(random, 4)).append("</fo:block>");
            for (int paragraph = 0; paragraph < 4; paragraph++) {
                fo.append("<fo:block font-family='Times' font-size='10pt' text-align='justify'"
                        + " space-after='6pt'>").append(corpus.text(random, 90)).append("</fo:block>");
            }
            table(fo, corpus, random);
        }
        return fo.append("</fo:flow></fo:page-sequence></fo:root>").toString();
    }

    private static void table(StringBuilder fo, Corpus corpus, SplittableRandom random) {
        fo.append("<fo:table table-layout='fixed' width='100%' font-size='9pt'>");
        for (int width : new int[] {20, 50, 30}) {
            fo.append("<fo:table-column column-width='").append(width).append("%'/>");
        }
        fo.append("<fo:table-body>");
        for (int row = 0; row < 25; row++) {
            fo.append("<fo:table-row>");
            for (int words : new int[] {1, 6, 2}) {
                fo.append("<fo:table-cell border='0.5pt solid #808080' padding='2pt'><fo:block>")
                        .append(corpus.text(random, words)).append("</fo:block></fo:table-cell>");
            }
            fo.append("</fo:table-row>");
        }
        fo.append("</fo:table-body></fo:table>");
    }

    @Override
    public long iterate() throws Exception {
        return clients.sum(documents, item -> {
            FOUserAgent agent = factory.newFOUserAgent();
            agent.setCreationDate(new Date(0));
            ByteArrayOutputStream pdf = new ByteArrayOutputStream(1 << 16);
            Fop fop = factory.newFop(MimeConstants.MIME_PDF, agent, pdf);
            Transformer copier = new TransformerFactoryImpl().newTransformer();
            InputSource source = new InputSource(new ByteArrayInputStream(input[item % input.length]));
            copier.transform(new SAXSource(new SAXParser(), source), new SAXResult(fop.getDefaultHandler()));
            String content = pdf.toString(StandardCharsets.ISO_8859_1);
            return new Checksum().add(TIME_OF_RUN.matcher(content).replaceAll("")).value();
        });
    }

    @Override
    public void close() {
        clients.close();
    }
}
