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
 * Sources to compile, read from sources jars on the class path.
 *
 * <p>For Java they are those of commons-lang3. The small input is the text sub-packages; the rest of the library is then found in its binary jar,
 * which is on the class path as well.
 */
final class SourceInput {
    private static final String ROOT = "org/apache/commons/lang3/";
    private static final String ANY_SOURCE = ROOT + "StringUtils.java";
    private static final String ANY_CLASS = ROOT + "StringUtils.class";

    private SourceInput() {
    }

    /** commons-lang3's text by path, sorted by path. */
    static Map<String, String> files(boolean small) throws IOException {
        return files(ANY_SOURCE, small ? ROOT + "text/" : ROOT, ".java");
    }

    /** The sources below {@code prefix}, by path, in the jar that contains {@code anySource}. */
    static Map<String, String> files(String anySource, String prefix, String suffix) throws IOException {
        Map<String, String> files = new TreeMap<>();
        // Opened anew and not through the URL's cache: closing a cached JarFile would break the class loader's.
        try (JarFile jar = new JarFile(jarOf(anySource))) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                String name = entry.getName();
                if (name.startsWith(prefix) && name.endsWith(suffix) && !name.endsWith("-info" + suffix)) {
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

    /** The jar of the class path that contains this file. */
    static String jarOf(String resource) {
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
