/* What an event costs in ftrace: ftrace_cost ROUNDS INSTANCE
 *
 * The constraint: an event is a system call, so bursts are shorter than the ring's, or none would be undisturbed. The
 * kernel stamps each event, so the payload is a word less than the ring's.
 */
#define _GNU_SOURCE
#include "cost.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int marker;

static void event(uint64_t number, size_t length)
{
	uint64_t payload[8];

	for (int i = 0; i < 8; i++)
		payload[i] = number;
	if (write(marker, payload, length) < 0) {
		perror("trace_marker_raw");
		exit(1);
	}
}

static void bytes32(uint64_t number)
{
	event(number, 24);
}

static void bytes64(uint64_t number)
{
	event(number, 56);
}

int main(int argc, char **argv)
{
	char path[4096];
	int rounds;

	if (argc != 3)
		return 2;
	rounds = atoi(argv[1]);
	snprintf(path, sizeof(path), "%s/trace_marker_raw", argv[2]);
	marker = open(path, O_WRONLY);
	if (marker < 0) {
		perror(path);
		return 1;
	}
	for (int threads = 1; threads <= 2; threads++) {
		cost_measure("ftrace", "32B", threads, rounds, 2000, bytes32);
		cost_measure("ftrace", "64B", threads, rounds, 2000, bytes64);
	}
	cost_latency("ftrace", rounds * 200, bytes32);
	return 0;
}
