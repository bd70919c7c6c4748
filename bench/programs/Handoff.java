import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Pairs of threads that hand a turn to and fro, and do nothing else: {@code Handoff park|monitor PAIRS}. For each line on standard
 * input it prints how often a turn was handed over and the processor time of the process, nanoseconds; it ends with its input.
 */
public final class Handoff {
  private static final LongAdder DONE = new LongAdder();

  public static void main(String[] args) throws Exception {
    for (int pair = 0; pair < Integer.parseInt(args[1]); pair++) {
      switch (args[0]) {
        case "park" -> park();
        case "monitor" -> monitor();
        default -> throw new IllegalArgumentException("park or monitor, not " + args[0]);
      }
    }
    var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    for (int c = System.in.read(); c >= 0; c = System.in.read()) {
      if (c == '\n') {
        System.out.println(DONE.sum() + " " + system.getProcessCpuTime());
        System.out.flush();
      }
    }
    System.exit(0);
  }

  private static void park() {
    Thread[] threads = new Thread[2];
    AtomicInteger turn = new AtomicInteger();
    for (int i = 0; i < 2; i++) {
      int me = i;
      threads[me] =
          new Thread(
              () -> {
                while (true) {
                  while (turn.get() != me) {
                    LockSupport.park();
                  }
                  turn.set(1 - me);
                  LockSupport.unpark(threads[1 - me]);
                  DONE.increment();
                }
              });
    }
    for (Thread thread : threads) {
      thread.start();
    }
  }

  private static void monitor() {
    int[] turn = new int[1];
    for (int i = 0; i < 2; i++) {
      int me = i;
      Runnable run =
          () -> {
            while (true) {
              synchronized (turn) {
                while (turn[0] != me) {
                  try {
                    turn.wait();
                  } catch (InterruptedException e) {
                    return;
                  }
                }
                turn[0] = 1 - me;
                turn.notify();
              }
              DONE.increment();
            }
          };
      new Thread(run).start();
    }
  }
}
