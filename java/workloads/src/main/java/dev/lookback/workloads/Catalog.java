package dev.lookback.workloads;

import dev.lookback.workloads.known.HeapReaderWorkload;
import dev.lookback.workloads.known.KnownGcWorkload;
import dev.lookback.workloads.known.SteadyWorkload;
import dev.lookback.workloads.plain.ActiveMqWorkload;
import dev.lookback.workloads.plain.AkkaWorkload;
import dev.lookback.workloads.plain.BatikWorkload;
import dev.lookback.workloads.plain.CompilerWorkload;
import dev.lookback.workloads.plain.FopWorkload;
import dev.lookback.workloads.plain.GcBenchWorkload;
import dev.lookback.workloads.plain.H2Workload;
import dev.lookback.workloads.plain.HibernateWorkload;
import dev.lookback.workloads.plain.JacksonWorkload;
import dev.lookback.workloads.plain.JythonWorkload;
import dev.lookback.workloads.plain.LuceneIndexWorkload;
import dev.lookback.workloads.plain.LuceneSearchWorkload;
import dev.lookback.workloads.plain.LuaWorkload;
import dev.lookback.workloads.plain.PmdWorkload;
import dev.lookback.workloads.plain.RaytraceWorkload;
import dev.lookback.workloads.plain.RhinoWorkload;
import dev.lookback.workloads.plain.SaxonWorkload;
import dev.lookback.workloads.plain.ScalacWorkload;
import dev.lookback.workloads.plain.ThreadsWorkload;
import dev.lookback.workloads.plain.TomcatWorkload;
import dev.lookback.workloads.plain.XalanWorkload;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The plain workloads by name, in the order in which {@code list} prints them. */
public final class Catalog {
    /** Builds a workload; what it prepares here is not part of any iteration. */
    @FunctionalInterface
    public interface Factory {
        /** Prepares the workload for these settings. */
        Workload create(Settings settings) throws Exception;
    }

    /**
     * One entry.
     *
     * @param name    what the command line calls it
     * @param about   one line for {@code list}
     * @param options names of the options, with a value, that only this one has
     * @param factory builds it
     */
    public record Entry(String name, String about, Set<String> options, Factory factory) {
        Entry(String name, String about, Factory factory) {
            this(name, about, Set.of(), factory);
        }
    }

    private static final List<Entry> ENTRIES = List.of(
            new Entry("h2", "SQL transactions by 2 clients on an in-memory H2 database", H2Workload::new),
            new Entry("lucene-index", "analyse and index documents with Lucene", LuceneIndexWorkload::new),
            new Entry("lucene-search", "2 threads of term, phrase and boolean queries on a Lucene index",
                    LuceneSearchWorkload::new),
            new Entry("xalan", "XSLT with sort, key and recursive templates", XalanWorkload::new),
            new Entry("jackson", "write and read JSON trees and beans with Jackson", JacksonWorkload::new),
            new Entry("javac", "compile commons-lang3 with the JDK's own compiler (a JDK module)",
                    CompilerWorkload::javac),
            new Entry("ecj", "compile commons-lang3 with the Eclipse compiler (application code)",
                    CompilerWorkload::ecj),
            new Entry("pmd", "PMD's Java rules over commons-lang3: deep recursive visitors", PmdWorkload::new),
            new Entry("fop", "typeset reports as PDF with FOP", FopWorkload::new),
            new Entry("batik", "draw SVG pictures as PNG with Batik", BatikWorkload::new),
            new Entry("saxon", "XQuery with joins, groups and deep recursion, interpreted by Saxon", SaxonWorkload::new),
            new Entry("rhino", "JavaScript compiled to bytecode by Rhino", RhinoWorkload::new),
            new Entry("jython", "Python compiled to bytecode by Jython", JythonWorkload::new),
            new Entry("scalac", "compile scala-parser-combinators with the Scala compiler", ScalacWorkload::new),
            new Entry("hibernate", "4 traders through Hibernate on an in-memory H2 database", HibernateWorkload::new),
            new Entry("tomcat", "16 HTTP clients of an embedded Tomcat on the loopback address", TomcatWorkload::new),
            new Entry("akka", "tokens around a ring of 2,000 actors on 8 threads: hand-off", AkkaWorkload::new),
            new Entry("activemq", "8 clients ask 8 servers through an ActiveMQ broker: many threads, some of them short-lived",
                    ActiveMqWorkload::new),
            new Entry("threads", "a thread for each request, which reads JSON with Jackson", ThreadsWorkload::new),
            new Entry("raytrace", "a scene drawn by casting rays with Commons Geometry", RaytraceWorkload::new),
            new Entry("luaj", "Lua interpreted by LuaJ", LuaWorkload::mix),
            new Entry("luaj-deep", "Lua that recurses 8,000 calls deep, interpreted by LuaJ", LuaWorkload::deep),
            new Entry("gcbench", "GCBench: short-lived trees beside a long-lived one", GcBenchWorkload::new),
            new Entry("steady", "known cost: hashing without allocation, slowed on request",
                    Set.of("extra-percent"), SteadyWorkload::new),
            new Entry("known-gc", "known cost: work in turn with collections, measured by itself",
                    Set.of("live-mb", "collections"), KnownGcWorkload::new),
            new Entry("heap-reader", "known flaw: a cache sized by what the heap is said to be", HeapReaderWorkload::new));

    private Catalog() {
    }

    /** All entries. */
    public static List<Entry> entries() {
        return ENTRIES;
    }

    /** The entry of that name. */
    public static Optional<Entry> find(String name) {
        return ENTRIES.stream().filter(entry -> entry.name().equals(name)).findFirst();
    }
}
