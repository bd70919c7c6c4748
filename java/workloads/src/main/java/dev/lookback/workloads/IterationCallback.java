package dev.lookback.workloads;

/**
 * What a measuring program wants to be told of a run: {@code Main NAME --callback CLASS}.
 *
 * <p>Constraint: {@link #begin} is the last thing before an iteration's work and {@link #end} the first thing
 * after it, on the thread that started the iteration; nothing else of this program lies between them. An
 * implementation is public, has a public constructor without parameters, and may come from any jar on the class
 * path. What it throws fails the run.
 */
public interface IterationCallback {
    /**
     * The iteration starts when this returns.
     *
     * @param workload  the workload's name
     * @param iteration counts from 1
     */
    void begin(String workload, int iteration);

    /** The iteration of that name and number has just ended. */
    void end(String workload, int iteration);

    /**
     * When the iteration's requests were served, called after {@link #end} for workloads that consist of requests.
     *
     * @param starts {@code System.nanoTime()} at the start of each request, in the order of their numbers, not of time
     * @param ends   the same at their ends; as long as {@code starts}. Both arrays are used again by the next
     *               iteration: copy what is to stay
     */
    default void requests(String workload, int iteration, long[] starts, long[] ends) {
    }

    /**
     * What an iteration of an interactive workload was made of, called after {@link #end}, once for each series.
     *
     * @param name   {@code frame_ns}, {@code frame_late} (0 or 1 for each frame) or {@code input_ns}
     * @param values in the order of time; the receiver may keep the array
     */
    default void series(String workload, int iteration, String name, long[] values) {
    }
}
