// A program of Java 8 that goes through the shapes a rewriter can get wrong.
//
// Constraint: prints the same on every run; line numbers of stack traces are part of the output.

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;

public class Eight {
    static final StringBuilder LOG = new StringBuilder();
    static int counter;

    static {
        for (int i = 0; i < 3; i++) {
            counter += i;
        }
    }

    enum Color { RED, GREEN { @Override String shout() { return "green!"; } }, BLUE;
        String shout() { return name(); } }

    interface Shape extends Comparable<Shape> {
        double area();
        default int compareTo(Shape other) { return Double.compare(area(), other.area()); }
        static Shape square(double side) { return () -> side * side; }
    }

    static class Base {
        final int a;
        final long b;
        Base(int a, long b) { this.a = a; this.b = b; check(); }
        Base(Base other) { this(other == null ? 7 : other.a, other != null ? other.b : 9L); }
        void check() { if (a < 0) { throw new IllegalArgumentException("a=" + a); } }
    }

    static class Derived extends Base {
        final List<Base> parts = new ArrayList<>();
        { parts.add(new Base(1, 2)); }
        Derived(int x) { super(x > 3 ? x : x < 0 ? -x : 0, x == 2 ? 5L : new Base(new Base(x, 1)).b); parts.add(this); }
        Derived(String s) { super(new Derived(Integer.parseInt(s))); if (s.length() > 1) { return; } parts.add(null); }
        Derived() { super(loop(3), 1); for (;;) { if (parts.size() > 4) { break; } parts.add(this); } }
        class Inner extends Derived { Inner(int y) { super(y); } int sum() { return a + Derived.this.a; } }
        @Override void check() { super.check(); if (a == 99) { throw new IllegalStateException("99"); } }
    }

    static int loop(int n) { do { n--; } while (n > 0); return n; }

    static void forever(int[] box) { while (true) { if (++box[0] > 5) { return; } } }

    static int tryFinally(int n) {
        try {
            if (n == 0) { return 10; }
            if (n == 1) { throw new IOException("one"); }
            if (n == 2) { throw new IllegalStateException("two"); }
            return n / (n - 3);
        } catch (IOException e) {
            LOG.append("io;");
            return 20;
        } finally {
            LOG.append("finally").append(n).append(';');
            if (n == 4) { LOG.append("four;"); }
        }
    }

    @SuppressWarnings("finally")
    static int swallow(int n) { while (true) { try { if (n > 1) { throw new RuntimeException(); } return n; } finally { if (n-- > 1) { continue; } } } }

    static synchronized int locked(Object lock, int n) {
        synchronized (lock) {
            if (n == 0) { throw new ArithmeticException("locked"); }
            synchronized (Eight.class) { return n > 5 ? n : locked(lock, n + 1); }
        }
    }

    static String strings(String s) {
        switch (s) {
            case "alpha": return "a";
            case "beta": return "b";
            case "Aa": case "BB": return "collision";
            default: return s.isEmpty() ? "" : strings(s.substring(1));
        }
    }

    static int dense(int n) { switch (n) { case 0: return 1; case 1: return 2; case 2: n += 5; case 3: return n; case 4: throw new UnsupportedOperationException("4"); default: return -n; } }

    static long sparse(long n) { switch ((int) n) { case -1000: return 1L; case 0: n++; break; case 99999: return 2; default: break; } return n * 3; }

    static double mixed(byte b, long l, double d, float f, Object... rest) { double r = b + l * d - f; for (Object o : rest) { r += o.hashCode(); } return r; }

    static <T extends Comparable<T>> T max(List<? extends T> list) { T best = null; for (T t : list) { if (best == null || t.compareTo(best) > 0) { best = t; } } return best; }

    static int resources(boolean fail) throws IOException {
        try (Closeable a = () -> LOG.append("close a;"); Closeable b = () -> { throw new IOException("close b"); }) {
            if (fail) { throw new IOException("body"); }
            return 1;
        }
    }

    static int deep(int n) { if (n == 0) { throw new IndexOutOfBoundsException("deep"); } return deep(n - 1) + 1; }

    static boolean logic(int a, int b) { return a > 0 && (b > 0 || a > b) != (a == b); }

    static Object ternary(int n) { return n == 0 ? "zero" : n == 1 ? (Object) 1 : n == 2 ? new int[][] {{1}, {2, 3}} : new long[2][3][]; }

    static void report(String what, Callable<?> call) {
        String result;
        try {
            Object value = call.call();
            result = value instanceof Object[] ? Arrays.deepToString((Object[]) value) : String.valueOf(value);
        } catch (Throwable t) {
            StackTraceElement top = t.getStackTrace()[0];
            result = t.getClass().getName() + " " + t.getMessage() + " at " + top.getMethodName() + ":" + top.getLineNumber()
                    + " suppressed " + t.getSuppressed().length;
        }
        System.out.println(what + " = " + result);
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 5; i++) {
            final int n = i;
            report("tryFinally " + n, () -> tryFinally(n));
            report("swallow " + n, () -> swallow(n));
            report("dense " + n, () -> dense(n));
            report("ternary " + n, () -> ternary(n));
            report("locked " + n, () -> locked("lock", n));
            report("logic " + n, () -> logic(n, 2));
        }
        for (String s : new String[] {"alpha", "xbeta", "BB", "", "zzz"}) { report("strings " + s, () -> strings(s)); }
        for (long l : new long[] {-1000, 0, 99999, 5}) { report("sparse " + l, () -> sparse(l)); }
        report("derived", () -> new Derived(2).b + new Derived("12").parts.size() + new Derived("5").parts.size());
        report("derived loop", () -> new Derived().parts.size());
        report("derived negative", () -> new Base(-1, 0));
        report("derived 99", () -> new Derived(99));
        report("inner", () -> new Derived(4).new Inner(6).sum());
        report("color", () -> Arrays.stream(Color.values()).map(Color::shout).collect(Collectors.joining(",")));
        report("max", () -> max(Arrays.asList(3, 9, 4)));
        report("shape", () -> Shape.square(2).compareTo(Shape.square(3)));
        report("mixed", () -> mixed((byte) 1, 2L, 3.5, 4f, 5, 'x'));
        report("resources", () -> resources(false));
        report("resources fail", () -> resources(true));
        report("deep", () -> deep(20));
        report("stream", () -> Arrays.asList("b", "a", "c").stream().sorted(Comparator.reverseOrder()).collect(Collectors.toList()));
        int[] box = new int[1];
        forever(box);
        Supplier<Supplier<String>> nested = () -> () -> "nested" + box[0];
        System.out.println(nested.get().get() + " " + counter + " " + LOG);
        List<Thread> threads = new ArrayList<>();
        long[] sums = new long[4];
        for (int t = 0; t < sums.length; t++) {
            final int index = t;
            Thread thread = new Thread(() -> { for (int i = 0; i < 200; i++) { try { sums[index] += dense(i % 7) + locked(sums, i % 3); } catch (RuntimeException e) { sums[index]--; } } });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) { thread.join(); }
        System.out.println(Arrays.toString(sums));
    }
}
