package dev.lookback.workloads.desktop.view;

import dev.lookback.workloads.desktop.mail.Vocabulary;
import java.awt.Color;
import java.awt.event.ActionEvent;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.swing.AbstractAction;
import javax.swing.JTextArea;
import javax.swing.KeyStroke;
import javax.swing.text.BadLocationException;
import javax.swing.text.DefaultHighlighter.DefaultHighlightPainter;
import javax.swing.undo.UndoManager;

/** The answer that is being written: every edit can be undone, and words that are not known are marked. */
final class ReplyEditor {
    private static final Pattern WORD = Pattern.compile("\\p{L}+");
    private static final DefaultHighlightPainter MARK =
            new DefaultHighlightPainter(new Color(0xFFD9D6));

    private final JTextArea area = new JTextArea();
    private final UndoManager undo = new UndoManager();
    private final Vocabulary vocabulary;
    private final Consumer<String> edited;

    /** An empty editor that tells its text after each edit. */
    ReplyEditor(Vocabulary vocabulary, Consumer<String> edited) {
        this.vocabulary = vocabulary;
        this.edited = edited;
        area.setName("reply");
        area.setFont(Palette.TEXT);
        area.setLineWrap(true);
        area.setWrapStyleWord(true);
        area.getCaret().setBlinkRate(0);
        undo.setLimit(-1);
        area.getDocument().addUndoableEditListener(undo);
        area.getDocument().addDocumentListener(new TextListener(this::changed));
        bind("control Z", () -> {
            if (undo.canUndo()) {
                undo.undo();
            }
        });
        bind("control Y", () -> {
            if (undo.canRedo()) {
                undo.redo();
            }
        });
    }

    JTextArea area() {
        return area;
    }

    private void changed() {
        String text = area.getText();
        area.getHighlighter().removeAllHighlights();
        Matcher words = WORD.matcher(text);
        while (words.find()) {
            if (!vocabulary.knows(words.group())) {
                mark(words.start(), words.end());
            }
        }
        edited.accept(text);
    }

    private void mark(int from, int to) {
        try {
            area.getHighlighter().addHighlight(from, to, MARK);
        } catch (BadLocationException e) {
            throw new IllegalStateException("a word of the text is not in the text", e);
        }
    }

    private void bind(String key, Runnable action) {
        area.getInputMap().put(KeyStroke.getKeyStroke(key), key);
        area.getActionMap().put(key, new AbstractAction() {
            private static final long serialVersionUID = 1L;

            @Override
            public void actionPerformed(ActionEvent event) {
                action.run();
            }
        });
    }
}
