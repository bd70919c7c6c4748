package dev.lookback.workloads.known;

import java.util.SplittableRandom;

/**
 * A small unit of processor work that is always the same: hash an array of 512 numbers, some times over.
 *
 * <p>Constraint: its cost may not differ from process to process, or a check of the laboratory measures that. So its
 * data stay in the first-level cache, nothing is allocated, and it is a chain of multiplications each of which waits
 * for the one before: there is nothing for the collector, the branch predictor or the compiler's choices to have a
 * part in. (Sorting, for one, takes 217 to 332 ms an iteration on one machine, each process its own time.) For one
 * thread at a time.
 */
final class SteadyWork {
    private static final int LENGTH = 512;
    private static final int ROUNDS = 8;

    private final int[] input = new int[LENGTH];

    SteadyWork() {
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < LENGTH; i++) {
            input[i] = random.nextInt();
        }
    }

    /** Does unit {@code number} and returns its hash. */
    long unit(int number) {
        long hash = number;
        for (int round = 0; round < ROUNDS; round++) {
            for (int value : input) {
                hash = (hash ^ value) * 0x100000001b3L;
            }
        }
        return hash;
    }

    /** Does the units {@code first, first + step, ...} below {@code count} and returns the sum of their hashes. */
    long units(int first, int step, int count) {
        long sum = 0;
        for (int i = first; i < count; i += step) {
            sum += unit(i);
        }
        return sum;
    }
}
