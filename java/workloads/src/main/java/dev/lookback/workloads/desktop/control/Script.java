package dev.lookback.workloads.desktop.control;

import java.awt.event.KeyEvent;
import java.util.List;
import java.util.Random;

/**
 * What the user does in an iteration, which ends where it began: all letters listed from the first, which is open, and
 * an empty answer.
 *
 * <p>Constraint: each input shows, so that each has a latency, and what it does depends on no font and no timing.
 */
public final class Script {
    private static final List<String> SEARCHES = List.of("invoice", "harbour bridge", "minutes 3", "lighthouse");
    private static final String ANSWER = "we agreed on teh offer for the timber and glass";
    /** So many rows from the first can be clicked, and then three more reached by keys, without the list scrolling. */
    private static final int ROWS_SEEN = 6;

    private final Hand hand;
    private final boolean small;
    private final long seed;

    /** The script of this size; the seed decides where it clicks. */
    public Script(Hand hand, boolean small, long seed) {
        this.hand = hand;
        this.small = small;
        this.seed = seed;
    }

    /** Plays it once. */
    public void play() throws InterruptedException {
        Random random = new Random(seed);
        readOn(random);
        search(random);
        arrange();
        answer();
        goBack();
    }

    /** Scrolls through the list and reads here and there. */
    private void readOn(Random random) throws InterruptedException {
        // Three rows a notch.
        int notches = small ? 10 : 60;
        int top = 0;
        for (int stops = small ? 2 : 5; stops > 0; stops--) {
            hand.turn("list", notches);
            top += 3 * notches;
            hand.click("list/" + (top + 1 + random.nextInt(ROWS_SEEN - 1)));
            hand.turn("document", small ? 4 : 15);
            hand.keys(KeyEvent.VK_DOWN, small ? 1 : 3);
        }
    }

    private void search(Random random) throws InterruptedException {
        for (String text : SEARCHES.subList(0, small ? 1 : SEARCHES.size())) {
            hand.click("search");
            hand.type(text);
            hand.look();
            hand.click("list/" + random.nextInt(ROWS_SEEN));
            hand.keys(KeyEvent.VK_DOWN, 2);
            hand.click("search");
            hand.keys(KeyEvent.VK_ESCAPE, 1);
        }
        for (int folder = small ? 5 : 1; folder <= 5; folder++) {
            hand.click("folders/" + folder);
            hand.click("list/" + (1 + random.nextInt(ROWS_SEEN - 1)));
        }
        hand.click("folders/0");
    }

    /** Makes a column and the window narrower, and wide again. */
    private void arrange() throws InterruptedException {
        int steps = small ? 5 : 25;
        hand.drag("columns/divider", 120, 0, steps);
        hand.drag("columns/divider", -120, 0, steps);
        hand.drag("grip", -150, -60, steps);
        hand.drag("grip", 150, 60, steps);
    }

    /** Writes, takes all back, has it again and throws it away. */
    private void answer() throws InterruptedException {
        String text = small ? ANSWER.substring(0, 8) : ANSWER;
        hand.click("reply");
        hand.type(text);
        hand.look();
        hand.controlKeys(KeyEvent.VK_Z, text.length() / 2);
        hand.controlKeys(KeyEvent.VK_Y, text.length() / 2);
        hand.controlKeys(KeyEvent.VK_Z, text.length());
    }

    private void goBack() throws InterruptedException {
        hand.click("list/1");
        hand.turn("list", 2);
        hand.turn("list", -2);
        hand.click("list/0");
        hand.lookUntilStill();
    }
}
