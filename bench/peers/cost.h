/* What one event of a tracer costs, by the method of the ring's own benchmark (crates/lookback-ring/benches/ring.rs).
 *
 * The constraint: figures are compared with that benchmark's, so a burst counts only if no thread was switched out in
 * it and, with two threads, if their windows overlap by 80 %. Prints `result TRACER.1t.32B X ns`, the median of these
 * bursts, `.p50`, `.p99`, `.p99.9` and `.gm` (geometric mean) of single events, and 200 quantiles in a line `latency`.
 * Must not know any tracer.
 */
#ifndef LOOKBACK_PEERS_COST_H
#define LOOKBACK_PEERS_COST_H

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

typedef void (*event_function)(uint64_t number);

struct burst {
	int64_t start, end; /* ns */
	int clean;
};

struct writer {
	pthread_t thread;
	int index, threads, rounds, events;
	event_function event;
	struct burst *bursts;
};

static pthread_barrier_t cost_gate;
static atomic_int cost_arrived;

static int64_t cost_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void cost_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static long cost_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void *cost_bursts(void *argument)
{
	struct writer *w = argument;

	cost_pin(w->index);
	for (int round = 0; round < w->rounds; round++) {
		struct burst *b = &w->bursts[round];
		long before;

		/* The barrier sleeps; the last steps together are spun. */
		pthread_barrier_wait(&cost_gate);
		atomic_fetch_add(&cost_arrived, 1);
		while (atomic_load(&cost_arrived) < (round + 1) * w->threads)
			;
		before = cost_switches();
		b->start = cost_now();
		for (int i = 0; i < w->events; i++)
			w->event((uint64_t)i);
		b->end = cost_now();
		b->clean = cost_switches() == before;
	}
	return NULL;
}

static int cost_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of clean bursts of `events` events on one or two threads. */
static void cost_measure(const char *tracer, const char *size, int threads, int rounds, int events, event_function event)
{
	struct writer writers[2] = { { 0 } };
	double *kept = calloc((size_t)rounds, sizeof(double));
	int count = 0;

	atomic_store(&cost_arrived, 0);
	pthread_barrier_init(&cost_gate, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		writers[i] = (struct writer){ .index = i, .threads = threads, .rounds = rounds, .events = events };
		writers[i].event = event;
		writers[i].bursts = calloc((size_t)rounds, sizeof(struct burst));
		if (pthread_create(&writers[i].thread, NULL, cost_bursts, &writers[i]))
			exit(1);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(writers[i].thread, NULL);
	for (int round = 0; round < rounds; round++) {
		const struct burst *a = &writers[0].bursts[round], *b = &writers[threads - 1].bursts[round];
		int64_t start = a->start > b->start ? a->start : b->start, end = a->end < b->end ? a->end : b->end;
		int64_t first = a->end - a->start, second = b->end - b->start;
		double longest = (double)(first > second ? first : second);

		if (a->clean && b->clean && (double)(end - start) >= 0.8 * longest)
			kept[count++] = (double)(first + second) / 2 / events;
	}
	qsort(kept, (size_t)count, sizeof(double), cost_compare);
	if (count)
		printf("result %s.%dt.%s %.2f ns (lower quartile %.2f, %d of %d bursts kept)\n", tracer, threads, size,
		       kept[count / 2], kept[count / 4], count, rounds);
	else
		printf("# %s.%dt.%s: no clean burst of %d\n", tracer, threads, size, rounds);
	for (int i = 0; i < threads; i++)
		free(writers[i].bursts);
	free(kept);
}

/* How long single events take, by the processor's clock on both sides. */
static void cost_latency(const char *tracer, int events, event_function event)
{
#ifdef __x86_64__
	static const struct {
		const char *name;
		double part;
	} quantiles[] = { { "p50", 0.5 }, { "p99", 0.99 }, { "p99.9", 0.999 } };
	double *took = calloc((size_t)events, sizeof(double)), logarithms = 0, per_nano;
	int64_t from = cost_now();
	uint64_t start = __builtin_ia32_rdtsc();

	cost_pin(0);
	while (cost_now() - from < 50000000)
		;
	per_nano = (double)(__builtin_ia32_rdtsc() - start) / (double)(cost_now() - from);
	for (int i = 0; i < events; i++) {
		start = __builtin_ia32_rdtsc();
		event((uint64_t)i);
		took[i] = (double)(__builtin_ia32_rdtsc() - start) / per_nano;
		logarithms += log(took[i] < 1 ? 1 : took[i]);
	}
	qsort(took, (size_t)events, sizeof(double), cost_compare);
	for (int i = 0; i < 3; i++)
		printf("result %s.1t.32B.%s %.0f ns\n", tracer, quantiles[i].name, took[(int)(events * quantiles[i].part)]);
	printf("result %s.1t.32B.gm %.1f ns\nlatency %s.1t.32B", tracer, exp(logarithms / events), tracer);
	for (int i = 0; i < 200; i++)
		printf(" %.0f", took[events / 200 * i]);
	printf("\n");
	free(took);
#else
	(void)tracer, (void)events, (void)event;
#endif
}

#endif
