package dev.lookback.workloads;

/** The smallest program: its process is a start and an end, which is what the cost of a start is measured on. */
public final class Hello {
    private Hello() {
    }

    /** Prints one line. */
    public static void main(String[] args) {
        System.out.println("hello");
    }
}
