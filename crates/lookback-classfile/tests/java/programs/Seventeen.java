// A program of Java 17: records, sealed types, nest mates, indy string concatenation, patterns.
//
// Constraint: prints the same on every run.

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;

public class Seventeen {
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER})
    @interface Odd { String[] value() default {}; }

    sealed interface Expr permits Num, Add, Mul, Neg {
        private int depth() { return 1; }
        static int depthOf(Expr e) { return e.depth(); }
    }

    record Num(int value) implements Expr {
        Num { if (value > 1000) { throw new IllegalArgumentException("too big: " + value); } }
    }

    record Add(Expr left, Expr right) implements Expr { Add(int a, int b) { this(new Num(a), b > 0 ? new Num(b) : new Neg(new Num(-b))); } }

    record Mul(Expr left, Expr right) implements Expr { }

    record Neg(Expr inner) implements Expr { }

    static int eval(Expr e) {
        if (e instanceof Num n) { return n.value(); }
        if (e instanceof Add a && a.left() instanceof Num n && n.value() == 0) { return eval(a.right()); }
        if (e instanceof Add a) { return eval(a.left()) + eval(a.right()); }
        if (e instanceof Mul m) { return eval(m.left()) * eval(m.right()); }
        return -eval(((Neg) e).inner());
    }

    static String kind(int n) {
        return switch (n % 4) {
            case 0 -> "zero";
            case 1, 2 -> { try { yield "few" + 10 / (n - 1); } catch (ArithmeticException e) { yield "caught"; } }
            default -> throw new IllegalStateException("n=" + n);
        };
    }

    private int secret = 42;

    class Nested { private int peek() { return secret++ + Seventeen.this.secret; } }

    static <@Odd T> List<@Odd("list") T> annotated(Object o) throws @Odd Exception {
        @Odd("local") List<@Odd T> list = new @Odd("new") ArrayList<@Odd T>();
        try {
            @SuppressWarnings("unchecked") T t = (@Odd("cast") T) o;
            if (o instanceof @Odd("instance") String) { list.add(t); return list; }
            list.add(null);
        } catch (@Odd("first") ClassCastException e) {
            return null;
        } catch (@Odd("second") RuntimeException e) {
            throw e;
        } finally {
            list.remove(o == null ? null : "no");
        }
        return list;
    }

    public static void main(String[] args) throws Exception {
        Expr e = new Add(new Mul(new Num(6), new Num(7)), new Add(0, -5));
        System.out.println(e + " = " + eval(e) + " " + e.hashCode() + " " + e.equals(new Num(1)) + Expr.depthOf(e));
        for (int i = 0; i < 4; i++) {
            try {
                System.out.println(kind(i));
            } catch (IllegalStateException x) {
                System.out.println(x.getMessage() + " line " + x.getStackTrace()[0].getLineNumber());
            }
        }
        try {
            new Num(1001);
        } catch (IllegalArgumentException x) {
            System.out.println(x.getMessage() + " line " + x.getStackTrace()[0].getLineNumber());
        }
        System.out.println(new Seventeen().new Nested().peek());
        System.out.println(annotated("x") + " " + annotated(1));
        var text = """
            block %s
            """.formatted(List.of(1, 2L, 3.0));
        System.out.print(text);
    }
}
