package dev.lookback.workloads.plain;

import java.util.SplittableRandom;

/**
 * Generated prose: a vocabulary of pronounceable words, drawn with the skew of natural text.
 *
 * <p>Each document is a function of its number only, so any thread can produce any of them.
 */
public final class Corpus {
    private static final String[] SYLLABLES = {
        "ba", "ce", "di", "fo", "gu", "ha", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu", "wa", "ze", "chi",
        "sho", "tru", "ble", "cra", "dre", "fli", "glo", "pra", "ste", "ing", "er", "ly", "ness", "ful"
    };
    private static final int WORDS = 8_000;

    private final String[] vocabulary = new String[WORDS];
    private final long seed;

    /** A vocabulary of 8,000 words from the seed. */
    public Corpus(long seed) {
        this.seed = seed;
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < WORDS; i++) {
            StringBuilder word = new StringBuilder();
            for (int n = random.nextInt(2, 5); n > 0; n--) {
                word.append(SYLLABLES[random.nextInt(SYLLABLES.length)]);
            }
            vocabulary[i] = word.toString();
        }
    }

    /** A random source for one document of this corpus. */
    public SplittableRandom random(int document) {
        return new SplittableRandom(seed * 31 + document);
    }

    /** A word; the word of rank r comes up about in proportion to 1/r. */
    public String word(SplittableRandom random) {
        double u = random.nextDouble();
        return vocabulary[(int) Math.min(WORDS - 1, Math.exp(u * Math.log(WORDS)) - 1)];
    }

    /** {@code words} words with a full stop about every twelve. */
    public String text(SplittableRandom random, int words) {
        StringBuilder text = new StringBuilder(words * 8);
        for (int i = 0; i < words; i++) {
            text.append(word(random)).append(i % 12 == 11 ? ". " : " ");
        }
        return text.toString();
    }
}
