/* What an event costs in LTTng-UST: lttng_cost ROUNDS
 *
 * The constraint: it measures with whatever session is there (lttng_namespace.sh starts one in snapshot mode); LTTng
 * reads its clock itself, so the payload is a word less than the ring's.
 */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"

#include "cost.h"

static void bytes32(uint64_t number)
{
	lttng_ust_tracepoint(lookback, bytes32, number);
}

static void bytes64(uint64_t number)
{
	lttng_ust_tracepoint(lookback, bytes64, number);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;

	for (int threads = 1; threads <= 2; threads++) {
		cost_measure("lttng", "32B", threads, rounds, 10000, bytes32);
		cost_measure("lttng", "64B", threads, rounds, 10000, bytes64);
	}
	cost_latency("lttng", rounds * 1000, bytes32);
	return 0;
}
