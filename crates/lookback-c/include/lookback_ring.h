/*
 * lookback_ring.h: an always-on flight recorder for C11 and C++17. Link with -llookback_ring.
 *
 * Programs record spans and instants with typed fields into a ring of a fixed size, which keeps the latest of all
 * threads. The ring is a file that any number of processes share, each of which may be killed at any time, or
 * memory of one process.
 *
 *     lookback_recorder *recorder;
 *     if (lookback_open_or_create("/dev/shm/shop.ring", NULL, &recorder) != LOOKBACK_OK)
 *         fprintf(stderr, "%s\n", lookback_error_message());
 *     const lookback_category *net = lookback_category_get(recorder, "net");
 *     const lookback_field fields[] = {{"bytes", LOOKBACK_U64}, {"cached", LOOKBACK_BOOL}};
 *     const lookback_event_type *request =
 *         lookback_event_type_get(net, "request", LOOKBACK_LEVEL_INFO, fields, 2);
 *
 *     const uint64_t values[] = {512, 1};
 *     lookback_instant(request, values, 2);
 *
 * All functions can be called from any thread at any time, but for lookback_close. Recording does not allocate,
 * lock or call the system, after a thread's first event. What cannot be recorded is counted; see
 * lookback_losses. Texts are UTF-8 and end with a zero. Times are nanoseconds of CLOCK_MONOTONIC.
 *
 * After a fork the child's events are its own. A thread or process made by a bare clone system call must not record.
 *
 * Made by cbindgen from crates/lookback-c/src; do not edit.
 */


#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>


/**
 * What a function returns. Numbers are never used for something else.
 */
enum lookback_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * All is well.
   */
  LOOKBACK_OK = 0,
  /**
   * A null pointer or a text that is no UTF-8 was given.
   */
  LOOKBACK_INVALID = 1,
  /**
   * There is such a file already.
   */
  LOOKBACK_EXISTS = 2,
  /**
   * There is no such file.
   */
  LOOKBACK_ABSENT = 3,
  /**
   * The file system has no room.
   */
  LOOKBACK_NO_SPACE = 4,
  /**
   * The file is no ring file that this build can use, or is damaged.
   */
  LOOKBACK_UNUSABLE = 5,
  /**
   * The file was made before the machine was started last.
   */
  LOOKBACK_OTHER_BOOT = 6,
  /**
   * The operating system refused.
   */
  LOOKBACK_SYSTEM = 7,
  /**
   * A defect of this library. Nothing was done, and the recorder can still be used.
   */
  LOOKBACK_DEFECT = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum lookback_status lookback_status;
#else
typedef int32_t lookback_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How much an event matters. A category lets those pass whose level is at most its own.
 */
enum lookback_level
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * For a category: nothing passes.
   */
  LOOKBACK_LEVEL_OFF = 0,
  /**
   * Something failed.
   */
  LOOKBACK_LEVEL_ERROR = 1,
  /**
   * Something is odd.
   */
  LOOKBACK_LEVEL_WARN = 2,
  /**
   * What people want to know of an ordinary run.
   */
  LOOKBACK_LEVEL_INFO = 3,
  /**
   * What its programmer wants to know.
   */
  LOOKBACK_LEVEL_DEBUG = 4,
  /**
   * Everything.
   */
  LOOKBACK_LEVEL_TRACE = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum lookback_level lookback_level;
#else
typedef uint32_t lookback_level;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a field holds: a word of 64 bits, but for the last two.
 */
enum lookback_field_type
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * An unsigned number.
   */
  LOOKBACK_U64 = 1,
  /**
   * A signed number.
   */
  LOOKBACK_I64 = 2,
  /**
   * A double; see lookback_f64.
   */
  LOOKBACK_F64 = 3,
  /**
   * 0: no; anything else: yes.
   */
  LOOKBACK_BOOL = 4,
  /**
   * A name; see lookback_name.
   */
  LOOKBACK_NAME = 5,
  /**
   * A duration in nanoseconds.
   */
  LOOKBACK_DURATION = 6,
  /**
   * UTF-8, only as the last field.
   */
  LOOKBACK_TEXT = 7,
  /**
   * Bytes, only as the last field.
   */
  LOOKBACK_BYTES = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum lookback_field_type lookback_field_type;
#else
typedef uint32_t lookback_field_type;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What an event says about its span.
 */
enum lookback_phase
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It stands for itself.
   */
  LOOKBACK_INSTANT = 16,
  /**
   * A span begins on this thread.
   */
  LOOKBACK_BEGIN = 17,
  /**
   * The innermost span of this type on this thread ends.
   */
  LOOKBACK_END = 18,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum lookback_phase lookback_phase;
#else
typedef uint32_t lookback_phase;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A recorder: a ring file that is open, or memory of this process.
 */
typedef struct lookback_recorder lookback_recorder;

/**
 * How a ring file is made. Set all of it to zero first (`lookback_options options = {0};`); 0 and NULL stand for
 * what is said with each field.
 */
typedef struct lookback_options {
  /**
   * Bytes of the ring, all of which are taken at the creation; 0: 16 MiB.
   */
  uint64_t bytes;
  /**
   * How many bytes the ring can grow to, see lookback_resize; 0: it cannot grow.
   */
  uint64_t reserve;
  /**
   * Bytes of the larger events; 0: 1,000. No event can be larger than a block, which has at least four times
   * as many where the ring is large enough.
   */
  uint64_t largest_event;
  /**
   * What the recording is called, in UTF-8; NULL: nothing.
   */
  const char *name;
  /**
   * What this process is called in the recording, in UTF-8; NULL: as its program.
   */
  const char *program;
  /**
   * Who may use the file, as for chmod; 0: 0600.
   */
  uint32_t mode;
  /**
   * Level of new categories, see lookback_level; 0: info. To begin with all off, call lookback_set_level.
   */
  uint32_t level;
  /**
   * Cores that the ring is made for; 0: those of the machine.
   */
  uint32_t cores;
  /**
   * Not 0: the ring's memory is not mapped at once; each page's first event pays half a microsecond.
   */
  uint32_t lazy;
} lookback_options;

/**
 * A category. It has more than can be seen here.
 */
typedef struct lookback_category {
  /**
   * For lookback_enabled. Its low 32 bits are the level.
   */
  const uint64_t *word;
} lookback_category;

/**
 * A type of events. It has more than can be seen here.
 */
typedef struct lookback_event_type {
  /**
   * For lookback_type_enabled: as in its category.
   */
  const uint64_t *word;
  /**
   * Its own level.
   */
  uint32_t level;
} lookback_event_type;

/**
 * A field of an event type.
 */
typedef struct lookback_field {
  /**
   * What it is called, in UTF-8.
   */
  const char *name;
  /**
   * What it holds; see lookback_field_type.
   */
  uint32_t kind;
} lookback_field;

/**
 * A field of an event that was read.
 */
typedef struct lookback_value {
  /**
   * What it is called.
   */
  const char *name;
  /**
   * What it holds; see lookback_field_type.
   */
  uint32_t kind;
  /**
   * The word, but for a name, a text and bytes: then it is 0. Of a double, its bits.
   */
  uint64_t word;
  /**
   * What a name stands for, the text or the bytes; else NULL. No zero follows the bytes.
   */
  const char *bytes;
  /**
   * How many bytes these are.
   */
  size_t length;
} lookback_value;

/**
 * An event that was read. Texts end with a zero and are "?" where they are unknown.
 */
typedef struct lookback_event {
  /**
   * One of lookback_phase.
   */
  uint32_t phase;
  /**
   * One of lookback_level; 0 when its type is unknown.
   */
  uint32_t level;
  /**
   * Nanoseconds of CLOCK_MONOTONIC.
   */
  uint64_t time;
  /**
   * What its category is called; empty for those that did not fit into the file.
   */
  const char *category;
  /**
   * What it is called.
   */
  const char *name;
  /**
   * Tells threads apart, of all processes.
   */
  uint32_t thread;
  /**
   * The process that recorded it; 0 when that is unknown.
   */
  uint32_t pid;
  /**
   * What the thread is called.
   */
  const char *thread_name;
  /**
   * `count` fields.
   */
  const struct lookback_value *values;
  /**
   * How many fields it has; an end has none.
   */
  size_t count;
} lookback_event;

/**
 * Called with each event of a snapshot; what it points to is valid until the call returns. Returns whether to go
 * on. It must not throw.
 */
typedef bool (*lookback_visit)(const struct lookback_event *event, void *context);

/**
 * What a snapshot does not have.
 */
typedef struct lookback_losses {
  /**
   * Events that the ring did not take since it was made.
   */
  uint64_t dropped_events;
  /**
   * Blocks that were overwritten by later ones, which is what a ring does.
   */
  uint64_t overwritten_blocks;
  /**
   * Blocks that were never filled, because a writer that stopped in the middle of an event held them.
   */
  uint64_t skipped_blocks;
  /**
   * Events whose writer was killed in the middle, or is in it.
   */
  uint64_t unfinished_events;
  /**
   * Bytes of blocks that cannot be read because a killed writer hides where the next event begins.
   */
  uint64_t unreadable_bytes;
  /**
   * Names, threads and types that there was no room for.
   */
  uint64_t lost_definitions;
} lookback_losses;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Why the last function that returned something other than LOOKBACK_OK to this thread did so, and what to try,
 * in UTF-8. Empty when there was none. The address is the same as long as the thread lives; the text changes
 * when another function fails. Any thread.
 */
const char *lookback_error_message(void);

/**
 * Creates a ring file at `path` (UTF-8) and opens it; it must not be there. `options` may be NULL. On success
 * `*out` is the recorder, which lookback_close ends; else it is NULL. Any thread. Errors: EXISTS, NO_SPACE,
 * UNUSABLE (no ring of these sizes is possible), SYSTEM, INVALID.
 */
lookback_status lookback_create(const char *path,
                                const struct lookback_options *options,
                                struct lookback_recorder **out);

/**
 * Opens the ring file at `path` (UTF-8), made by any process since the machine was started. Of `options`, which
 * may be NULL, only `program` matters. On success `*out` is the recorder, which lookback_close ends; else it
 * is NULL. Any thread. Errors: ABSENT, UNUSABLE, OTHER_BOOT, SYSTEM, INVALID.
 */
lookback_status lookback_open(const char *path,
                              const struct lookback_options *options,
                              struct lookback_recorder **out);

/**
 * Opens the ring file at `path`, or creates it where there is none. Any number of processes may do so at once.
 * Otherwise as lookback_open and lookback_create.
 */
lookback_status lookback_open_or_create(const char *path,
                                        const struct lookback_options *options,
                                        struct lookback_recorder **out);

/**
 * A recorder in memory of this process alone, which ends with it. `options` may be NULL. Otherwise as
 * lookback_create.
 */
lookback_status lookback_create_private(const struct lookback_options *options,
                                        struct lookback_recorder **out);

/**
 * Ends a recorder and all its categories and event types: no thread may use any of them any more. The file stays.
 * NULL is ignored. Any thread.
 */
void lookback_close(struct lookback_recorder *recorder);

/**
 * Changes the memory of the ring to `bytes` bytes, or what comes next to it, while all go on recording: at most
 * what was reserved. Shrinking gives up what is in the memory given back. Returns the bytes that the ring has
 * then, or 0 when it failed; lookback_error_message says why. It can take a second. Any thread.
 */
uint64_t lookback_resize(struct lookback_recorder *recorder,
                         uint64_t bytes);

/**
 * The category of this name (UTF-8), the same in all processes that share the file. It takes microseconds: keep the
 * result, which is valid until lookback_close. NULL when an argument is NULL or no UTF-8. Any thread.
 */
const struct lookback_category *lookback_category_get(struct lookback_recorder *recorder,
                                                      const char *name);

/**
 * Has events of `category` recorded whose level is at most `level` (see lookback_level), in all processes
 * that share the file. NULL is ignored; a level beyond LOOKBACK_LEVEL_TRACE is LOOKBACK_LEVEL_TRACE. Any thread.
 */
void lookback_category_set_level(const struct lookback_category *category,
                                 uint32_t level);

/**
 * As lookback_category_set_level for all categories, those to come included.
 */
void lookback_set_level(struct lookback_recorder *recorder, uint32_t level);

/**
 * A type of events: `name` (UTF-8), `level` (LOOKBACK_LEVEL_ERROR to LOOKBACK_LEVEL_TRACE) and `count` fields, at most 255,
 * of which only the last may be text or bytes. It takes microseconds: keep the result, which is valid until
 * lookback_close. NULL when an argument is not valid; lookback_error_message says which. Any thread.
 */
const struct lookback_event_type *lookback_event_type_get(const struct lookback_category *category,
                                                          const char *name,
                                                          uint32_t level,
                                                          const struct lookback_field *fields,
                                                          size_t count);

/**
 * The number that stands for a text (UTF-8) in a field of type LOOKBACK_NAME; 0 when an argument is NULL or no
 * UTF-8, or there is no room for it. It takes microseconds: keep the result. Any thread.
 */
uint64_t lookback_name(struct lookback_recorder *recorder,
                       const char *name);

/**
 * Names the calling thread in the recording (UTF-8), from its next event on. Without it a thread has the operating
 * system's name of the moment of its first event. NULL is ignored.
 */
void lookback_set_thread_name(struct lookback_recorder *recorder,
                              const char *name);

/**
 * Records an event, whatever its level: the inline functions below look at that and call this. `phase` is one
 * of lookback_phase. `values` are `count` words, one for each field of the type but a text or bytes at its end,
 * which are the `tail_bytes` bytes at `tail`. What does not fit the type is recorded as it is. An event that is
 * larger than a block of the ring is dropped and counted. NULL for a type, and an unknown phase, record
 * nothing. Any thread; not from a signal handler as a thread's first event.
 */
void lookback_record(const struct lookback_event_type *of,
                     uint32_t phase,
                     const uint64_t *values,
                     size_t count,
                     const uint8_t *tail,
                     size_t tail_bytes);

/**
 * Reads all events that the ring retains, in the order of time, while all go on recording, and gives each to
 * `visit` together with `context`. `losses`, which may be NULL, receives what is missing. It allocates about as
 * much as the ring is long. Any thread. Errors: INVALID.
 */
lookback_status lookback_snapshot(struct lookback_recorder *recorder,
                                  lookback_visit visit,
                                  void *context,
                                  struct lookback_losses *losses);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#ifdef __cplusplus
extern "C" {
#endif

/* Whether events of this level are recorded now: one load and one comparison. `category` is not NULL. */
static inline bool lookback_enabled(const lookback_category *category, uint32_t level) {
    return (uint32_t)__atomic_load_n(category->word, __ATOMIC_RELAXED) >= level;
}

/* Whether events of this type are recorded now, as lookback_enabled. `type` is not NULL. */
static inline bool lookback_type_enabled(const lookback_event_type *type) {
    return (uint32_t)__atomic_load_n(type->word, __ATOMIC_RELAXED) >= type->level;
}

/* The word of a double, for a field of type LOOKBACK_F64. */
static inline uint64_t lookback_f64(double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* The word of a signed number, for a field of type LOOKBACK_I64. */
static inline uint64_t lookback_i64(int64_t value) {
    return (uint64_t)value;
}

/* Records an event whose fields are the `count` words at `values`. `type` is not NULL, here and below. */
static inline void lookback_instant(const lookback_event_type *type, const uint64_t *values, size_t count) {
    if (lookback_type_enabled(type)) {
        lookback_record(type, LOOKBACK_INSTANT, values, count, NULL, 0);
    }
}

/* Records an event whose last field is text or bytes: `bytes` bytes at `tail`. */
static inline void lookback_instant_bytes(const lookback_event_type *type, const uint64_t *values, size_t count,
                                          const void *tail, size_t bytes) {
    if (lookback_type_enabled(type)) {
        lookback_record(type, LOOKBACK_INSTANT, values, count, (const uint8_t *)tail, bytes);
    }
}

/* Records an event whose last field is a text, which ends with a zero. */
static inline void lookback_instant_text(const lookback_event_type *type, const uint64_t *values, size_t count,
                                         const char *text) {
    if (lookback_type_enabled(type)) {
        lookback_record(type, LOOKBACK_INSTANT, values, count, (const uint8_t *)text, strlen(text));
    }
}

/* Records an event of a type whose only field is bytes: whatever the program wants to keep. */
static inline void lookback_payload(const lookback_event_type *type, const void *payload, size_t bytes) {
    lookback_instant_bytes(type, NULL, 0, payload, bytes);
}

/*
 * Records that a span begins on this thread, and returns whether it did: give that to lookback_end, so that a span
 * which was switched off at its beginning has no end.
 */
static inline bool lookback_begin(const lookback_event_type *type, const uint64_t *values, size_t count) {
    bool enabled = lookback_type_enabled(type);
    if (enabled) {
        lookback_record(type, LOOKBACK_BEGIN, values, count, NULL, 0);
    }
    return enabled;
}

/* Records that the innermost span of this type on this thread ends, if it has begun; also when it is off now. */
static inline void lookback_end(const lookback_event_type *type, bool begun) {
    if (begun) {
        lookback_record(type, LOOKBACK_END, NULL, 0, NULL, 0);
    }
}

#ifdef __cplusplus
}
#endif
