package dev.lookback.workloads;

import java.lang.reflect.InvocationTargetException;

/** Makes the callback of the option {@code --callback CLASS}. */
public final class IterationCallbacks {
    /** One that does nothing. */
    public static final IterationCallback NONE = new IterationCallback() {
        @Override
        public void begin(String workload, int iteration) {
            // Nobody asked.
        }

        @Override
        public void end(String workload, int iteration) {
            // Nobody asked.
        }
    };

    private IterationCallbacks() {
    }

    /** The callback of that class. */
    public static IterationCallback load(String className) {
        try {
            return Class.forName(className).asSubclass(IterationCallback.class).getConstructor().newInstance();
        } catch (ClassNotFoundException e) {
            throw new UsageException("--callback: no class " + className + " on the class path; add its jar to -cp");
        } catch (ClassCastException e) {
            throw new UsageException("--callback: " + className + " does not implement "
                    + IterationCallback.class.getName());
        } catch (NoSuchMethodException | InstantiationException | IllegalAccessException e) {
            throw new UsageException("--callback: " + className
                    + " cannot be made; it must be public and have a public constructor without parameters");
        } catch (InvocationTargetException e) {
            throw new UsageException("--callback: the constructor of " + className + " failed: " + e.getCause());
        }
    }
}
