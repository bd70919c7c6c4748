// Trace points that do nothing, for verification only.
//
// Constraint: called from every method of java.base, the ones that start the JVM included, so
// they must not call anything.

package java.lang;

public final class LookbackTracePoint {
    private LookbackTracePoint() {
    }

    public static void enter(int id) {
    }

    public static void exit(int id) {
    }

    public static int exit(int value, int id) {
        return value;
    }

    public static long exit(long value, int id) {
        return value;
    }

    public static float exit(float value, int id) {
        return value;
    }

    public static double exit(double value, int id) {
        return value;
    }

    public static void unwind(int id) {
    }

    public static void enterTimed(int id) {
    }

    public static void exitTimed(int id) {
    }

    public static void enterPrecise(int id) {
    }

    public static void exitPrecise(int id) {
    }

    public static void enterWatched(int id, int rule) {
    }

    public static void exitWatched(int id, int rule) {
    }
}
