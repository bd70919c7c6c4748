package dev.lookback.workloads.plain;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * JSON with Jackson: each item writes a nested tree and a list of beans, reads both back and compares.
 *
 * <p>Object members keep their insertion order, so the bytes are the same in every run.
 */
public final class JacksonWorkload implements Workload {
    /** A bean with the kinds of members that data binding treats differently. */
    public record Invoice(long id, String customer, double total, boolean paid, List<Line> lines,
            Map<String, Integer> tags) {
    }

    /** A nested bean. */
    public record Line(String article, int count, double price) {
    }

    private final int documents;
    private final Clients clients;
    private final ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    private final Corpus corpus = new Corpus(5);

    /** One thread unless the settings say otherwise. */
    public JacksonWorkload(Settings settings) {
        this.documents = settings.size(300, 3_000);
        this.clients = new Clients("jackson", settings.threadsOr(1));
    }

    @Override
    public long iterate() throws Exception {
        return clients.run(documents, (first, step, count) -> {
            long sum = 0;
            for (int item = first; item < count; item += step) {
                sum += tree(item) + beans(item);
            }
            return sum;
        });
    }

    private long tree(int item) throws IOException {
        SplittableRandom random = corpus.random(item);
        ObjectNode root = mapper.createObjectNode();
        grow(root, random, 4);
        byte[] json = mapper.writeValueAsBytes(root);
        JsonNode back = mapper.readTree(json);
        if (!back.equals(root)) {
            throw new IllegalStateException("tree " + item + " changed on its way through JSON");
        }
        return new Checksum().add(json).add(walk(back)).value();
    }

    private void grow(ObjectNode node, SplittableRandom random, int depth) {
        for (int i = 0; i < 4; i++) {
            String name = corpus.word(random) + i;
            switch (random.nextInt(depth > 0 ? 6 : 4)) {
                case 0 -> node.put(name, random.nextInt());
                case 1 -> node.put(name, corpus.text(random, 4));
                case 2 -> node.put(name, random.nextInt(1_000) / 8.0);
                case 3 -> node.put(name, random.nextBoolean());
                case 4 -> grow(node.putObject(name), random, depth - 1);
                default -> {
                    ArrayNode array = node.putArray(name);
                    for (int k = 0; k < 3; k++) {
                        grow(array.addObject(), random, depth - 1);
                    }
                }
            }
        }
    }

    private static long walk(JsonNode node) {
        if (!node.isContainerNode()) {
            return node.asText().hashCode();
        }
        long sum = node.size();
        for (JsonNode child : node) {
            sum = sum * 31 + walk(child);
        }
        return sum;
    }

    private long beans(int item) throws IOException {
        SplittableRandom random = corpus.random(-item);
        List<Invoice> invoices = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            invoices.add(invoice(random));
        }
        byte[] json = mapper.writeValueAsBytes(invoices);
        Invoice[] back = mapper.readValue(json, Invoice[].class);
        if (!List.of(back).equals(invoices)) {
            throw new IllegalStateException("invoices " + item + " changed on their way through JSON");
        }
        return new Checksum().add(json).value();
    }

    private Invoice invoice(SplittableRandom random) {
        List<Line> lines = new ArrayList<>();
        for (int i = random.nextInt(1, 8); i > 0; i--) {
            lines.add(new Line(corpus.text(random, 3), random.nextInt(1, 20), random.nextInt(1, 90_000) / 100.0));
        }
        Map<String, Integer> tags = new LinkedHashMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            tags.put(corpus.word(random), random.nextInt(100));
        }
        double total = lines.stream().mapToDouble(line -> line.count() * line.price()).sum();
        return new Invoice(random.nextLong(), corpus.text(random, 2), total, random.nextBoolean(), lines, tags);
    }

    @Override
    public void close() {
        clients.close();
    }
}
