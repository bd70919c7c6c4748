package dev.lookback.workloads;

import dev.lookback.workloads.plain.CompilerWorkload;
import dev.lookback.workloads.plain.H2Workload;
import dev.lookback.workloads.plain.JacksonWorkload;
import dev.lookback.workloads.plain.LuceneIndexWorkload;
import dev.lookback.workloads.plain.LuceneSearchWorkload;
import dev.lookback.workloads.plain.PmdWorkload;
import dev.lookback.workloads.plain.XalanWorkload;
import java.util.List;
import java.util.Optional;

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
     * @param factory builds it
     */
    public record Entry(String name, String about, Factory factory) {
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
            new Entry("pmd", "PMD's Java rules over commons-lang3: deep recursive visitors", PmdWorkload::new));

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
