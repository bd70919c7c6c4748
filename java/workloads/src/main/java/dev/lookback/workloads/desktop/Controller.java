package dev.lookback.workloads.desktop;

import dev.lookback.workloads.Options;
import dev.lookback.workloads.UsageException;
import dev.lookback.workloads.desktop.control.AppEndedException;
import dev.lookback.workloads.desktop.control.AppProcess;
import dev.lookback.workloads.desktop.control.Bracket;
import dev.lookback.workloads.desktop.control.Hand;
import dev.lookback.workloads.desktop.control.Script;
import java.awt.AWTError;
import java.awt.AWTException;
import java.awt.HeadlessException;
import java.awt.Rectangle;
import java.awt.Robot;
import java.awt.Toolkit;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import javax.imageio.ImageIO;

/**
 * The user, as a process of its own: {@code Controller [options] -- java ... desktop.Main ...} starts the application
 * and plays the script as often as the application asks for.
 *
 * <p>With {@code --harness-socket} each iteration is bracketed from here, else by the application. Standard output is
 * the application's. Exit codes: the application's own; 1 if it was given up; 2 wrong option.
 */
public final class Controller {
    private static final String USAGE = """
            is started by desktop.sh: desktop.sh [options] -- java ... dev.lookback.workloads.desktop.Main ...

            options:
              --harness-socket PATH   tell this Unix socket when iterations begin and end
              --patience SECONDS      give the application up when it is silent for so long (default 60)
              --screenshot FILE       write a picture of the screen, as PNG, after the last iteration
            """;

    private Controller() {
    }

    /** The program; see the class description. */
    public static void main(String[] args) throws InterruptedException {
        if (args.length > 0 && args[0].equals("--help")) {
            System.out.print(USAGE);
            return;
        }
        int separator = Arrays.asList(args).indexOf("--");
        try {
            if (separator < 0 || separator + 1 == args.length) {
                throw new UsageException("the application's command is missing; it stands behind --");
            }
            Options options = Options.parse(Arrays.copyOf(args, separator), 0,
                    Set.of("harness-socket", "patience", "screenshot"), Set.of());
            System.exit(run(options, Arrays.asList(args).subList(separator + 1, args.length)));
        } catch (UsageException e) {
            System.err.println(e.getMessage());
            System.exit(2);
        } catch (DesktopException e) {
            System.err.println("the controller has ended: " + e.getMessage());
        } catch (AWTException | AWTError | HeadlessException | LinkageError e) {
            System.err.println("the controller cannot use this display: " + e + "; its JDK must have AWT for X11"
                    + " (Debian: openjdk-17-jre, not only openjdk-17-jre-headless)");
        }
        System.exit(1);
    }

    private static int run(Options options, List<String> command) throws AWTException, InterruptedException {
        int patience = options.count("patience", 60, 1);
        Robot robot = new Robot();
        try (AppProcess application = new AppProcess(command, Bridge.MARK, patience, System.out)) {
            try {
                play(application, robot, options);
            } catch (AppEndedException e) {
                int code = application.awaitEnd();
                System.err.println(e.getMessage() + " with exit code " + code);
                return code == 0 ? 1 : code;
            }
            return application.awaitEnd();
        }
    }

    private static void play(AppProcess application, Robot robot, Options options) throws InterruptedException {
        String[] ready = application.awaitReady();
        int iterations = Integer.parseInt(ready[0]);
        Hand hand = new Hand(robot, application);
        Script script = new Script(hand, ready[1].equals("small"), Long.parseLong(ready[2]));
        String socket = options.text("harness-socket", null);
        try (Bracket bracket = socket == null ? null : new Bracket(Path.of(socket))) {
            String who = bracket == null ? " inside" : " outside";
            for (int k = 1; k <= iterations; k++) {
                hand.clear();
                application.tell("begin " + k + who);
                if (bracket != null) {
                    bracket.begin(Bridge.NAME, k);
                }
                script.play();
                if (bracket != null) {
                    bracket.end(Bridge.NAME, k);
                }
                application.tell("end " + k + who);
                application.tell("report " + k + " " + hand.stamps());
            }
        }
        if (options.has("screenshot")) {
            shoot(robot, Path.of(options.text("screenshot", "")));
        }
        application.tell("quit");
    }

    private static void shoot(Robot robot, Path file) {
        try {
            Rectangle screen = new Rectangle(Toolkit.getDefaultToolkit().getScreenSize());
            ImageIO.write(robot.createScreenCapture(screen), "png", file.toFile());
        } catch (IOException e) {
            throw new DesktopException("the screenshot cannot be written: " + e.getMessage(), e);
        }
    }
}
