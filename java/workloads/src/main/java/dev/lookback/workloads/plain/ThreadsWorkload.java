package dev.lookback.workloads.plain;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Requests;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;

/**
 * A thread for each request, as in servers of the simplest kind: it reads a small JSON document with Jackson and ends.
 *
 * <p>What a tracer does when a thread begins and ends is paid here a few thousand times a second.
 */
public final class ThreadsWorkload implements Workload {
    private static final int DOCUMENTS = 64;

    private final int count;
    private final Clients clients;
    private final Requests requests;
    private final ObjectMapper mapper = new ObjectMapper();
    private final String[] documents = new String[DOCUMENTS];

    /** Generates the documents; 4 clients unless the settings say otherwise. */
    public ThreadsWorkload(Settings settings) {
        this.count = settings.size(600, 6_000);
        this.clients = new Clients("client", settings.threadsOr(4));
        this.requests = settings.requests(count);
        Corpus corpus = new Corpus(41);
        for (int i = 0; i < DOCUMENTS; i++) {
            documents[i] = document(corpus, i);
        }
    }

    private static String document(Corpus corpus, int number) {
        SplittableRandom random = corpus.random(number);
        StringBuilder json = new StringBuilder("{\"number\":").append(number).append(",\"lines\":[");
        for (int line = 0; line < 20; line++) {
            json.append(line == 0 ? "" : ",").append("{\"text\":\"").append(corpus.text(random, 6))
                    .append("\",\"price\":").append(random.nextInt(10_000)).append('}');
        }
        return json.append("]}").toString();
    }

    @Override
    public long iterate() throws Exception {
        return clients.sum(count, item -> {
            long start = requests.start();
            FutureTask<Long> task = new FutureTask<>(() -> answer(item));
            Thread thread = new Thread(task, "request-" + item);
            thread.setDaemon(true);
            thread.start();
            long answer = task.get();
            thread.join();
            requests.end(item, start);
            return answer;
        });
    }

    private long answer(int item) throws Exception {
        JsonNode document = mapper.readTree(documents[item % DOCUMENTS]);
        Checksum checksum = new Checksum().add(document.get("number").asLong());
        long total = 0;
        for (JsonNode line : document.get("lines")) {
            checksum.add(line.get("text").asText());
            total += line.get("price").asLong();
        }
        return checksum.add(total).value();
    }

    @Override
    public Requests requests() {
        return requests;
    }

    @Override
    public void close() {
        clients.close();
    }
}
