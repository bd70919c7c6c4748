package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.python.core.PyCode;
import org.python.core.PyInteger;
import org.python.util.PythonInterpreter;

/**
 * Python with Jython: classes, trees, Fibonacci, Ackermann, dictionaries, generators and strings.
 *
 * <p>The program is compiled to bytecode once and runs in a new namespace for each item. Every Python call is
 * several of the JVM, through generated code and reflection: stacks of several hundred frames.
 *
 * <p>Must not: let Jython write its package cache or import {@code site}, which would touch the file system.
 */
public final class JythonWorkload implements Workload {
    private final int runs;
    private final Clients clients;
    private final PyCode program;

    /** Starts Jython and compiles the program; one thread unless the settings say otherwise. */
    public JythonWorkload(Settings settings) throws IOException {
        this.runs = settings.size(5, 50);
        this.clients = new Clients("jython", settings.threadsOr(1));
        Properties properties = new Properties();
        properties.setProperty("python.cachedir.skip", "true");
        properties.setProperty("python.import.site", "false");
        PythonInterpreter.initialize(new Properties(), properties, new String[0]);
        try (InputStream text = JythonWorkload.class.getResourceAsStream("mix.py");
                PythonInterpreter interpreter = new PythonInterpreter()) {
            this.program = interpreter.compile(new String(text.readAllBytes(), StandardCharsets.UTF_8), "mix.py");
        }
    }

    @Override
    public long iterate() throws Exception {
        return clients.sum(runs, item -> {
            try (PythonInterpreter interpreter = new PythonInterpreter()) {
                interpreter.set("item", new PyInteger(item));
                interpreter.exec(program);
                return new Checksum().add(interpreter.get("result").toString()).value();
            }
        });
    }

    @Override
    public void close() {
        clients.close();
    }
}
