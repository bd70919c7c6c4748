package dev.lookback.workloads.calltree.expect;

import dev.lookback.workloads.calltree.expect.Method.Body;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The traced methods as they are meant to behave, written down a second time, independent of their code. */
public final class Methods {
    /** The package of the traced classes. */
    public static final String PACKAGE = "dev.lookback.workloads.calltree.traced";
    /** Where every thread starts. */
    static final String ROOT = "Root.run";
    /** The exception's constructor: a leaf, whose result is not its constant but its mark. */
    static final String SIGNAL = "Signal.<init>";
    /** The one method that the planner makes long chains of. */
    static final String DEEP = "Recursion.deep";
    /** A constructor whose helper is its super constructor. */
    static final String SUBCLASS_CONSTRUCTOR = "Leaf.<init>";

    private static final Map<String, Method> BY_NAME = new LinkedHashMap<>();

    static {
        for (Method method : rows(
                catchEach("Root.run", 1).calls("Recursion.direct", "Makers.make", "Blocks.catching"),
                walk("Recursion.direct", 2).calls("Recursion.direct", "Recursion.deep", "Mutual.ping"),
                walk("Recursion.deep", 3).calls("Recursion.deep", "Recursion.deep", "Blocks.catchingOnce"),
                prefix("Recursion.viaReference", 4, "Recursion.deep")
                        .calls("Mutual.pang", "Descriptors.real", "Walker.start"),
                walk("Mutual.ping", 5).calls("Mutual.pong", "Descriptors.wide", "Recursion.direct"),
                walk("Mutual.pong", 6).calls("Mutual.pang", "Mutual.ping", "Blocks.withFinally"),
                walk("Mutual.pang", 7).calls("Mutual.ping", "Lambdas.inline", "Blocks.rethrowing"),
                catchEach("Blocks.catching", 8).calls("Recursion.deep", "Blocks.withResource", "Circle.area"),
                catchOnce("Blocks.catchingOnce", 9).calls("Mutual.pong", "Blocks.rethrowing", "Leaf.<init>"),
                finallyCall("Blocks.withFinally", 10, "Blocks.cleanup")
                        .calls("Blocks.catching", "Node.<init>", "Monitored.enter"),
                walk("Blocks.cleanup", 11).calls("Contended.update", "Pair.visit", "Operation$1.apply"),
                finallyCall("Blocks.carefulFinally", 12, "Blocks.careful")
                        .calls("Mutual.ping", "Descriptors.boxed", "Square.area"),
                catchEach("Blocks.careful", 13).calls("Recursion.viaReference", "Walker.walk", "Anonymous$1.run"),
                rethrow("Blocks.rethrowing", 14).calls("Blocks.catchingOnce", "Captures.capture", "Monitored.block"),
                resource("Blocks.withResource", 15, "Resource.<init>", "Resource.close")
                        .calls("Mutual.pang", "Descriptors.array", "Blocks.carefulFinally"),
                walk("Resource.<init>", 16).calls("Contended.update", "Operation$2.apply", "Recursion.direct"),
                leaf("Resource.close", 17),
                walk("Makers.make", 18).calls("Node.<init>", "Leaf.<init>", "Monitored.guarded"),
                walk("Node.<init>", 19).calls("Recursion.direct", "Jumper.walk", "Blocks.withFinally"),
                prefix("Leaf.<init>", 20, "Node.<init>")
                        .calls("Mutual.pong", "Blocks.catching", "Descriptors.viaVoid"),
                walk("Monitored.enter", 21).calls("Monitored.again", "Mutual.pang", "Blocks.catchingOnce"),
                walk("Monitored.again", 22).calls("Monitored.block", "Monitored.enter", "Lambdas.inline"),
                walk("Monitored.block", 23).calls("Recursion.deep", "Monitored.again", "Blocks.rethrowing"),
                finallyCall("Monitored.guarded", 24, "Monitored.release")
                        .calls("Monitored.enter", "Makers.make", "Descriptors.wide"),
                walk("Monitored.release", 25).calls("Contended.update", "Walker.start", "Pair.visit"),
                leafPrefix("Contended.update", 26, "Contended.busy"),
                leaf("Contended.busy", 27),
                walk("Walker.walk", 28).calls("Recursion.direct", "Walker.start", "Blocks.carefulFinally"),
                walk("Walker.start", 29).calls("Walker.walk", "Jumper.walk", "Mutual.ping"),
                prefix("Jumper.walk", 30, "Walker.walk")
                        .calls("Descriptors.boxed", "Blocks.withResource", "Circle.area"),
                walk("Figure.outline", 31).calls("Mutual.pang", "Contended.update", "Node.<init>"),
                walk("Circle.area", 32).calls("Recursion.viaReference", "Square.area", "Lambdas.inline"),
                prefix("Square.area", 33, "Figure.outline")
                        .calls("Circle.area", "Operation$1.apply", "Blocks.catchingOnce"),
                prefix("Lambdas.inline", 34, "Lambdas.lambda$inline$0")
                        .calls("Recursion.direct", "Captures.capture", "Anonymous$1.run"),
                walk("Lambdas.lambda$inline$0", 35).calls("Mutual.pong", "Walker.walk", "Blocks.catching"),
                prefix("Captures.capture", 36, "Captures.lambda$capture$0")
                        .calls("Recursion.deep", "Pair.visit", "Blocks.rethrowing"),
                walk("Captures.lambda$capture$0", 37).calls("Mutual.ping", "Operation$2.apply", "Leaf.<init>"),
                walk("Operation$1.apply", 38).calls("Recursion.direct", "Operation$2.apply", "Monitored.enter"),
                walk("Operation$2.apply", 39).calls("Mutual.pang", "Operation$1.apply", "Descriptors.real"),
                walk("Anonymous$1.run", 40).calls("Recursion.direct", "Makers.make", "Descriptors.array"),
                walk("Pair.visit", 41).calls("Recursion.deep", "Lambdas.inline", "Blocks.withFinally"),
                walk("Descriptors.wide", 42).calls("Mutual.pong", "Descriptors.real", "Contended.update"),
                walk("Descriptors.real", 43).calls("Recursion.viaReference", "Descriptors.boxed", "Jumper.walk"),
                prefix("Descriptors.viaVoid", 44, "Descriptors.nothing")
                        .calls("Mutual.ping", "Descriptors.wide", "Blocks.withResource"),
                walk("Descriptors.nothing", 45).calls("Descriptors.array", "Square.area", "Monitored.guarded"),
                walk("Descriptors.boxed", 46).calls("Recursion.direct", "Descriptors.viaVoid", "Walker.walk"),
                walk("Descriptors.array", 47).calls("Mutual.pang", "Circle.area", "Leaf.<init>")
        )) {
            BY_NAME.put(method.name(), method);
        }
    }

    private Methods() {
    }

    /** The method of that name. */
    static Method get(String name) {
        Method method = BY_NAME.get(name);
        if (method == null) {
            throw new IllegalArgumentException("the table has no method " + name);
        }
        return method;
    }

    /** Binary names of all traced classes, to be initialised before any thread plays. */
    public static Set<String> classes() {
        Set<String> classes = new TreeSet<>();
        classes.add(PACKAGE + ".Signal");
        for (String name : BY_NAME.keySet()) {
            classes.add(PACKAGE + "." + name.substring(0, name.indexOf('.')));
        }
        return classes;
    }

    private static Method[] rows(Method... methods) {
        return methods;
    }

    private static Method row(Body body, String name, int constant, String... helpers) {
        return new Method(name, body, constant, List.of(helpers), List.of());
    }

    private static Method walk(String name, int constant) {
        return row(Body.WALK, name, constant);
    }

    private static Method catchEach(String name, int constant) {
        return row(Body.CATCH_EACH, name, constant);
    }

    private static Method catchOnce(String name, int constant) {
        return row(Body.CATCH_ONCE, name, constant);
    }

    private static Method rethrow(String name, int constant) {
        return row(Body.RETHROW, name, constant);
    }

    private static Method finallyCall(String name, int constant, String helper) {
        return row(Body.FINALLY, name, constant, helper);
    }

    private static Method prefix(String name, int constant, String helper) {
        return row(Body.PREFIX, name, constant, helper);
    }

    private static Method resource(String name, int constant, String open, String close) {
        return row(Body.RESOURCE, name, constant, open, close);
    }

    private static Method leaf(String name, int constant) {
        return row(Body.LEAF, name, constant);
    }

    private static Method leafPrefix(String name, int constant, String helper) {
        return row(Body.LEAF_PREFIX, name, constant, helper);
    }
}
