/*
 * Everything that a caller can do wrong without breaking the rules of C: each is an error with a message, or has
 * no effect. Arguments: a foreign file, one that is absent, one in a directory that is absent.
 */

#include "lookback_ring.h"

#include <stdio.h>

static int wrong = 0;

static void check(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        wrong = 1;
    }
}

#define CHECK(holds) check((holds), #holds)

static bool stop(const lookback_event *event, void *context) {
    (void)event;
    ++*(int *)context;
    return false;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        return 2;
    }
    lookback_recorder *recorder = (lookback_recorder *)argv;
    CHECK(lookback_open(argv[1], NULL, &recorder) == LOOKBACK_UNUSABLE);
    CHECK(recorder == NULL);
    puts(lookback_error_message());
    CHECK(lookback_open(argv[2], NULL, &recorder) == LOOKBACK_ABSENT);
    puts(lookback_error_message());
    CHECK(lookback_create(argv[3], NULL, &recorder) == LOOKBACK_ABSENT);
    CHECK(lookback_create(argv[1], NULL, &recorder) == LOOKBACK_EXISTS);
    CHECK(lookback_open(NULL, NULL, &recorder) == LOOKBACK_INVALID);
    CHECK(lookback_open("\xff\xfe", NULL, &recorder) == LOOKBACK_INVALID);
    CHECK(strlen(lookback_error_message()) > 0);
    lookback_options options = {0};
    options.bytes = 1;
    CHECK(lookback_create_private(&options, &recorder) == LOOKBACK_UNUSABLE);
    options.bytes = (uint64_t)1 << 45;
    options.cores = 1024;
    CHECK(lookback_create(argv[2], &options, &recorder) == LOOKBACK_NO_SPACE);
    options.bytes = 1 << 20;
    options.cores = 2;
    CHECK(lookback_create_private(&options, NULL) == LOOKBACK_INVALID);
    CHECK(lookback_create_private(&options, &recorder) == LOOKBACK_OK);

    const lookback_category *net = lookback_category_get(recorder, "net");
    CHECK(net != NULL && net == lookback_category_get(recorder, "net"));
    CHECK(lookback_category_get(NULL, "net") == NULL);
    CHECK(lookback_category_get(recorder, NULL) == NULL);
    lookback_category_set_level(NULL, LOOKBACK_LEVEL_INFO);
    lookback_set_level(NULL, LOOKBACK_LEVEL_INFO);
    lookback_category_set_level(net, 77);
    CHECK(lookback_enabled(net, LOOKBACK_LEVEL_TRACE));

    const lookback_field good[] = {{"n", LOOKBACK_U64}, {"text", LOOKBACK_TEXT}};
    const lookback_field early[] = {{"text", LOOKBACK_TEXT}, {"n", LOOKBACK_U64}};
    const lookback_field odd[] = {{"n", 99}, {NULL, LOOKBACK_U64}};
    const lookback_event_type *type = lookback_event_type_get(net, "t", LOOKBACK_LEVEL_INFO, good, 2);
    CHECK(type != NULL && type == lookback_event_type_get(net, "t", LOOKBACK_LEVEL_INFO, good, 2));
    CHECK(lookback_event_type_get(NULL, "t", LOOKBACK_LEVEL_INFO, good, 2) == NULL);
    CHECK(lookback_event_type_get(net, NULL, LOOKBACK_LEVEL_INFO, good, 2) == NULL);
    CHECK(lookback_event_type_get(net, "t", LOOKBACK_LEVEL_OFF, good, 2) == NULL);
    CHECK(lookback_event_type_get(net, "t", 77, good, 2) == NULL);
    CHECK(lookback_event_type_get(net, "t", LOOKBACK_LEVEL_INFO, NULL, 2) == NULL);
    CHECK(lookback_event_type_get(net, "t", LOOKBACK_LEVEL_INFO, good, 256) == NULL);
    CHECK(lookback_event_type_get(net, "t", LOOKBACK_LEVEL_INFO, early, 2) == NULL);
    CHECK(lookback_event_type_get(net, "t", LOOKBACK_LEVEL_INFO, odd, 1) == NULL);
    CHECK(lookback_event_type_get(net, "t", LOOKBACK_LEVEL_INFO, odd + 1, 1) == NULL);
    CHECK(lookback_name(recorder, NULL) == 0 && lookback_name(NULL, "x") == 0);
    lookback_set_thread_name(recorder, NULL);

    static const uint8_t huge[2 << 20];
    const uint64_t words[20] = {1, 2, 3};
    lookback_record(NULL, LOOKBACK_INSTANT, words, 1, NULL, 0);
    lookback_record(type, 3, words, 1, NULL, 0);
    lookback_record(type, LOOKBACK_INSTANT, NULL, 5, NULL, 5);
    lookback_record(type, LOOKBACK_INSTANT, words, 20, huge, 7);
    lookback_record(type, LOOKBACK_INSTANT, words, 1, huge, sizeof huge);
    int visited = 0;
    lookback_losses losses;
    CHECK(lookback_snapshot(recorder, stop, &visited, &losses) == LOOKBACK_OK);
    CHECK(visited == 1 && losses.dropped_events == 1);
    CHECK(lookback_snapshot(recorder, NULL, NULL, NULL) == LOOKBACK_OK);
    CHECK(lookback_snapshot(NULL, stop, &visited, NULL) == LOOKBACK_INVALID);
    CHECK(lookback_resize(recorder, 1) > 0 && lookback_resize(recorder, 1) < 1 << 20);
    CHECK(lookback_resize(NULL, 1 << 20) == 0);
    lookback_close(recorder);
    lookback_close(NULL);
    return wrong;
}
