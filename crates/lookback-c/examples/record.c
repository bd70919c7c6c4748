/*
 * Records into the ring file that is named on the command line, and prints what is in it.
 *
 *     cc -std=c11 record.c -llookback_ring -o record && ./record /dev/shm/shop.ring
 */

#include "lookback_ring.h"

#include <inttypes.h>
#include <stdio.h>

static int fail(const char *what) {
    fprintf(stderr, "cannot %s: %s\n", what, lookback_error_message());
    return 1;
}

/* Prints one event as `category.name field=value ...`. */
static bool print(const lookback_event *event, void *context) {
    unsigned *count = context;
    ++*count;
    const char *phase = event->phase == LOOKBACK_BEGIN ? "begin " : event->phase == LOOKBACK_END ? "end " : "";
    printf("%s: %s%s.%s", event->thread_name, phase, event->category, event->name);
    for (size_t i = 0; i < event->count; i++) {
        const lookback_value *value = &event->values[i];
        double number;
        switch (value->kind) {
        case LOOKBACK_F64:
            memcpy(&number, &value->word, sizeof number);
            printf(" %s=%g", value->name, number);
            break;
        case LOOKBACK_I64:
            printf(" %s=%" PRId64, value->name, (int64_t)value->word);
            break;
        case LOOKBACK_NAME:
        case LOOKBACK_TEXT:
            printf(" %s=%.*s", value->name, (int)value->length, value->bytes);
            break;
        case LOOKBACK_BYTES:
            printf(" %s=(%zu bytes)", value->name, value->length);
            break;
        default:
            printf(" %s=%" PRIu64, value->name, value->word);
        }
    }
    printf("\n");
    return true;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    lookback_options options = {0};
    options.bytes = 1 << 20;
    options.name = "the shop";
    options.program = "record.c";
    lookback_recorder *recorder;
    if (lookback_open_or_create(argv[1], &options, &recorder) != LOOKBACK_OK) {
        return fail("open the ring file");
    }
    lookback_set_thread_name(recorder, "till");

    const lookback_category *net = lookback_category_get(recorder, "net");
    const lookback_field request_fields[] = {
        {"bytes", LOOKBACK_U64}, {"change", LOOKBACK_I64}, {"load", LOOKBACK_F64}, {"client", LOOKBACK_NAME}};
    const lookback_event_type *request =
        lookback_event_type_get(net, "request", LOOKBACK_LEVEL_INFO, request_fields, 4);
    const lookback_field query_fields[] = {{"rows", LOOKBACK_U64}, {"text", LOOKBACK_TEXT}};
    const lookback_event_type *query = lookback_event_type_get(net, "query", LOOKBACK_LEVEL_DEBUG, query_fields, 2);
    const lookback_field payload_field = {"payload", LOOKBACK_BYTES};
    const lookback_event_type *packet = lookback_event_type_get(net, "packet", LOOKBACK_LEVEL_INFO, &payload_field, 1);
    if (request == NULL || query == NULL || packet == NULL) {
        return fail("define the event types");
    }

    const uint64_t values[] = {512, lookback_i64(-3), lookback_f64(0.5), lookback_name(recorder, "browser")};
    bool begun = lookback_begin(request, values, 4);
    const uint64_t rows = 3;
    lookback_instant_text(query, &rows, 1, "not recorded: its level is off");
    lookback_category_set_level(net, LOOKBACK_LEVEL_DEBUG);
    if (lookback_enabled(net, LOOKBACK_LEVEL_DEBUG)) {
        lookback_instant_text(query, &rows, 1, "select 1");
    }
    lookback_payload(packet, "\x01\x02\x03", 3);
    lookback_category_set_level(net, LOOKBACK_LEVEL_OFF);
    lookback_instant(request, values, 4);
    lookback_end(request, begun);
    lookback_set_level(recorder, LOOKBACK_LEVEL_INFO);

    unsigned count = 0;
    lookback_losses losses;
    if (lookback_snapshot(recorder, print, &count, &losses) != LOOKBACK_OK) {
        return fail("take a snapshot");
    }
    printf("%u events, %" PRIu64 " dropped\n", count, losses.dropped_events);
    lookback_close(recorder);
    return 0;
}
