/* SPDX-License-Identifier: MIT */
/* What `weft bench` times: plans with Philox weights, made from the public API alone. */
#ifndef WEFT_BENCH_CASE_H
#define WEFT_BENCH_CASE_H

#include <weft/graph.h>

#define WEFT_BENCH_NAME_SIZE   80
#define WEFT_BENCH_MAX_LENGTHS 16

typedef struct weft_bench_case weft_bench_case;
struct weft_case;

struct weft_bench_case {
    const char *suite;
    char name[WEFT_BENCH_NAME_SIZE]; /* unique in its suite */
    const char *implementation;      /* forced, or null */
    uint32_t sizes[4];               /* what they mean is the suite's */
    const void *data;                /* the suite's own, static; may be null */

    /**
     * Adds inputs, nodes and the output to the case's graph, together with what float64 makes of them: the functions of
     * verify/paired.h. Of a case with compile() it defines the output alone, c->expected. Null: not known.
     */
    void (*define)(struct weft_case *c, const weft_bench_case *bench_case);
    /* In place of that: the first adds to a graph, the second makes the plan by itself. */
    weft_status (*build)(weft_graph *graph, const weft_bench_case *bench_case);
    weft_status (*compile)(weft_plan **plan, weft_device *device, const weft_bench_case *bench_case,
                           bool timestamps, const weft_host *host);

    uint32_t vocabulary; /* int32 inputs are tokens below this */
    uint32_t tokens;     /* of one run, for tokens per second; 0: none are counted */
    bool host_clock;     /* time without time stamps, which would lie between the dispatches */
    bool sized;       /* compile() finds sizes on the device, so its bits are no other device's */
    bool start_times; /* time its compilation with empty and full caches, too (start.h) */

    /* Of cases that differ in their length alone, so that growth can be fitted: */
    const char *series; /* what they have in common, such as "fourier"; null: no such case */
    uint32_t length;    /* n */
    uint32_t width;     /* channels: a series is held against those of the same width */
    bool linear;        /* time and memory ought to be linear in n */
    bool
        dense; /* what the others of its suite are held against: a form of dense attention, in suite
                   "ski" the TNN */
    struct {
        uint32_t heads, width;
    } rings; /* of a state that has keys and values head by head, and draws its numbers token by token; or zeros */
};

/** Fills an empty graph by the case's build() or define(). */
weft_status weft_bench_build(weft_graph *graph, const weft_bench_case *bench_case,
                             const weft_host *host);

/** The case's plan, of its own compile() or of the graph that its build() or define() makes. */
weft_status weft_bench_compile(weft_plan **plan, weft_device *device,
                               const weft_bench_case *bench_case, bool timestamps,
                               const weft_host *host);

/** How much of each suite is timed. */
typedef enum weft_bench_size {
    WEFT_BENCH_FULL = 0,
    WEFT_BENCH_SHORT,   /* some 20 seconds a suite on a software driver */
    WEFT_BENCH_SMALLEST /* the smallest case: that the suite works */
} weft_bench_size;

/** "full", "short" or "smallest". */
const char *weft_bench_size_name(weft_bench_size size);
/** False where no size has this name. */
bool weft_bench_size_from_name(weft_bench_size *size, const char *name);

typedef struct weft_bench_scope {
    weft_bench_size size;
    uint32_t lengths[WEFT_BENCH_MAX_LENGTHS]; /* of series, in ascending order */
    uint32_t length_count;
    bool lengths_given; /* by the user: suites use these and no others */
} weft_bench_scope;

/** Cases in fresh memory, in the order they were added. Zeroed but for the host: empty. */
typedef struct weft_bench_list {
    weft_bench_case *cases;
    uint32_t count, capacity;
    const weft_host *host;
    weft_status status; /* of the first weft_bench_list_add that failed */
} weft_bench_list;

/** Adds a copy of the case. After a failure, which the list keeps, nothing more is added. */
void weft_bench_list_add(weft_bench_list *list, const weft_bench_case *bench_case);

/** Takes out the cases whose name has no `text` in it. */
void weft_bench_list_keep(weft_bench_list *list, const char *text);

void weft_bench_list_free(weft_bench_list *list);

typedef struct weft_bench_suite {
    const char *name;
    const char *summary; /* a line for people */
    void (*add)(weft_bench_list *list, const weft_bench_scope *scope);
} weft_bench_suite;

/** True if `name` is the suite's, or "papers" and the suite one of those with figures and tables of papers. */
bool weft_bench_suite_is(const weft_bench_suite *suite, const char *name);

/** The suite at this place of the table, in the order they run; null behind the last. */
const weft_bench_suite *weft_bench_suite_at(uint32_t index);

/** The lengths that a size of series has where the user gives none. */
void weft_bench_default_lengths(weft_bench_scope *scope);

#endif
