package dev.lookback.workloads.plain;

import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import scala.Option;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.internal.util.BatchSourceFile;
import scala.reflect.internal.util.SourceFile;
import scala.reflect.io.AbstractFile;
import scala.reflect.io.VirtualDirectory;
import scala.reflect.io.VirtualFile;
import scala.runtime.BoxedUnit;
import scala.tools.nsc.Global;
import scala.tools.nsc.reporters.StoreReporter;

/**
 * Compiles a part of scala-parser-combinators in memory with the Scala 2 compiler, a new compiler for each
 * iteration, as a build tool does.
 *
 * <p>A compiler is single-threaded: with T threads each of them compiles the whole input.
 */
public final class ScalacWorkload implements Workload {
    private static final String ANY_SOURCE = "scala/util/parsing/combinator/Parsers.scala";
    /** Readers and positions: a package that needs no other one. All of the library would take four seconds. */
    private static final String PREFIX = "scala/util/parsing/input/";
    /** Scala's library as a class path for the compiler, found by one of its classes. */
    private static final String LIBRARY_CLASS = "scala/Option.class";

    private final Clients clients;
    private final Map<String, String> sources;
    private final String classPath = SourceInput.jarOf(LIBRARY_CLASS);

    /** One thread unless the settings say otherwise. */
    public ScalacWorkload(Settings settings) throws IOException {
        this.clients = new Clients("scalac", settings.threadsOr(1));
        this.sources = SourceInput.files(ANY_SOURCE, PREFIX, ".scala");
        if (settings.small()) {
            sources.keySet().removeIf(path -> path.contains("Paged") || path.contains("Stream")
                    || path.contains("Version"));
        }
    }

    @Override
    public long iterate() throws Exception {
        return clients.agree(this::compile);
    }

    private long compile() throws IOException {
        StringBuilder complaints = new StringBuilder();
        scala.tools.nsc.Settings options = new scala.tools.nsc.Settings(complaint -> {
            complaints.append(complaint);
            return BoxedUnit.UNIT;
        });
        options.classpath().value_$eq(classPath);
        VirtualDirectory classes = new VirtualDirectory("classes", Option.empty());
        options.outputDirs().setSingleOutput(classes);
        StoreReporter reporter = new StoreReporter(options);
        Global compiler = new Global(options, reporter);
        List<SourceFile> files = new ArrayList<>();
        sources.forEach((name, text) -> files.add(new BatchSourceFile(new VirtualFile(name), text.toCharArray())));
        compiler.new Run().compileSources(CollectionConverters.asScala(files).toList());
        if (reporter.hasErrors() || !complaints.isEmpty()) {
            throw new IllegalStateException("the input does not compile: " + complaints + reporter.infos());
        }
        compiler.close();
        Map<String, byte[]> results = new TreeMap<>();
        collect(classes, "", results);
        return CompilerWorkload.checksum(results);
    }

    private static void collect(AbstractFile directory, String path, Map<String, byte[]> results) throws IOException {
        for (Iterator<AbstractFile> files = directory.iterator(); files.hasNext();) {
            AbstractFile file = files.next();
            String name = path + "/" + file.name();
            if (file.isDirectory()) {
                collect(file, name, results);
            } else {
                results.put(name, file.toByteArray());
            }
        }
    }

    @Override
    public void close() {
        clients.close();
    }
}
