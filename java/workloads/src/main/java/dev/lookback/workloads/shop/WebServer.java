package dev.lookback.workloads.shop;

import jakarta.servlet.http.HttpServlet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.LifecycleState;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * Embedded Tomcat with one servlet on the loopback address.
 *
 * <p>Tomcat insists on a base directory: it gets a temporary one, which is removed at the end.
 */
public final class WebServer implements AutoCloseable {
    /** Loopback only: the shop has no defence against anybody. */
    public static final String ADDRESS = "127.0.0.1";
    private static final int MAX_THREADS = 16;

    private final Tomcat tomcat;
    private final Path base;

    private WebServer(Tomcat tomcat, Path base) {
        this.tomcat = tomcat;
        this.base = base;
    }

    /** Starts it on this port of the loopback address; 0 is any free one. */
    public static WebServer start(int port, HttpServlet servlet) {
        try {
            Path base = Files.createTempDirectory("lookback-shop");
            Tomcat tomcat = new Tomcat();
            tomcat.setBaseDir(base.toString());
            Connector connector = new Connector();
            connector.setPort(port);
            connector.setProperty("address", ADDRESS);
            connector.setProperty("maxThreads", Integer.toString(MAX_THREADS));
            // A failed bind is then an exception of start() and not a line in a log that nobody reads.
            connector.setThrowOnFailure(true);
            tomcat.setConnector(connector);
            Context context = tomcat.addContext("", base.toString());
            Tomcat.addServlet(context, "shop", servlet);
            context.addServletMappingDecoded("/*", "shop");
            WebServer server = new WebServer(tomcat, base);
            try {
                tomcat.start();
            } catch (LifecycleException e) {
                server.close();
                throw new ShopException("cannot listen on " + ADDRESS + ":" + port, rootOf(e));
            }
            return server;
        } catch (IOException e) {
            throw new ShopException("no temporary directory for Tomcat", e);
        }
    }

    private static Throwable rootOf(Throwable e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }

    /** The port it listens on. */
    public int port() {
        return tomcat.getConnector().getLocalPort();
    }

    @Override
    public void close() {
        try {
            if (tomcat.getServer().getState() != LifecycleState.DESTROYED) {
                tomcat.stop();
                tomcat.destroy();
            }
        } catch (LifecycleException e) {
            throw new ShopException("Tomcat does not stop", e);
        } finally {
            removeBase();
        }
    }

    private void removeBase() {
        try (Stream<Path> paths = Files.walk(base)) {
            for (Path path : (Iterable<Path>) paths.sorted(Comparator.reverseOrder())::iterator) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
