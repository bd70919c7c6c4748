// The ways in which a program can end or get into trouble.

import java.util.ArrayList;
import java.util.List;

/** Usage: Exits WAY. */
final class Exits {
    private Exits() {}

    public static void main(String[] args) throws Exception {
        System.out.println("begin " + args[0]);
        switch (args[0]) {
            case "return" -> work(1_000);
            case "exit" -> exits();
            case "halt" -> halts(100);
            case "uncaught" -> throwsDeep(20);
            case "uncaught-thread" -> otherThread();
            case "overflow" -> overflows();
            case "memory" -> runsOut();
            case "daemons" -> daemons();
            case "hook" -> hook();
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("end " + args[0]);
    }

    private static long work(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += one(i);
        }
        return sum;
    }

    private static long one(int i) {
        return i * 3L % 7;
    }

    private static void exits() {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook " + work(100))));
        try {
            work(1_000);
            System.exit(3);
        } finally {
            System.out.println("not reached");
        }
    }

    private static void halts(int depth) {
        if (depth == 0) {
            System.out.flush();
            Runtime.getRuntime().halt(5);
        }
        halts(depth - 1);
    }

    private static void throwsDeep(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("on purpose", new RuntimeException("the cause"));
        }
        throwsDeep(depth - 1);
    }

    private static void otherThread() throws InterruptedException {
        Thread thread = new Thread(() -> throwsDeep(3), "other");
        thread.start();
        thread.join();
    }

    private static void overflows() {
        for (int i = 0; i < 5; i++) {
            try {
                endless(0);
            } catch (StackOverflowError e) {
                System.out.println("caught " + e.getMessage());
            }
            work(5_000);
        }
    }

    private static int endless(int n) {
        try {
            return endless(n + 1) + 1;
        } finally {
            one(n);
        }
    }

    private static void runsOut() {
        for (int i = 0; i < 3; i++) {
            try {
                System.out.println(hoard().size());
            } catch (OutOfMemoryError e) {
                System.out.println("caught " + e.getMessage());
            }
        }
    }

    private static List<byte[]> hoard() {
        List<byte[]> all = new ArrayList<>();
        while (true) {
            all.add(block());
        }
    }

    private static byte[] block() {
        return new byte[1 << 16];
    }

    private static void daemons() throws InterruptedException {
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                while (true) {
                    work(100);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep(50);
    }

    private static void hook() {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            System.out.println("hook " + work(100));
            Runtime.getRuntime().halt(9);
        }));
    }
}
