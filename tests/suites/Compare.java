// Compares what a test suite said in several runs, test by test.
//
// The constraint: a suite may have tests that come out one way or the other by themselves. So two runs without the
// agent come first, and a test counts as different only when no run of a kind with the agent gave a result that one of
// them gave. What is set aside is named. Reads the reports of JUnit's console launcher; needs nothing but a JDK.

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/** Usage: Compare TITLE RUN... A run is KIND=DIRECTORY; kind "bare" is without the agent. Exits with 1 on a difference. */
final class Compare {
    private static final String BARE = "bare";

    private Compare() {}

    /** How a test ended, and for people the first line of what it said. */
    private record Result(String status, String line) {
        boolean same(Result other) {
            return status.equals(other.status);
        }

        @Override
        public String toString() {
            return line.isEmpty() ? status : status + ": " + line;
        }
    }

    private static final Result ABSENT = new Result("did not run", "");

    public static void main(String[] args) throws IOException, XMLStreamException {
        Map<String, List<Map<String, Result>>> kinds = new TreeMap<>();
        for (int i = 1; i < args.length; i++) {
            String[] run = args[i].split("=", 2);
            kinds.computeIfAbsent(run[0], k -> new ArrayList<>()).add(read(Path.of(run[1])));
        }
        List<Map<String, Result>> bare = kinds.remove(BARE);
        Set<String> tests = new TreeSet<>();
        bare.forEach(run -> tests.addAll(run.keySet()));
        kinds.values().forEach(runs -> runs.forEach(run -> tests.addAll(run.keySet())));
        List<String> different = new ArrayList<>();
        List<String> unsteady = new ArrayList<>();
        for (String test : tests) {
            List<Result> without = results(bare, test);
            String story = "without " + text(without);
            boolean steady = without.stream().allMatch(without.get(0)::same);
            boolean same = true;
            for (Map.Entry<String, List<Map<String, Result>>> kind : kinds.entrySet()) {
                List<Result> with = results(kind.getValue(), test);
                same &= with.stream().anyMatch(w -> without.stream().anyMatch(w::same));
                steady &= with.stream().allMatch(without.get(0)::same);
                story += "; " + kind.getKey() + " " + text(with);
            }
            if (!same) {
                different.add(test + "\n      " + story);
            } else if (!steady) {
                unsteady.add(test + "\n      " + story);
            }
        }
        long passed = tests.stream().filter(t -> results(bare, t).get(0).status.equals("passed")).count();
        int same = tests.size() - different.size() - unsteady.size();
        System.out.println(args[0] + ": " + tests.size() + " tests, " + passed + " pass without the agent; "
                + same + " the same in all runs, " + unsteady.size() + " unsteady, " + different.size() + " different");
        unsteady.forEach(test -> System.out.println("  unsteady: " + test));
        different.forEach(test -> System.out.println("  DIFFERENT: " + test));
        // A suite that passes nothing compares nothing.
        System.exit(different.isEmpty() && passed > 0 ? 0 : 1);
    }

    private static List<Result> results(List<Map<String, Result>> runs, String test) {
        return runs.stream().map(run -> run.getOrDefault(test, ABSENT)).toList();
    }

    /** Each result once. */
    private static String text(List<Result> results) {
        return results.stream().map(Result::toString).distinct().collect(Collectors.joining(" or "));
    }

    /** The results in a directory of reports, by test. */
    private static Map<String, Result> read(Path directory) throws IOException, XMLStreamException {
        Map<String, Result> results = new TreeMap<>();
        try (DirectoryStream<Path> reports = Files.newDirectoryStream(directory, "TEST-*.xml")) {
            for (Path report : reports) {
                read(report, results);
            }
        }
        return results;
    }

    private static void read(Path report, Map<String, Result> results) throws IOException, XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newFactory();
        factory.setProperty(XMLInputFactory.IS_COALESCING, true);
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        try (java.io.InputStream in = Files.newInputStream(report)) {
            XMLStreamReader xml = factory.createXMLStreamReader(in);
            String test = "";
            Result result = ABSENT;
            while (xml.hasNext()) {
                int event = xml.next();
                if (event == XMLStreamConstants.START_ELEMENT) {
                    switch (xml.getLocalName()) {
                        case "testcase" -> {
                            test = xml.getAttributeValue(null, "classname") + "." + xml.getAttributeValue(null, "name");
                            result = new Result("passed", "");
                        }
                        case "failure", "error" -> result = failed(xml);
                        case "skipped" -> result = new Result("skipped", "");
                        default -> {
                            // What it printed, and the properties of the run.
                        }
                    }
                } else if (event == XMLStreamConstants.END_ELEMENT && xml.getLocalName().equals("testcase")) {
                    put(results, test, result);
                }
            }
        }
    }

    /** The kind of the failure is part of the result, its message is not: that may hold a time or an address. */
    private static Result failed(XMLStreamReader xml) {
        String message = xml.getAttributeValue(null, "message");
        String line = message == null ? "" : message.lines().findFirst().orElse("");
        return new Result("failed with " + xml.getAttributeValue(null, "type"), line);
    }

    /** Tests that share a name are told apart by their order. */
    private static void put(Map<String, Result> results, String test, Result result) {
        String name = test;
        for (int i = 2; results.putIfAbsent(name, result) != null; i++) {
            name = test + " #" + i;
        }
    }
}
