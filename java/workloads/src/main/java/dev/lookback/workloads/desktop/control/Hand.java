package dev.lookback.workloads.desktop.control;

import java.awt.Point;
import java.awt.Rectangle;
import java.awt.Robot;
import java.awt.event.InputEvent;
import java.awt.event.KeyEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Mouse and keys.
 *
 * <p>Within a gesture inputs follow a fixed rhythm, whether the application keeps up or not, as a finger's do: an
 * application that falls behind is seen to. Between gestures {@link #look} waits until what was done can be seen, and a
 * moment more.
 */
public final class Hand {
    private static final long THINK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** As fast as the display shows: a finger flicking a wheel. */
    private static final long NOTCH_NANOS = 16_700_000;
    /** Sixteen keys a second: a very quick typist. */
    private static final long KEY_NANOS = TimeUnit.MILLISECONDS.toNanos(60);
    private static final long DRAG_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int LEFT = InputEvent.BUTTON1_DOWN_MASK;

    private final Robot robot;
    private final AppProcess application;
    private final List<Long> made = new ArrayList<>();
    /** When the next input of the gesture is due. */
    private long due = System.nanoTime();

    /** The hand on the display that {@code robot} moves, at this application. */
    public Hand(Robot robot, AppProcess application) {
        this.robot = robot;
        this.application = application;
    }

    /** Forgets the inputs made so far. */
    public void clear() {
        made.clear();
    }

    /** When each input was made, nanoseconds, with blanks between. */
    public String stamps() {
        return made.stream().map(String::valueOf).collect(Collectors.joining(" "));
    }

    /** Waits until all that was done can be seen, and thinks. */
    public void look() throws InterruptedException {
        look("await");
    }

    /** Waits until nothing moves any more, too. */
    public void lookUntilStill() throws InterruptedException {
        look("still");
    }

    private void look(String how) throws InterruptedException {
        application.tell(how + " " + made.size());
        due = System.nanoTime() + THINK_NANOS;
    }

    /** Clicks into the middle of what has this name. */
    public void click(String name) throws InterruptedException {
        moveTo(middle(name));
        press();
        release();
        look();
    }

    /** Turns the wheel over what has this name; up when negative. */
    public void turn(String name, int notches) throws InterruptedException {
        moveTo(middle(name));
        for (int i = 0; i < Math.abs(notches); i++) {
            next(NOTCH_NANOS);
            robot.mouseWheel(Integer.signum(notches));
        }
        look();
    }

    /** Drags what has this name to the right and down, or back when negative. */
    public void drag(String name, int right, int down, int steps) throws InterruptedException {
        Point from = middle(name);
        moveTo(from);
        press();
        for (int i = 1; i <= steps; i++) {
            pace(DRAG_NANOS);
            robot.mouseMove(from.x + right * i / steps, from.y + down * i / steps);
        }
        release();
        look();
    }

    /** Types small letters, digits and blanks. */
    public void type(String text) throws InterruptedException {
        for (char c : text.toCharArray()) {
            key(KeyEvent.getExtendedKeyCodeForChar(c));
        }
    }

    /** Presses a key so many times. */
    public void keys(int code, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            key(code);
        }
        look();
    }

    /** Presses a key so many times while Control is held. */
    public void controlKeys(int code, int times) throws InterruptedException {
        robot.keyPress(KeyEvent.VK_CONTROL);
        for (int i = 0; i < times; i++) {
            key(code);
        }
        robot.keyRelease(KeyEvent.VK_CONTROL);
        look();
    }

    private void key(int code) {
        next(KEY_NANOS);
        robot.keyPress(code);
        robot.keyRelease(code);
    }

    private void press() {
        next(DRAG_NANOS);
        robot.mousePress(LEFT);
    }

    private void release() {
        next(DRAG_NANOS);
        robot.mouseRelease(LEFT);
    }

    private void moveTo(Point point) {
        robot.mouseMove(point.x, point.y);
    }

    private Point middle(String name) throws InterruptedException {
        Rectangle at = application.place(name);
        return new Point(at.x + at.width / 2, at.y + at.height / 2);
    }

    /** Waits for the next beat, and notes that an input is made. */
    private void next(long period) {
        pace(period);
        made.add(System.nanoTime());
    }

    private void pace(long period) {
        for (long wait; (wait = due - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(wait);
        }
        due += period;
    }
}
