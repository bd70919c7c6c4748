package dev.lookback.workloads;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A fixed set of named client threads that share the work items of an iteration.
 *
 * <p>Item {@code i} goes to thread {@code i % threads}, and the results are added up: so the checksum
 * of an iteration depends on the items, never on the number of threads or their timing.
 */
public final class Clients implements AutoCloseable {
    private final int threads;
    private final ExecutorService executor;

    /** Work that can be cut into numbered items. */
    @FunctionalInterface
    public interface Items {
        /**
         * Does the items {@code first, first + step, ...} below {@code count}.
         *
         * @return the sum of the items' finished checksums
         */
        long run(int first, int step, int count) throws Exception;
    }

    /** One item of the work. */
    @FunctionalInterface
    public interface Item {
        /** Does item {@code number} and returns its checksum. */
        long run(int number) throws Exception;
    }

    /** Starts {@code threads} threads called {@code name-0}, {@code name-1}, ... */
    public Clients(String name, int threads) {
        this.threads = threads;
        AtomicInteger next = new AtomicInteger();
        this.executor = Executors.newFixedThreadPool(threads, task -> {
            Thread thread = new Thread(task, name + "-" + next.getAndIncrement());
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Runs {@code count} items on all threads and adds their results. */
    public long run(int count, Items items) throws Exception {
        List<Future<Long>> parts = new ArrayList<>(threads);
        for (int t = 0; t < threads; t++) {
            int first = t;
            parts.add(executor.submit(() -> items.run(first, threads, count)));
        }
        long sum = 0;
        for (Future<Long> part : parts) {
            try {
                sum += part.get();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }
        return sum;
    }

    /** Runs {@code count} independent items and adds up their checksums, each spread with its number. */
    public long sum(int count, Item item) throws Exception {
        return run(count, (first, step, end) -> {
            long sum = 0;
            for (int i = first; i < end; i += step) {
                sum += Checksum.mix(item.run(i) + i);
            }
            return sum;
        });
    }

    /** Lets every thread do the same work and returns its result, on which all must agree. */
    public long agree(Callable<Long> work) throws Exception {
        long[] results = new long[threads];
        run(threads, (first, step, count) -> results[first] = work.call());
        for (long result : results) {
            if (result != results[0]) {
                throw new IllegalStateException("two threads got different results from the same work: "
                        + Arrays.toString(results));
            }
        }
        return results[0];
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
