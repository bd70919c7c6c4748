// Writes class files into one pack file for the tests of the rewriter.
//
// Constraint: single source file, so that `java DumpClasses.java` runs it on any JDK from 11 on
// without a build. The pack is a sequence of: length of the name (int), name (UTF-8, with slashes),
// length of the class file (int), class file. Must not load any of the classes.
//
// Usage: DumpClasses OUT SOURCE... where a SOURCE is the name of a module of the running JDK
// or the path of a jar file.

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

public final class DumpClasses {
    private DumpClasses() {
    }

    public static void main(String[] args) throws IOException {
        try (DataOutputStream out = new DataOutputStream(
                new BufferedOutputStream(Files.newOutputStream(Path.of(args[0])), 1 << 20))) {
            for (int i = 1; i < args.length; i++) {
                if (args[i].endsWith(".jar")) {
                    try (FileSystem jar = FileSystems.newFileSystem(Path.of(args[i]), (ClassLoader) null)) {
                        dump(jar.getPath("/"), out);
                    }
                    continue;
                }
                Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
                dump(modules.resolve(args[i]), out);
            }
        }
    }

    private static void dump(Path root, DataOutputStream out) throws IOException {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(root)) {
            files = walk.filter(p -> p.toString().endsWith(".class")).sorted().collect(Collectors.toList());
        }
        for (Path file : files) {
            String name = root.relativize(file).toString();
            if (name.endsWith("module-info.class") || name.startsWith("META-INF")) {
                continue;
            }
            byte[] nameBytes = name.substring(0, name.length() - ".class".length())
                    .getBytes(StandardCharsets.UTF_8);
            byte[] bytes = Files.readAllBytes(file);
            out.writeInt(nameBytes.length);
            out.write(nameBytes);
            out.writeInt(bytes.length);
            out.write(bytes);
        }
    }
}
