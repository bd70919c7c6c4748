/* The exported traces, as the programs here read them.
 *
 * The constraint: every tracer is given the same events in the same order, the whole trace as often as fills its
 * memory four times, so that what comes back can be judged by the events' numbers alone. The format is that of
 * `crates/lookback-ring/benches/replay/files.rs`. Must not know any tracer.
 */
#ifndef LOOKBACK_PEERS_TRACE_H
#define LOOKBACK_PEERS_TRACE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct event {
	uint16_t core;
	uint16_t length; /* bytes of payload, the event's number included */
	uint32_t thread;
};

struct trace {
	struct event *events;
	size_t length;
	uint64_t count; /* events to write in all */
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Reads a trace that is to fill `memory` bytes. */
static struct trace trace_read(const char *path, uint64_t memory)
{
	struct trace trace = { NULL, 0, 0 };
	FILE *file = fopen(path, "rb");
	uint64_t bytes = 0;
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) <= 0 || fseek(file, 0, SEEK_SET))
		fail(path);
	trace.length = (size_t)size / sizeof(struct event);
	trace.events = calloc(trace.length, sizeof(struct event));
	if (!trace.events || fread(trace.events, sizeof(struct event), trace.length, file) != trace.length)
		fail(path);
	fclose(file);
	/* Eight bytes of header, and the payload in whole words: as everything is counted in the replay. */
	for (size_t i = 0; i < trace.length; i++)
		bytes += 8 + (trace.events[i].length + 7u) / 8u * 8u;
	trace.count = (4 * memory + bytes - 1) / bytes * trace.length;
	return trace;
}

#endif
