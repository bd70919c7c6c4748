package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Requests;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import dev.lookback.workloads.shop.WebServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.JMSException;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.TextMessage;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.broker.BrokerService;

/**
 * A message broker with many threads: clients send requests to a queue of an embedded ActiveMQ and wait for answers on
 * queues of their own, which servers in the same process give.
 *
 * <p>Each client and each server has a connection over the loopback address, of several threads; those of clients are
 * made anew in each iteration, so threads come and go. Nothing is kept on a disk.
 */
public final class ActiveMqWorkload implements Workload {
    private static final int SERVERS = 8;
    /** Far above the few messages under way; the broker's own limit is a gigabyte, and it wants a heap that has it. */
    private static final long BROKER_MEMORY = 8L << 20;
    /** Far above what an answer takes on any machine: it only keeps a broken run from waiting for ever. */
    private static final long PATIENCE_MS = 120_000;

    private final int count;
    private final Clients clients;
    private final Requests requests;
    private final Corpus corpus = new Corpus(53);
    private final BrokerService broker = new BrokerService();
    private final ActiveMQConnectionFactory factory;
    private final List<Connection> servers = new ArrayList<>();

    /** Starts broker and servers; 8 clients unless the settings say otherwise. */
    public ActiveMqWorkload(Settings settings) throws Exception {
        this.count = settings.size(400, 4_000);
        this.clients = new Clients("jms-client", settings.threadsOr(8));
        this.requests = settings.requests(count);
        broker.setPersistent(false);
        broker.setUseJmx(false);
        broker.setUseShutdownHook(false);
        broker.getSystemUsage().getMemoryUsage().setLimit(BROKER_MEMORY);
        // Nothing is stored; without these limits it wants 50 GB of free disk to begin.
        broker.getSystemUsage().getStoreUsage().setLimit(BROKER_MEMORY);
        broker.getSystemUsage().getTempUsage().setLimit(BROKER_MEMORY);
        // What it checks of the machine's disk and memory it says on standard output.
        broker.setAdjustUsageLimits(false);
        String address = broker.addConnector("tcp://" + WebServer.ADDRESS + ":0").getPublishableConnectString();
        broker.start();
        broker.waitUntilStarted();
        this.factory = new ActiveMQConnectionFactory(address);
        for (int i = 0; i < SERVERS; i++) {
            servers.add(server());
        }
    }

    /** A connection whose thread answers requests. */
    private Connection server() throws JMSException {
        Connection connection = factory.createConnection();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageProducer answers = producer(session, null);
        session.createConsumer(session.createQueue("requests")).setMessageListener(message -> {
            try {
                String text = ((TextMessage) message).getText();
                TextMessage answer = session.createTextMessage(Checksum.hex(new Checksum().add(text).value()) + text);
                answers.send(message.getJMSReplyTo(), answer);
            } catch (JMSException e) {
                // The client waits in vain and says so.
                throw new IllegalStateException(e);
            }
        });
        connection.start();
        return connection;
    }

    private static MessageProducer producer(Session session, Queue queue) throws JMSException {
        MessageProducer producer = session.createProducer(queue);
        producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
        return producer;
    }

    @Override
    public long iterate() throws Exception {
        return clients.run(count, (first, step, end) -> {
            Connection connection = factory.createConnection();
            try {
                Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                MessageProducer producer = producer(session, session.createQueue("requests"));
                Queue own = session.createTemporaryQueue();
                MessageConsumer answers = session.createConsumer(own);
                connection.start();
                long sum = 0;
                for (int item = first; item < end; item += step) {
                    long start = requests.start();
                    TextMessage request = session.createTextMessage(corpus.text(corpus.random(item), 40));
                    request.setJMSReplyTo(own);
                    producer.send(request);
                    TextMessage answer = (TextMessage) answers.receive(PATIENCE_MS);
                    requests.end(item, start);
                    if (answer == null) {
                        throw new IOException("request " + item + " was not answered");
                    }
                    sum += Checksum.mix(new Checksum().add(answer.getText()).value() + item);
                }
                return sum;
            } finally {
                connection.close();
            }
        });
    }

    @Override
    public Requests requests() {
        return requests;
    }

    @Override
    public void close() throws IOException {
        clients.close();
        try {
            for (Connection server : servers) {
                server.close();
            }
            broker.stop();
        } catch (Exception e) {
            throw new IOException("the broker could not be stopped", e);
        }
    }
}
