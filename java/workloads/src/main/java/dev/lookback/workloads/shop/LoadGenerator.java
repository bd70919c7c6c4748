package dev.lookback.workloads.shop;

import dev.lookback.workloads.Options;
import dev.lookback.workloads.UsageException;
import java.util.Set;

/**
 * The shop's customers as a program: sends a fixed, seeded sequence of requests at a fixed rate from a few
 * clients, then reports.
 *
 * <p>Standard output: {@code slow: GET /search 1043 ms} as it happens for each request above 300 ms, then
 * per kind {@code KIND requests N p50 X ms p99 X ms max X ms}, {@code requests N errors N slow N seconds S}
 * and {@code checksum load HEX}. The checksum depends on seed, number of requests and catalogue only. Exit
 * codes: 0 all answered; 1 errors or time over; 2 wrong option.
 */
public final class LoadGenerator {
    private static final String USAGE = """
            examples:
              LoadGenerator --port 8080
              LoadGenerator --port 8080 --seconds 40 --rate 100 --clients 2 --seed 7

            options:
              --port P       the shop's port on 127.0.0.1 (needed)
              --seconds S    how long (default 20)
              --rate R       requests a second, all clients together (default 200)
              --clients C    clients that wait for their answers (default 4)
              --seed N       of the sequence of requests (default 1)
              --products N   size of the shop's catalogue (default 20000)
            """;

    private LoadGenerator() {
    }

    /** The program; see the class description. */
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("--help")) {
            System.out.print(USAGE);
            return;
        }
        try {
            Options options = Options.parse(args, 0,
                    Set.of("port", "seconds", "rate", "clients", "seed", "products"), Set.of());
            int port = options.count("port", 0, 1);
            if (port == 0) {
                throw new UsageException("--port is needed; ShopServer prints it when it is ready");
            }
            LoadPlan plan = new LoadPlan(options.number("seed", 1, 0),
                    options.count("products", ShopOptions.DEFAULT_PRODUCTS, 100));
            LoadRun run = new LoadRun(port, plan, options.count("seconds", 20, 1), options.count("rate", 200, 1),
                    options.count("clients", 4, 1), System.out);
            LoadReport report = run.execute();
            report.print(System.out);
            System.exit(report.complete() ? 0 : 1);
        } catch (UsageException e) {
            System.err.println(e.getMessage());
            System.exit(2);
        }
    }
}
