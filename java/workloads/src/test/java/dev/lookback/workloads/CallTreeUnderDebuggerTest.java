package dev.lookback.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.Method;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.event.MethodExitEvent;
import com.sun.jdi.event.ThreadStartEvent;
import com.sun.jdi.event.VMDeathEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.MethodEntryRequest;
import com.sun.jdi.request.MethodExitRequest;
import dev.lookback.workloads.calltree.expect.Methods;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The expected events against an observer that knows nothing of the simulator: the JVM's own method entry and
 * exit events, by the debugger interface.
 *
 * <p>The debugger interface reports no exit for a method that is left by an exception. So what the JVM saw must
 * be the file's events in the file's order, all of its entries among them, less some exits.
 */
class CallTreeUnderDebuggerTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"--seed 1", "--seed 2 --super-throws", "--seed 3"})
    void theJvmSeesTheSameEvents(String options) throws Exception {
        Path file = directory.resolve("expected.txt");
        List<String> seen = observe("--calls 4000 --expect " + file + " " + options);
        List<String> all = Files.readAllLines(file);
        List<String> expected = all.subList(3, all.size());
        assertEquals("thread calltree-0", all.get(2));

        int next = 0;
        int byException = 0;
        for (String event : expected) {
            if (next < seen.size() && seen.get(next).equals(event)) {
                next++;
            } else {
                assertTrue(event.startsWith("X "), "entry not seen by the JVM: " + event + " after " + next);
                byException++;
            }
        }
        assertEquals(seen.size(), next, () -> "seen by the JVM only");
        assertTrue(byException > 20, "the tree should have exceptions; exits by exception: " + byException);
        assertTrue(byException < expected.size() / 4, "most methods return; exits by exception: " + byException);
    }

    private static List<String> observe(String arguments) throws Exception {
        VirtualMachine vm = launch(arguments);
        MethodEntryRequest entries = vm.eventRequestManager().createMethodEntryRequest();
        entries.addClassFilter(Methods.PACKAGE + ".*");
        entries.setSuspendPolicy(EventRequest.SUSPEND_NONE);
        entries.enable();
        MethodExitRequest exits = vm.eventRequestManager().createMethodExitRequest();
        exits.addClassFilter(Methods.PACKAGE + ".*");
        exits.setSuspendPolicy(EventRequest.SUSPEND_NONE);
        exits.enable();
        // A thread cannot be asked for its name once it has ended, so it is asked when it starts.
        vm.eventRequestManager().createThreadStartRequest().enable();

        Map<ThreadReference, List<String>> byThread = new HashMap<>();
        Map<ThreadReference, String> names = new HashMap<>();
        boolean running = true;
        while (running) {
            EventSet set = vm.eventQueue().remove();
            for (Event event : set) {
                if (event instanceof ThreadStartEvent start) {
                    names.put(start.thread(), start.thread().name());
                } else if (event instanceof MethodEntryEvent entry) {
                    add(byThread, entry.thread(), "E ", entry.method());
                } else if (event instanceof MethodExitEvent exit) {
                    add(byThread, exit.thread(), "X ", exit.method());
                } else if (event instanceof VMDeathEvent || event instanceof VMDisconnectEvent) {
                    running = false;
                }
            }
            resume(set);
        }
        assertEquals(0, vm.process().waitFor());
        List<String> player = new ArrayList<>();
        byThread.forEach((thread, events) -> {
            if ("calltree-0".equals(names.get(thread))) {
                player.addAll(events);
            }
        });
        return player;
    }

    /** Leaves out the hidden classes that the JVM makes for lambdas: no class file, nothing to trace. */
    private static void add(Map<ThreadReference, List<String>> byThread, ThreadReference thread, String kind,
            Method method) {
        if (!method.declaringType().name().contains("$$Lambda")) {
            byThread.computeIfAbsent(thread, t -> new ArrayList<>()).add(kind + name(method));
        }
    }

    private static void resume(EventSet set) {
        try {
            set.resume();
        } catch (VMDisconnectedException e) {
            // The program has ended; its last events are in the set that was just read.
        }
    }

    private static String name(Method method) {
        return method.declaringType().name().substring(Methods.PACKAGE.length() + 1) + "." + method.name();
    }

    private static VirtualMachine launch(String arguments) throws Exception {
        LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
        Map<String, Connector.Argument> values = connector.defaultArguments();
        Path classes = Path.of(CallTree.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        values.get("options").setValue("-cp \"" + classes + "\"");
        values.get("main").setValue(CallTree.class.getName() + " " + arguments);
        return connector.launch(values);
    }
}
