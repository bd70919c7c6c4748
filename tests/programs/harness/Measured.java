// What the harness is to measure, and does measure when it is right: amounts that the program itself knows.
//
// The constraint: what is printed depends on no timing and on no agent, so that two runs can be compared.

import dev.lookback.harness.Harness;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** Usage: Measured PART..., each a part below; a part that is done says so. */
final class Measured {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    /** Known at the class's initialisation, which is as early as a program can ask. */
    private static final long EARLY_MAXIMUM = Runtime.getRuntime().maxMemory();

    private static volatile Object kept;

    private Measured() {}

    public static void main(String[] args) throws Exception {
        for (String part : args) {
            switch (part) {
                case "threads" -> threads();
                case "nothing" -> nothing();
                case "touch" -> touch();
                case "collect" -> collect();
                case "values" -> values();
                case "requests" -> Harness.requests(new long[] {1, 2}, new long[] {3, 4});
                case "heap" -> heap();
                case "misuse" -> misuse();
                case "open" -> Harness.begin("open", 9);
                case "wait" -> waitForLine();
                case "exit" -> System.exit(7);
                default -> throw new IllegalArgumentException(part);
            }
            System.out.println("did " + part);
        }
    }

    private static void waitForLine() throws Exception {
        System.out.println("waits");
        System.in.read();
    }

    /** Threads that burn, one of which is gone at the end; each tells by its own clock what it has used. */
    private static void threads() throws Exception {
        long[] used = new long[3];
        CountDownLatch burnt = new CountDownLatch(used.length - 1);
        CountDownLatch end = new CountDownLatch(1);
        Harness.begin("threads", 4);
        Thread[] all = new Thread[used.length];
        for (int i = 0; i < all.length; i++) {
            int number = i;
            boolean stays = i > 0;
            Runnable work = () -> {
                while (used[number] < 40_000_000) {
                    used[number] = THREADS.getCurrentThreadCpuTime();
                }
                if (stays) {
                    burnt.countDown();
                    await(end);
                }
            };
            all[i] = new Thread(work, "burn-" + i);
            all[i].start();
        }
        all[0].join();
        while (isThreadOfTheSystem("burn-0")) {
            Thread.onSpinWait();
        }
        burnt.await();
        for (int i = 0; i < used.length; i++) {
            Harness.value("burn-" + i, used[i]);
        }
        Harness.end("threads", 4);
        end.countDown();
    }

    /** A thread is gone to Java before it is to the system. */
    private static boolean isThreadOfTheSystem(String name) throws IOException {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                try {
                    if (Files.readString(task.resolve("comm")).strip().equals(name)) {
                        return true;
                    }
                } catch (IOException e) {
                    // It has ended since it was listed.
                    continue;
                }
            }
        }
        return false;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void nothing() {
        Harness.begin("nothing", 0);
        Harness.end("nothing", 0);
    }

    /** 64 MiB that the VM gives zeroed, so that it has touched each page. */
    private static void touch() {
        Harness.begin("touch", 0);
        kept = ByteBuffer.allocateDirect(64 << 20);
        Harness.end("touch", 0);
    }

    /** Collections, and 200 MiB of garbage. */
    private static void collect() {
        Harness.begin("collect", 0);
        for (int i = 0; i < 200; i++) {
            kept = new byte[1 << 20];
            if (i % 50 == 0) {
                System.gc();
            }
        }
        Harness.end("collect", 0);
    }

    private static void values() {
        Harness.value("before", 1);
        Harness.begin("values \"quoted\" \u00fc", 1);
        Harness.value("within", 2.5);
        Harness.end("values \"quoted\" \u00fc", 1);
        Harness.value("after", 3);
    }

    /** As often as it takes to be compiled. */
    private static void heap() {
        Runtime runtime = Runtime.getRuntime();
        long maximum = runtime.maxMemory();
        long total = 0;
        boolean fits = true;
        for (int i = 0; i < 100_000; i++) {
            total = runtime.totalMemory();
            long free = runtime.freeMemory();
            fits &= free > 0 && free <= total && runtime.maxMemory() == maximum;
        }
        System.out.println(EARLY_MAXIMUM + " " + maximum + " " + total + " " + fits);
        System.out.println(ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getMax());
    }

    private static void misuse() {
        refused(() -> Harness.end("a", 0));
        refused(() -> Harness.requests(new long[0], new long[0]));
        refused(() -> Harness.begin(null, 0));
        refused(() -> Harness.begin("", 0));
        refused(() -> Harness.begin("x".repeat(1_000_000), 0));
        refused(() -> Harness.value("x", Double.NaN));
        Harness.begin("a", 0);
        refused(() -> Harness.begin("a", 1));
        refused(() -> Harness.end("a", 1));
        Harness.end("a", 0);
        refused(() -> Harness.requests(null, new long[0]));
        refused(() -> Harness.requests(new long[1], new long[0]));
    }

    private static void refused(Runnable call) {
        try {
            call.run();
            System.out.println("taken");
        } catch (IllegalStateException e) {
            System.out.println("refused: " + e.getMessage());
        }
    }
}
