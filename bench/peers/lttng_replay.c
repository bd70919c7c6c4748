/* Writes an exported trace into LTTng-UST: lttng_replay TRACE.events MEMORY
 *
 * The constraint: LTTng picks the buffer by the processor's number, and this machine has fewer than the trace. So a
 * plugin of LTTng (lttng_core.c) answers with `lookback_core`, which this program sets before each event; and the
 * session must have been started where the machine seems to have as many (lttng_namespace.sh). One thread writes.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"

#include "trace.h"
#include <string.h>

/* Read by the plugin. */
int lookback_core;

int main(int argc, char **argv)
{
	static char text[65536];
	struct trace trace;

	if (argc != 3)
		return 2;
	trace = trace_read(argv[1], strtoull(argv[2], NULL, 10));
	memset(text, 'x', sizeof(text) - 1);
	for (uint64_t number = 0; number < trace.count; number++) {
		const struct event *event = &trace.events[number % trace.length];
		/* Less the number and the text's closing zero. */
		size_t length = event->length > 9 ? event->length - 9u : 0;

		lookback_core = event->core;
		text[length] = 0;
		lttng_ust_tracepoint(lookback, replayed, number, text);
		text[length] = 'x';
	}
	printf("%llu events written\n", (unsigned long long)trace.count);
	return 0;
}
