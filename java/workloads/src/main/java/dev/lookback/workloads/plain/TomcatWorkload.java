package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Requests;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import dev.lookback.workloads.shop.WebServer;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * A web server under load: clients in the same process ask an embedded Tomcat for generated pages, one request
 * after the other on connections that are kept open.
 *
 * <p>The port is any free one of the loopback address, and no part of the answer.
 */
public final class TomcatWorkload implements Workload {
    /** Far above what an answer takes on any machine: it only keeps a broken run from waiting for ever. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final int gets;
    private final Clients clients;
    private final Requests requests;
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final WebServer server;

    /** Starts the server; 16 clients unless the settings say otherwise. */
    public TomcatWorkload(Settings settings) {
        this.gets = settings.size(400, 3_000);
        this.clients = new Clients("http-client", settings.threadsOr(16));
        this.requests = settings.requests(gets);
        this.server = WebServer.start(0, new PageServlet());
    }

    @Override
    public long iterate() throws Exception {
        String root = "http://" + WebServer.ADDRESS + ":" + server.port() + "/page?number=";
        return clients.sum(gets, item -> {
            long start = requests.start();
            HttpResponse<String> page = http.send(
                    HttpRequest.newBuilder(URI.create(root + item)).timeout(PATIENCE).build(),
                    HttpResponse.BodyHandlers.ofString());
            requests.end(item, start);
            if (page.statusCode() != HttpServletResponse.SC_OK) {
                throw new IOException("page " + item + " was answered with status " + page.statusCode());
            }
            return new Checksum().add(page.body()).value();
        });
    }

    @Override
    public Requests requests() {
        return requests;
    }

    @Override
    public void close() {
        clients.close();
        server.close();
    }

    /** Answers with a table that depends on the page's number. */
    private static final class PageServlet extends HttpServlet {
        private static final long serialVersionUID = 1L;
        private static final int ROWS = 60;

        private final transient Corpus corpus = new Corpus(17);

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            int number = Integer.parseInt(request.getParameter("number"));
            SplittableRandom random = corpus.random(number);
            response.setContentType("text/html");
            response.setCharacterEncoding("UTF-8");
            PrintWriter html = response.getWriter();
            html.append("<html><body><h1>").append(corpus.text(random, 4)).append("</h1><table>");
            for (int row = 0; row < ROWS; row++) {
                html.append("<tr><td>").append(Integer.toString(row)).append("</td><td>")
                        .append(corpus.text(random, 8)).append("</td><td>")
                        .append(Integer.toString(random.nextInt(10_000))).append("</td></tr>");
            }
            html.append("</table></body></html>");
        }
    }
}
