package dev.lookback.workloads.desktop.control;

import dev.lookback.workloads.desktop.DesktopException;
import java.awt.Rectangle;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The application as its controller has it: a child process that takes commands on standard input and answers on
 * standard output, where what is no answer is passed on.
 */
public final class AppProcess implements AutoCloseable {
    private static final int MOST_ANSWERS = 16;
    /** Comes after the last answer; no answer is empty. */
    private static final String END = "";

    private final Process process;
    private final PrintStream commands;
    private final int patienceSeconds;
    private final BlockingQueue<String> answers = new ArrayBlockingQueue<>(MOST_ANSWERS);
    private final Thread reader;

    /**
     * Starts it.
     *
     * @param command         the application's command line
     * @param mark            what the lines that answer begin with
     * @param patienceSeconds how long an answer may take
     * @param out             gets all other lines
     */
    public AppProcess(List<String> command, String mark, int patienceSeconds, PrintStream out) {
        this.patienceSeconds = patienceSeconds;
        try {
            process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        } catch (IOException e) {
            throw new DesktopException("the application cannot be started: " + e.getMessage(), e);
        }
        commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        reader = new Thread(() -> read(mark, out), "application-output");
        reader.start();
    }

    private void read(String mark, PrintStream out) {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line; (line = lines.readLine()) != null; ) {
                if (line.startsWith(mark)) {
                    answers.put(line.substring(mark.length()));
                } else {
                    out.println(line);
                }
            }
        } catch (IOException | InterruptedException e) {
            // The same to who waits for an answer: there will be none.
        } finally {
            out.flush();
            answers.offer(END);
        }
    }

    /** Waits until the application is there; the words behind {@code ready}. */
    public String[] awaitReady() throws InterruptedException {
        return words("ready");
    }

    /** Sends a command that is answered with {@code ok}. */
    public void tell(String command) throws InterruptedException {
        commands.println(command);
        words("ok");
    }

    /** Where on the screen something is. */
    public Rectangle place(String name) throws InterruptedException {
        commands.println("place " + name);
        String[] at = words("at");
        return new Rectangle(Integer.parseInt(at[0]), Integer.parseInt(at[1]), Integer.parseInt(at[2]),
                Integer.parseInt(at[3]));
    }

    /** Waits until it ends; its exit code, or 128 and the number of the signal that ended it. */
    public int awaitEnd() throws InterruptedException {
        if (!process.waitFor(patienceSeconds, TimeUnit.SECONDS)) {
            throw new DesktopException("the application does not end");
        }
        reader.join();
        return process.exitValue();
    }

    /** Ends it, if it has not ended. */
    @Override
    public void close() {
        process.destroyForcibly();
    }

    /** The words of the next answer behind the first, which must be {@code verb}. */
    private String[] words(String verb) throws InterruptedException {
        String answer = answers.poll(patienceSeconds, TimeUnit.SECONDS);
        if (answer == null) {
            throw new DesktopException("the application was silent for " + patienceSeconds + " s; its heap may be too"
                    + " small, or --patience too short for this machine");
        }
        if (answer.equals(END)) {
            throw new AppEndedException();
        }
        if (!answer.equals(verb) && !answer.startsWith(verb + " ")) {
            throw new DesktopException("the application answered: " + answer);
        }
        return answer.substring(verb.length()).strip().split(" ");
    }
}
