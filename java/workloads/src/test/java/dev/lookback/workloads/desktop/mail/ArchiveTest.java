package dev.lookback.workloads.desktop.mail;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The letters: the same for the same seed, and found by what is in them. */
class ArchiveTest {
    private final Archive archive = ArchiveWriter.write(1, 500);

    @Test
    void seedDecidesTheArchive() {
        assertEquals(archive.messages(), ArchiveWriter.write(1, 500).messages());
        assertNotEquals(archive.messages(), ArchiveWriter.write(2, 500).messages());
        assertEquals(archive.messages(), ArchiveWriter.write(1, 600).messages().subList(0, 500));
    }

    @Test
    void searchFindsWhatHasTheTextWithinTheFolder() {
        assertEquals(archive.messages(), archive.find(Archive.EVERYTHING, "  "));
        List<Message> all = archive.find(Archive.EVERYTHING, "Invoice");
        assertFalse(all.isEmpty());
        int folder = all.get(0).folder();
        List<Message> found = archive.find(folder, "Invoice");
        assertEquals(all.stream().filter(m -> m.folder() == folder).toList(), found);
        assertTrue(found.stream().allMatch(m -> m.matches("invoice")));
        assertEquals(List.of(), archive.find(Archive.EVERYTHING, "no such text"));
    }

    @Test
    void conversationGoesBackFromTheMessage() {
        Message last = archive.messages().stream().filter(m -> m.subject().startsWith("Re: ")).reduce((a, b) -> b)
                .orElseThrow();
        List<Message> conversation = archive.conversation(last);
        assertTrue(conversation.size() > 1);
        assertEquals(last, conversation.get(0));
        for (int i = 1; i < conversation.size(); i++) {
            assertEquals(last.thread(), conversation.get(i).thread());
            assertTrue(conversation.get(i).id() < conversation.get(i - 1).id());
        }
    }

    @Test
    void activityCountsEverythingOnce() {
        double all = archive.messages().stream().mapToInt(m -> 1 + m.body().size() + m.pictures().size()).sum();
        assertEquals(all, Arrays.stream(Archive.activity(archive.messages(), 7)).sum());
        assertEquals(0, Arrays.stream(Archive.activity(List.of(), 7)).sum());
    }

    @Test
    void vocabularyKnowsTheWordsOfTheLetters() {
        Vocabulary vocabulary = new Vocabulary(archive, 100);
        assertTrue(vocabulary.knows("timber") && vocabulary.knows("Timber"));
        assertFalse(vocabulary.knows("teh"));
    }
}
