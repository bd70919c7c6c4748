package dev.lookback.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/** Which methods get a probe, what it counts, and that the program computes what it did. */
class TransformerTest {
    private final Methods methods = new Methods(Counters.MOST);

    /** A class of each kind of method; {@code applyAsLong} runs all of them. */
    public static final class Sample implements LongUnaryOperator {
        private long field;

        /** Made with a call of its super constructor. */
        public Sample() {
            field = 3;
        }

        long getter() {
            return field;
        }

        synchronized long locked() {
            return field;
        }

        long loop(long n) {
            long sum = 0;
            for (long i = 0; i < n; i++) {
                sum += i * field;
            }
            return sum;
        }

        long failing(boolean fails) {
            if (fails) {
                throw new IllegalStateException("on purpose");
            }
            return Math.abs(field);
        }

        @Override
        public long applyAsLong(long n) {
            long result = getter() + locked() + loop(n) + failing(false);
            try {
                return failing(true);
            } catch (IllegalStateException e) {
                return result;
            }
        }
    }

    /** Defines one class from bytes; all else comes from the test's loader. */
    private static final class Loader extends ClassLoader {
        Loader() {
            super(TransformerTest.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass(Sample.class.getName(), bytes, 0, bytes.length);
        }
    }

    private static byte[] bytes(Class<?> of) throws IOException {
        try (InputStream file = of.getResourceAsStream(of.getName().replaceAll(".*\\.", "") + ".class")) {
            return file.readAllBytes();
        }
    }

    /** Calls by method, after one run of the sample with 5. */
    private TreeMap<String, Long> run(boolean clock) throws Exception {
        java.util.Arrays.fill(Counters.CALLS, 0);
        byte[] probed = new Transformer(methods, clock).withProbes(bytes(Sample.class));
        Object sample = new Loader().define(probed).getConstructor().newInstance();
        assertEquals(3 + 3 + 30 + 3, ((LongUnaryOperator) sample).applyAsLong(5));
        TreeMap<String, Long> calls = new TreeMap<>();
        methods.each((id, method) -> calls.put(method.split("\t")[1], Counters.CALLS[id]));
        return calls;
    }

    @Test
    void methodsWithACallALoopOrALockGetAProbeAndAreCounted() throws Exception {
        TreeMap<String, Long> expected = new TreeMap<>();
        // The call that failed is not counted, and the getter has no probe.
        for (String name : new String[] {"<init>", "applyAsLong", "failing", "locked", "loop"}) {
            expected.put(name, 1L);
        }
        assertEquals(expected, run(true));
        assertTrue(Counters.NANOS[0] >= 0);
    }

    @Test
    void withoutTheClockAProbeNotesThatItsMethodRuns() throws Exception {
        TreeMap<String, Long> calls = run(false);
        assertEquals(new TreeSet<>(java.util.List.of("<init>", "applyAsLong", "failing", "locked", "loop")),
                new TreeSet<>(calls.keySet()));
        assertTrue(calls.values().stream().allMatch(n -> n == 1), calls.toString());
    }

    @Test
    void classesOfTheJdkStayAsTheyAre() throws Exception {
        Transformer transformer = new Transformer(methods, true);
        byte[] bytes = bytes(Sample.class);
        assertNull(transformer.transform(null, "com/acme/Api", null, null, bytes));
        assertNull(transformer.transform(ClassLoader.getPlatformClassLoader(), "com/acme/Api", null, null, bytes));
        assertNull(transformer.transform(getClass().getClassLoader(), "java/util/Made", null, null, bytes));
        assertNull(transformer.transform(getClass().getClassLoader(), "com/acme/Api", null, null, new byte[20]));
        assertTrue(transformer.transform(getClass().getClassLoader(), "com/acme/Api", null, null, bytes).length > 0);
    }

    @Test
    void thereAreNoMoreProbesThanCounters() {
        Methods two = new Methods(1);
        assertEquals(0, two.add("com/acme/Api", "find", "()V"));
        assertEquals(-1, two.add("com/acme/Api", "put", "()V"));
    }
}
