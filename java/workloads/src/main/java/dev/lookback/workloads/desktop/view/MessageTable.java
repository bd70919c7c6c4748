package dev.lookback.workloads.desktop.view;

import dev.lookback.workloads.desktop.mail.Message;
import java.util.List;
import java.util.function.Consumer;
import javax.swing.BorderFactory;
import javax.swing.JScrollPane;
import javax.swing.JTable;
import javax.swing.JViewport;
import javax.swing.ListSelectionModel;
import javax.swing.table.TableColumnModel;

/** The list of messages. */
final class MessageTable {
    /** Fixed, so that the same turns of the wheel lead to the same row whatever the fonts. */
    private static final int ROW_HEIGHT = 24;
    private static final int[] WIDTHS = {190, 560, 150};

    private final MessageTableModel model = new MessageTableModel();
    private final SubjectCell subject = new SubjectCell();
    private final JTable table = new JTable(model);
    private final JScrollPane scroll = new JScrollPane(table);

    /** A list that tells which message was selected. */
    MessageTable(Consumer<Message> opened) {
        table.setName("list");
        table.setRowHeight(ROW_HEIGHT);
        table.setSelectionMode(ListSelectionModel.SINGLE_SELECTION);
        table.setShowGrid(false);
        table.setFillsViewportHeight(true);
        table.setDefaultRenderer(Object.class, new MessageCell());
        TableColumnModel columns = table.getColumnModel();
        for (int i = 0; i < WIDTHS.length; i++) {
            columns.getColumn(i).setPreferredWidth(WIDTHS[i]);
        }
        columns.getColumn(MessageTableModel.SUBJECT).setCellRenderer(subject);
        scroll.getViewport().setScrollMode(JViewport.SIMPLE_SCROLL_MODE);
        scroll.setBorder(BorderFactory.createLineBorder(Palette.LINE));
        table.getSelectionModel().addListSelectionListener(event -> {
            int row = table.getSelectedRow();
            if (!event.getValueIsAdjusting() && row >= 0) {
                opened.accept(model.rows().get(row));
            }
        });
    }

    JTable table() {
        return table;
    }

    JScrollPane component() {
        return scroll;
    }

    List<Message> rows() {
        return model.rows();
    }

    /** The first row that can be seen. */
    int firstVisible() {
        return scroll.getViewport().getViewPosition().y / ROW_HEIGHT;
    }

    /** Shows these from the first on, with none selected, and marks the text in them. */
    void show(List<Message> messages, String text) {
        subject.mark(text);
        model.show(messages);
        table.clearSelection();
        scroll.getVerticalScrollBar().setValue(0);
    }
}
