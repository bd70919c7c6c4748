package dev.lookback.workloads;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Long options ({@code --name value} and {@code --flag}) of the programs in this package.
 *
 * <p>Every value is checked when it is read, and an option that no program knows is refused: a
 * misspelt option must not silently measure something else.
 */
public final class Options {
    private final Map<String, String> values = new LinkedHashMap<>();

    private Options() {
    }

    /**
     * Parses arguments from {@code first} on.
     *
     * @param valued names that take a value, without dashes
     * @param flags  names that take none
     */
    public static Options parse(String[] args, int first, Set<String> valued, Set<String> flags) {
        Options options = new Options();
        for (int i = first; i < args.length; i++) {
            String name = args[i].startsWith("--") ? args[i].substring(2) : "";
            if (flags.contains(name)) {
                options.values.put(name, "");
            } else if (valued.contains(name)) {
                if (i + 1 == args.length) {
                    throw new UsageException("option --" + name + " needs a value");
                }
                options.values.put(name, args[++i]);
            } else {
                throw new UsageException("unknown option " + args[i] + "; known: --"
                        + String.join(", --", new java.util.TreeSet<>(union(valued, flags))));
            }
        }
        return options;
    }

    /** True when the flag was given. */
    public boolean has(String name) {
        return values.containsKey(name);
    }

    /** The option's text, or the fallback. */
    public String text(String name, String fallback) {
        return values.getOrDefault(name, fallback);
    }

    /** The option as a number of at least {@code least}, or the fallback. */
    public long number(String name, long fallback, long least) {
        String text = values.get(name);
        if (text == null) {
            return fallback;
        }
        try {
            long value = Long.parseLong(text);
            if (value >= least) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Falls through to the same message: what is wrong with the text does not matter to the user.
        }
        throw new UsageException("--" + name + " must be a whole number of at least " + least + ", not '" + text + "'");
    }

    /** Like {@link #number} for values that must fit an int. */
    public int count(String name, int fallback, int least) {
        long value = number(name, fallback, least);
        if (value > Integer.MAX_VALUE) {
            throw new UsageException("--" + name + " is too large: " + value);
        }
        return (int) value;
    }

    private static Set<String> union(Set<String> a, Set<String> b) {
        Set<String> all = new java.util.HashSet<>(a);
        all.addAll(b);
        return all;
    }
}
