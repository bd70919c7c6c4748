package dev.lookback.workloads.shop;

import dev.lookback.workloads.Logs;
import dev.lookback.workloads.Options;
import dev.lookback.workloads.UsageException;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The service as a program: starts a {@link Shop}, prints where it listens, ends after some seconds or on
 * SIGTERM.
 *
 * <p>Standard output: {@code listening on http://127.0.0.1:PORT} once requests are answered. Exit codes: 0
 * after {@code --seconds}; 1 could not start; 2 wrong option; 143 on SIGTERM, after a clean stop.
 */
public final class ShopServer {
    private static final String USAGE = """
            examples:
              ShopServer --port 8080
              ShopServer --port 0 --seconds 60 --cause missing-index

            options:
              --port P            port on 127.0.0.1 (default 0: any free one, printed)
              --seconds S         stop after S seconds (default 0: run until stopped)
              --seed N            seed of the catalogue (default 1)
              --products N        size of the catalogue (default 20000)
              --cause C           reindex (default), missing-index or none
              --refresh-after S   first refresh of the catalogue (default 8)
              --refresh-every S   then every S seconds (default 25)
              --verbose           print a line per refresh
            """;

    private ShopServer() {
    }

    /** The program; see the class description. */
    public static void main(String[] args) throws InterruptedException {
        if (args.length > 0 && args[0].equals("--help")) {
            System.out.print(USAGE);
            return;
        }
        try {
            serve(Options.parse(args, 0, Set.of("port", "seconds", "seed", "products", "cause", "refresh-after",
                    "refresh-every"), Set.of("verbose")));
        } catch (UsageException e) {
            System.err.println(e.getMessage());
            System.exit(2);
        } catch (ShopException e) {
            System.err.println("the shop cannot start: " + e.getMessage());
            System.exit(1);
        }
    }

    private static void serve(Options options) throws InterruptedException {
        int seconds = options.count("seconds", 0, 0);
        Logs.quiet();
        Shop shop = Shop.start(new ShopOptions(
                options.count("port", 0, 0),
                options.number("seed", 1, 0),
                options.count("products", ShopOptions.DEFAULT_PRODUCTS, 100),
                Cause.parse(options.text("cause", "reindex")),
                options.count("refresh-after", ShopOptions.DEFAULT_REFRESH_AFTER, 1),
                options.count("refresh-every", ShopOptions.DEFAULT_REFRESH_EVERY, 1),
                options.has("verbose")));
        Thread closer = new Thread(shop::close, "shop-closer");
        Runtime.getRuntime().addShutdownHook(closer);
        System.out.println("listening on " + shop.url());
        // Nobody counts down: the latch only keeps the program alive until its time is up or it is stopped.
        CountDownLatch never = new CountDownLatch(1);
        if (seconds == 0) {
            never.await();
        } else {
            never.await(seconds, TimeUnit.SECONDS);
        }
        System.exit(0);
    }
}
