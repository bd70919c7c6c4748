package dev.lookback.workloads.plain;

import akka.actor.AbstractActor;
import akka.actor.ActorRef;
import akka.actor.ActorSystem;
import akka.actor.Props;
import akka.pattern.Patterns;
import com.typesafe.config.ConfigFactory;
import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Hand-off between threads with Akka: tokens go around a ring of actors, each hop a message that is scheduled
 * on a pool with more threads than processors.
 *
 * <p>A token's value depends on its own way only, and the values of all tokens are added up, so the result
 * does not depend on the order of messages.
 */
public final class AkkaWorkload implements Workload {
    private static final int ACTORS = 2_000;
    private static final int TOKENS = 64;
    /** Far above what an iteration takes on any machine: it only keeps a broken run from waiting for ever. */
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final int hops;
    private final ActorSystem system;

    /** A token on its way: hops to go and what the actors made of it. */
    private record Token(int hops, long value) {
    }

    /** Starts the tokens at ring positions spread evenly; completes when all have come to rest. */
    private record Start(CompletableFuture<Long> done) {
    }

    /** Knows its successor; mixes its number into every token that passes. */
    private static final class Station extends AbstractActor {
        private final int number;
        private final ActorRef master;
        private ActorRef next;

        Station(int number, ActorRef master) {
            this.number = number;
            this.master = master;
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder()
                    .match(Token.class, token -> {
                        Token mixed = new Token(token.hops() - 1, Checksum.mix(token.value() + number));
                        (mixed.hops() == 0 ? master : next).tell(mixed, self());
                    })
                    .match(ActorRef.class, successor -> next = successor)
                    .build();
        }
    }

    /** Parent of the ring; counts the tokens that have come to rest. */
    private static final class Master extends AbstractActor {
        private final int hops;
        private CompletableFuture<Long> done;
        private int arrived;
        private long sum;

        Master(int hops) {
            this.hops = hops;
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder().match(Start.class, this::start).match(Token.class, this::arrive).build();
        }

        private void start(Start start) {
            done = start.done();
            ActorRef[] ring = new ActorRef[ACTORS];
            for (int i = 0; i < ACTORS; i++) {
                int number = i;
                ring[i] = getContext().actorOf(Props.create(Station.class, () -> new Station(number, self())));
            }
            for (int i = 0; i < ACTORS; i++) {
                ring[i].tell(ring[(i + 1) % ACTORS], self());
            }
            for (int token = 0; token < TOKENS; token++) {
                ring[token * (ACTORS / TOKENS)].tell(new Token(hops, token), self());
            }
        }

        private void arrive(Token token) {
            sum += token.value();
            if (++arrived == TOKENS) {
                done.complete(sum);
            }
        }
    }

    /** Starts the actor system; 8 threads unless the settings say otherwise. */
    public AkkaWorkload(Settings settings) {
        this.hops = settings.size(10_000, 90_000);
        int threads = settings.threadsOr(8);
        this.system = ActorSystem.create("ring", ConfigFactory.parseMap(Map.of(
                "akka.actor.default-dispatcher.fork-join-executor.parallelism-min", threads,
                "akka.actor.default-dispatcher.fork-join-executor.parallelism-max", threads,
                "akka.daemonic", "on",
                "akka.loglevel", "OFF",
                "akka.stdout-loglevel", "ERROR",
                // A hook would wait for the actors when the program ends because one of them has failed.
                "akka.jvm-shutdown-hooks", "off",
                "akka.coordinated-shutdown.run-by-jvm-shutdown-hook", "off"))
                .withFallback(ConfigFactory.defaultReference()));
    }

    @Override
    public long iterate() throws Exception {
        CompletableFuture<Long> done = new CompletableFuture<>();
        ActorRef master = system.actorOf(Props.create(Master.class, () -> new Master(hops)));
        master.tell(new Start(done), ActorRef.noSender());
        long sum = done.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        Patterns.gracefulStop(master, PATIENCE).toCompletableFuture().get();
        return sum;
    }

    @Override
    public void close() {
        system.terminate();
    }
}
