package dev.lookback.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run ends with its own exit code, and does not hang, when the heap is too small for it. */
class OutOfMemoryTest {
    @Test
    void itIsFoundBelowOtherExceptions() {
        Error error = new OutOfMemoryError("Java heap space");
        assertTrue(OutOfMemory.caused(error));
        assertTrue(OutOfMemory.caused(new IOException(new IllegalStateException(error))));
        assertFalse(OutOfMemory.caused(new IOException("full")));
        Error unusable = new NoClassDefFoundError("Could not initialize class a.B");
        assertTrue(OutOfMemory.caused(unusable), "there was no memory to say why");
        unusable.initCause(new ExceptionInInitializerError("Exception java.lang.OutOfMemoryError: x [in thread \"main\"]"));
        assertTrue(OutOfMemory.caused(new IOException(unusable)));
        Error missing = new NoClassDefFoundError("Could not initialize class a.B");
        missing.initCause(new ExceptionInInitializerError("Exception java.lang.NullPointerException [in thread \"main\"]"));
        assertFalse(OutOfMemory.caused(missing));
        assertFalse(OutOfMemory.caused(new NoClassDefFoundError("a/B")));
        Exception one = new Exception();
        Exception other = new Exception(one);
        one.initCause(other);
        assertFalse(OutOfMemory.caused(one));
    }

    /** In the calling thread, in a client's, in an actor's, and in one of a server's. */
    @ParameterizedTest
    @ValueSource(strings = {"known-gc", "gcbench", "akka", "tomcat"})
    void aHeapThatIsTooSmallEndsTheRun(String workload, @TempDir Path place) throws Exception {
        Path messages = place.resolve("err");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process run = new ProcessBuilder(java, "-Xmx8m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "-cp", System.getProperty("java.class.path"), Main.class.getName(), workload)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(messages.toFile())
                .start();
        if (!run.waitFor(2, TimeUnit.MINUTES)) {
            run.destroyForcibly();
        }
        int exit = run.waitFor();
        List<String> err = Files.readAllLines(messages);
        assertEquals(3, exit, () -> String.join("\n", err));
        assertTrue(err.contains("workload " + workload + " failed: out of memory; give it a larger heap (-Xmx)"),
                () -> String.join("\n", err));
    }
}
