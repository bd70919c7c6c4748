// What costs a tracer most, or makes it hold on to what the program has let go.
//
// The constraint: each way answers with what is the same in every run; a line that begins with "measured" holds what
// is not, for the test to compare with a run without an agent. Nothing waits longer than it must.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** Commands: see {@link #obey}. Prints "ready" first, and ends with the input. Is a Java agent, too. */
final class Hurt {
    private static Instrumentation instrumentation;

    private Hurt() {}

    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            System.out.println(words[0] + " " + obey(words[0], Integer.parseInt(words[1])));
            measure();
            System.out.println("did " + line);
        }
    }

    private static String obey(String way, int times) throws Exception {
        return switch (way) {
            case "tight" -> tight(times);
            case "classes" -> classes(times);
            case "loaders" -> loaders(times);
            case "overflows" -> overflows(times);
            case "throws" -> "" + Thrower.many(times);
            case "retransform" -> retransform(times);
            default -> throw new IllegalArgumentException(way);
        };
    }

    /** So many calls of a small method in each of many threads at once. */
    private static String tight(int calls) throws InterruptedException {
        long[] sums = new long[16];
        Thread[] threads = new Thread[sums.length];
        for (int t = 0; t < threads.length; t++) {
            int mine = t;
            threads[t] = new Thread(() -> sums[mine] = Small.many(calls), "tight " + t);
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return Arrays.toString(sums);
    }

    /** The least that is traced: it makes a call. */
    static final class Small {
        private Small() {}

        static long many(int calls) {
            long sum = 0;
            for (int i = 0; i < calls; i++) {
                sum += step(i);
            }
            return sum;
        }

        static int step(int i) {
            return Math.abs(i);
        }
    }

    /** Kept, or the classes would be unloaded. */
    private static final List<Class<?>> KEPT = new ArrayList<>();

    /** Defines so many classes of different names, and runs a method of each. */
    private static String classes(int count) throws Exception {
        Generated loader = new Generated();
        long sum = 0;
        for (int i = 0; i < count; i++) {
            Class<?> made = loader.make(String.format("Pattern%05d", i));
            KEPT.add(made);
            sum += run(made, i);
        }
        return count + " gave " + sum;
    }

    private static int run(Class<?> made, int i) throws Exception {
        Constructor<?> constructor = made.getDeclaredConstructor();
        // Another loader makes it another package.
        constructor.setAccessible(true);
        return ((IntUnaryOperator) constructor.newInstance()).applyAsInt(i);
    }

    /** Has so many loaders define a class and run it, one after the other; all of them can be collected. */
    private static String loaders(int count) throws Exception {
        List<WeakReference<ClassLoader>> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            made.add(used(i));
        }
        int left = count;
        // A collection need not find all at once what finalizers or compilers still hold.
        for (int tries = 0; left > 0 && tries < 20; tries++) {
            System.gc();
            left = (int) made.stream().filter(r -> r.get() != null).count();
        }
        return count + " of which stay " + left;
    }

    private static WeakReference<ClassLoader> used(int i) throws Exception {
        Generated loader = new Generated();
        run(loader.make(String.format("Pattern%05d", i % 100_000)), i);
        return new WeakReference<>(loader);
    }

    /** Tells how much of the memory for classes and for compiled code is in use. */
    private static void measure() {
        long classes = used("Metaspace") + used("Compressed Class Space");
        long code = used("Code");
        System.out.println("measured class KiB " + (classes >> 10) + " code KiB " + (code >> 10));
    }

    private static long used(String pool) {
        long used = 0;
        for (MemoryPoolMXBean bean : ManagementFactory.getMemoryPoolMXBeans()) {
            used += bean.getName().startsWith(pool) ? bean.getUsage().getUsed() : 0;
        }
        return used;
    }

    /** Runs out of stack so many times, in a thread with a small one. */
    private static String overflows(int count) throws InterruptedException {
        int[] caught = new int[1];
        long[] depths = new long[1];
        Thread thread = new Thread(null, () -> {
            for (int i = 0; i < count; i++) {
                depths[0] += Diver.dive();
                caught[0]++;
            }
        }, "diver", 192 << 10);
        thread.start();
        thread.join();
        System.out.println("measured depth " + depths[0] / count);
        return "" + caught[0];
    }

    /** Recursion without an end. */
    static final class Diver {
        private int depth;

        private Diver() {}

        static int dive() {
            Diver diver = new Diver();
            try {
                diver.down();
            } catch (StackOverflowError e) {
                // That is the point.
            }
            return diver.depth;
        }

        private void down() {
            depth++;
            down();
        }
    }

    /** Exceptions as control flow. */
    static final class Thrower {
        private Thrower() {}

        static long many(int count) {
            long sum = 0;
            for (int i = 0; i < count; i++) {
                try {
                    sum += odd(i);
                } catch (IllegalStateException e) {
                    sum -= e.getMessage().length();
                }
            }
            return sum;
        }

        /** Throws through a frame that does not catch. */
        private static int odd(int i) {
            return thrown(i) + 1;
        }

        private static int thrown(int i) {
            throw new IllegalStateException(i % 2 == 0 ? "even" : "odd");
        }
    }

    /** Has a class that runs rewritten so many times. Needs this program as an agent as well. */
    private static String retransform(int count) throws Exception {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            instrumentation.retransformClasses(Small.class, Thrower.class);
            sum += Small.many(1_000) + Thrower.many(10);
        }
        System.gc();
        return count + " gave " + sum;
    }

    /** Defines classes that are the pattern by another name. */
    static final class Generated extends ClassLoader {
        private static final byte[] PATTERN = bytes();

        Generated() {
            super(Hurt.class.getClassLoader());
        }

        private static byte[] bytes() {
            try (InputStream in = Hurt.class.getResourceAsStream("PatternClass.class")) {
                return in.readAllBytes();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        /** A class of this name, which is as long as the pattern's. */
        Class<?> make(String name) {
            // Of one byte a character, as names in class files are here; the name may stand in descriptors, too.
            String text = new String(PATTERN, StandardCharsets.ISO_8859_1).replace("PatternClass", name);
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
}

/** What generated classes are made of: four methods that are traced. */
class PatternClass implements IntUnaryOperator {
    @Override
    public int applyAsInt(int i) {
        return first(i) + second(i);
    }

    private int first(int i) {
        return Math.abs(i) + third(i);
    }

    private int second(int i) {
        return Math.max(i, 7);
    }

    private int third(int i) {
        return Math.min(i, 9);
    }
}
