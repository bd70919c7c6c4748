package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.UsageException;
import dev.lookback.workloads.Workload;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;
import org.eclipse.jdt.internal.compiler.tool.EclipseCompiler;

/**
 * Compiles commons-lang3 in memory through {@code javax.tools}: with the JDK's compiler or with Eclipse's.
 *
 * <p>Both get the same sources, {@code --release 17} and no annotation processing. A compiler is
 * single-threaded: with T threads each of them compiles the whole input.
 */
public final class CompilerWorkload implements Workload {
    private static final List<String> OPTIONS = List.of("--release", "17", "-proc:none", "-nowarn", "-g");

    private final Supplier<JavaCompiler> compilers;
    private final Clients clients;
    private final List<JavaFileObject> sources;
    private final List<String> options;

    private CompilerWorkload(Settings settings, String name, Supplier<JavaCompiler> compilers) throws IOException {
        this.compilers = compilers;
        this.clients = new Clients(name, settings.threadsOr(1));
        Map<String, String> files = SourceInput.files(settings.small());
        this.sources = files.entrySet().stream()
                .map(file -> (JavaFileObject) new MemoryFiles.Source(file.getKey(), file.getValue()))
                .collect(Collectors.toList());
        this.options = new ArrayList<>(OPTIONS);
        options.addAll(List.of("-cp", SourceInput.classPath()));
    }

    /** The compiler of the running JDK. */
    public static CompilerWorkload javac(Settings settings) throws IOException {
        if (ToolProvider.getSystemJavaCompiler() == null) {
            throw new UsageException("this Java runtime has no compiler (module jdk.compiler); use a JDK");
        }
        return new CompilerWorkload(settings, "javac", ToolProvider::getSystemJavaCompiler);
    }

    /** Eclipse's compiler. */
    public static CompilerWorkload ecj(Settings settings) throws IOException {
        return new CompilerWorkload(settings, "ecj", EclipseCompiler::new);
    }

    @Override
    public long iterate() throws Exception {
        return clients.agree(this::compile);
    }

    private long compile() throws IOException {
        JavaCompiler compiler = compilers.get();
        StringWriter messages = new StringWriter();
        try (MemoryFiles files = new MemoryFiles(compiler.getStandardFileManager(null, null, null))) {
            boolean ok = compiler.getTask(messages, files, null, options, null, sources).call();
            if (!ok) {
                throw new IllegalStateException("the input does not compile: " + messages);
            }
            return checksum(files.classes());
        }
    }

    /** A checksum of class files by name, which must be sorted. */
    static long checksum(Map<String, byte[]> classes) {
        Checksum checksum = new Checksum().add(classes.size());
        classes.forEach((name, bytes) -> checksum.add(name).add(bytes));
        return checksum.value();
    }

    @Override
    public void close() {
        clients.close();
    }
}
