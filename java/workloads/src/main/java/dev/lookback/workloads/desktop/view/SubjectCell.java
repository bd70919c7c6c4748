package dev.lookback.workloads.desktop.view;

import dev.lookback.workloads.desktop.mail.Message;
import java.awt.Color;
import java.awt.Component;
import java.util.Locale;
import javax.swing.JTable;
import javax.swing.table.DefaultTableCellRenderer;

/**
 * Draws the subject and what the message begins with: HTML in a label, as Swing programs are wont to mix styles in a
 * cell. Each drawing parses it anew, which is a good part of what scrolling allocates.
 */
final class SubjectCell extends DefaultTableCellRenderer {
    private static final long serialVersionUID = 1L;

    private String marked = "";

    /** The text to be marked where it occurs in subjects, in lower case; empty for none. */
    void mark(String text) {
        marked = text;
    }

    @Override
    public Component getTableCellRendererComponent(JTable table, Object value, boolean isSelected, boolean hasFocus,
            int row, int column) {
        Message message = (Message) value;
        setFont(Palette.TEXT);
        setForeground(isSelected ? Color.WHITE : Color.BLACK);
        setBackground(isSelected ? Palette.ACCENT : row % 2 == 1 ? Palette.STRIPE : Color.WHITE);
        String faint = isSelected ? "#D8DCE3" : "#7A8290";
        setText("<html><nobr>" + subject(message.subject(), isSelected) + "&nbsp;&nbsp; <font color='" + faint + "'>"
                + escape(message.snippet()) + "</font></nobr></html>");
        return this;
    }

    private String subject(String subject, boolean isSelected) {
        int found = marked.isEmpty() || isSelected ? -1 : subject.toLowerCase(Locale.ROOT).indexOf(marked);
        if (found < 0) {
            return escape(subject);
        }
        int end = found + marked.length();
        return escape(subject.substring(0, found)) + "<span style='background-color: #FFE28A'>"
                + escape(subject.substring(found, end)) + "</span>" + escape(subject.substring(end));
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;");
    }
}
