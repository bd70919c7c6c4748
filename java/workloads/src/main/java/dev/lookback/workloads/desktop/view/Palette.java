package dev.lookback.workloads.desktop.view;

import java.awt.Color;
import java.awt.Font;

/** Colours and fonts of the window. */
final class Palette {
    static final Color ACCENT = new Color(0x2F6FDE);
    static final Color FAINT = new Color(0x7A8290);
    static final Color LINE = new Color(0xD8DCE3);
    static final Color QUOTE = new Color(0x52708C);
    static final Color STRIPE = new Color(0xF5F7FA);
    static final Color WRONG = new Color(0xD6453D);
    static final Font TEXT = new Font(Font.SANS_SERIF, Font.PLAIN, 13);
    static final Font STRONG = TEXT.deriveFont(Font.BOLD);
    static final Font SMALL = TEXT.deriveFont(11f);

    private Palette() {
    }

    /** A colour for a name, the same for the same name. */
    static Color of(String name) {
        return Color.getHSBColor((name.hashCode() & 0xffff) / 65_536f, 0.55f, 0.75f);
    }
}
