// Virtual threads that go on on another carrier, are pinned, or wait inside a slow call.
//
// The constraint: what is printed depends on no timing, so that two runs can be compared.

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Usage: Turns carriers | pinned | slow. The last waits for a line before its slow call ends. */
final class Turns {
    private static volatile boolean done;

    private Turns() {}

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "carriers" -> carriers();
            case "pinned" -> Thread.ofVirtual().start(Pinned::run).join();
            default -> slow();
        }
        System.out.println("did " + args[0]);
    }

    /** A call parks until another carrier goes on with it: others take each carrier that is free. */
    private static void carriers() throws Exception {
        Thread[] others = new Thread[3];
        for (int i = 0; i < others.length; i++) {
            others[i] = Thread.ofVirtual().start(Turns::taking);
        }
        Thread.ofVirtual().name("walker").start(() -> outer(carrier())).join();
        done = true;
        for (Thread other : others) {
            other.join();
        }
    }

    private static void taking() {
        while (!done) {
            long until = System.nanoTime() + 500_000;
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            LockSupport.parkNanos(100_000);
        }
    }

    static void outer(String first) {
        middle(first);
    }

    static void middle(String first) {
        do {
            LockSupport.parkNanos(100_000);
        } while (carrier().equals(first));
        last();
    }

    static void last() {
        Thread.yield();
    }

    /** The name of the current carrier, which is all that Java tells of it. */
    private static String carrier() {
        String thread = Thread.currentThread().toString();
        return thread.substring(thread.indexOf('@'));
    }

    private static void slow() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        Thread waiting = Thread.ofVirtual().start(() -> Slow.request(latch));
        System.out.println("ready");
        System.in.read();
        latch.countDown();
        waiting.join();
    }

    static final class Slow {
        private Slow() {}

        static void request(CountDownLatch latch) {
            Thread.yield();
            await(latch);
            Thread.yield();
        }

        static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class Pinned {
        static final long FOR = 60_000_000;

        private Pinned() {}

        static void run() {
            Initialised.touch();
        }

        /** Its initialiser has a frame of the VM below it, so the virtual thread cannot be unmounted there. */
        static final class Initialised {
            static {
                LockSupport.parkNanos(FOR);
            }

            private Initialised() {}

            static void touch() {}
        }
    }
}
