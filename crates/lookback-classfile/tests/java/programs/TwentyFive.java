// A program of Java 25: constructors with statements before super(...) and this(...).
//
// Constraint: prints the same on every run.

public class TwentyFive {
    static class Base {
        final int value;
        Base(int value) { this.value = value; hook(); }
        void hook() { }
    }

    static class Careful extends Base {
        final String name;
        Careful(String s) {
            int parsed;
            try {
                parsed = Integer.parseInt(s);
            } catch (NumberFormatException e) {
                parsed = -1;
            }
            for (int i = 0; i < 3; i++) { parsed += i; }
            while (parsed > 100) { parsed /= 2; }
            name = s;
            if (parsed == 13) { throw new IllegalArgumentException("unlucky " + s); }
            super(switch (parsed % 3) { case 0 -> parsed; case 1 -> parsed > 4 ? 4 : 1; default -> new Base(parsed).value; });
            try { if (value == 2) { return; } System.out.println("built " + name); } finally { System.out.println("done " + value); }
        }
        Careful(int n) { var text = n > 5 ? "many" : String.valueOf(n); this(text); System.out.println("int " + n); }
        @Override void hook() { System.out.println("hook sees " + name); }
    }

    public static void main(String[] args) {
        for (String s : new String[] {"1", "x", "10", "5000", "7"}) {
            try {
                System.out.println(s + " -> " + new Careful(s).value);
            } catch (IllegalArgumentException e) {
                System.out.println(e.getMessage() + " line " + e.getStackTrace()[0].getLineNumber());
            }
        }
        System.out.println(new Careful(3).value + new Careful(9).value);
    }
}
