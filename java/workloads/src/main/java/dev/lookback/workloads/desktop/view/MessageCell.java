package dev.lookback.workloads.desktop.view;

import dev.lookback.workloads.desktop.mail.Message;
import java.awt.Color;
import java.awt.Component;
import java.awt.Font;
import java.awt.FontMetrics;
import java.awt.Graphics;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Ellipse2D;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import javax.swing.JComponent;
import javax.swing.JTable;
import javax.swing.table.TableCellRenderer;

/** Draws a cell of the list: the sender with a badge, or the date. */
final class MessageCell extends JComponent implements TableCellRenderer {
    private static final long serialVersionUID = 1L;
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("d MMM yyyy  HH:mm", Locale.ROOT);
    private static final int BADGE = 18;
    private static final int GAP = 6;

    private transient Message message;
    private int column;
    private boolean selected;
    private boolean striped;

    @Override
    public Component getTableCellRendererComponent(JTable table, Object value, boolean isSelected, boolean hasFocus,
            int row, int columnOfView) {
        message = (Message) value;
        column = columnOfView;
        selected = isSelected;
        striped = row % 2 == 1;
        return this;
    }

    @Override
    protected void paintComponent(Graphics graphics) {
        Graphics2D g = (Graphics2D) graphics.create();
        g.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        g.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        g.setColor(selected ? Palette.ACCENT : striped ? Palette.STRIPE : Color.WHITE);
        g.fillRect(0, 0, getWidth(), getHeight());
        if (column == MessageTableModel.SENDER) {
            sender(g);
        } else {
            text(g, Palette.SMALL, DATE.format(message.sent()), GAP, selected ? Color.WHITE : Palette.FAINT);
        }
        g.dispose();
    }

    private void sender(Graphics2D g) {
        int top = (getHeight() - BADGE) / 2;
        g.setColor(Palette.of(message.sender()));
        g.fill(new Ellipse2D.Float(GAP, top, BADGE, BADGE));
        String[] names = message.sender().split(" ");
        String initials = names[0].substring(0, 1) + names[1].charAt(0);
        int width = g.getFontMetrics(Palette.SMALL).stringWidth(initials);
        text(g, Palette.SMALL, initials, GAP + (BADGE - width) / 2, Color.WHITE);
        text(g, Palette.STRONG, message.sender(), 2 * GAP + BADGE, selected ? Color.WHITE : Color.BLACK);
    }

    /** Draws the text in the middle of the height, cut with an ellipsis to fit. */
    private void text(Graphics2D g, Font font, String text, int x, Color color) {
        g.setFont(font);
        g.setColor(color);
        FontMetrics metrics = g.getFontMetrics();
        String fitting = text;
        int length = text.length();
        while (length > 0 && x + metrics.stringWidth(fitting) > getWidth()) {
            // A quarter at a time: measuring is what costs.
            length -= Math.max(1, length / 4);
            fitting = text.substring(0, length) + "\u2026";
        }
        g.drawString(fitting, x, (getHeight() + metrics.getAscent() - metrics.getDescent()) / 2);
    }
}
