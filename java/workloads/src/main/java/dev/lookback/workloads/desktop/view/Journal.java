package dev.lookback.workloads.desktop.view;

import dev.lookback.workloads.Checksum;

/**
 * What the user has done and got, as a checksum: messages opened, searches with what they found, texts written.
 *
 * <p>Constraint: it holds nothing that depends on fonts, timing or the number of frames. Belongs to the event dispatch
 * thread.
 */
public final class Journal {
    private Checksum sum = new Checksum();
    private int opened;
    private int searches;
    private int edits;

    void opened(int message) {
        opened++;
        sum.add("opened").add(message);
    }

    void searched(String text, int found) {
        searches++;
        sum.add("searched").add(text).add(found);
    }

    void edited(String text) {
        edits++;
        sum.add("edited").add(text);
    }

    /** The checksum of all since the last call, and of the state that it led to. */
    public long close(String state) {
        long value = sum.add(opened).add(searches).add(edits).add(state).value();
        sum = new Checksum();
        opened = 0;
        searches = 0;
        edits = 0;
        return value;
    }

    /** {@code opened N searches N edits N} since the checksum was taken. */
    public String counts() {
        return "opened " + opened + " searches " + searches + " edits " + edits;
    }
}
