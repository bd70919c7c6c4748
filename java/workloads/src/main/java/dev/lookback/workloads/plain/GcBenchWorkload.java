package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;

/**
 * GCBench, the artificial collector benchmark of Ellis, Kovac and Boehm, written anew from its published
 * description: binary trees of growing depth are built top down and bottom up and dropped, while one long-lived
 * tree and one large array of doubles stay reachable. First a larger tree stretches the heap.
 *
 * <p>The cost is nearly all allocation and collection, with lifetimes from a few objects to the whole iteration.
 * For each depth the same number of nodes is allocated. An item is one depth, built one way, so that the
 * checksum does not depend on the threads.
 */
public final class GcBenchWorkload implements Workload {
    private static final int MIN_DEPTH = 4;
    /** Building ways: top down fills trees whose children are set later, bottom up never writes to an old object. */
    private static final int WAYS = 2;

    private final int stretchDepth;
    private final int maxDepth;
    private final int arrayLength;
    private final int rounds;
    private final Clients clients;

    /** A node of two references and two words, as in the description. */
    private static final class Node {
        private Node left;
        private Node right;
        private int i;
        private int j;

        Node() {
        }

        Node(Node left, Node right) {
            this.left = left;
            this.right = right;
        }
    }

    /** One thread unless the settings say otherwise. */
    public GcBenchWorkload(Settings settings) {
        this.stretchDepth = settings.size(16, 18);
        this.maxDepth = stretchDepth - 2;
        this.arrayLength = settings.size(125_000, 500_000);
        this.rounds = settings.size(5, 12);
        this.clients = new Clients("gcbench", settings.threadsOr(1));
    }

    @Override
    public long iterate() throws Exception {
        long stretched = count(bottomUp(stretchDepth));
        Node longLived = new Node();
        topDown(maxDepth, longLived);
        double[] array = new double[arrayLength];
        for (int i = 0; i < arrayLength / 2; i++) {
            array[i] = 1.0 / (i + 1);
        }
        int depths = (maxDepth - MIN_DEPTH) / 2 + 1;
        long sum = clients.sum(rounds * depths * WAYS, item -> {
            int depth = MIN_DEPTH + item / WAYS % depths * 2;
            return trees(depth, item % WAYS == 0);
        });
        return new Checksum().add(stretched).add(sum).add(count(longLived))
                .add(Double.doubleToLongBits(array[1_000])).value();
    }

    /** As many trees of this depth as have twice the nodes of the stretching one; returns their nodes. */
    private long trees(int depth, boolean topDown) {
        long nodes = 0;
        for (int n = 2 * size(stretchDepth) / size(depth); n > 0; n--) {
            if (topDown) {
                Node root = new Node();
                topDown(depth, root);
                nodes += root.left.i + size(depth);
            } else {
                nodes += bottomUp(depth).right.j + size(depth);
            }
        }
        return nodes;
    }

    private static void topDown(int depth, Node node) {
        if (depth > 0) {
            node.left = new Node();
            node.right = new Node();
            topDown(depth - 1, node.left);
            topDown(depth - 1, node.right);
        }
    }

    private static Node bottomUp(int depth) {
        return depth == 0 ? new Node() : new Node(bottomUp(depth - 1), bottomUp(depth - 1));
    }

    private static int size(int depth) {
        return (1 << (depth + 1)) - 1;
    }

    private static long count(Node node) {
        return node == null ? 0 : 1 + count(node.left) + count(node.right);
    }

    @Override
    public void close() {
        clients.close();
    }
}
