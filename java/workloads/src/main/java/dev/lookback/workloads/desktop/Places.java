package dev.lookback.workloads.desktop;

import dev.lookback.workloads.desktop.view.MailWindow;
import java.awt.Component;
import java.awt.Container;
import java.awt.Rectangle;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import javax.swing.JComponent;
import javax.swing.JSplitPane;
import javax.swing.JTable;
import javax.swing.JTree;
import javax.swing.plaf.basic.BasicSplitPaneDivider;

/**
 * Where on the screen a part of the window is, for a driver that has nothing but a mouse: what a driver of real
 * applications asks the accessibility service for.
 */
final class Places {
    private Places() {
    }

    /**
     * The visible part of what has this name: a component, {@code NAME/ROW} for a row of a list or tree,
     * {@code NAME/divider} for the divider of a split pane.
     */
    static Optional<Rectangle> find(MailWindow window, String name) {
        String[] parts = name.split("/", 2);
        return component(window.frame(), parts[0])
                .flatMap(found -> parts.length == 1 ? visible(found, all(found)) : part(found, parts[1]));
    }

    private static Optional<Component> component(Container in, String name) {
        if (Objects.equals(in.getName(), name)) {
            return Optional.of(in);
        }
        return Arrays.stream(in.getComponents())
                .filter(Container.class::isInstance)
                .map(child -> component((Container) child, name))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static Optional<Rectangle> part(Component component, String part) {
        if (component instanceof JSplitPane split) {
            return Arrays.stream(split.getComponents()).filter(BasicSplitPaneDivider.class::isInstance).findFirst()
                    .flatMap(divider -> visible(divider, all(divider)));
        }
        int row = Integer.parseInt(part);
        if (component instanceof JTable table) {
            return row < table.getRowCount() ? visible(table, table.getCellRect(row, 0, true)) : Optional.empty();
        }
        return component instanceof JTree tree && row < tree.getRowCount()
                ? visible(tree, tree.getRowBounds(row)) : Optional.empty();
    }

    private static Rectangle all(Component component) {
        return new Rectangle(component.getSize());
    }

    /** The part of it that no ancestor hides, on the screen; none if all is hidden. */
    private static Optional<Rectangle> visible(Component component, Rectangle area) {
        Rectangle seen = component instanceof JComponent swing
                ? area.intersection(swing.getVisibleRect()) : area;
        if (seen.isEmpty() || !component.isShowing()) {
            return Optional.empty();
        }
        seen.translate(component.getLocationOnScreen().x, component.getLocationOnScreen().y);
        return Optional.of(seen);
    }
}
