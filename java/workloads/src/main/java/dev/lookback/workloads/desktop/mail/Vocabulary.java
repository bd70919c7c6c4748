package dev.lookback.workloads.desktop.mail;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** The words of an archive, against which what is written is checked. */
public final class Vocabulary {
    private static final Pattern NOT_LETTERS = Pattern.compile("\\P{L}+");

    private final Set<String> words = new HashSet<>();

    /** All words that occur in the first {@code messages} messages. */
    public Vocabulary(Archive archive, int messages) {
        for (Message message : archive.messages().subList(0, Math.min(messages, archive.messages().size()))) {
            message.body().forEach(this::learn);
        }
    }

    private void learn(String text) {
        for (String word : NOT_LETTERS.split(text)) {
            words.add(word.toLowerCase(Locale.ROOT));
        }
    }

    /** Whether the word is one of them, in any case. */
    public boolean knows(String word) {
        return words.contains(word.toLowerCase(Locale.ROOT));
    }
}
