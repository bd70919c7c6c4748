package dev.lookback.workloads.desktop.view;

import javax.swing.event.DocumentEvent;
import javax.swing.event.DocumentListener;

/** Does the same whenever a text changes; a plain text has no attributes that could. */
record TextListener(Runnable changed) implements DocumentListener {
    @Override
    public void insertUpdate(DocumentEvent event) {
        changed.run();
    }

    @Override
    public void removeUpdate(DocumentEvent event) {
        changed.run();
    }

    @Override
    public void changedUpdate(DocumentEvent event) {
        // Of attributes.
    }
}
