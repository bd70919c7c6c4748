package dev.lookback.workloads;

import java.nio.charset.StandardCharsets;

/**
 * An order-sensitive 64-bit checksum: FNV-1a over bytes, with the finisher of SplitMix64.
 *
 * <p>It detects a program that computed something else, not an adversary. Results that arrive in any
 * order are combined by addition of finished values, which {@link #mix} makes safe to add.
 */
public final class Checksum {
    /** Offset basis and prime of FNV-1a, 64 bits. */
    private static final long BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private long state = BASIS;

    /** Adds all bytes of an array. */
    public Checksum add(byte[] bytes) {
        return add(bytes, 0, bytes.length);
    }

    /** Adds {@code length} bytes from {@code offset}. */
    public Checksum add(byte[] bytes, int offset, int length) {
        long s = state;
        for (int i = offset; i < offset + length; i++) {
            s = (s ^ (bytes[i] & 0xff)) * PRIME;
        }
        state = s;
        return this;
    }

    /** Adds a text as UTF-8, followed by a separator that UTF-8 never contains. */
    public Checksum add(String text) {
        add(text.getBytes(StandardCharsets.UTF_8));
        state = (state ^ 0xff) * PRIME;
        return this;
    }

    /** Adds a number, low byte first. */
    public Checksum add(long value) {
        long s = state;
        for (int shift = 0; shift < 64; shift += 8) {
            s = (s ^ ((value >>> shift) & 0xff)) * PRIME;
        }
        state = s;
        return this;
    }

    /** The checksum of what was added so far. */
    public long value() {
        return mix(state);
    }

    /** Spreads a value over all 64 bits (finisher of SplitMix64), so that sums of results keep their strength. */
    public static long mix(long value) {
        long z = value + 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    /** Sixteen lower-case hexadecimal digits. */
    public static String hex(long value) {
        return String.format("%016x", value);
    }
}
