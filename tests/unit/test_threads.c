/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/*
 * Threads that share a device: all of them compile, run, transfer, trim and destroy at the same time, and get the bits that one
 * thread alone gets. WEFT_TEST_THREAD_SECONDS says how long; `./dev test` and no variable: a few seconds.
 */
#include <pthread.h>

#include <weft/mixers.h>

#include "core/system/clock.h"
#include "device/device.h"
#include "support.h"

enum { THREADS = 8, KINDS = 4, N = 37, D = 24, COUNT = N * D, BYTES = COUNT * 4 };

/* Weights that all threads' graphs share, as those of one model are shared. */
struct shared {
    weft_device *device;
    const weft_host *host;
    weft_weight *square, *row;
    float *x;
    float expected[KINDS][COUNT];
    double seconds;
};

struct worker {
    struct shared *shared;
    uint32_t index;
    uint32_t rounds;
    const char *failed; /* null: all is well */
};

#define CHECK(call)                           \
    do {                                      \
        if ((call) != WEFT_OK) {              \
            failed = failed ? failed : #call; \
        }                                     \
    } while (0)

/* Graphs of several kinds, some with constants that must be prepared, folded or generated. */
static const char *build(weft_graph *graph, const struct shared *shared, uint32_t kind) {
    const char *failed = NULL;
    weft_tensor x = {0}, w = {0}, b = {0}, y = {0}, z = {0};
    CHECK(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, N, D)));
    CHECK(weft_graph_weight(&w, graph, shared->square));
    CHECK(weft_graph_weight(&b, graph, shared->row));
    CHECK(weft_graph_linear(&y, graph, x, w, b));
    if (kind == 0) {
        CHECK(weft_graph_fourier(&y, graph, y));
    } else if (kind == 1) {
        CHECK(weft_graph_attention(&y, graph, y, x, y, NULL));
    } else if (kind == 2) { /* a product of weights alone is folded */
        weft_tensor folded = {0};
        CHECK(weft_graph_linear(&folded, graph, w, w, b));
        CHECK(weft_graph_linear(&z, graph, x, folded, b));
        CHECK(weft_graph_attention(&y, graph, y, z, y, NULL));
    } else {
        CHECK(weft_graph_add_norm(
            &y, graph, y, x,
            &(weft_norm_params){.kind = WEFT_NORM_LAYER, .gamma = b, .beta = b, .epsilon = 1e-5F}));
    }
    CHECK(weft_graph_output(graph, "y", y));
    return failed;
}

static const char *run_with_bindings(const struct shared *shared, weft_plan *plan, float *y) {
    const char *failed = NULL;
    weft_buffer *in = NULL, *out = NULL;
    weft_bindings *bindings = NULL;
    CHECK(weft_buffer_create(&in, shared->device, BYTES));
    CHECK(weft_buffer_create(&out, shared->device, BYTES));
    CHECK(weft_buffer_write(in, 0, shared->x, BYTES));
    CHECK(weft_bindings_create(&bindings, plan));
    CHECK(weft_bindings_set(bindings, "x", in));
    CHECK(weft_bindings_set(bindings, "y", out));
    CHECK(weft_plan_run(plan, bindings));
    CHECK(weft_buffer_read(out, 0, y, BYTES));
    weft_bindings_destroy(&bindings);
    weft_buffer_destroy(&in);
    weft_buffer_destroy(&out);
    return failed;
}

static const char *live(const struct shared *shared, uint32_t kind, bool own_buffers, float *y) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    const char *failed = NULL;
    CHECK(weft_graph_create(&graph, shared->host));
    failed = failed ? failed : build(graph, shared, kind);
    if (!failed) {
        CHECK(weft_plan_compile(&plan, shared->device, graph, NULL));
    }
    weft_graph_destroy(&graph);
    if (!failed && own_buffers) {
        failed = run_with_bindings(shared, plan, y);
    } else if (!failed) {
        const weft_host_tensor tensors[] = {{.name = "x", .data = shared->x, .bytes = BYTES},
                                            {.name = "y", .data = y, .bytes = BYTES}};
        CHECK(weft_plan_execute(plan, tensors, 2));
    }
    weft_plan_destroy(&plan);
    return failed;
}

static void *work(void *argument) {
    struct worker *worker = argument;
    const struct shared *shared = worker->shared;
    const double end = weft_clock_ms() + shared->seconds * 1e3;
    float *y = malloc(BYTES);
    for (; !worker->failed && (worker->rounds < 5 * KINDS || weft_clock_ms() < end);
         worker->rounds++) {
        const uint32_t kind = (worker->index + worker->rounds) % KINDS;
        weft_device_stats stats;
        memset(y, 0xff, BYTES);
        worker->failed = live(shared, kind, (worker->rounds + worker->index / 4) % 2 == 0, y);
        if (!worker->failed && memcmp(y, shared->expected[kind], BYTES) != 0) {
            worker->failed = "the bits of one thread";
        }
        if (worker->rounds % 3 == 0) {
            weft_device_trim(shared->device);
        }
        if (worker->rounds % 7 == 0 && (weft_device_save_cache(shared->device) != WEFT_OK ||
                                        weft_device_get_stats(shared->device, &stats) != WEFT_OK)) {
            worker->failed = "the cache, or the counters";
        }
    }
    free(y);
    return NULL;
}

static weft_weight *make_weight(const weft_host *host, weft_shape shape, const float *data) {
    weft_weight *weight = NULL;
    assert_ok(weft_weight_create(
        &weight, &(weft_weight_params){.dtype = WEFT_F32, .shape = shape, .data = data}, host));
    return weight;
}

static double seconds(void) {
    const char *text = getenv("WEFT_TEST_THREAD_SECONDS");
    return text ? strtod(text, NULL) : 3.0;
}

static void open_shared(struct shared *s, struct weft_test_host *host, const char *cache_dir) {
    *s = (struct shared){.host = &host->host, .x = weft_test_uniform(COUNT, 1, 0)};
    float *numbers = weft_test_uniform(D * D, 2, 0);
    s->square = make_weight(s->host, weft_shape_of(D, D), numbers);
    s->row = make_weight(s->host, weft_shape_of(D), numbers + 3);
    s->seconds = seconds();
    free(numbers);
    assert_ok(weft_device_open(&s->device,
                               weft_device_params(.host = host->host, .cache_dir = cache_dir)));
}

static void close_shared(struct shared *s) {
    weft_device_trim(s->device);
    weft_device_stats stats;
    assert_ok(weft_device_get_stats(s->device, &stats));
    assert_int_equal(stats.bytes_in_use, 0);
    weft_test_device_close(&s->device);
    weft_weight_destroy(&s->square);
    weft_weight_destroy(&s->row);
    free(s->x);
}

/* What one thread gets, from a device of its own, so that the one that is shared starts with empty stores. */
static void expect(struct shared *s) {
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        const char *failed = live(s, kind, false, s->expected[kind]);
        assert_string_equal(failed ? failed : "", "");
    }
}

WEFT_TEST_ON_HOST(eight_threads_share_a_device, host) {
    struct shared *alone = weft_test_keep(sizeof *alone), *s = weft_test_keep(sizeof *s);
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    uint32_t rounds = 0;
    open_shared(alone, host, "");
    expect(alone);
    close_shared(alone);
    open_shared(s, host, weft_test_folder());
    memcpy(s->expected, alone->expected, sizeof s->expected);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.shared = s, .index = i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        rounds += workers[i].rounds;
        if (workers[i].failed) {
            fail_msg("thread %u, round %u: %s; %s", i, workers[i].rounds, workers[i].failed,
                     weft_test_log(host));
        }
    }
    print_message("%u plans in %.0f s\n", rounds, s->seconds);
    close_shared(s);
}
