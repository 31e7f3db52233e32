/* SPDX-License-Identifier: MIT */
#include "pace.h"

#include <stdlib.h>
#include <string.h>

static void follow(track *t, double value) {
    t->mean = t->any ? t->mean + (value - t->mean) / 16.0 : value;
    t->high = !t->any || value > t->high ? value : t->high;
    t->any = true;
}

static void forget(track *t) {
    t->high -= (t->high - t->mean) / 24.0;
}

/* Parts that take twice what is expected get half of the room, since the other half is excess. */
double pace_left(const pace *p) {
    return p->budget * p->safety - p->others.high - p->excess.high;
}

static bool keep(pace *p, frame_times times) {
    if (p->count == p->capacity) {
        const size_t capacity = p->capacity > 0 ? 2 * p->capacity : 1024;
        frame_times *all = realloc(p->all, capacity * sizeof *all);
        if (!all) {
            return false;
        }
        p->all = all;
        p->capacity = capacity;
    }
    p->all[p->count++] = times;
    return true;
}

bool pace_add(pace *p, frame_times times, bool counted) {
    const double excess = times.network - times.expected; /* 0 in a frame without parts */
    forget(&p->others);
    forget(&p->excess);
    follow(&p->others, times.frame - times.network);
    follow(&p->excess, excess > 0.0 ? excess : 0.0);
    return !counted || keep(p, times);
}

void pace_free(pace *p) {
    free(p->all);
    *p = (pace){0};
}

static int compare(const void *a, const void *b) {
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static double value_at(const frame_times *times, size_t at) {
    double value;
    memcpy(&value, (const char *)times + at, sizeof value);
    return value;
}

pace_summary pace_summarize(const pace *p, size_t at) {
    pace_summary summary = {0};
    double *values = p->count > 0 ? malloc(p->count * sizeof *values) : NULL;
    if (!values) {
        return summary;
    }
    for (size_t i = 0; i < p->count; i++) {
        values[i] = value_at(&p->all[i], at);
    }
    qsort(values, p->count, sizeof *values, compare);
    summary.median = values[p->count / 2];
    summary.p99 = values[(p->count * 99 - 1) / 100]; /* 99 % took at most that */
    summary.worst = values[p->count - 1];
    free(values);
    return summary;
}

size_t pace_over(const pace *p) {
    size_t over = 0;
    for (size_t i = 0; i < p->count; i++) {
        over += p->all[i].frame > p->budget;
    }
    return over;
}
