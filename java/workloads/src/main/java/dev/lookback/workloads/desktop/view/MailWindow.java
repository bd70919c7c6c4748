package dev.lookback.workloads.desktop.view;

import dev.lookback.workloads.desktop.mail.Archive;
import dev.lookback.workloads.desktop.mail.Message;
import dev.lookback.workloads.desktop.mail.Vocabulary;
import java.awt.BorderLayout;
import java.awt.Color;
import java.awt.Component;
import java.awt.Dimension;
import java.awt.event.ActionEvent;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import javax.swing.AbstractAction;
import javax.swing.BorderFactory;
import javax.swing.JComponent;
import javax.swing.JFrame;
import javax.swing.JLabel;
import javax.swing.JMenu;
import javax.swing.JMenuBar;
import javax.swing.JPanel;
import javax.swing.JScrollPane;
import javax.swing.JSplitPane;
import javax.swing.JTextField;
import javax.swing.JTextPane;
import javax.swing.JTree;
import javax.swing.JViewport;
import javax.swing.KeyStroke;

/**
 * A mail program's window: folders, a list with incremental search, the conversation with its pictures, an answer.
 *
 * <p>Belongs to the event dispatch thread.
 */
public final class MailWindow {
    private static final int WIDTH = 1_200;
    private static final int HEIGHT = 780;
    /** Words that the editor knows come from so many messages. */
    private static final int LEARNT = 200;

    private final Archive archive;
    private final Journal journal;
    private final Runnable glide;
    private final JFrame frame = new JFrame("Letters");
    private final MessageTable list = new MessageTable(this::open);
    private final JTree folders = FolderTree.create(folder -> search());
    private final JTextField search = new JTextField(24);
    private final JTextPane document = new JTextPane();
    private final JScrollPane documentScroll = new JScrollPane(document);
    private final PictureStrip pictures = new PictureStrip();
    private final ActivityChart chart = new ActivityChart();
    private final ReplyEditor reply;
    private final JLabel count = new JLabel();
    private final JLabel status = new JLabel(" ");

    /** The motion of a chart: advances to a time and tells whether it goes on. */
    @FunctionalInterface
    public interface ChartMotion {
        /** Advances to {@code now}, nanoseconds. */
        boolean advance(long now);
    }

    /**
     * The window, not yet shown.
     *
     * @param animator advances a motion with each frame until it ends; the same motion may be given again meanwhile
     */
    public MailWindow(Archive archive, Journal journal, Consumer<ChartMotion> animator) {
        this.archive = archive;
        this.journal = journal;
        ChartMotion motion = chart::advance;
        this.glide = () -> animator.accept(motion);
        this.reply = new ReplyEditor(new Vocabulary(archive, LEARNT), journal::edited);
        list.component().getViewport().addChangeListener(event -> {
            double rows = Math.max(1, list.rows().size());
            int seen = list.component().getViewport().getHeight() / list.table().getRowHeight();
            chart.window(list.firstVisible() / rows, Math.min(1, (list.firstVisible() + seen) / rows));
            glide.run();
        });
        search.setName("search");
        search.getCaret().setBlinkRate(0);
        search.getDocument().addDocumentListener(new TextListener(this::search));
        search.getInputMap().put(KeyStroke.getKeyStroke("ESCAPE"), "clear");
        search.getActionMap().put("clear", new AbstractAction() {
            private static final long serialVersionUID = 1L;

            @Override
            public void actionPerformed(ActionEvent event) {
                search.setText("");
            }
        });
        document.setName("document");
        document.setEditable(false);
        document.getCaret().setBlinkRate(0);
        documentScroll.getViewport().setScrollMode(JViewport.SIMPLE_SCROLL_MODE);
        build();
    }

    /** Shows it, with the first message open. */
    public void show() {
        frame.setVisible(true);
        search();
        list.table().setRowSelectionInterval(0, 0);
        list.table().requestFocusInWindow();
    }

    /** The window itself. */
    public JFrame frame() {
        return frame;
    }

    /** The list, whose rows are found by their numbers. */
    public JComponent list() {
        return list.table();
    }

    /** Whether something is still to come without anybody doing anything. */
    public boolean isBusy() {
        return pictures.isReading();
    }

    /** What the user would say is there: folder, search, messages found, the one selected, the answer. */
    public String state() {
        int row = list.table().getSelectedRow();
        String selected = row < 0 ? "none" : Integer.toString(list.rows().get(row).id());
        return "folder " + folders.getMinSelectionRow() + " search '" + search.getText() + "' rows "
                + list.rows().size() + " top " + list.firstVisible() + " selected " + selected + " reply '"
                + reply.area().getText() + "'";
    }

    private void open(Message message) {
        journal.opened(message.id());
        List<Message> conversation = archive.conversation(message);
        document.setDocument(DocumentWriter.write(conversation));
        document.setCaretPosition(0);
        pictures.show(conversation.stream().flatMap(m -> m.pictures().stream()).distinct().toList());
        status.setText(message.subject() + "  \u2013  " + conversation.size() + " in this conversation");
    }

    private void search() {
        String text = search.getText();
        List<Message> found = archive.find(folders.getMinSelectionRow() + Archive.EVERYTHING, text);
        journal.searched(text, found.size());
        list.show(found, text.strip().toLowerCase(Locale.ROOT));
        count.setText(String.format(Locale.ROOT, "%,d letters", found.size()));
        chart.show(Archive.activity(found, ActivityChart.BUCKETS));
        glide.run();
    }

    private void build() {
        JPanel top = new JPanel(new BorderLayout(12, 0));
        top.setBorder(BorderFactory.createEmptyBorder(6, 10, 6, 10));
        JLabel title = new JLabel("Letters");
        title.setFont(Palette.STRONG.deriveFont(17f));
        top.add(title, BorderLayout.WEST);
        JPanel field = new JPanel();
        field.add(new JLabel("Search"));
        field.add(search);
        top.add(field, BorderLayout.EAST);
        count.setForeground(Palette.FAINT);
        top.add(count, BorderLayout.CENTER);

        JPanel side = new JPanel(new BorderLayout());
        side.add(new JScrollPane(folders), BorderLayout.CENTER);
        chart.setBorder(BorderFactory.createLineBorder(Palette.LINE));
        side.add(chart, BorderLayout.SOUTH);

        JScrollPane answer = new JScrollPane(reply.area());
        answer.setBorder(BorderFactory.createTitledBorder("Answer"));
        answer.setPreferredSize(new Dimension(200, 110));
        document.setBackground(Color.WHITE);
        JPanel reading = new JPanel(new BorderLayout());
        reading.add(documentScroll, BorderLayout.CENTER);
        reading.add(answer, BorderLayout.SOUTH);
        JScrollPane strip = new JScrollPane(pictures);
        strip.getViewport().setScrollMode(JViewport.SIMPLE_SCROLL_MODE);
        strip.setPreferredSize(new Dimension(166, 200));
        reading.add(strip, BorderLayout.EAST);

        JSplitPane messages = split(JSplitPane.VERTICAL_SPLIT, list.component(), reading, 290);
        JSplitPane all = split(JSplitPane.HORIZONTAL_SPLIT, side, messages, 220);
        all.setName("columns");

        JPanel bottom = new JPanel(new BorderLayout());
        bottom.setBorder(BorderFactory.createEmptyBorder(2, 10, 2, 2));
        status.setFont(Palette.SMALL);
        bottom.add(status, BorderLayout.CENTER);
        bottom.add(new SizeGrip(), BorderLayout.EAST);

        JMenuBar menus = new JMenuBar();
        for (String name : List.of("File", "Edit", "View", "Letter", "Help")) {
            menus.add(new JMenu(name));
        }
        frame.setJMenuBar(menus);
        frame.add(top, BorderLayout.NORTH);
        frame.add(all, BorderLayout.CENTER);
        frame.add(bottom, BorderLayout.SOUTH);
        frame.setUndecorated(true);
        frame.setBounds(0, 0, WIDTH, HEIGHT);
    }

    private static JSplitPane split(int orientation, Component first, Component second, int divider) {
        JSplitPane split = new JSplitPane(orientation, true, first, second);
        split.setDividerLocation(divider);
        return split;
    }
}
