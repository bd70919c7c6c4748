package dev.lookback.workloads.plain;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardLocation;

/**
 * A compiler's files, with sources and results in memory; libraries still come from the standard manager.
 *
 * <p>The sources are handed to the compiler one by one. That this manager claims to have a source path
 * that contains them is for Eclipse's compiler, which otherwise insists on a file of that name.
 */
final class MemoryFiles extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ByteArrayOutputStream> results = new ConcurrentHashMap<>();

    MemoryFiles(JavaFileManager standard) {
        super(standard);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(Location location, String className, JavaFileObject.Kind kind,
            FileObject sibling) {
        String name = className.replace('/', '.');
        return new SimpleJavaFileObject(URI.create("memory:///" + className.replace('.', '/') + kind.extension), kind) {
            @Override
            public OutputStream openOutputStream() {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 12);
                results.put(name, bytes);
                return bytes;
            }
        };
    }

    @Override
    public boolean hasLocation(Location location) {
        return location == StandardLocation.SOURCE_PATH || super.hasLocation(location);
    }

    @Override
    public boolean contains(Location location, FileObject file) throws IOException {
        if (file instanceof Source) {
            return location == StandardLocation.SOURCE_PATH;
        }
        return super.contains(location, file);
    }

    @Override
    public Iterable<JavaFileObject> list(Location location, String packageName, Set<JavaFileObject.Kind> kinds,
            boolean recurse) throws IOException {
        return location == StandardLocation.SOURCE_PATH
                ? List.of() : super.list(location, packageName, kinds, recurse);
    }

    @Override
    public JavaFileObject getJavaFileForInput(Location location, String className, JavaFileObject.Kind kind)
            throws IOException {
        return location == StandardLocation.SOURCE_PATH ? null : super.getJavaFileForInput(location, className, kind);
    }

    /** The class files by name, sorted. */
    Map<String, byte[]> classes() {
        Map<String, byte[]> classes = new TreeMap<>();
        results.forEach((name, bytes) -> classes.put(name, bytes.toByteArray()));
        return classes;
    }

    /** One source text. */
    static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String path, String text) {
            super(URI.create("memory:///" + path), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
