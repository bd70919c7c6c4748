/**
 * When the window's frames were due, when they were done, and how long inputs waited to be seen.
 *
 * <p>It measures as Android's {@code gfxinfo} does: painting follows a fixed clock (there the display's, here one of
 * 60 Hz), a frame's time runs from the tick it was due at to the end of its painting, and a frame that is not done by
 * the next tick is janky. Swing by itself paints whenever its event queue comes to it, and then there is no moment at
 * which a frame is late.
 *
 * <p>Constraint: a pause of the VM stops the thread of the clock too, so no time is taken from when that thread woke:
 * what was due when is computed from when it was asked for. Must not know what is in the window.
 */
package dev.lookback.workloads.desktop.frames;
