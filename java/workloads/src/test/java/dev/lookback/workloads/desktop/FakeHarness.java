package dev.lookback.workloads.desktop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The harness' end of its socket: notes what it is told and answers all of it alike. */
final class FakeHarness implements AutoCloseable {
    private final ServerSocketChannel server;
    private final List<String> told = new CopyOnWriteArrayList<>();
    private final BlockingQueue<String> arrivals = new LinkedBlockingQueue<>();

    FakeHarness(Path path, String answer) throws IOException {
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path));
        Thread thread = new Thread(() -> serve(answer), "fake-harness");
        thread.setDaemon(true);
        thread.start();
    }

    private void serve(String answer) {
        try (SocketChannel client = server.accept();
                BufferedReader lines = new BufferedReader(Channels.newReader(client, StandardCharsets.UTF_8))) {
            for (String line; (line = lines.readLine()) != null; ) {
                told.add(line);
                arrivals.add(line);
                client.write(ByteBuffer.wrap((answer + "\n").getBytes(StandardCharsets.UTF_8)));
            }
        } catch (IOException e) {
            // The test is over, or its program has been killed.
        }
    }

    /** All lines so far. */
    List<String> told() {
        return told;
    }

    /** The next line, or null if none comes for a minute. */
    String await() throws InterruptedException {
        return arrivals.poll(1, TimeUnit.MINUTES);
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
