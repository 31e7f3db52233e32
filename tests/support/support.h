/* SPDX-License-Identifier: MIT */
/* Basics of every test: cmocka, tests that announce themselves, a watched weft_host, and scratch files. */
#ifndef WEFT_TESTS_SUPPORT_H
#define WEFT_TESTS_SUPPORT_H

/* The headers that cmocka's wants before it, and those that nearly every test uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/device.h>

/* ---- tests of a file ---- */

/**
 * Defines a test; those of a file run in its order:
 *
 *     WEFT_TEST(what_holds) {
 *         assert_true(...);
 *     }
 *
 * A folder's files are one program, whose main is in support_main.c: `PROGRAM NAME` runs the tests of test_NAME.c.
 */
#define WEFT_TEST(name)                              \
    static void name(void);                          \
    static void weft_test_run_##name(void **state) { \
        (void)state;                                 \
        name();                                      \
    }                                                \
    WEFT_TEST_LIST(name, NULL, NULL)                 \
    static void name(void)

/** Defines a test between cmocka's fixtures. The parameter, such as `struct fixture *f`, is *state. */
#define WEFT_TEST_WITH(name, parameter, set_up, tear_down) \
    static void name(parameter);                           \
    static void weft_test_run_##name(void **state) {       \
        name(*state);                                      \
    }                                                      \
    WEFT_TEST_LIST(name, set_up, tear_down)                \
    static void name(__attribute__((unused)) parameter)

/** cmocka's fixtures around all tests of the file: what set_up leaves in *state is there for each of them. */
#define WEFT_TEST_GROUP(set_up, tear_down)                                    \
    __attribute__((constructor)) static void weft_test_list_fixtures_(void) { \
        weft_test_group(__FILE__, set_up, tear_down);                         \
    }                                                                         \
    _Static_assert(1, "a semicolon follows")

/** The call gives WEFT_OK, or that status; says both names if not. */
#define assert_ok(call)               assert_status(call, WEFT_OK)
#define assert_status(call, expected) weft_test_status(call, expected, #call, __FILE__, __LINE__)
void weft_test_status(weft_status found, weft_status expected, const char *call, const char *file,
                      int line);

/* A function that runs before main, one for each test of the file, first to last. */
#define WEFT_TEST_LIST(name, set_up, tear_down)                                                   \
    __attribute__((constructor)) static void weft_test_list_##name(void) {                        \
        weft_test_add(__FILE__,                                                                   \
                      (struct CMUnitTest){#name, weft_test_run_##name, set_up, tear_down, NULL}); \
    }
void weft_test_add(const char *file, struct CMUnitTest test);
void weft_test_group(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down);
/** NAME of the test_NAME.c whose tests run. */
char *weft_test_name(void);

/* ---- a watched host ---- */

/**
 * Collects the log, counts allocations, and lets chosen ones fail. May be used from several threads
 * at once, but for the fields that a test sets.
 */
struct weft_test_host {
    weft_host host; /* give this to the library */

    /* Set by the test. */
    long fail_at;   /* the n-th allocation from here on (1 is the next one) gives null; 0: none */
    bool fail_rest; /* so do all after it */
    bool paused;    /* the test's own calls: their allocations neither count nor fail */

    /* Read by the test. */
    long failures;           /* how many allocations weft_test_next_failure let fail */
    atomic_long live;        /* blocks allocated and not freed */
    atomic_long allocations; /* requests since the last weft_test_host_reset, failed ones too */
    long validation; /* messages of the validation layer, whose text is printed; never reset */

    void *log; /* lines, behind a lock */
};

/** Makes a host with an empty log, counters at 0 and no failures. */
void weft_test_host_begin(struct weft_test_host *test);
/** Fails the test if memory of the host is still allocated; frees the log. */
void weft_test_host_end(struct weft_test_host *test);
/** Counts allocations from 0 again, switches failures off, empties the log. */
void weft_test_host_reset(struct weft_test_host *test);

/**
 * Lets each allocation of a call fail, one run after the other, until there is none left to fail:
 *
 *     weft_status status = WEFT_OUT_OF_HOST_MEMORY;
 *     while (weft_test_next_failure(test, status)) {
 *         status = weft_something(&test->host);
 *     }
 *
 * Fails the test for any other status than these. With fail_rest all that come after it fail, too.
 */
bool weft_test_next_failure(struct weft_test_host *test, weft_status status);

/** All lines so far, each as "error: text\n"; valid until the next line or reset. */
const char *weft_test_log(struct weft_test_host *test);
bool weft_test_log_has(struct weft_test_host *test, const char *text);
/** How many lines are of that level, such as "warning". */
uint32_t weft_test_log_count(struct weft_test_host *test, const char *level);
/** Fails the test, showing the log, unless one line contains all the texts. */
#define weft_test_expect_log(test, ...) weft_test_expect_line(test, __VA_ARGS__, (const char *)NULL)
void weft_test_expect_line(struct weft_test_host *test, const char *text, ...);
/** The call gives that status, and a line of the log since then has all the texts. */
#define WEFT_EXPECT_REFUSED(test, expected, call, ...) \
    do {                                               \
        weft_test_host_reset(test);                    \
        assert_status(call, expected);                 \
        weft_test_expect_log(test, __VA_ARGS__);       \
    } while (0)

/** cmocka fixtures: *state is a watched host. */
int weft_test_host_set_up(void **state);
int weft_test_host_tear_down(void **state);
/** A test with a struct weft_test_host of that name. */
#define WEFT_TEST_ON_HOST(name, host)                                        \
    WEFT_TEST_WITH(name, struct weft_test_host *host, weft_test_host_set_up, \
                   weft_test_host_tear_down)

/** A watched host, and a new folder. */
struct weft_test_place {
    struct weft_test_host host;
    char *folder;
};

/** cmocka fixtures: *state is a struct weft_test_place. */
int weft_test_place_set_up(void **state);
int weft_test_place_tear_down(void **state);
/** A test with a struct weft_test_place of that name. */
#define WEFT_TEST_IN_PLACE(name, place)                                         \
    WEFT_TEST_WITH(name, struct weft_test_place *place, weft_test_place_set_up, \
                   weft_test_place_tear_down)

/** A device with its settings as they are, and the watched host that it is opened with. */
struct weft_test_device {
    struct weft_test_host host;
    weft_device *device;
};

/** cmocka fixtures: *state is a struct weft_test_device. */
int weft_test_device_set_up(void **state);
int weft_test_device_tear_down(void **state);
/** A test with a struct weft_test_device of that name. */
#define WEFT_TEST_ON_DEVICE(name, fixture)                                          \
    WEFT_TEST_WITH(name, struct weft_test_device *fixture, weft_test_device_set_up, \
                   weft_test_device_tear_down)

/** Closes a device; fails the test if the validation layer had something to say. */
void weft_test_device_close(weft_device **device);

/* ---- files ---- */

/* Folders and texts, paths among them, last as long as the program: nobody removes or frees them. */

/** Memory that lasts as long as the program. */
void *weft_test_keep(size_t size);
/** printf into such memory. */
char *weft_test_text(const char *format, ...);
/** A new folder. */
char *weft_test_folder(void);
/** "folder/name". */
char *weft_test_path(const char *folder, const char *name);
/** A path where nothing is: that name in a new, empty folder. */
char *weft_test_absent(const char *name);
/** The path of a file below tests/data. */
char *weft_test_data(const char *name);
/** Writes folder/name and returns its path. */
char *weft_test_write(const char *folder, const char *name, const void *data, size_t size);
/** A whole file in malloc's memory, with a zero byte behind it; fails the test if there is none. */
uint8_t *weft_test_read(const char *path, size_t *size);
/** How many entries a folder has. */
size_t weft_test_entries(const char *folder);

/** Sets an environment variable of this process, or removes it: no value. */
void weft_test_set_variable(const char *name, const char *value);

/* ---- numbers ---- */

/** Uniform numbers of a stream in malloc's memory. */
float *weft_test_uniform(size_t count, uint64_t seed, uint64_t stream);

/* ---- threads ---- */

/** Calls that a program's job system received. */
struct weft_test_jobs {
    atomic_uint jobs, threads;
};

/** weft_job_system.run for `user` of that struct and at most 8 slots: on new threads each time, none of it on the caller's. */
void weft_test_run_on_new_threads(void *user, weft_job work, void *job, uint32_t count);

/* ---- damage ---- */

/**
 * A copy of `size` bytes with a few random changes (bytes, bits, numbers, cuts, insertions,
 * repetitions) in malloc's memory of exactly *mutated_size bytes (null for 0), so that a sanitizer
 * sees every read beyond them. The same seed and round make the same changes on every machine.
 */
uint8_t *weft_test_mutate(const uint8_t *data, size_t size, uint64_t seed, uint64_t round,
                          size_t *mutated_size);

#endif
