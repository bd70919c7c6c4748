// Runs programs and then prints what the recorder saw.
//
// Constraint: not traced itself, so that every entry is closed when it prints.
//
// Usage: RunRecorded main CLASS          calls main
//        RunRecorded cases CLASS...      calls static int run(int) of each class with some numbers

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

public final class RunRecorded {
    private RunRecorded() {
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("main")) {
            Class.forName(args[1]).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        } else {
            for (int i = 1; i < args.length; i++) {
                runCase(args[i]);
            }
        }
        System.out.println("RECORDED " + recorder.Recorder.summary());
    }

    private static void runCase(String name) throws Exception {
        Method run;
        try {
            run = Class.forName(name).getMethod("run", int.class);
        } catch (LinkageError e) {
            System.out.println(name + " does not link: " + e);
            return;
        }
        StringBuilder line = new StringBuilder(name).append(':');
        for (int argument = -1; argument < 6; argument++) {
            try {
                line.append(' ').append(run.invoke(null, argument));
            } catch (InvocationTargetException e) {
                line.append(' ').append(e.getCause().getClass().getSimpleName());
            }
        }
        System.out.println(line);
    }
}
