package dev.lookback.workloads.desktop.view;

import dev.lookback.workloads.desktop.mail.Message;
import java.awt.Color;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import javax.swing.text.AttributeSet;
import javax.swing.text.BadLocationException;
import javax.swing.text.DefaultStyledDocument;
import javax.swing.text.Style;
import javax.swing.text.StyleConstants;
import javax.swing.text.StyledDocument;

/** Sets a conversation as a styled document. */
final class DocumentWriter {
    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("EEEE, d MMMM yyyy, HH:mm", Locale.ENGLISH);
    private static final int INDENT = 18;

    private final StyledDocument document = new DefaultStyledDocument();
    private final Style plain = style("plain", null, 13, Color.BLACK);
    private final Style title = style("title", plain, 19, Color.BLACK);
    private final Style sender = style("sender", plain, 13, Palette.ACCENT);
    private final Style small = style("small", plain, 11, Palette.FAINT);
    private final Style strong = style("strong", plain, 13, Color.BLACK);
    private final Style emphasis = style("emphasis", plain, 13, Palette.QUOTE);
    private final Style quote = style("quote", plain, 12, Palette.QUOTE);

    private DocumentWriter() {
        StyleConstants.setBold(title, true);
        StyleConstants.setBold(sender, true);
        StyleConstants.setBold(strong, true);
        StyleConstants.setItalic(emphasis, true);
        StyleConstants.setSpaceBelow(plain, 7);
        StyleConstants.setLeftIndent(quote, INDENT);
    }

    /** The document of these messages, newest first. */
    static StyledDocument write(List<Message> conversation) {
        DocumentWriter writer = new DocumentWriter();
        try {
            writer.line(conversation.get(0).subject(), writer.title);
            for (Message message : conversation) {
                writer.message(message);
            }
        } catch (BadLocationException e) {
            throw new IllegalStateException("text is appended at the end, and the end is not there", e);
        }
        return writer.document;
    }

    private void message(Message message) throws BadLocationException {
        line(message.sender(), sender);
        line(DATE.format(message.sent()), small);
        for (String paragraph : message.body()) {
            if (paragraph.startsWith("> ")) {
                line(paragraph.substring(2), quote);
            } else {
                marked(paragraph);
            }
        }
    }

    /** Appends a paragraph whose marks become styles. */
    private void marked(String paragraph) throws BadLocationException {
        int from = 0;
        for (int i = 0; i < paragraph.length(); i++) {
            char mark = paragraph.charAt(i);
            if (mark == '*' || mark == '_') {
                int end = paragraph.indexOf(mark, i + 1);
                append(paragraph.substring(from, i), plain);
                append(paragraph.substring(i + 1, end), mark == '*' ? strong : emphasis);
                i = end;
                from = end + 1;
            }
        }
        line(paragraph.substring(from), plain);
    }

    private void line(String text, AttributeSet style) throws BadLocationException {
        int start = document.getLength();
        append(text + "\n", style);
        document.setParagraphAttributes(start, text.length(), style, false);
    }

    private void append(String text, AttributeSet style) throws BadLocationException {
        document.insertString(document.getLength(), text, style);
    }

    private Style style(String name, Style parent, int size, Color color) {
        Style style = document.addStyle(name, parent);
        StyleConstants.setFontFamily(style, Palette.TEXT.getFamily());
        StyleConstants.setFontSize(style, size);
        StyleConstants.setForeground(style, color);
        return style;
    }
}
