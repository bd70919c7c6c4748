// What a program can see of itself: members, stack traces with lines, serial versions, threads.
//
// The constraint: all of it must be the same whether or not its classes were rewritten, so nothing is printed
// that depends on time or on the machine.

import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Executable;
import java.lang.reflect.Member;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;

/** Usage: Mirror. */
final class Mirror {
    private Mirror() {}

    public static void main(String[] args) throws Exception {
        for (Class<?> c : List.of(Mirror.class, Plain.class, Pair.class, Colour.class, Shape.class, Noted.class)) {
            members(c);
        }
        System.out.println(ObjectStreamClass.lookup(Plain.class).getSerialVersionUID());
        System.out.println(ObjectStreamClass.lookup(Colour.class).getSerialVersionUID());
        traces();
        threads();
    }

    private static void members(Class<?> c) {
        List<Member> all = new ArrayList<>(Arrays.asList(c.getDeclaredMethods()));
        all.addAll(Arrays.asList(c.getDeclaredConstructors()));
        all.addAll(Arrays.asList(c.getDeclaredFields()));
        List<String> lines = all.stream().map(Mirror::line).sorted().collect(Collectors.toList());
        System.out.println(c + " " + c.getModifiers() + " " + Arrays.toString(c.getInterfaces()));
        lines.forEach(System.out::println);
    }

    private static String line(Member member) {
        String line = "  " + member + (member.isSynthetic() ? " synthetic" : "");
        if (member instanceof Executable e) {
            line += " " + Arrays.toString(e.getAnnotations()) + " " + Arrays.toString(e.getGenericParameterTypes());
        }
        return line;
    }

    private static void traces() {
        IntUnaryOperator thrower = n -> new Plain(n).deep(n);
        try {
            System.out.println(thrower.applyAsInt(5));
        } catch (IllegalStateException e) {
            print(e);
            print(e.getCause());
            print(e.getSuppressed()[0]);
        }
        StackWalker walker = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
        System.out.println(new Plain(1).walk(walker));
        System.out.println(new Plain(1).caller(walker));
    }

    private static void print(Throwable e) {
        System.out.println(e);
        for (StackTraceElement frame : e.getStackTrace()) {
            System.out.println("  " + frame.getClassName() + "." + frame.getMethodName() + ":" + frame.getLineNumber());
        }
    }

    private static void threads() throws InterruptedException {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        Thread thread = new Thread(group, () -> System.out.println(Thread.currentThread().getName()), "sized", 1 << 20);
        thread.start();
        thread.join();
        Thread[] all = new Thread[10];
        int n = group.enumerate(all);
        System.out.println(n + " " + Arrays.toString(Arrays.copyOf(all, n)) + " " + group.activeGroupCount());
        System.out.println(thread.getState() + " " + Thread.currentThread().getPriority());
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Note {
        String value();
    }

    @SuppressWarnings("serial")
    static class Plain implements Serializable, AutoCloseable {
        private final int n;

        Plain(int n) {
            this.n = n;
        }

        int deep(int depth) {
            try (Plain closed = new Plain(depth)) {
                return depth == 0 ? fail(closed) : deep(depth - 1) + closed.n;
            }
        }

        private int fail(Plain other) {
            try {
                return other.n / (n - n);
            } catch (ArithmeticException e) {
                throw new IllegalStateException("at the bottom", e);
            } finally {
                synchronized (this) {
                    other.hashCode();
                }
            }
        }

        @Override
        public void close() {
            if (n == 0) {
                throw new UnsupportedOperationException("closing");
            }
        }

        String walk(StackWalker walker) {
            return walker.walk(s -> s.map(f -> f.getMethodName() + ":" + f.getLineNumber()).collect(Collectors.joining(" ")));
        }

        Class<?> caller(StackWalker walker) {
            return walker.getCallerClass();
        }
    }

    record Pair<T extends Comparable<T>>(T left, T right) {
        Pair {
            if (left.compareTo(right) > 0) {
                throw new IllegalArgumentException();
            }
        }
    }

    enum Colour {
        RED {
            @Override
            int value() {
                return 1;
            }
        },
        BLUE;

        int value() {
            return 2;
        }
    }

    sealed interface Shape permits Noted {
        default int area() {
            return Colour.RED.value() * 2;
        }
    }

    static final class Noted implements Shape {
        @Note("it is kept")
        @Deprecated
        public synchronized int area(@Note("x") int by) {
            return area() * by;
        }
    }
}
