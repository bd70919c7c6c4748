// Does what its standard input says, line by line, and answers each line with "did" and the line.
//
// The constraint: a test drives it step by step, so nothing happens that was not asked for.

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Commands: see {@link #obey}. Prints "ready" first, and ends with the input. */
final class Commands {
    private Commands() {}

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null; ) {
            obey(line.split(" "));
            System.out.println("did " + line);
        }
        System.out.println("sum " + Job.sum);
    }

    private static void obey(String[] words) throws Exception {
        switch (words[0]) {
            case "work" -> Job.many(Integer.parseInt(words[1]));
            case "gc" -> System.gc();
            case "rename" -> Thread.currentThread().setName(words[1]);
            case "threads" -> threads(words[1], Integer.parseInt(words[2]), null);
            case "hold" -> hold(words[1], Integer.parseInt(words[2]));
            case "release" -> release();
            case "slow" -> slow(words[1], Integer.parseInt(words[2]));
            case "background" -> background(words[1], Integer.parseInt(words[2]));
            case "fill" -> fill(words[1]);
            case "deep" -> System.out.println("depth " + Job.deep(Integer.parseInt(words[1])));
            case "exit" -> System.exit(Integer.parseInt(words[1]));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    /** Writes into a file until its disk is full. */
    private static void fill(String file) {
        try (FileOutputStream out = new FileOutputStream(file)) {
            byte[] zeros = new byte[4096];
            while (true) {
                out.write(zeros);
            }
        } catch (IOException full) {
            System.out.println("full");
        }
    }

    // Threads

    private static List<Thread> held = List.of();
    private static CountDownLatch latch = new CountDownLatch(0);

    /** Runs short-lived threads called PREFIX-0, PREFIX-1, ..., twenty at a time. */
    private static List<Thread> threads(String prefix, int n, CountDownLatch until) throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Thread thread = new Thread(() -> thread(until), prefix + "-" + i);
            thread.start();
            all.add(thread);
            if (until == null && i >= 20) {
                all.get(i - 20).join();
            }
        }
        for (Thread thread : until == null ? all : List.<Thread>of()) {
            thread.join();
        }
        return all;
    }

    private static void thread(CountDownLatch until) {
        Job.many(10);
        try {
            if (until != null) {
                until.await();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Starts threads that stay until "release". */
    private static void hold(String prefix, int n) throws InterruptedException {
        latch = new CountDownLatch(1);
        held = threads(prefix, n, latch);
    }

    private static void release() throws InterruptedException {
        latch.countDown();
        for (Thread thread : held) {
            thread.join();
        }
    }

    // Slow calls

    /** Starts a slow call on a thread of its own, called "background". */
    private static void background(String how, int millis) {
        Thread thread = new Thread(() -> {
            try {
                slow(how, millis);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, "background");
        thread.setDaemon(true);
        thread.start();
    }

    private static void slow(String how, int millis) throws Exception {
        switch (how) {
            case "sleep" -> Slow.sleep(millis);
            case "busy" -> Slow.busy(millis);
            case "park" -> Slow.park(millis);
            case "notify" -> Slow.notify(millis);
            case "monitor" -> monitor(millis);
            case "file" -> file(millis);
            case "socket" -> socket(millis);
            case "process" -> Slow.process(millis);
            case "throw" -> thrown(millis);
            case "nested" -> Slow.nested(millis);
            default -> throw new IllegalArgumentException(how);
        }
    }

    private static void thrown(int millis) throws InterruptedException {
        try {
            Slow.thrown(millis);
        } catch (IllegalStateException e) {
            System.out.println("caught " + e.getMessage());
        }
    }

    private static void monitor(int millis) throws InterruptedException {
        Object lock = new Object();
        CountDownLatch taken = new CountDownLatch(1);
        Thread holder = new Thread(() -> {
            synchronized (lock) {
                taken.countDown();
                pause(millis);
            }
        }, "holder");
        holder.start();
        taken.await();
        Slow.monitor(lock);
        holder.join();
    }

    /** Reads the named pipe "pipe", into which a byte comes late. */
    private static void file(int millis) throws Exception {
        Thread writer = new Thread(() -> {
            try (FileOutputStream out = new FileOutputStream("pipe")) {
                pause(millis);
                out.write(1);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }, "writer");
        writer.start();
        try (FileInputStream in = new FileInputStream("pipe")) {
            Slow.file(in);
        }
        writer.join();
    }

    private static void socket(int millis) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread writer = new Thread(() -> {
                try (Socket socket = server.accept()) {
                    pause(millis);
                    socket.getOutputStream().write(1);
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }, "writer");
            writer.start();
            try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                Slow.socket(socket);
            }
            writer.join();
        }
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What is quick. */
    static final class Job {
        private static long sum;

        private Job() {}

        static void many(int n) {
            for (int i = 0; i < n; i++) {
                one(i);
            }
        }

        static int deep(int n) {
            return n == 0 ? 0 : 1 + deep(n - 1);
        }

        static synchronized void one(int i) {
            sum += i;
        }
    }

    /** What is slow, each in its way. */
    static final class Slow {
        private Slow() {}

        static void sleep(int millis) {
            pause(millis);
        }

        static long busy(int millis) {
            long end = System.nanoTime() + millis * 1_000_000L;
            long n = 0;
            while (System.nanoTime() < end) {
                n++;
            }
            return n;
        }

        static void park(int millis) {
            long end = System.nanoTime() + millis * 1_000_000L;
            for (long left; (left = end - System.nanoTime()) > 0; ) {
                LockSupport.parkNanos(left);
            }
        }

        static void notify(int millis) throws InterruptedException {
            Object lock = new Object();
            synchronized (lock) {
                long end = System.nanoTime() + millis * 1_000_000L;
                for (long left; (left = (end - System.nanoTime()) / 1_000_000) > 0; ) {
                    lock.wait(left);
                }
            }
        }

        static void monitor(Object lock) {
            synchronized (lock) {
                Job.one(1);
            }
        }

        static int file(FileInputStream in) throws IOException {
            return in.read();
        }

        static int socket(Socket socket) throws IOException {
            return socket.getInputStream().read();
        }

        static void process(int millis) throws IOException, InterruptedException {
            String seconds = millis / 1000 + "." + String.format("%03d", millis % 1000);
            new ProcessBuilder("sleep", seconds).start().waitFor();
        }

        static void thrown(int millis) {
            pause(millis);
            throw new IllegalStateException("late");
        }

        static void nested(int millis) {
            sleep(millis);
        }
    }
}
