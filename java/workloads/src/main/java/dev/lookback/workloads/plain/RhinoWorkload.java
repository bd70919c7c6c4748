package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.Script;
import org.mozilla.javascript.Scriptable;
import org.mozilla.javascript.ScriptableObject;

/**
 * JavaScript with Rhino: trees, Ackermann, quicksort, strings, regular expressions and JSON.
 *
 * <p>The script is compiled to bytecode once, by Rhino's default, and runs in a new global scope for each item,
 * as in a server that runs scripts for its users.
 */
public final class RhinoWorkload implements Workload {
    private final int runs;
    private final Clients clients;
    private final Script script;

    /** Compiles the script; one thread unless the settings say otherwise. */
    public RhinoWorkload(Settings settings) throws IOException {
        this.runs = settings.size(4, 60);
        this.clients = new Clients("rhino", settings.threadsOr(1));
        try (Context context = Context.enter();
                Reader text = new InputStreamReader(RhinoWorkload.class.getResourceAsStream("mix.js"),
                        StandardCharsets.UTF_8)) {
            this.script = context.compileReader(text, "mix.js", 1, null);
        }
    }

    @Override
    public long iterate() throws Exception {
        return clients.sum(runs, item -> {
            try (Context context = Context.enter()) {
                Scriptable scope = context.initStandardObjects();
                ScriptableObject.putProperty(scope, "item", item);
                return new Checksum().add(Context.toString(script.exec(context, scope))).value();
            }
        });
    }

    @Override
    public void close() {
        clients.close();
    }
}
