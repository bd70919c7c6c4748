package dev.lookback.api;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * Marks go into the ring file that the property {@code lookback.ring} or the variable {@code LOOKBACK_RING}
 * names, by way of the native recorder {@code liblookback_ring.so}.
 *
 * <p>The constraint that shaped it: somebody asked for the file, so whoever does not get it must be told, but only
 * once and in one line, and the program goes on. The native methods that record take numbers only: nothing of
 * Java is looked at there.
 *
 * <p>It must not create the file: who records decides how large it is.
 */
final class RingSink extends Sink {
    private static final String LIBRARY = "lookback_ring";
    /** Characters of a category or name that are kept, as under the agent. */
    private static final int MOST_CHARACTERS = 60;

    private RingSink() {
    }

    /** The sink, or null when nobody asks for a ring file, or it cannot be used. */
    static Sink open() {
        String file = setting("lookback.ring", "LOOKBACK_RING");
        if (file == null) {
            return null;
        }
        String why;
        try {
            load();
            why = open(utf8(file), utf8(program()), utf8(Thread.currentThread().getName()));
            findAll();
        } catch (UnsatisfiedLinkError | IOException | RuntimeException e) {
            why = String.valueOf(e.getMessage());
        }
        if (why == null) {
            return new RingSink();
        }
        System.err.println("[lookback] spans and instants are not recorded: " + why.replace('\n', ' '));
        return null;
    }

    /** Calls each method once, with a key that means nothing: one that the library lacks is missed here, and not later. */
    private static void findAll() {
        register(null, null, false);
        begin0(0);
        end0(0);
        record0(0);
        record1(0, 0);
        record2(0, 0, 0);
    }

    private static String setting(String property, String variable) {
        String set = System.getProperty(property);
        if (set == null && variable != null) {
            set = System.getenv(variable);
        }
        return set == null || set.isBlank() ? null : set;
    }

    /** What the program is called: its main class or jar. */
    private static String program() {
        String command = System.getProperty("sun.java.command", "java");
        int end = command.indexOf(' ');
        return end < 0 ? command : command.substring(0, end);
    }

    /** The library that is named, else one on the library path, else the copy in this jar. */
    private static void load() throws IOException {
        String named = setting("lookback.library", null);
        if (named != null) {
            System.load(Path.of(named).toAbsolutePath().toString());
            return;
        }
        try {
            System.loadLibrary(LIBRARY);
        } catch (UnsatisfiedLinkError notOnThePath) {
            if (!loadCopy()) {
                throw notOnThePath;
            }
        }
    }

    /** The VM loads files only, and keeps what it has loaded when the file is gone. */
    private static boolean loadCopy() throws IOException {
        String copy = System.getProperty("os.name") + "-" + System.getProperty("os.arch");
        String resource = "native/" + copy.toLowerCase(Locale.ROOT) + "/" + System.mapLibraryName(LIBRARY);
        try (InputStream in = RingSink.class.getResourceAsStream(resource)) {
            if (in == null) {
                return false;
            }
            Path file = Files.createTempFile("lookback", ".so");
            try {
                Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
                System.load(file.toString());
            } finally {
                Files.delete(file);
            }
            return true;
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] cut(String text) {
        String some = String.valueOf(text);
        return utf8(some.length() <= MOST_CHARACTERS ? some : some.substring(0, MOST_CHARACTERS));
    }

    @Override
    long span(String category, String name) {
        return register(cut(category), cut(name), false);
    }

    @Override
    long instant(String category, String name) {
        return register(cut(category), cut(name), true);
    }

    @Override
    void begin(long key) {
        begin0(key);
    }

    @Override
    void end(long key) {
        end0(key);
    }

    @Override
    void record(long key) {
        record0(key);
    }

    @Override
    void record(long key, long value) {
        record1(key, value);
    }

    @Override
    void record(long key, long first, long second) {
        record2(key, first, second);
    }

    @Override
    boolean isRecording() {
        return true;
    }

    /** Null when the file is open, else why it is not. The VM tells the system the names of all threads but the main one. */
    private static native String open(byte[] file, byte[] program, byte[] thread);

    /** A key, or 0 when there is no room. */
    private static native long register(byte[] category, byte[] name, boolean instant);

    private static native void begin0(long key);

    private static native void end0(long key);

    private static native void record0(long key);

    private static native void record1(long key, long value);

    private static native void record2(long key, long first, long second);
}
