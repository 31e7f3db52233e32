/* SPDX-License-Identifier: MIT */
/* Sharing work out: by threads of our own, and by a job system. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* usleep */
#endif
#include <pthread.h>
#include <unistd.h>

#include "jobs/scratch.h"
#include "jobs/share.h"
#include "jobs/threads.h"
#include "support.h"

enum { MOST = 20000 };

/* How often each item ran, and which slots did. */
struct tally {
    atomic_uint items[MOST];
    atomic_uint slots; /* a bit for each */
    unsigned pause_us; /* for each item */
};

static void count_items(const void *job, uint32_t slot, uint64_t first, uint64_t count) {
    struct tally *tally = *(struct tally *const *)job;
    atomic_fetch_or(&tally->slots, 1U << slot);
    for (uint64_t i = first; i < first + count; i++) {
        atomic_fetch_add(&tally->items[i], 1);
        if (tally->pause_us > 0) {
            usleep(tally->pause_us);
        }
    }
}

static void expect_all_once(struct tally *tally, uint64_t count, uint64_t *cost,
                            const weft_job_system *jobs) {
    const struct weft_share_items items = {
        .run = count_items, .job = &tally, .count = count, .cost = cost};
    memset(tally->items, 0, sizeof tally->items);
    weft_share(&items, jobs);
    for (uint64_t i = 0; i < MOST; i++) {
        assert_int_equal(atomic_load(&tally->items[i]), i < count ? 1 : 0);
    }
}

static const uint64_t counts[] = {0, 1, 2, 3, 7, 64, 1000, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };

static void expect_right(const weft_job_system *jobs) {
    struct tally *tally = calloc(1, sizeof *tally);
    assert_non_null(tally);
    for (size_t i = 0; i < COUNTS; i++) {
        /* Unknown, far too little, far too much. */
        uint64_t costs[] = {0, 1, UINT64_C(1000000000000), UINT64_MAX};
        for (size_t k = 0; k < sizeof costs / sizeof costs[0]; k++) {
            expect_all_once(tally, counts[i], &costs[k], jobs);
        }
    }
    free(tally);
}

WEFT_TEST_ON_HOST(each_item_runs_once, host) {
    for (uint32_t threads = 1; threads <= 9; threads += 2) {
        struct weft_threads *own = NULL;
        weft_job_system jobs;
        assert_ok(weft_threads_start(&own, &jobs, threads, &host->host));
        assert_int_equal(jobs.concurrency, threads);
        for (int round = 0; round < 20; round++) {
            expect_right(&jobs);
        }
        weft_threads_end(&own, &host->host);
        assert_null(own);
    }
}

/* Items that take long are not left to one thread, also where an earlier time says that they are short. */
WEFT_TEST_ON_HOST(long_work_is_shared, host) {
    struct weft_threads *own = NULL;
    weft_job_system jobs;
    struct tally *tally = calloc(1, sizeof *tally);
    uint64_t cost = 1;
    assert_non_null(tally);
    assert_ok(weft_threads_start(&own, &jobs, 3, &host->host));
    tally->pause_us = 1000;
    expect_all_once(tally, 300, &cost, &jobs);
    assert_true(atomic_load(&tally->slots) != 1);
    assert_true(cost >= UINT64_C(500000000)); /* 1 ms, with a clock that may be coarse */
    weft_threads_end(&own, &host->host);
    free(tally);
}

/* Threads that go to sleep in between wake up again. */
WEFT_TEST_ON_HOST(threads_sleep_and_wake, host) {
    struct weft_threads *own = NULL;
    weft_job_system jobs;
    struct tally *tally = calloc(1, sizeof *tally);
    assert_non_null(tally);
    assert_ok(weft_threads_start(&own, &jobs, 4, &host->host));
    for (int round = 0; round < 10; round++) {
        uint64_t cost = UINT64_C(1000000000);
        usleep(2000);
        expect_all_once(tally, 500, &cost, &jobs);
    }
    weft_threads_end(&own, &host->host);
    free(tally);
}

/* ---- somebody else's job system ---- */

static void run_in_turn(void *user, weft_job work, void *job, uint32_t count) {
    (void)user;
    for (uint32_t slot = count; slot-- > 0;) {
        work(job, slot);
    }
}

static void run_first_only(void *user, weft_job work, void *job, uint32_t count) {
    (void)user;
    (void)count;
    work(job, 0);
}

WEFT_TEST(other_job_systems) {
    struct weft_test_jobs asked = {0};
    const weft_job_system systems[] = {
        {.concurrency = 1, .run = run_in_turn},
        {.concurrency = 5, .run = run_in_turn},
        {.concurrency = 5, .run = run_first_only},
        {.concurrency = 8, .run = weft_test_run_on_new_threads, .user = &asked}};
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        expect_right(&systems[i]);
    }
    assert_true(atomic_load(&asked.threads) > 0);
}

/* ---- scratch ---- */

WEFT_TEST_ON_HOST(scratch_grows_and_stays, host) {
    static const size_t sizes[] = {1, 4096, 100, 4097, 1 << 20};
    struct weft_scratch scratch;
    uint8_t *first[5];
    assert_true(weft_scratch_create(&scratch, 3));
    const struct weft_scratch_pieces none = weft_scratch_pieces(&scratch);
    assert_null(weft_scratch_piece(&none, 2));
    for (size_t i = 0; i < 5; i++) {
        assert_true(weft_scratch_reserve(&scratch, sizes[i], &host->host));
        const struct weft_scratch_pieces pieces = weft_scratch_pieces(&scratch);
        assert_true(pieces.stride >= sizes[i]);
        for (uint32_t slot = 0; slot < 3; slot++) {
            uint8_t *piece = weft_scratch_piece(&pieces, slot);
            assert_int_equal((uintptr_t)piece % 64, 0);
            memset(piece, (int)i, pieces.stride);
        }
        first[i] = pieces.first;
    }
    assert_ptr_equal(first[0], first[2]); /* enough already */
    assert_int_equal(first[0][0], 2);     /* and still there when there is more */
    assert_false(weft_scratch_reserve(&scratch, SIZE_MAX, &host->host));
    assert_false(weft_scratch_reserve(&scratch, SIZE_MAX / 2, &host->host));
    weft_test_host_reset(host);
    host->fail_at = 1;
    assert_false(weft_scratch_reserve(&scratch, 4 << 20, &host->host));
    weft_scratch_destroy(&scratch, &host->host);
}

/* Threads that cannot be had are an error, and what was made of it is gone. */
WEFT_TEST_ON_HOST(no_memory_for_threads, host) {
    struct weft_threads *own = NULL;
    weft_job_system jobs;
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(host, status)) {
        status = weft_threads_start(&own, &jobs, 2, &host->host);
    }
    weft_threads_end(&own, &host->host);
}
