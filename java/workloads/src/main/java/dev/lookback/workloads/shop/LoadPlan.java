package dev.lookback.workloads.shop;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.shop.repository.CatalogueText;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * Which request comes when: request {@code i} is a function of the seed and {@code i}, so the sequence is
 * the same for any number of clients.
 *
 * @param seed     of the sequence
 * @param products size of the catalogue that is asked
 */
record LoadPlan(long seed, int products) {
    /** Kinds of requests, with the share of each in per cent. */
    enum Kind {
        SEARCH("GET /search", 45), PRODUCT("GET /product", 40), ORDER("POST /order", 14), HEALTH("GET /health", 1);

        private final String label;
        private final int percent;

        Kind(String label, int percent) {
            this.label = label;
            this.percent = percent;
        }

        /** Method and path, as printed. */
        String label() {
            return label;
        }

        /** Whether the answer depends on nothing but the request and the catalogue. */
        boolean repeatable() {
            return this != HEALTH;
        }
    }

    /**
     * One request.
     *
     * @param kind   its kind
     * @param target path and query
     * @param body   JSON, or null for a GET
     */
    record Request(Kind kind, String target, String body) {
    }

    /** One in so many product pages is of a bestseller, of which there are eight. */
    private static final int BESTSELLER_SHARE = 800;
    private static final int BESTSELLERS = 8;

    /** Request number {@code i}. */
    Request request(int i) {
        SplittableRandom random = new SplittableRandom(Checksum.mix(seed * 1_000_003 + i));
        Kind kind = kind(random.nextInt(100));
        return switch (kind) {
            case SEARCH -> new Request(kind, "/search?q=" + URLEncoder.encode(text(random), StandardCharsets.UTF_8), null);
            case PRODUCT -> new Request(kind, "/product?id=" + product(random), null);
            case ORDER -> new Request(kind, "/order", order(random, i));
            case HEALTH -> new Request(kind, "/health", null);
        };
    }

    private static Kind kind(int percent) {
        int rest = percent;
        for (Kind kind : Kind.values()) {
            rest -= kind.percent;
            if (rest < 0) {
                return kind;
            }
        }
        throw new IllegalStateException("the shares of the kinds do not add up to 100");
    }

    private static String text(SplittableRandom random) {
        String thing = CatalogueText.pick(random, CatalogueText.THINGS);
        return switch (random.nextInt(4)) {
            case 0 -> thing;
            case 1 -> CatalogueText.pick(random, CatalogueText.MATERIALS) + " " + thing;
            case 2 -> CatalogueText.pick(random, CatalogueText.QUALITIES) + " " + thing;
            default -> thing + " " + CatalogueText.pick(random, CatalogueText.CATEGORIES);
        };
    }

    private int product(SplittableRandom random) {
        return random.nextInt(BESTSELLER_SHARE) == 0
                ? random.nextInt(1, BESTSELLERS + 1) : random.nextInt(BESTSELLERS + 1, products + 1);
    }

    private String order(SplittableRandom random, int i) {
        StringBuilder json = new StringBuilder("{\"ref\":\"load-").append(seed).append('-').append(i)
                .append("\",\"customer\":\"customer ").append(random.nextInt(5_000)).append("\",\"lines\":[");
        for (int n = random.nextInt(1, 5); n > 0; n--) {
            json.append("{\"product\":").append(product(random)).append(",\"count\":")
                    .append(random.nextInt(1, 4)).append(n > 1 ? "}," : "}");
        }
        return json.append("]}").toString();
    }
}
