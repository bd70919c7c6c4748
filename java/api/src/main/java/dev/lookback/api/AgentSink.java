package dev.lookback.api;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Marks go to the agent in this process, into the same memory as the calls of traced methods.
 *
 * <p>The constraint that shaped it: the agent defines {@code java.lang.LookbackSpans} while the program runs, so
 * nothing can be compiled against it. Constant method handles cost a compiled program nothing: the compiler
 * inlines through them as through a direct call. They are looked up only when that class is there, because
 * the first handle of a program costs it milliseconds.
 *
 * <p>It must not let anything escape. The methods behind the handles throw nothing of their own; what remains is
 * a stack that overflows just there.
 */
final class AgentSink extends Sink {
    /** What the agent calls a span and an instant. */
    private static final int SPAN_ROLE = 1;
    private static final int INSTANT_ROLE = 2;

    /** The agent's class; null without an agent. */
    private static final Class<?> AGENT = agent();
    private static final MethodHandle REGISTER = find("register", long.class, String.class, String.class, int.class);
    private static final MethodHandle BEGIN = find("begin", void.class, long.class);
    private static final MethodHandle END = find("end", void.class, long.class);
    private static final MethodHandle INSTANT = find("instant", void.class, long.class);
    private static final MethodHandle DUMP = find("dump", boolean.class, String.class);
    private static final MethodHandle IS_RECORDING = find("isRecording", boolean.class);

    AgentSink() {
    }

    /** Whether the agent is in this process and takes marks. */
    static boolean isThere() {
        return REGISTER != null && BEGIN != null && END != null && INSTANT != null && DUMP != null
                && IS_RECORDING != null;
    }

    private static Class<?> agent() {
        try {
            return Class.forName("java.lang.LookbackSpans", true, null);
        } catch (ClassNotFoundException | LinkageError none) {
            return null;
        }
    }

    private static MethodHandle find(String name, Class<?> result, Class<?>... parameters) {
        if (AGENT == null) {
            return null;
        }
        try {
            return MethodHandles.publicLookup().findStatic(AGENT, name, MethodType.methodType(result, parameters));
        } catch (ReflectiveOperationException anotherVersion) {
            return null;
        }
    }

    @Override
    long span(String category, String name) {
        return register(category, name, SPAN_ROLE);
    }

    @Override
    long instant(String category, String name) {
        return register(category, name, INSTANT_ROLE);
    }

    private static long register(String category, String name, int role) {
        try {
            return (long) REGISTER.invokeExact(category, name, role);
        } catch (Throwable unregistered) {
            return 0;
        }
    }

    @Override
    void begin(long key) {
        try {
            BEGIN.invokeExact(key);
        } catch (Throwable unrecorded) {
            // See above.
        }
    }

    @Override
    void end(long key) {
        try {
            END.invokeExact(key);
        } catch (Throwable unrecorded) {
            // See above.
        }
    }

    @Override
    void record(long key) {
        try {
            INSTANT.invokeExact(key);
        } catch (Throwable unrecorded) {
            // See above.
        }
    }

    @Override
    boolean dump(String reason) {
        try {
            return (boolean) DUMP.invokeExact(reason);
        } catch (Throwable unasked) {
            return false;
        }
    }

    @Override
    boolean isRecording() {
        try {
            return (boolean) IS_RECORDING.invokeExact();
        } catch (Throwable unknown) {
            return false;
        }
    }
}
