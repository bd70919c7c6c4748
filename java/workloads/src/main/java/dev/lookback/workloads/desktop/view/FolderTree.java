package dev.lookback.workloads.desktop.view;

import dev.lookback.workloads.desktop.mail.Archive;
import java.util.function.IntConsumer;
import javax.swing.JTree;
import javax.swing.tree.DefaultMutableTreeNode;
import javax.swing.tree.TreeSelectionModel;

/** The folders; the first row stands for all of them. */
final class FolderTree {
    private static final int ROW_HEIGHT = 26;

    private FolderTree() {
    }

    /** A tree that tells the folder that was chosen: its index, or {@link Archive#EVERYTHING}. */
    static JTree create(IntConsumer chosen) {
        DefaultMutableTreeNode root = new DefaultMutableTreeNode("All letters");
        Archive.FOLDERS.forEach(name -> root.add(new DefaultMutableTreeNode(name)));
        JTree tree = new JTree(root);
        tree.setName("folders");
        tree.setRowHeight(ROW_HEIGHT);
        tree.setToggleClickCount(0);
        tree.getSelectionModel().setSelectionMode(TreeSelectionModel.SINGLE_TREE_SELECTION);
        tree.setSelectionRow(0);
        tree.addTreeSelectionListener(event -> {
            if (tree.getSelectionCount() > 0) {
                chosen.accept(tree.getMinSelectionRow() + Archive.EVERYTHING);
            }
        });
        return tree;
    }
}
