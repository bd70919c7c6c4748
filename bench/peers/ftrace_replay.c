/* Writes an exported trace into ftrace: ftrace_replay TRACE.events MEMORY INSTANCE...
 *
 * The constraint: ftrace picks the buffer by the processor that runs, and this machine has fewer than the trace. So
 * each core of the trace has an instance of ftrace of its own, of which the buffer of processor 0 is used: this program
 * stays there. An event is a raw marker whose id is the event's number.
 */
#define _GNU_SOURCE
#include "trace.h"
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buffer[65536];
	static int markers[4096];
	struct trace trace;
	cpu_set_t first;

	if (argc < 4 || argc > 4096)
		return 2;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		fail("processor 0");
	for (int i = 3; i < argc; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/trace_marker_raw", argv[i]);
		markers[i - 3] = open(path, O_WRONLY);
		if (markers[i - 3] < 0)
			fail(path);
	}
	trace = trace_read(argv[1], strtoull(argv[2], NULL, 10));
	for (uint64_t number = 0; number < trace.count; number++) {
		const struct event *event = &trace.events[number % trace.length];
		uint32_t id = (uint32_t)number;

		if (event->core >= argc - 3)
			return 2;
		memcpy(buffer, &id, sizeof(id));
		if (write(markers[event->core], buffer, event->length) < 0)
			fail("trace_marker_raw");
	}
	printf("%llu events written\n", (unsigned long long)trace.count);
	return 0;
}
