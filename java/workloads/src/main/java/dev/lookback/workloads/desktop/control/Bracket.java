package dev.lookback.workloads.desktop.control;

import dev.lookback.workloads.desktop.DesktopException;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Tells what measures the application, from outside of it, when an iteration begins and ends: lines
 * {@code begin NAME K} and {@code end NAME K} to a Unix socket, each answered with {@code ok} or {@code error WHY}.
 */
public final class Bracket implements AutoCloseable {
    private final SocketChannel channel;
    private final BufferedReader answers;

    /** Connects with the socket at {@code path}. */
    public Bracket(Path path) {
        try {
            channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            channel.connect(UnixDomainSocketAddress.of(path));
        } catch (IOException e) {
            throw new DesktopException("nobody listens on " + path + " (" + e.getMessage()
                    + "); is the harness loaded with socket=" + path + "?", e);
        }
        answers = new BufferedReader(Channels.newReader(channel, StandardCharsets.UTF_8));
    }

    /** The iteration begins when this returns. */
    public void begin(String name, int iteration) {
        tell("begin " + name + " " + iteration);
    }

    /** The iteration ended when this was called. */
    public void end(String name, int iteration) {
        tell("end " + name + " " + iteration);
    }

    private void tell(String line) {
        try {
            channel.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
            String answer = answers.readLine();
            if (!"ok".equals(answer)) {
                throw new DesktopException("the harness answered '" + line + "' with: " + answer);
            }
        } catch (IOException e) {
            throw new DesktopException("the harness' socket is broken: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // All that was told has been answered.
        }
    }
}
