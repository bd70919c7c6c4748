import java.io.File;
import java.nio.file.Files;
import java.util.Set;
import java.util.TreeSet;

/**
 * Makes garbage on two threads and holds some of it, so that every collector has young and old work; then tells when that
 * was, by the clock of the VM's log, and which threads the process has.
 */
public final class Churn {
    private static volatile Object sink;

    private Churn() {}

    private static Object[] tree(int depth) {
        return depth == 0 ? new Object[2] : new Object[] {tree(depth - 1), tree(depth - 1)};
    }

    public static void main(String[] args) throws Exception {
        Object[] held = tree(14);
        System.out.println("begin " + System.nanoTime());
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int n = 0; n < 60; n++) {
                    sink = tree(14);
                }
            }, "churn-" + i);
            threads[i].start();
        }
        Set<String> names = new TreeSet<>();
        for (Thread thread : threads) {
            thread.join();
            System.gc();
            for (File task : new File("/proc/self/task").listFiles()) {
                try {
                    names.add(Files.readString(task.toPath().resolve("comm")).strip());
                } catch (java.io.IOException ended) {
                    // The thread has gone since the listing.
                    continue;
                }
            }
        }
        System.out.println("end " + System.nanoTime());
        names.forEach(name -> System.out.println("thread " + name));
        if (held[0] == null) {
            throw new AssertionError("the tree was lost");
        }
    }
}
