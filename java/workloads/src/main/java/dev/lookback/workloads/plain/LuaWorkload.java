package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.FutureTask;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaClosure;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Prototype;
import org.luaj.vm2.lib.jse.JsePlatform;

/**
 * Lua with LuaJ, whose bytecode is interpreted: one huge method with a switch, and small ones for each operation.
 *
 * <p>The script is compiled to Lua's bytecode once and runs with new globals for each item. {@link #deep} recurses
 * 8,000 calls of Lua deep, each of which is two of the JVM, more than a thread's default stack holds; so each item
 * has a thread with a stack of its own size.
 */
public final class LuaWorkload implements Workload {
    /** Room for 8,000 calls, each of which takes up to a kilobyte in interpreted code; only what is used is memory. */
    private static final long STACK = 64L << 20;

    private final int runs;
    private final boolean deep;
    private final Clients clients;
    private final Prototype script;

    private LuaWorkload(Settings settings, String name, int runs, boolean deep) throws IOException {
        this.runs = runs;
        this.deep = deep;
        this.clients = new Clients(name, settings.threadsOr(1));
        try (InputStream text = LuaWorkload.class.getResourceAsStream(name + ".lua")) {
            this.script = JsePlatform.standardGlobals().compilePrototype(text, name + ".lua");
        }
    }

    /** Trees, tables, closures, strings and sorting; one thread unless the settings say otherwise. */
    public static LuaWorkload mix(Settings settings) throws IOException {
        return new LuaWorkload(settings, "luaj", settings.size(4, 40), false);
    }

    /** Deep recursion; one item at a time unless the settings say otherwise. */
    public static LuaWorkload deep(Settings settings) throws IOException {
        return new LuaWorkload(settings, "luaj-deep", settings.size(2, 12), true);
    }

    @Override
    public long iterate() throws Exception {
        return clients.sum(runs, item -> deep ? onOwnStack(item) : run(item));
    }

    private long run(int item) {
        Globals globals = JsePlatform.standardGlobals();
        globals.set("item", LuaValue.valueOf(item));
        return new Checksum().add(new LuaClosure(script, globals).call().tojstring()).value();
    }

    private long onOwnStack(int item) throws Exception {
        FutureTask<Long> task = new FutureTask<>(() -> run(item));
        Thread thread = new Thread(null, task, "luaj-deep-item", STACK);
        thread.setDaemon(true);
        thread.start();
        return task.get();
    }

    @Override
    public void close() {
        clients.close();
    }
}
