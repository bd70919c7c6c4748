// A recursion that is deeper than what a tracer may hold of one thread, and calls before and after it.

/** Usage: Deep DEPTH. Runs in a thread called "deep", which asks for a large stack. */
final class Deep {
    private static final long STACK = 1L << 30;

    private Deep() {}

    public static void main(String[] args) throws Exception {
        int depth = Integer.parseInt(args[0]);
        long[] result = new long[1];
        Thread thread = new Thread(null, () -> result[0] = play(depth), "deep", STACK);
        thread.start();
        thread.join();
        System.out.println("result " + result[0]);
    }

    static long play(int depth) {
        long sum = 0;
        for (int i = 0; i < 100; i++) {
            sum += before(i);
        }
        sum += down(depth);
        for (int i = 0; i < 5_000; i++) {
            sum += i % 2 == 0 ? after(i) : other(i);
        }
        return sum;
    }

    private static long before(int i) {
        return i;
    }

    private static long down(int depth) {
        return depth == 0 ? 1 : 1 + down(depth - 1);
    }

    private static long after(int i) {
        return i;
    }

    private static long other(int i) {
        return -i;
    }
}
