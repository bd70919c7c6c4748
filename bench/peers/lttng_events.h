/* The trace points of the programs that write into LTTng-UST.
 *
 * The constraint: LTTng's macros read this file several times, so it has no guard of its own around them. LTTng stamps
 * each event itself: an event of 32 bytes is a time and three words here, as it is in the ring's benchmark.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lookback
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_events.h"

#if !defined(LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* The payload beyond the number is text, which the reader prints fast. */
LTTNG_UST_TRACEPOINT_EVENT(lookback, replayed, LTTNG_UST_TP_ARGS(uint64_t, number, const char *, text),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, number, number)
						       lttng_ust_field_string(text, text)))

LTTNG_UST_TRACEPOINT_EVENT(lookback, bytes32, LTTNG_UST_TP_ARGS(uint64_t, a),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, a, a)
						       lttng_ust_field_integer(uint64_t, b, a)
						       lttng_ust_field_integer(uint64_t, c, a)))

LTTNG_UST_TRACEPOINT_EVENT(lookback, bytes64, LTTNG_UST_TP_ARGS(uint64_t, a),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, a, a)
						       lttng_ust_field_integer(uint64_t, b, a)
						       lttng_ust_field_integer(uint64_t, c, a)
						       lttng_ust_field_integer(uint64_t, d, a)
						       lttng_ust_field_integer(uint64_t, e, a)
						       lttng_ust_field_integer(uint64_t, f, a)
						       lttng_ust_field_integer(uint64_t, g, a)))

#endif

#include <lttng/tracepoint-event.h>
