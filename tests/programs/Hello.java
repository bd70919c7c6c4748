// The smallest program.

/** Says hello. */
final class Hello {
    private Hello() {}

    public static void main(String[] args) {
        System.out.println("hello world");
    }
}
