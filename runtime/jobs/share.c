/* SPDX-License-Identifier: MIT */
/*
 * Ranges get smaller towards the end, so that all threads finish at about the same time, but not so small that handing them
 * out shows.
 *
 * How long an item takes is not known before it has run, and differs from one dispatch of a pipeline to the next. So
 * the calling thread begins alone unless the last time says that there is much to do, and asks for help when it has worked
 * for as long as waking somebody up takes.
 *
 * A range runs in pieces, which get longer as long as they take little time: between two of them the watch is looked at, so
 * that what takes long ends soon after somebody wants it to.
 */
#include "jobs/share.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/math/float_state.h"
#include "jobs/machine.h"

#define ALONE_NS    UINT64_C(8000)    /* what is done sooner is not shared */
#define RANGE_NS    UINT64_C(2000)    /* of the smallest ranges */
#define PIECE_NS    UINT64_C(1000000) /* after which the watch is looked at */
#define FIRST_PIECE UINT64_C(4) /* in least ranges: they run before the watch is looked at again */
#define PS          UINT64_C(1000) /* in a nanosecond */

struct share {
    const struct weft_share_items *items;
    pthread_t caller; /* who may ask */
    uint32_t slots;
    uint64_t least;             /* items of a range */
    atomic_uint_least64_t next; /* item that nobody has taken */
    uint64_t own_items, own_ns; /* by slot 0 */
};

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- the watch ---- */

void weft_watch_ask(struct weft_watch *watch) {
    if (!watch->ask) {
        return;
    }
    const uint64_t now = weft_clock_ns();
    if (now - watch->asked_ns >= WEFT_WATCH_ASK_NS) {
        watch->asked_ns = now;
        const weft_float_state state = weft_float_state_default(); /* it is the program's */
        if (watch->ask(watch->user)) {
            atomic_store(&watch->halt, 1);
        }
        weft_float_state_restore(&state);
    }
}

static bool goes_on(const struct share *share) {
    const struct weft_watch *watch = share->items->watch;
    return !watch || !weft_halted(watch);
}

static void ask(const struct share *share) {
    struct weft_watch *watch = share->items->watch;
    if (watch && watch->ask && pthread_equal(pthread_self(), share->caller)) {
        weft_watch_ask(watch);
    }
}

/* How many items it ran: fewer than `count` where it was halted. */
static uint64_t run_range(struct share *share, uint32_t slot, uint64_t first, uint64_t count) {
    const struct weft_share_items *items = share->items;
    uint64_t piece = FIRST_PIECE * share->least, done = 0, start = 0;
    while (done < count && goes_on(share)) {
        const uint64_t part = smaller(piece, count - done);
        if (part == count) {
            items->run(items->job, slot, first, count);
            return count;
        }
        start = start > 0 ? start : weft_clock_ns();
        items->run(items->job, slot, first + done, part);
        done += part;
        const uint64_t end = weft_clock_ns();
        if (end - start < PIECE_NS) {
            piece = piece < count / 2 ? 2 * piece : count;
        }
        start = end;
        ask(share);
    }
    return done;
}

/* ---- ranges ---- */

static bool claim(struct share *share, uint64_t *first, uint64_t *count) {
    uint64_t next = atomic_load_explicit(&share->next, memory_order_relaxed);
    while (next < share->items->count && goes_on(share)) {
        const uint64_t left = share->items->count - next;
        const uint64_t part = left / ((uint64_t)2 * share->slots);
        *count = smaller(left, part > share->least ? part : share->least);
        if (atomic_compare_exchange_weak_explicit(&share->next, &next, next + *count,
                                                  memory_order_relaxed, memory_order_relaxed)) {
            *first = next;
            return true;
        }
    }
    return false;
}

static void work(struct share *share, uint32_t slot) {
    const uint64_t start = slot == 0 ? weft_clock_ns() : 0;
    uint64_t first = 0, count = 0, ran = 0;
    while (claim(share, &first, &count)) {
        ran += run_range(share, slot, first, count);
        ask(share);
    }
    if (slot == 0) {
        share->own_items += ran;
        share->own_ns += weft_clock_ns() - start;
    }
}

/* A call of the job: on any thread. */
static void work_as_job(void *job, uint32_t slot) {
    const weft_float_state state = weft_float_state_kernel();
    work(job, slot);
    weft_float_state_restore(&state);
}

/* Until all is done or there is so much left that others should help. */
static void work_alone(struct share *share) {
    const struct weft_share_items *items = share->items;
    const uint64_t start = weft_clock_ns();
    uint64_t next = 0, count = 1, elapsed = 0;
    while (next < items->count && elapsed < ALONE_NS && goes_on(share)) {
        count = smaller(count, items->count - next);
        items->run(items->job, 0, next, count);
        next += count;
        count *= 2;
        elapsed = weft_clock_ns() - start;
    }
    atomic_store_explicit(&share->next, next, memory_order_relaxed);
    share->own_items = next;
    share->own_ns = elapsed;
}

/* All of it. What it takes is measured where that is not known, or much. */
static void work_without_help(struct share *share) {
    const struct weft_share_items *items = share->items;
    share->slots = 1;
    share->least = *items->cost > 0 ? RANGE_NS * PS / *items->cost + 1 : 1;
    if (items->count > share->least) {
        work(share, 0);
    } else {
        items->run(items->job, 0, 0, items->count);
    }
}

/* No more threads than there is work for. */
static uint32_t useful_slots(uint64_t left, uint64_t cost, uint32_t slots) {
    const uint64_t a_range = RANGE_NS * PS;
    const uint64_t by_time = left > UINT64_MAX / cost ? left : left * cost / a_range + 1;
    return (uint32_t)smaller(smaller(left, by_time), slots);
}

/* Ranges that are worth handing out, but also enough of them, should the cost be that of a smaller dispatch. */
static uint64_t least_range(uint64_t left, uint64_t cost, uint32_t slots) {
    const uint64_t by_time = RANGE_NS * PS / cost;
    const uint64_t enough = left / ((uint64_t)8 * slots);
    const uint64_t least = smaller(by_time, enough);
    return least > 0 ? least : 1;
}

static void work_together(struct share *share, uint64_t cost, const weft_job_system *jobs) {
    const uint64_t left = share->items->count - atomic_load(&share->next);
    share->slots = useful_slots(left, cost, jobs->concurrency);
    share->least = least_range(left, cost, share->slots);
    if (share->slots > 1) {
        jobs->run(jobs->user, work_as_job, share, share->slots);
    } else {
        work(share, 0);
    }
}

static uint64_t measured_cost(const struct share *share) {
    return share->own_ns * PS / share->own_items + 1;
}

static void work_with_help(struct share *share, const weft_job_system *jobs) {
    const uint64_t known = *share->items->cost;
    if (known == 0 || known < ALONE_NS * PS / share->items->count) {
        work_alone(share);
    }
    if (atomic_load(&share->next) < share->items->count && goes_on(share)) {
        const uint64_t estimate = known > 0 ? known : 1;
        work_together(share, share->own_items > 0 ? measured_cost(share) : estimate, jobs);
    }
}

void weft_share(const struct weft_share_items *items, const weft_job_system *jobs) {
    struct share share = {.items = items, .caller = pthread_self()};
    if (items->count == 0 || !goes_on(&share)) {
        return;
    }
    if (items->count == 1 || jobs->concurrency <= 1) {
        work_without_help(&share);
    } else {
        work_with_help(&share, jobs);
    }
    if (share.own_items > 0) {
        *items->cost = measured_cost(&share);
    }
}
