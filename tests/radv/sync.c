/* SPDX-License-Identifier: MIT */
/* Synchronization objects: a point that was reached, and for binary ones whether there was any. Submissions are done when they return. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kmd.h"

/* Of drm.h. */
struct handle_of {
    uint32_t handle, flags;
};
struct wait_for {
    uint64_t handles;
    int64_t deadline; /* of CLOCK_MONOTONIC */
    uint32_t count, flags, first, unused;
};
struct wait_for_points {
    uint64_t handles, points;
    int64_t deadline;
    uint32_t count, flags, first, unused;
};
struct list_of {
    uint64_t handles;
    uint32_t count, unused;
};
struct points_of {
    uint64_t handles, points;
    uint32_t count, flags;
};
struct transfer {
    uint32_t from, to;
    uint64_t from_point, to_point;
    uint32_t flags, unused;
};

enum {
    CREATE = 0xbf,
    DESTROY = 0xc0,
    WAIT = 0xc3,
    RESET = 0xc4,
    SIGNAL = 0xc5,
    WAIT_POINTS = 0xca,
    QUERY = 0xcb,
    TRANSFER = 0xcc,
    SIGNAL_POINTS = 0xcd
};
enum { FLAG_SIGNALED = 1, FLAG_ALL = 1, FLAG_FOR_SUBMIT = 2, FLAG_AVAILABLE = 4 };

struct sync {
    bool exists, is_set;
    uint64_t point;
};
static struct sync *syncs; /* by handle; 0 is none */
static uint32_t sync_count;
static pthread_cond_t changed;

static void begin(void) {
    static bool has_begun;
    if (!has_begun) {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&changed, &attributes);
        has_begun = true;
    }
}

static struct sync *find(uint32_t handle) {
    return handle > 0 && handle < sync_count && syncs[handle].exists ? &syncs[handle] : NULL;
}

static int create(struct handle_of *with) {
    uint32_t at = 1;
    while (at < sync_count && syncs[at].exists) {
        at++;
    }
    if (at >= sync_count) {
        struct sync *more = realloc(syncs, (at + 1) * sizeof *more);
        if (!more) {
            return ENOMEM;
        }
        syncs = more;
        sync_count = at + 1;
    }
    syncs[at] = (struct sync){.exists = true, .is_set = (with->flags & FLAG_SIGNALED) != 0};
    with->handle = at;
    return 0;
}

static int destroy(const struct handle_of *with) {
    struct sync *sync = find(with->handle);
    if (!sync) {
        return EINVAL;
    }
    sync->exists = false;
    return 0;
}

bool kmd_sync_is_reached(uint32_t handle, uint64_t point) {
    const struct sync *sync = find(handle);
    return sync && sync->is_set && (point == 0 || sync->point >= point);
}

void kmd_sync_signal(uint32_t handle, uint64_t point) {
    struct sync *sync = find(handle);
    begin();
    if (sync) {
        sync->is_set = true;
        sync->point = point > sync->point ? point : sync->point;
    }
    pthread_cond_broadcast(&changed);
}

/* Index of one that was reached, or the count; where all are waited for, of the first that was not is said by the count. */
static bool is_over(const uint32_t *handles, const uint64_t *points, uint32_t count, bool all,
                    uint32_t *first) {
    uint32_t reached = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kmd_sync_is_reached(handles[i], points ? points[i] : 0)) {
            *first = reached++ == 0 ? i : *first;
        }
    }
    return all ? reached == count : reached > 0;
}

static int wait_for(struct kmd *kmd, const uint32_t *handles, const uint64_t *points,
                    uint32_t count, uint32_t flags, int64_t deadline, uint32_t *first) {
    const struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000),
                                   .tv_nsec = (long)(deadline % 1000000000)};
    const bool waits = (flags & (FLAG_FOR_SUBMIT | FLAG_AVAILABLE)) != 0;
    begin();
    for (uint32_t i = 0; i < count; i++) {
        if (!find(handles[i])) {
            return ENOENT;
        }
    }
    while (!is_over(handles, points, count, (flags & FLAG_ALL) != 0, first)) {
        if (!waits) { /* nothing was submitted that would set it */
            return EINVAL;
        }
        if (deadline <= 0 || pthread_cond_timedwait(&changed, &kmd->lock, &until) == ETIMEDOUT) {
            return is_over(handles, points, count, (flags & FLAG_ALL) != 0, first) ? 0 : ETIME;
        }
    }
    return 0;
}

static const uint32_t *words_at(uint64_t address) {
    return (const uint32_t *)(uintptr_t)address;
}

static uint64_t *points_at(uint64_t address) {
    return (uint64_t *)(uintptr_t)address;
}

static int set_all(const struct list_of *with, bool is_set) {
    for (uint32_t i = 0; i < with->count; i++) {
        struct sync *sync = find(words_at(with->handles)[i]);
        if (!sync) {
            return ENOENT;
        }
        if (is_set) {
            kmd_sync_signal(words_at(with->handles)[i], 0);
        } else {
            sync->is_set = false;
            sync->point = 0;
        }
    }
    return 0;
}

static int set_points(const struct points_of *with) {
    for (uint32_t i = 0; i < with->count; i++) {
        kmd_sync_signal(words_at(with->handles)[i], points_at(with->points)[i]);
    }
    return 0;
}

static int query(const struct points_of *with) {
    for (uint32_t i = 0; i < with->count; i++) {
        const struct sync *sync = find(words_at(with->handles)[i]);
        if (!sync) {
            return ENOENT;
        }
        points_at(with->points)[i] = sync->point;
    }
    return 0;
}

static int move(const struct transfer *with) {
    if (!find(with->to) || !kmd_sync_is_reached(with->from, with->from_point)) {
        return EINVAL;
    }
    kmd_sync_signal(with->to, with->to_point);
    return 0;
}

int kmd_sync_ioctl(struct kmd *kmd, uint32_t number, void *argument) {
    switch (number) {
    case CREATE:
        return create(argument);
    case DESTROY:
        return destroy(argument);
    case WAIT: {
        struct wait_for *with = argument;
        return wait_for(kmd, words_at(with->handles), NULL, with->count, with->flags,
                        with->deadline, &with->first);
    }
    case WAIT_POINTS: {
        struct wait_for_points *with = argument;
        return wait_for(kmd, words_at(with->handles), points_at(with->points), with->count,
                        with->flags, with->deadline, &with->first);
    }
    case RESET:
        return set_all(argument, false);
    case SIGNAL:
        return set_all(argument, true);
    case QUERY:
        return query(argument);
    case TRANSFER:
        return move(argument);
    case SIGNAL_POINTS:
        return set_points(argument);
    default:
        return ENOTTY;
    }
}
