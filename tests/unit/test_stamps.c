/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Time stamps of counters with fewer than 64 bits: those that begin anew during a run, and those with anything above their bits. */
#include <weft/model.h>

#include "device/device.h"
#include "plan/plan.h"
#include "support_graph.h"

enum { BITS = 36, N = 96, LAYERS = 4 };

/* Intel's counters, of which every reading's first stamp is the last value before it begins anew. */
static struct {
    PFN_vkGetQueryPoolResults real;
    uint64_t offset;
    bool wraps;
} counter;

static VKAPI_ATTR VkResult VKAPI_CALL read_queries(VkDevice device, VkQueryPool pool,
                                                   uint32_t first, uint32_t count, size_t size,
                                                   void *data, VkDeviceSize stride,
                                                   VkQueryResultFlags flags) {
    const uint64_t mask = (UINT64_C(1) << BITS) - 1;
    const uint64_t above = UINT64_C(0xABCDEF) << BITS; /* what a driver may leave there */
    const VkResult result = counter.real(device, pool, first, count, size, data, stride, flags);
    uint64_t *stamps = data;
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        counter.offset = counter.wraps && first == 0 && i == 0 ? mask - stamps[0] : counter.offset;
        stamps[i] = ((stamps[i] + counter.offset) & mask) | (i % 2 == 0 ? above : 0);
    }
    return result;
}

static weft_plan *compile(struct weft_test_graph *f, float *x, float *y) {
    float *w = weft_test_uniform((size_t)N * N, 3, 0);
    weft_plan *plan = NULL;
    weft_tensor t = weft_test_input(f->graph, "x", weft_shape_of(N, N));
    for (int i = 0; i < LAYERS; i++) {
        const weft_tensor weight = weft_test_constant(f->graph, weft_shape_of(N, N), w);
        assert_ok(weft_graph_linear(&t, f->graph, t, weight, (weft_tensor){0}));
        assert_ok(weft_graph_softmax(&t, f->graph, t));
    }
    assert_ok(weft_graph_output(f->graph, "y", t));
    assert_ok(weft_plan_compile(&plan, f->device, f->graph, weft_plan_params(.timestamps = true)));
    free(w);
    const size_t bytes = sizeof(float) * N * N;
    assert_ok(weft_plan_execute(plan, (weft_host_tensor[]){{"x", x, bytes}, {"y", y, bytes}}, 2));
    return plan;
}

WEFT_TEST_ON_GRAPH(a_counter_of_36_bits_begins_anew, f) {
    float *x = weft_test_uniform((size_t)N * N, 4, 0);
    float *y = malloc(sizeof(float) * N * N);
    weft_timing plain[2 * LAYERS], wrapped[2 * LAYERS];
    uint32_t count = 2 * LAYERS, again = 2 * LAYERS;
    weft_plan *plan = compile(f, x, y);
    assert_ok(weft_plan_get_timings(plan, plain, &count));
    counter.real = f->device->vk.GetQueryPoolResults;
    counter.wraps = true;
    f->device->vk.GetQueryPoolResults = read_queries;
    f->device->timestamp_bits = BITS;
    assert_ok(weft_plan_get_timings(plan, wrapped, &again));
    assert_true(count == again && count > 1);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(wrapped[i].start_ms == plain[i].start_ms);
        assert_true(wrapped[i].duration_ms == plain[i].duration_ms);
        assert_true(wrapped[i].duration_ms >= 0.0 && wrapped[i].duration_ms < 1e5);
        sum += wrapped[i].duration_ms;
    }
    weft_plan_stats stats;
    assert_ok(weft_plan_get_stats(plan, &stats));
    assert_true(stats.newest_ms >= 0.0 && stats.newest_ms <= sum * (1 + 1e-9));
    /* What was measured splits the plan: no part may take more than was measured of all. */
    assert_ok(weft_plan_split_measured(plan, sum / 4));
    weft_plan_info info;
    assert_ok(weft_plan_get_info(plan, &info));
    for (uint32_t i = 0; i < info.parts; i++) {
        weft_part_info part;
        assert_ok(weft_plan_get_part(plan, i, &part));
        assert_true(part.ms >= 0.0 && part.ms <= sum * (1 + 1e-9));
    }
    weft_plan_destroy(&plan);
    free(x);
    free(y);
}

/* Differences are modulo 2^bits, also of all 64; a stamp before another is a time before it. */
WEFT_TEST(differences) {
    weft_device device = {.info.timestamp_period_ns = 1e6}; /* a millisecond */
    const weft_plan plan = {.device = &device};
    static const uint32_t bits[] = {32, 36, 48, 63, 64};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        device.timestamp_bits = bits[i];
        const uint64_t last = UINT64_MAX >> (64 - bits[i]);
        assert_true(weft_stamps_ms(&plan, last, 4) == 5.0);
        assert_true(weft_stamps_ms(&plan, 3, 10) == 7.0);
        assert_true(weft_stamps_since_ms(&plan, last, 4) == 5.0);
        assert_true(weft_stamps_since_ms(&plan, 4, last) == -5.0);
        assert_true(weft_stamps_since_ms(&plan, 10, 3) == -7.0);
    }
    assert_true(weft_stamps_ms(&plan, 10, 3) == 0.0); /* 64 bits, and a driver that errs */
}
