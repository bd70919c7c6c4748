package dev.lookback.workloads.desktop.mail;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** All messages, and what is asked of them. */
public final class Archive {
    /** The folders, in the order of the tree. */
    public static final List<String> FOLDERS = List.of("Inbox", "Projects", "Invoices", "Travel", "Newsletters");
    /** The folder that is all of them. */
    public static final int EVERYTHING = -1;
    /** Conversations have so many messages at the most that are shown together. */
    private static final int MOST_TOGETHER = 6;

    private final List<Message> messages;
    private final List<List<Message>> threads = new ArrayList<>();

    /** Messages by their ids; those of a thread have the threads' numbers from 0 on. */
    public Archive(List<Message> messages) {
        this.messages = List.copyOf(messages);
        for (Message message : messages) {
            while (threads.size() <= message.thread()) {
                threads.add(new ArrayList<>());
            }
            threads.get(message.thread()).add(message);
        }
    }

    /** All messages. */
    public List<Message> messages() {
        return messages;
    }

    /** The messages of a folder whose subject, sender or first paragraph has the text, in their order. */
    public List<Message> find(int folder, String text) {
        String wanted = text.strip().toLowerCase(Locale.ROOT);
        List<Message> found = new ArrayList<>();
        for (Message message : messages) {
            if ((folder == EVERYTHING || message.folder() == folder)
                    && (wanted.isEmpty() || message.matches(wanted))) {
                found.add(message);
            }
        }
        return found;
    }

    /** The message with those before it in its conversation, newest first, a few at the most. */
    public List<Message> conversation(Message message) {
        List<Message> thread = threads.get(message.thread());
        List<Message> shown = new ArrayList<>();
        for (int i = thread.indexOf(message); i >= 0 && shown.size() < MOST_TOGETHER; i--) {
            shown.add(thread.get(i));
        }
        return shown;
    }

    /** How much is in each of {@code buckets} equal parts of a list: messages, paragraphs and pictures. */
    public static double[] activity(List<Message> list, int buckets) {
        double[] counts = new double[buckets];
        for (int i = 0; i < list.size(); i++) {
            Message message = list.get(i);
            counts[(int) ((long) i * buckets / list.size())] += 1 + message.body().size() + message.pictures().size();
        }
        return counts;
    }
}
