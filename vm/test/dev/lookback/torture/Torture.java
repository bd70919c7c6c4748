package dev.lookback.torture;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a stack walker gets wrong first, all at once: {@code Torture SECONDS [SCENARIO...]}.
 *
 * <p>Each scenario runs on a thread of its own until the time is over and computes a sum that is known, so that a sampler which
 * changes what the program does is found out. Ends with status 1 when a sum is wrong, and with one line a scenario.
 */
public final class Torture {
    /** One round of a scenario; tells a value that the round always has. */
    private interface Scenario {
        long round() throws Throwable;
    }

    private static final Map<String, Scenario> SCENARIOS = new TreeMap<>(Map.ofEntries(
            Map.entry("recursion", () -> Recursion.down(10_000)),
            Map.entry("mutual", () -> Recursion.first(3_000)),
            Map.entry("exceptions", () -> Exceptions.throwThrough(1_000)),
            Map.entry("rethrow", () -> Exceptions.rethrowThrough(300)),
            Map.entry("deoptimisation", Deoptimisation::round),
            Map.entry("osr", () -> Loops.nested(400)),
            Map.entry("inlining", () -> Inlining.sum(20_000)),
            Map.entry("threads", Threads::round),
            Map.entry("upcalls", () -> Upcalls.nest(40)),
            Map.entry("reflection", () -> Reflection.nest(30)),
            Map.entry("locks", Locks::round),
            Map.entry("garbage", () -> Garbage.tree(12)),
            Map.entry("results", () -> Exits.results(1_000)),
            Map.entry("natives", () -> Exits.natives(1_000)),
            Map.entry("faults", () -> Exits.locked(100)),
            Map.entry("overflow", Exits::overflow),
            Map.entry("unloading", Unloading::round)));

    private Torture() {}

    /** Runs the scenarios that are named, or all. */
    public static void main(String[] arguments) throws InterruptedException {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        List<String> names = new ArrayList<>(List.of(arguments).subList(1, arguments.length));
        if (names.isEmpty()) {
            names.addAll(SCENARIOS.keySet());
        }
        List<Thread> threads = new ArrayList<>();
        AtomicLong wrong = new AtomicLong();
        for (String name : names) {
            Scenario scenario = SCENARIOS.get(name);
            if (scenario == null) {
                System.err.println("no scenario is called " + name + "; there are " + SCENARIOS.keySet());
                System.exit(2);
            }
            Thread thread = new Thread(null, () -> run(name, scenario, end, wrong), name, 512L << 20);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.exit(wrong.get() == 0 ? 0 : 1);
    }

    private static void run(String name, Scenario scenario, long end, AtomicLong wrong) {
        long rounds = 0;
        try {
            long expected = scenario.round();
            for (; System.nanoTime() < end; rounds++) {
                long value = scenario.round();
                if (value != expected) {
                    throw new IllegalStateException("a round came to " + value + ", not to " + expected);
                }
            }
        } catch (Throwable e) {
            wrong.incrementAndGet();
            System.out.println(name + ": " + e);
            return;
        }
        System.out.println(name + ": " + rounds + " rounds");
    }

    /** Deep stacks whose callers' frames are all of one method, or of three in turn. */
    private static final class Recursion {
        static long down(int depth) {
            return depth == 0 ? leaf(depth) : down(depth - 1) + leaf(depth);
        }

        static long first(int depth) {
            return depth == 0 ? leaf(1) : second(depth - 1) + leaf(depth);
        }

        static long second(int depth) {
            return depth == 0 ? leaf(2) : third(depth - 1) + leaf(depth);
        }

        static long third(int depth) {
            return depth == 0 ? leaf(3) : first(depth - 1) + leaf(depth);
        }

        static long leaf(int depth) {
            long sum = 0;
            for (int i = 0; i < (depth & 15); i++) {
                sum += i * 31L + depth;
            }
            return sum;
        }
    }

    /** Frames that go without returning. */
    private static final class Exceptions {
        private static final class Away extends RuntimeException {
            private static final long serialVersionUID = 1L;

            Away() {
                super(null, null, false, false);
            }
        }

        static long throwThrough(int frames) {
            try {
                return deeper(frames);
            } catch (Away e) {
                return Recursion.leaf(frames | 7);
            }
        }

        static long deeper(int frames) {
            if (frames == 0) {
                throw new Away();
            }
            return deeper(frames - 1) + Recursion.leaf(frames);
        }

        static long rethrowThrough(int frames) {
            try {
                return caught(frames);
            } catch (Away e) {
                return Recursion.leaf(frames | 9);
            }
        }

        static long caught(int frames) {
            if (frames == 0) {
                throw new Away();
            }
            try {
                return caught(frames - 1);
            } catch (Away e) {
                Recursion.leaf(frames);
                throw e;
            } finally {
                Recursion.leaf(frames + 1);
            }
        }
    }

    /** Code that is compiled for one class and meets another, over and over. */
    private static final class Deoptimisation {
        /** What is called; each kind is loaded anew. */
        public interface Shape {
            /** An area. */
            long area(int size);
        }

        /** Loaded by a loader of its own, again and again. */
        public static final class Square implements Shape {
            @Override
            public long area(int size) {
                return (long) size * size;
            }
        }

        /** Another class to the compilers, and the same value. */
        public static final class Product implements Shape {
            @Override
            public long area(int size) {
                long sum = 0;
                for (int i = 0; i < size; i++) {
                    sum += size;
                }
                return sum;
            }
        }

        static long round() throws ReflectiveOperationException, IOException {
            Class<?>[] kinds = {new Loader().define(Square.class), new Loader().define(Product.class)};
            long sum = 0;
            for (int turn = 0; turn < 4; turn++) {
                Shape shape = (Shape) kinds[turn & 1].getConstructor().newInstance();
                for (int i = 0; i < 3_000; i++) {
                    sum += outer(shape, i & 31);
                }
            }
            return sum;
        }

        static long outer(Shape shape, int size) {
            return middle(shape, size) + 1;
        }

        static long middle(Shape shape, int size) {
            return shape.area(size) + Recursion.leaf(size);
        }
    }

    /** Defines a class of this program a second time. */
    private static final class Loader extends ClassLoader {
        Loader() {
            super(Torture.class.getClassLoader());
        }

        Class<?> define(Class<?> original) throws IOException {
            try (InputStream in = original.getResourceAsStream("/" + original.getName().replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(original.getName(), bytes, 0, bytes.length);
            }
        }
    }

    /** Frames that are replaced while they run. */
    private static final class Loops {
        static long nested(int size) throws ReflectiveOperationException, IOException {
            // A fresh class begins in the interpreter.
            Class<?> fresh = new Loader().define(Body.class);
            Method run = fresh.getMethod("run", int.class);
            return (Long) run.invoke(null, size);
        }

        /** Loaded anew for each round. */
        public static final class Body {
            private Body() {}

            /** Loops long enough to be compiled on the way. */
            public static long run(int size) {
                long sum = 0;
                for (int i = 0; i < size; i++) {
                    for (int j = 0; j < size; j++) {
                        sum += step(i, j);
                    }
                }
                return sum;
            }

            static long step(int i, int j) {
                return (i ^ j) + deeper(j, 3);
            }

            static long deeper(int j, int levels) {
                return levels == 0 ? j : deeper(j, levels - 1) + 1;
            }
        }
    }

    /** Methods without a frame of their own. */
    private static final class Inlining {
        static long sum(int count) {
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += one(i);
            }
            return sum;
        }

        static long one(int i) {
            return two(i) + 1;
        }

        static long two(int i) {
            return three(i) + 2;
        }

        static long three(int i) {
            return Recursion.leaf(i) + 3;
        }
    }

    /** Threads that end as soon as they have begun. */
    private static final class Threads {
        static long round() throws InterruptedException {
            AtomicLong sum = new AtomicLong();
            Thread[] threads = new Thread[50];
            for (int i = 0; i < threads.length; i++) {
                int number = i;
                threads[i] = new Thread(() -> sum.addAndGet(Recursion.down(number * 4)));
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            return sum.get();
        }
    }

    /** Java, native, Java, and so on. */
    private static final class Upcalls {
        static long nest(int levels) {
            long[] sum = new long[1];
            nest(levels, sum);
            return sum[0];
        }

        static void nest(int levels, long[] sum) {
            sum[0] += Recursion.down(levels);
            if (levels > 0) {
                Native.upcall(() -> nest(levels - 1, sum));
            }
        }
    }

    /** Calls through reflection and method handles. */
    private static final class Reflection {
        private static final Method NEST;

        static {
            try {
                NEST = Reflection.class.getDeclaredMethod("nest", int.class);
            } catch (NoSuchMethodException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        static long nest(int levels) throws Throwable {
            if (levels == 0) {
                return Recursion.leaf(5);
            }
            return levels % 2 == 0
                    ? (Long) NEST.invoke(null, levels - 1) + 1
                    : (long) MethodHandles.lookup().unreflect(NEST).invokeExact(levels - 1) + 1;
        }
    }

    /** Threads that wait for each other in compiled, interpreted and native code. */
    private static final class Locks {
        private static final ReentrantLock LOCK = new ReentrantLock(true);
        private static final Object MONITOR = new Object();

        static long round() throws InterruptedException {
            CountDownLatch done = new CountDownLatch(2);
            AtomicLong sum = new AtomicLong();
            for (int i = 0; i < 2; i++) {
                new Thread(() -> {
                    for (int j = 0; j < 100; j++) {
                        sum.addAndGet(locked(j) + synchronised(j));
                    }
                    done.countDown();
                }).start();
            }
            done.await();
            return sum.get();
        }

        static long locked(int j) {
            LOCK.lock();
            try {
                return Recursion.down(j);
            } finally {
                LOCK.unlock();
            }
        }

        static long synchronised(int j) {
            synchronized (MONITOR) {
                return inside(j);
            }
        }

        static synchronized long inside(int j) {
            return Recursion.first(j);
        }
    }

    /** Work for the collector, with references on deep stacks. */
    private static final class Garbage {
        private record Node(Node left, Node right, byte[] payload) {
            long size() {
                return 1 + (left == null ? 0 : left.size()) + (right == null ? 0 : right.size()) + payload.length % 3;
            }
        }

        static long tree(int depth) {
            return build(depth).size();
        }

        static Node build(int depth) {
            byte[] payload = new byte[64 + depth];
            return depth == 0 ? new Node(null, null, payload) : new Node(build(depth - 1), build(depth - 1), payload);
        }
    }

    /** Methods that are gone before their stack traces are retrieved. */
    private static final class Unloading {
        private static int count;

        static long round() throws ReflectiveOperationException, IOException {
            long sum = 0;
            for (int i = 0; i < 20; i++) {
                Class<?> fresh = new Loader().define(Loops.Body.class);
                sum += (Long) fresh.getMethod("run", int.class).invoke(null, 40);
            }
            if (++count % 10 == 0) {
                System.gc();
            }
            return sum;
        }
    }
}
