package dev.lookback.workloads.desktop.mail;

import java.time.LocalDateTime;
import java.util.List;
import java.util.Locale;

/**
 * A message.
 *
 * @param id       its place in the archive, from 0
 * @param thread   the conversation it belongs to
 * @param sender   name
 * @param subject  one line
 * @param sent     when, in the time zone of the archive
 * @param folder   index into {@link Archive#FOLDERS}
 * @param body     paragraphs; {@code *so*} is strong, {@code _so_} is emphasis, a line that begins with {@code >} a quote
 * @param pictures seeds of the attached pictures
 */
public record Message(int id, int thread, String sender, String subject, LocalDateTime sent, int folder,
        List<String> body, List<Integer> pictures) {
    private static final int SNIPPET = 60;

    /** Whether a word that is typed into the search field finds it; {@code text} is in lower case. */
    public boolean matches(String text) {
        return (subject + " " + sender + " " + body.get(0)).toLowerCase(Locale.ROOT).contains(text);
    }

    /** What the list shows behind the subject. */
    public String snippet() {
        String first = body.get(0).replace("*", "").replace("_", "");
        return first.length() > SNIPPET ? first.substring(0, SNIPPET) + "\u2026" : first;
    }
}
