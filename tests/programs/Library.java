// What a program calls that is not its own: code that is hot, and code that is cold.
//
// The constraint: a class has one kind of code or the other, and no method of it is trivial.

package org.acme.library;

/** See FirstStart. */
public final class Library {
    private Library() {}

    /** Called as often as can be. */
    public static final class Hot {
        private final int value;

        /** Compilers inline it before they compile it, and record nothing of that. */
        private Hot(int value) {
            this.value = value;
        }

        public static long sum(int n) {
            long sum = 0;
            int end = new Hot(n).value;
            for (int i = 0; i < end; i++) {
                sum += i;
            }
            return sum;
        }
    }

    /** Called once a second. */
    public static final class Cold {
        private Cold() {}

        public static long sum(int n) {
            long sum = 0;
            for (int i = 0; i < n; i++) {
                sum += i;
            }
            return sum;
        }
    }
}
