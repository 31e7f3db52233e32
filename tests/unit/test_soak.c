/* SPDX-License-Identifier: MIT */
/* weft-test: slow faults */
/* weft-test: posix */
/* 100,000 runs on one device, with plans compiled and destroyed in between: nothing grows. */
#include <unistd.h>

#include "support_cycle.h"
#include "support_faults.h"
#include "support_model.h"

#include <weft/mixers.h>

enum { PLANS = 1000, RUNS = 100, WARM_UP = 100, N = 16, COUNT = N * N };

/* Bytes of this process in memory; 0 where the system does not tell in this way. */
static long resident_bytes(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%ld %ld", &pages, &resident) != 2) {
            resident = 0;
        }
        (void)fclose(file);
    }
    return resident * sysconf(_SC_PAGESIZE);
}

struct usage {
    weft_device_stats stats;
    long host, vulkan, resident;
};

static struct usage measure(struct weft_test_host *host, const weft_device *device) {
    struct usage usage = {.host = atomic_load(&host->live), .resident = resident_bytes()};
    char kinds[256];
    assert_ok(weft_device_get_stats(device, &usage.stats));
    usage.vulkan = weft_faults_live(kinds, sizeof kinds);
    return usage;
}

/* Plans of three lengths in turn, so that memory is given back and taken again in other sizes. */
static void live(struct weft_test_host *host, weft_device *device, weft_weight *weight,
                 uint32_t round, float *y) {
    const uint32_t rows = N * (1 + round % 3);
    float x[3 * COUNT];
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor t, w;
    for (uint32_t i = 0; i < rows * N; i++) {
        x[i] = (float)(i % 17) * 0.125F - 1.0F;
    }
    assert_ok(weft_graph_create(&graph, &host->host));
    assert_ok(weft_graph_weight(&w, graph, weight));
    assert_ok(weft_graph_input(&t, graph, "x", WEFT_F32, weft_shape_of(1, rows, N)));
    assert_ok(weft_graph_linear(&t, graph, t, w, (weft_tensor){0}));
    assert_ok(weft_graph_softmax(&t, graph, t));
    assert_ok(weft_graph_output(graph, "y", t));
    assert_ok(weft_plan_compile(&plan, device, graph, NULL));
    weft_graph_destroy(&graph);
    for (int run = 0; run < RUNS; run++) {
        memset(y, 0xff, rows * N * sizeof *y);
        assert_ok(weft_plan_execute(
            plan,
            (weft_host_tensor[]){{"x", x, rows * N * sizeof *x}, {"y", y, rows * N * sizeof *y}},
            2));
    }
    weft_plan_destroy(&plan);
    weft_test_host_reset(host); /* the log */
}

WEFT_TEST(memory_is_flat_over_100000_runs) {
    struct weft_test_host host;
    weft_device *device = NULL;
    weft_weight *weight = NULL;
    float w[COUNT], first[3][3 * COUNT], y[3 * COUNT];
    struct usage before = {0};
    weft_test_host_begin(&host);
    for (uint32_t i = 0; i < COUNT; i++) {
        w[i] = (float)(i % 7) * 0.25F - 0.5F;
    }
    assert_ok(weft_device_open(&device, weft_device_params(.host = host.host, .select = "processor",
                                                           .cache_dir = "", .threads = 1)));
    assert_ok(weft_weight_create(
        &weight, weft_weight_params(.dtype = WEFT_F32, .shape = weft_shape_of(N, N), .data = w),
        &host.host));
    for (uint32_t round = 0; round < PLANS; round++) {
        const size_t bytes = COUNT * (1 + round % 3) * sizeof *y;
        live(&host, device, weight, round, y);
        assert_true(y[0] > 0.0F && y[0] < 1.0F); /* of a softmax, and not what was there before */
        if (round < 3) {
            memcpy(first[round], y, bytes);
        }
        assert_memory_equal(y, first[round % 3], bytes);
        if (round == WARM_UP - 1) {
            before = measure(&host, device);
        }
    }
    const struct usage after = measure(&host, device);
    printf("[ SOAK     ] %d runs of %d plans: %llu bytes, %ld blocks, %ld Vulkan objects, %ld KiB "
           "resident (%+ld)\n",
           PLANS * RUNS, PLANS, (unsigned long long)after.stats.bytes_in_use, after.host,
           after.vulkan, after.resident / 1024, (after.resident - before.resident) / 1024);
    assert_int_equal(after.stats.bytes_in_use, before.stats.bytes_in_use);
    assert_int_equal(after.stats.peak_bytes, before.stats.peak_bytes);
    assert_int_equal(after.host, before.host);
    assert_int_equal(after.vulkan, before.vulkan);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which keep what was freed */
    assert_true(after.resident <= before.resident + (1 << 20));     /* the C library's own slack */
#endif
    weft_weight_destroy(&weight);
    weft_device_destroy(&device);
    weft_test_host_end(&host);
}
