package dev.lookback.workloads.known;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A small unit of processor work that is always the same: copy an array of 512 numbers, sort it, hash it.
 *
 * <p>Constraint: its data stay in the first-level cache and nothing is allocated, so that neither the memory nor the
 * collector has a part in its cost. 512 is below the length from which the JDK's sort merges runs in a new array.
 * For one thread at a time.
 */
final class SteadyWork {
    private static final int LENGTH = 512;
    /** Different inputs, so that the branches of a sort cannot be learnt by heart: 4 x 2 KiB. */
    private static final int INPUTS = 4;

    private final int[][] inputs = new int[INPUTS][LENGTH];
    private final int[] scratch = new int[LENGTH];

    SteadyWork() {
        SplittableRandom random = new SplittableRandom(3);
        for (int[] input : inputs) {
            for (int i = 0; i < LENGTH; i++) {
                input[i] = random.nextInt();
            }
        }
    }

    /** Does unit {@code number} and returns its hash. */
    long unit(int number) {
        System.arraycopy(inputs[number % INPUTS], 0, scratch, 0, LENGTH);
        Arrays.sort(scratch);
        long hash = number % INPUTS;
        for (int value : scratch) {
            hash = (hash ^ value) * 0x100000001b3L;
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
