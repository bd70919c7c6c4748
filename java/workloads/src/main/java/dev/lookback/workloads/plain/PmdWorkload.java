package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import net.sourceforge.pmd.PMDConfiguration;
import net.sourceforge.pmd.PmdAnalysis;
import net.sourceforge.pmd.lang.LanguageRegistry;
import net.sourceforge.pmd.lang.document.FileId;
import net.sourceforge.pmd.reporting.Report;
import net.sourceforge.pmd.reporting.RuleViolation;

/**
 * Static analysis with PMD: parse, resolve types, and walk every syntax tree once for each rule. Its
 * recursive descent and visitors make the deepest stacks of the plain workloads.
 *
 * <p>Violations are added up, since threads report them in any order. Type resolution reads the classes
 * of the running JDK, so checksums differ between JDKs.
 */
public final class PmdWorkload implements Workload {
    private final Map<String, String> files;
    private final PMDConfiguration configuration = new PMDConfiguration();

    /** In the calling thread unless the settings say otherwise. */
    public PmdWorkload(Settings settings) throws IOException {
        this.files = everyThird(SourceInput.files(settings.small()));
        configuration.setDefaultLanguageVersion(LanguageRegistry.PMD.getLanguageById("java").getVersion("17"));
        configuration.setIgnoreIncrementalAnalysis(true);
        configuration.setThreads(settings.threadsOr(0));
        configuration.prependAuxClasspath(SourceInput.classPath());
        configuration.addRuleSet("category/java/bestpractices.xml");
    }

    /** All files would take three times as long as the other workloads; the rest is found as classes. */
    private static Map<String, String> everyThird(Map<String, String> files) {
        Map<String, String> some = new TreeMap<>();
        int index = 0;
        for (Map.Entry<String, String> file : files.entrySet()) {
            if (index++ % 3 == 0) {
                some.put(file.getKey(), file.getValue());
            }
        }
        return some;
    }

    @Override
    public long iterate() {
        try (PmdAnalysis analysis = PmdAnalysis.create(configuration)) {
            files.forEach((path, text) -> analysis.files().addSourceFile(FileId.fromPathLikeString(path), text));
            Report report = analysis.performAnalysisAndCollectReport();
            if (!report.getProcessingErrors().isEmpty()) {
                throw new IllegalStateException("PMD failed on " + report.getProcessingErrors().size()
                        + " files, first: " + report.getProcessingErrors().get(0).getMsg());
            }
            long sum = report.getViolations().size();
            for (RuleViolation violation : report.getViolations()) {
                sum += new Checksum()
                        .add(violation.getRule().getName())
                        .add(violation.getFileId().getOriginalPath())
                        .add(violation.getBeginLine())
                        .add(violation.getBeginColumn())
                        .value();
            }
            return sum;
        }
    }
}
