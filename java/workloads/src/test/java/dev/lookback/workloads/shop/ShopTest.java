package dev.lookback.workloads.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lookback.workloads.Logs;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The shop over HTTP on a free port, with a small catalogue. */
class ShopTest {
    private static final int PRODUCTS = 1_000;
    private static Shop shop;

    private final HttpClient http = HttpClient.newHttpClient();
    private final ObjectMapper mapper = new ObjectMapper();

    private static ShopOptions options(int port, Cause cause) {
        return new ShopOptions(port, 1, PRODUCTS, cause, 3_600, 3_600, false);
    }

    @BeforeAll
    static void open() {
        Logs.quiet();
        shop = Shop.start(options(0, Cause.REINDEX));
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    private HttpResponse<String> get(String target) throws Exception {
        return http.send(HttpRequest.newBuilder(URI.create(shop.url() + target)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> order(String body) throws Exception {
        return http.send(HttpRequest.newBuilder(URI.create(shop.url() + "/order"))
                .POST(HttpRequest.BodyPublishers.ofString(body)).build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void searchFindsProductsThatMatch() throws Exception {
        JsonNode result = mapper.readTree(get("/search?q=oak+lamp").body());
        assertEquals("oak lamp", result.get("query").asText());
        assertFalse(result.get("products").isEmpty());
        JsonNode first = result.get("products").get(0);
        assertTrue(first.get("title").asText().matches(".*oak lamp"), first.toString());
        assertFalse(first.has("description"), "a list shows summaries");
    }

    @Test
    void productPageHasDetails() throws Exception {
        JsonNode page = mapper.readTree(get("/product?id=3").body());
        assertEquals(3, page.get("product").get("id").asInt());
        assertTrue(page.get("product").has("description"));
        assertEquals(6, page.get("alsoBought").size(), "product 3 is a bestseller");
    }

    @Test
    void orderIsPricedAndBookedOnce() throws Exception {
        long price = mapper.readTree(get("/product?id=7").body()).get("product").get("priceCents").asLong();
        long before = mapper.readTree(get("/health").body()).get("orders").asLong();
        String body = "{\"ref\":\"t-1\",\"customer\":\"c\",\"lines\":[{\"product\":7,\"count\":2}]}";
        HttpResponse<String> first = order(body);
        assertEquals(201, first.statusCode());
        assertEquals(2 * price, mapper.readTree(first.body()).get("totalCents").asLong());
        assertEquals(first.body(), order(body).body());
        assertEquals(before + 1, mapper.readTree(get("/health").body()).get("orders").asLong());
    }

    @Test
    void nonsenseIsRefused() throws Exception {
        assertEquals(400, get("/search").statusCode());
        assertEquals(400, get("/product?id=x").statusCode());
        assertEquals(404, get("/product?id=999999").statusCode());
        assertEquals(404, get("/nowhere").statusCode());
        assertEquals(400, order("{\"ref\":").statusCode());
        assertEquals(400, order("{\"ref\":\"t-2\",\"customer\":\"c\",\"lines\":[]}").statusCode());
        assertEquals(400, order("{\"ref\":\"t-3\",\"customer\":\"c\",\"lines\":[{\"product\":0,\"count\":1}]}").statusCode());
        assertEquals(200, get("/search?q=%22+AND+%28").statusCode(), "query syntax is escaped");
    }

    @Test
    void answersSurviveARefresh() throws Exception {
        String before = get("/search?q=walnut+desk").body();
        shop.refreshNow();
        assertEquals(before, get("/search?q=walnut+desk").body());
    }

    @Test
    void loadChecksumDependsOnNothingButThePlan() throws Exception {
        LoadReport two = load(shop.port(), 2);
        try (Shop other = Shop.start(options(0, Cause.MISSING_INDEX))) {
            LoadReport three = load(other.port(), 3);
            assertTrue(two.complete() && three.complete());
            assertEquals(two.checksum(), three.checksum());
        }
        try (Shop other = Shop.start(options(0, Cause.NONE))) {
            other.refreshNow();
            assertEquals(two.checksum(), load(other.port(), 1).checksum());
        }
    }

    private static LoadReport load(int port, int clients) throws Exception {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(text, true, StandardCharsets.UTF_8);
        LoadReport report = new LoadRun(port, new LoadPlan(5, PRODUCTS), 1, 200, clients, out).execute();
        report.print(out);
        String printed = text.toString(StandardCharsets.UTF_8);
        assertTrue(printed.contains("requests 200 errors 0 "), printed);
        return report;
    }

    @Test
    void takenPortIsAnErrorThatSaysSo() {
        ShopException e = assertThrows(ShopException.class, () -> Shop.start(options(shop.port(), Cause.NONE)));
        assertTrue(e.getMessage().startsWith("cannot listen on 127.0.0.1:" + shop.port()), e.getMessage());
    }
}
