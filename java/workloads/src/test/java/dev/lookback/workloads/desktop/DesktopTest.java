package dev.lookback.workloads.desktop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The application and its controller, as processes on a display of their own. */
class DesktopTest {
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final String CLASSES = Path.of("target/classes").toAbsolutePath() + File.pathSeparator
            + Path.of("target/test-classes").toAbsolutePath();
    private static final String MAIN = Main.class.getName();

    @TempDir
    private Path directory;

    private record Ended(int exit, List<String> out, String err) {
        List<String> beginning(String word) {
            return out.stream().filter(line -> line.startsWith(word + " ")).toList();
        }
    }

    private static void needDisplay() {
        for (String program : List.of("Xvfb", "setpriv")) {
            boolean found = Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                    .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
            assumeTrue(found, program + " is not installed (Debian: xvfb, util-linux)");
        }
        assumeTrue(Files.exists(JAVA.resolveSibling("../lib/libawt_xawt.so").normalize()),
                "this JDK has no AWT for X11 (Debian: openjdk-17-jre)");
    }

    private Process start(List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile())
                .redirectInput(new File("/dev/null"))
                .redirectOutput(directory.resolve("out").toFile()).redirectError(directory.resolve("err").toFile());
        builder.environment().put("DESKTOP_CLASS_PATH", CLASSES);
        builder.environment().remove("DISPLAY");
        return builder.start();
    }

    private Ended end(Process process) throws IOException, InterruptedException {
        assertTrue(process.waitFor(3, TimeUnit.MINUTES), "the program hangs");
        return new Ended(process.exitValue(), Files.readAllLines(directory.resolve("out")),
                Files.readString(directory.resolve("err")));
    }

    /** The command line that plays the small script. */
    private static List<String> desktop(List<String> controls, String heap, String... arguments) {
        needDisplay();
        List<String> command = new ArrayList<>(List.of(Path.of("desktop.sh").toAbsolutePath().toString()));
        command.addAll(controls);
        command.addAll(List.of("--", JAVA.toString(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx" + heap,
                "-cp", CLASSES, MAIN, "--size", "small"));
        command.addAll(List.of(arguments));
        return command;
    }

    @Test
    void iterationsAndRunsAgreeWhoeverBracketsThem() throws Exception {
        Ended inside = end(start(desktop(List.of(), "256m", "--iterations", "2", "--callback",
                TellingCallback.class.getName())));
        assertEquals(0, inside.exit(), inside.err());
        assertEquals(List.of("told begin desktop 1", "told end desktop 1", "told begin desktop 2",
                "told end desktop 2"), Stream.concat(inside.beginning("told begin").stream(),
                inside.beginning("told end").stream()).sorted((a, b) -> a.substring(a.length() - 1)
                .compareTo(b.substring(b.length() - 1))).toList());
        assertEquals(2, inside.beginning("iteration").size());
        assertEquals("work 1 opened 10 searches 10 edits 24", inside.beginning("work").get(0));
        assertSeries(inside);

        Path socket = directory.resolve("s");
        try (FakeHarness harness = new FakeHarness(socket, "ok")) {
            Ended outside = end(start(desktop(List.of("--harness-socket", socket.toString()), "256m", "--iterations",
                    "1", "--callback", TellingCallback.class.getName(), "--expect-checksum", "0".repeat(16))));
            assertEquals(1, outside.exit(), "the checksum is not 0");
            String[] checksum = inside.beginning("checksum").get(0).split(" ");
            assertTrue(outside.err().contains("checksum of desktop differs: iteration 1 computed " + checksum[2]),
                    outside.err());
            assertEquals(List.of("begin desktop 1", "end desktop 1"), harness.told());
            assertEquals(List.of(), outside.beginning("told begin"));
            assertEquals(3, outside.beginning("told series").size());
        }
    }

    /** Frames and their lateness are told alike, and every input that can be seen was seen after it was made. */
    private static void assertSeries(Ended run) {
        String[] frames = run.beginning("told series 1 frame_ns").get(0).split(" ");
        String[] late = run.beginning("told series 1 frame_late").get(0).split(" ");
        String[] inputs = run.beginning("told series 1 input_ns").get(0).split(" ");
        assertEquals(frames[4], late[4]);
        assertTrue(Integer.parseInt(frames[4]) > 50, "a script of 100 inputs has more than 50 frames");
        assertTrue(Long.parseLong(frames[5]) > 0, "no frame is done before it is due");
        assertTrue(Long.parseLong(inputs[5]) > 0, "no input is seen before it is made");
        assertTrue(Integer.parseInt(inputs[4]) > 50, String.join(" ", inputs));
    }

    @Test
    void tooSmallAHeapEndsTheRunWithItsOwnCode() throws Exception {
        Ended run = end(start(desktop(List.of(), "6m", "--iterations", "1")));
        assertEquals(3, run.exit(), run.err());
        assertTrue(run.err().contains("workload desktop failed: out of memory"), run.err());
    }

    @Test
    void refusalOfTheHarnessFailsTheRun() throws Exception {
        Path socket = directory.resolve("s");
        try (FakeHarness harness = new FakeHarness(socket, "error not now")) {
            Ended run = end(start(desktop(List.of("--harness-socket", socket.toString()), "256m")));
            assertEquals(1, run.exit());
            assertTrue(run.err().contains("the harness answered 'begin desktop 1' with: error not now"), run.err());
            assertEquals(1, harness.told().size());
        }
    }

    @Test
    void killedScriptLeavesNoProcess() throws Exception {
        Path socket = directory.resolve("s");
        try (FakeHarness harness = new FakeHarness(socket, "ok")) {
            Process process = start(desktop(List.of("--harness-socket", socket.toString()), "256m"));
            assertEquals("begin desktop 1", harness.await());
            List<ProcessHandle> started = process.descendants().toList();
            // The display, the controller and the application.
            assertEquals(3, started.size(), started.toString());
            process.destroyForcibly();
            for (ProcessHandle handle : started) {
                handle.onExit().get(1, TimeUnit.MINUTES);
            }
            assertTrue(started.stream().noneMatch(ProcessHandle::isAlive));
        }
    }

    @Test
    void wrongOptionsAreRefused() throws Exception {
        assertEquals(2, end(start(desktop(List.of(), "256m", "--iterations", "0"))).exit());
        assertEquals(2, end(start(desktop(List.of("--harness", "x"), "256m"))).exit());
    }

    /** It once opened file descriptor 3 for answers, which is the JDK's own image in a program started by hand. */
    @Test
    void programStartedByHandSaysWhatToDoAndWritesToNoOpenFile() throws Exception {
        Path file = Files.writeString(directory.resolve("precious"), "precious");
        Ended run = end(start(List.of("bash", "-c", "exec 3<>precious; exec \"$@\"", "bash", JAVA.toString(), "-cp",
                CLASSES, MAIN, "--size", "small")));
        assertEquals(1, run.exit());
        assertTrue(run.err().contains("start it by desktop.sh"), run.err());
        assertEquals("precious", Files.readString(file));
        assertFalse(run.out().stream().anyMatch(line -> line.startsWith("iteration")));
    }
}
