package dev.lookback.workloads.desktop.frames;

import java.awt.AWTEvent;
import java.awt.event.InputEvent;
import java.awt.event.KeyEvent;
import java.awt.event.MouseEvent;
import java.util.Optional;

/**
 * The inputs that are counted one by one. Motion is none of them: the toolkit merges events of motion that wait.
 *
 * <p>Each is one action of the user's: a key counts when it types a character, or when it is pressed and types none.
 */
public enum InputKind {
    /** A mouse button goes down. */
    PRESS,
    /** It goes up: nothing to see follows from it in most programs, so it has no latency. */
    RELEASE,
    /** The wheel turns by a notch. */
    WHEEL,
    /** A key acts. */
    KEY;

    /** What the event is, if it is counted. */
    public static Optional<InputKind> of(AWTEvent event) {
        return switch (event.getID()) {
            case MouseEvent.MOUSE_PRESSED -> Optional.of(PRESS);
            case MouseEvent.MOUSE_RELEASED -> Optional.of(RELEASE);
            case MouseEvent.MOUSE_WHEEL -> Optional.of(WHEEL);
            case KeyEvent.KEY_TYPED -> Optional.of(KEY).filter(kind -> types((KeyEvent) event));
            case KeyEvent.KEY_PRESSED -> Optional.of(KEY).filter(kind -> acts((KeyEvent) event));
            default -> Optional.empty();
        };
    }

    private static boolean types(KeyEvent key) {
        return !Character.isISOControl(key.getKeyChar()) && (key.getModifiersEx() & InputEvent.CTRL_DOWN_MASK) == 0;
    }

    private static boolean acts(KeyEvent key) {
        boolean isModifier = switch (key.getKeyCode()) {
            case KeyEvent.VK_SHIFT, KeyEvent.VK_CONTROL, KeyEvent.VK_ALT, KeyEvent.VK_META -> true;
            default -> false;
        };
        return !isModifier && (key.getKeyChar() == KeyEvent.CHAR_UNDEFINED || !types(key));
    }
}
