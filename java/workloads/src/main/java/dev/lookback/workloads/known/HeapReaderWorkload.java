package dev.lookback.workloads.known;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A program that reads its heap: it asks {@code Runtime.maxMemory} and sizes its cache by the answer, as many real ones
 * do. What is not in the cache is computed again.
 *
 * <p>A cache has a 64th of the heap, and all there is to be cached has 8 MiB, requested evenly: so with an answer of
 * 512 MiB and more everything is cached, with 256 MiB half of it, with 128 MiB a quarter. The checksum is of what was
 * requested, whatever the cache held.
 *
 * <p>Must not: read anything else of the heap, so that what an answer changes is known.
 */
public final class HeapReaderWorkload implements Workload {
    private static final int WORDS = 125;
    /** An array of 125 longs, its header, its key and its place in the map: somewhat above a kibibyte. */
    private static final int ENTRY_BYTES = 1 << 10;
    private static final int KEYS = 8 << 10;
    private static final int HEAP_SHARE = 64;

    private final SteadyWork work = new SteadyWork();
    private final int requests;
    private final Map<Integer, long[]> cache;

    /** Sizes the cache. The work is done by the calling thread, whatever the settings say of threads. */
    public HeapReaderWorkload(Settings settings) {
        this.requests = settings.size(6_000, 40_000);
        long entries = Runtime.getRuntime().maxMemory() / HEAP_SHARE / ENTRY_BYTES;
        int capacity = (int) Math.max(1, Math.min(entries, KEYS));
        this.cache = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, long[]> eldest) {
                return size() > capacity;
            }
        };
    }

    @Override
    public long iterate() {
        long sum = 0;
        for (int request = 0; request < requests; request++) {
            // The lower 13 bits of a mixed number: every key as often as any other.
            int key = (int) (Checksum.mix(request) & (KEYS - 1));
            sum += Checksum.mix(cache.computeIfAbsent(key, this::compute)[key % WORDS] + request);
        }
        return Checksum.mix(sum);
    }

    private long[] compute(int key) {
        long hash = work.unit(key);
        long[] words = new long[WORDS];
        for (int i = 0; i < WORDS; i++) {
            words[i] = Checksum.mix(hash + key + i);
        }
        return words;
    }
}
