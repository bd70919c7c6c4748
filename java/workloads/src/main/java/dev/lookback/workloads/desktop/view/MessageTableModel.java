package dev.lookback.workloads.desktop.view;

import dev.lookback.workloads.desktop.mail.Message;
import java.util.List;
import javax.swing.table.AbstractTableModel;

/** The messages that the list shows. */
final class MessageTableModel extends AbstractTableModel {
    private static final long serialVersionUID = 1L;
    static final int SENDER = 0;
    static final int SUBJECT = 1;
    static final int SENT = 2;
    private static final List<String> COLUMNS = List.of("From", "Subject", "Date");

    private transient List<Message> rows = List.of();

    void show(List<Message> messages) {
        rows = messages;
        fireTableDataChanged();
    }

    List<Message> rows() {
        return rows;
    }

    @Override
    public int getRowCount() {
        return rows.size();
    }

    @Override
    public int getColumnCount() {
        return COLUMNS.size();
    }

    @Override
    public String getColumnName(int column) {
        return COLUMNS.get(column);
    }

    @Override
    public Object getValueAt(int row, int column) {
        return rows.get(row);
    }
}
