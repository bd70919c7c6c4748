package dev.lookback.workloads.plain;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * The Java sources of commons-lang3, read from the sources jar on the class path.
 *
 * <p>The small input is the text sub-packages; the rest of the library is then found in its binary jar,
 * which is on the class path as well.
 */
final class SourceInput {
    private static final String ROOT = "org/apache/commons/lang3/";
    private static final String ANY_SOURCE = ROOT + "StringUtils.java";
    private static final String ANY_CLASS = ROOT + "StringUtils.class";

    private SourceInput() {
    }

    /** Text by path, sorted by path. */
    static Map<String, String> files(boolean small) throws IOException {
        String prefix = small ? ROOT + "text/" : ROOT;
        Map<String, String> files = new TreeMap<>();
        // Opened anew and not through the URL's cache: closing a cached JarFile would break the class loader's.
        try (JarFile jar = new JarFile(jarOf(ANY_SOURCE))) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                String name = entry.getName();
                if (name.startsWith(prefix) && name.endsWith(".java") && !name.endsWith("-info.java")) {
                    files.put(name, new String(jar.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8));
                }
            }
        }
        return files;
    }

    /** The binary jar, as a class path for compiling a part of the sources. */
    static String classPath() {
        return jarOf(ANY_CLASS);
    }

    private static String jarOf(String resource) {
        URL url = SourceInput.class.getClassLoader().getResource(resource);
        if (url == null) {
            throw new IllegalStateException(resource + " is not on the class path; run with target/lib/*");
        }
        try {
            JarURLConnection connection = (JarURLConnection) url.openConnection();
            return java.nio.file.Path.of(connection.getJarFileURL().toURI()).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (java.net.URISyntaxException e) {
            throw new IllegalStateException("odd jar location " + url, e);
        }
    }
}
