package dev.lookback.workloads.desktop.frames;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.event.InputEvent;
import java.awt.event.KeyEvent;
import java.awt.event.MouseEvent;
import java.util.Optional;
import javax.swing.JLabel;
import org.junit.jupiter.api.Test;

/** From an input to the frame that shows it, on hand-made sequences; and which events are inputs. */
class InputLogTest {
    private final InputLog log = new InputLog();

    private void frame(long end) {
        log.frameBegins();
        log.frameEnds(end);
    }

    @Test
    void inputIsSeenAtTheEndOfTheFirstFrameThatBeginsBehindIt() {
        log.handled(InputKind.WHEEL, true);
        log.handled(InputKind.WHEEL, true);
        frame(50);
        log.handled(InputKind.KEY, true);
        assertFalse(log.allSeen());
        frame(90);
        frame(120);
        assertTrue(log.allSeen());
        assertArrayEquals(new long[] {40, 30, 25}, log.latencies(new long[] {10, 20, 65}));
    }

    @Test
    void frameThatHasBegunDoesNotShowALaterInput() {
        log.handled(InputKind.KEY, true);
        log.frameBegins();
        log.handled(InputKind.KEY, true);
        log.frameEnds(30);
        frame(60);
        assertArrayEquals(new long[] {29, 58}, log.latencies(new long[] {1, 2}));
    }

    @Test
    void releasesAndInputsThatShowNothingHaveNoLatency() {
        log.handled(InputKind.PRESS, true);
        log.handled(InputKind.RELEASE, true);
        frame(30);
        log.handled(InputKind.WHEEL, false);
        log.handled(InputKind.KEY, true);
        frame(80);
        assertEquals(4, log.handled());
        assertArrayEquals(new long[] {20, 30}, log.latencies(new long[] {10, 15, 40, 50}));
    }

    @Test
    void inputThatIsLostOrNotYetSeenIsAnError() {
        log.handled(InputKind.KEY, true);
        assertThrows(IllegalStateException.class, () -> log.latencies(new long[] {1}));
        frame(10);
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> log.latencies(new long[] {1, 2}));
        assertTrue(e.getMessage().startsWith("2 inputs were made, 1 came"), e.getMessage());
    }

    @Test
    void eachActionOfTheUserIsOneInput() {
        assertEquals(Optional.of(InputKind.KEY), key(KeyEvent.KEY_TYPED, 0, KeyEvent.VK_UNDEFINED, 'a'));
        assertEquals(Optional.empty(), key(KeyEvent.KEY_PRESSED, 0, KeyEvent.VK_A, 'a'));
        assertEquals(Optional.of(InputKind.KEY), key(KeyEvent.KEY_PRESSED, 0, KeyEvent.VK_ESCAPE, '\u001b'));
        assertEquals(Optional.empty(), key(KeyEvent.KEY_TYPED, 0, KeyEvent.VK_UNDEFINED, '\u001b'));
        int control = InputEvent.CTRL_DOWN_MASK;
        assertEquals(Optional.of(InputKind.KEY), key(KeyEvent.KEY_PRESSED, control, KeyEvent.VK_Z, '\u001a'));
        assertEquals(Optional.empty(), key(KeyEvent.KEY_TYPED, control, KeyEvent.VK_UNDEFINED, '\u001a'));
        char none = KeyEvent.CHAR_UNDEFINED;
        assertEquals(Optional.of(InputKind.KEY), key(KeyEvent.KEY_PRESSED, 0, KeyEvent.VK_DOWN, none));
        assertEquals(Optional.empty(), key(KeyEvent.KEY_PRESSED, control, KeyEvent.VK_CONTROL, none));
        assertEquals(Optional.empty(), key(KeyEvent.KEY_RELEASED, 0, KeyEvent.VK_DOWN, none));
        assertEquals(Optional.of(InputKind.PRESS), mouse(MouseEvent.MOUSE_PRESSED));
        assertEquals(Optional.of(InputKind.RELEASE), mouse(MouseEvent.MOUSE_RELEASED));
        assertEquals(Optional.empty(), mouse(MouseEvent.MOUSE_CLICKED));
        assertEquals(Optional.empty(), mouse(MouseEvent.MOUSE_DRAGGED));
    }

    private static Optional<InputKind> key(int id, int modifiers, int code, char character) {
        return InputKind.of(new KeyEvent(new JLabel(), id, 0, modifiers, code, character));
    }

    private static Optional<InputKind> mouse(int id) {
        return InputKind.of(new MouseEvent(new JLabel(), id, 0, 0, 1, 1, 1, false));
    }
}
