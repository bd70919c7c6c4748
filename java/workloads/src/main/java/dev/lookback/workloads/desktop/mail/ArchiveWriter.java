package dev.lookback.workloads.desktop.mail;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Writes the archive: people, projects, and what they have to say to each other.
 *
 * <p>Constraint: {@link Random} is specified to the bit, so a seed gives the same archive on every JDK.
 */
public final class ArchiveWriter {
    private static final List<String> FIRST = List.of("Ada", "Boris", "Chiara", "Dmitri", "Elif", "Farid", "Grete",
            "Hana", "Ivo", "Jana", "Karim", "Lena", "Milan", "Nora", "Oskar", "Petra", "Quirin", "Rosa", "Sven",
            "Tereza", "Umberto", "Vera", "Wanda", "Yusuf");
    private static final List<String> LAST = List.of("Abel", "Brandt", "Conti", "Dahl", "Egger", "Fischer", "Gruber",
            "Horvat", "Ito", "Jansen", "Keller", "Lindgren", "Moreau", "Novak", "Okafor", "Peeters", "Ricci", "Silva",
            "Toth", "Urban", "Varga", "Weiss");
    private static final List<String> TOPICS = List.of("Invoice", "Minutes", "Draft", "Budget", "Schedule", "Review",
            "Offer", "Contract", "Delivery", "Photos", "Workshop", "Flight", "Hotel", "Newsletter", "Reminder",
            "Question", "Report", "Agenda", "Sketches", "Feedback");
    private static final List<String> THINGS = List.of("harbour bridge", "museum hall", "north station", "garden house",
            "library roof", "tram line", "concert hall", "school yard", "river bank", "old mill", "market square",
            "lighthouse", "city archive", "observatory", "botanical garden", "boat yard");
    private static final List<String> WORDS = List.of("the", "a", "of", "and", "to", "in", "for", "with", "on", "at",
            "we", "they", "it", "is", "was", "will", "should", "could", "has", "have", "been", "not", "more", "next",
            "last", "first", "week", "month", "plan", "drawing", "paper", "stone", "glass", "timber", "steel", "light",
            "window", "door", "floor", "wall", "price", "offer", "meeting", "question", "answer", "number", "page",
            "picture", "report", "morning", "evening", "together", "already", "perhaps", "because", "between",
            "without", "delivered", "measured", "painted", "changed", "agreed", "signed", "ordered", "checked",
            "weather", "scaffold", "foundation", "engineer", "architect", "council", "permission", "deadline");
    private static final int MOST_IN_THREAD = 9;
    private static final int MINUTES_APART = 23;
    /** Of so many conversations one goes on; older ones are over. */
    private static final int MOST_OPEN = 200;

    private final Random random;
    private final int count;

    private ArchiveWriter(long seed, int count) {
        this.random = new Random(seed);
        this.count = count;
    }

    /** The archive of so many messages of this seed; about 2 KB of heap a message. */
    public static Archive write(long seed, int messages) {
        return new ArchiveWriter(seed, messages).archive();
    }

    private Archive archive() {
        List<Message> messages = new ArrayList<>(count);
        List<Message> open = new ArrayList<>();
        LocalDateTime sent = LocalDateTime.of(2021, 3, 1, 8, 0);
        int threads = 0;
        for (int id = 0; id < count; id++) {
            sent = sent.plusMinutes(1 + random.nextInt(2 * MINUTES_APART));
            boolean answers = !open.isEmpty() && random.nextInt(3) > 0;
            Message answered = answers ? open.remove(random.nextInt(open.size())) : null;
            Message message = answered == null ? first(id, threads++, sent) : answer(id, answered, sent);
            messages.add(message);
            if (random.nextInt(MOST_IN_THREAD) > 0) {
                open.add(message);
            }
            if (open.size() > MOST_OPEN) {
                open.remove(0);
            }
        }
        return new Archive(messages);
    }

    private Message first(int id, int thread, LocalDateTime sent) {
        String subject = pick(TOPICS) + " " + (100 + random.nextInt(900)) + ": " + pick(THINGS);
        return message(id, thread, subject, sent, random.nextInt(Archive.FOLDERS.size()), null);
    }

    private Message answer(int id, Message before, LocalDateTime sent) {
        String subject = before.subject().startsWith("Re: ") ? before.subject() : "Re: " + before.subject();
        return message(id, before.thread(), subject, sent, before.folder(), before);
    }

    private Message message(int id, int thread, String subject, LocalDateTime sent, int folder, Message before) {
        List<String> body = new ArrayList<>();
        for (int paragraphs = 2 + random.nextInt(5); paragraphs > 0; paragraphs--) {
            body.add(paragraph());
        }
        if (before != null) {
            body.add("> " + before.body().get(0));
        }
        List<Integer> pictures = new ArrayList<>();
        for (int n = random.nextInt(7); n > 0; n--) {
            pictures.add(random.nextInt());
        }
        return new Message(id, thread, pick(FIRST) + " " + pick(LAST), subject, sent, folder, List.copyOf(body),
                List.copyOf(pictures));
    }

    private String paragraph() {
        StringBuilder text = new StringBuilder();
        for (int sentences = 2 + random.nextInt(4); sentences > 0; sentences--) {
            int start = text.length();
            int words = 6 + random.nextInt(12);
            int strong = random.nextInt(3 * words);
            int emphasis = random.nextInt(3 * words);
            for (int w = 0; w < words; w++) {
                String mark = w == strong ? "*" : w == emphasis ? "_" : "";
                text.append(w == 0 ? "" : " ").append(mark).append(pick(WORDS)).append(mark);
            }
            int at = Character.isLetter(text.charAt(start)) ? start : start + 1;
            text.setCharAt(at, Character.toUpperCase(text.charAt(at)));
            text.append(sentences > 1 ? ". " : ".");
        }
        return text.toString();
    }

    private String pick(List<String> from) {
        return from.get(random.nextInt(from.size()));
    }
}
