package dev.lookback.torture;

/**
 * All ways to leave a method, with results and arguments of each kind: what code that is put where methods are entered and left
 * gets wrong first.
 */
final class Exits {
    private Exits() {}

    /** Results in each register that they may be in, through frames enough that some call's trace point has more to do. */
    static long results(int depth) {
        return anInt(depth)
                + aLong(depth)
                + (long) aFloat(depth)
                + (long) aDouble(depth)
                + ((int[]) anObject(depth, new int[] {depth}))[0]
                + (aBoolean(depth) ? 1 : 0)
                + many(depth, 2, 3f, 4d, 5, 6, 7f, 8d, 9, 10, 11f, 12d, "13", 14);
    }

    private static int anInt(int depth) {
        return depth == 0 ? 3 : anInt(depth - 1) + depth;
    }

    private static long aLong(int depth) {
        return depth == 0 ? 1L << 40 : aLong(depth - 1) + depth;
    }

    private static float aFloat(int depth) {
        return depth == 0 ? 0.5f : aFloat(depth - 1) + 2;
    }

    private static double aDouble(int depth) {
        return depth == 0 ? 0.25 : aDouble(depth - 1) + 4;
    }

    private static Object anObject(int depth, Object object) {
        return depth == 0 ? object : anObject(depth - 1, object);
    }

    private static boolean aBoolean(int depth) {
        return depth == 0 || !aBoolean(depth - 1);
    }

    private static long many(
            int depth, int a, float b, double c, long d, int e, float f, double g, long h, int i, float j, double k, Object l,
            long m) {
        return depth == 0
                ? (long) (a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + m)
                        + l.hashCode()
                : many(depth - 1, a, b, c, d, e, f, g, h, i, j, k, l, m) + depth;
    }

    /** Native methods, compiled ones' wrappers among them. */
    static long natives(int turns) {
        long sum = 0;
        for (int i = 0; i < turns; i++) {
            sum += Native.locked(i);
            sum += (long) Native.mixed(1, 2, 3, 4, 5, 6, 7, 8, 9, i);
            sum += thrownBy(i);
        }
        return sum;
    }

    private static final RuntimeException AWAY = new RuntimeException(null, null, false, false) {
        private static final long serialVersionUID = 1L;
    };

    private static long thrownBy(int i) {
        try {
            Native.thrown(AWAY);
            return 0;
        } catch (RuntimeException e) {
            return e == AWAY ? i : -1;
        }
    }

    /** Exceptions out of methods that hold locks, by instructions that find something wrong, and caught half-way. */
    static long locked(int depth) {
        long sum = 0;
        for (int i = 0; i < 50; i++) {
            try {
                sum += held(depth, i % 5, new int[3]);
            } catch (ArithmeticException | ArrayIndexOutOfBoundsException | NullPointerException e) {
                sum += 7;
            }
        }
        return sum;
    }

    private static synchronized long held(int depth, int fault, int[] array) {
        if (depth > 0) {
            try {
                return held(depth - 1, fault, array) + 1;
            } catch (ClassCastException e) {
                return 5;
            }
        }
        switch (fault) {
            case 0:
                return 10 / array[0];
            case 1:
                return array[depth + 3];
            case 2:
                return ((int[]) (Object) array.getClass().getComponentType().getEnclosingClass().getSigners()).length;
            case 3:
                return ((Object) array).hashCode() == 0 ? 1 : ((String) (Object) array).length();
            default:
                return 11;
        }
    }

    /** A stack that overflows, in a thread with a small one. */
    static long overflow() throws InterruptedException {
        long[] sum = new long[1];
        Thread thread = new Thread(null, () -> {
            for (int i = 0; i < 5; i++) {
                try {
                    sum[0] += bottomless(1);
                } catch (StackOverflowError e) {
                    sum[0]++;
                }
            }
        }, "overflow", 4 << 20);
        thread.start();
        thread.join();
        return sum[0];
    }

    private static long bottomless(long depth) {
        return bottomless(depth + 1) + 1;
    }
}
