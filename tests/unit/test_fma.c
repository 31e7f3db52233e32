/* SPDX-License-Identifier: MIT */
/* weft-test: every device */
/* Fused math on a device: each fma is rounded once, whichever way the device takes. */
#include "shader/probe_ask.h"
#include "support.h"
#include "support_fma.h"

enum { TRIPLES = 16384, INPUTS = 3, RESULTS = 4 };

struct answers {
    uint32_t inputs[TRIPLES * INPUTS];
    uint32_t results[TRIPLES * RESULTS];
};

/* By the probe's kernel: fma(a, b, c), fma(-a, b, c), fma(a, b, -c) and fma(fma(a, b, c), b, a). */
static void ask(weft_device *device, struct answers *answers, uint64_t first) {
    for (uint32_t i = 0; i < TRIPLES; i++) {
        weft_test_fma_triple(&answers->inputs[(size_t)i * INPUTS], first + i);
    }
    const struct weft_probe_question question = {.shader = "probe/fma",
                                                 .inputs = answers->inputs,
                                                 .input_count = (size_t)TRIPLES * INPUTS,
                                                 .results = answers->results,
                                                 .result_count = (size_t)TRIPLES * RESULTS,
                                                 .push = {TRIPLES},
                                                 .push_count = 1,
                                                 .groups = TRIPLES / 64};
    assert_ok(weft_probe_ask(&question, device));
}

static void check(const struct answers *answers, const char *way) {
    for (uint32_t i = 0; i < TRIPLES; i++) {
        const uint32_t *x = &answers->inputs[(size_t)i * INPUTS];
        const uint32_t *y = &answers->results[(size_t)i * RESULTS];
        const uint32_t plain = weft_test_fma(x[0], x[1], x[2]);
        const uint32_t expected[RESULTS] = {plain, weft_test_fma(x[0] ^ 0x80000000, x[1], x[2]),
                                            weft_test_fma(x[0], x[1], x[2] ^ 0x80000000),
                                            weft_test_fma(plain, x[1], x[0])};
        for (uint32_t k = 0; k < RESULTS; k++) {
            if (y[k] != expected[k] && !(weft_test_is_nan(y[k]) && weft_test_is_nan(expected[k]))) {
                fail_msg("%s, %08x %08x %08x, result %u: %08x, expected %08x", way, x[0], x[1],
                         x[2], k, y[k], expected[k]);
            }
        }
    }
}

static void try_way(weft_device *device, struct answers *answers, weft_fma fma, uint64_t first) {
    device->info.fma = fma;
    ask(device, answers, first);
    check(answers, weft_fma_name(fma));
}

WEFT_TEST_IN_PLACE(every_way_rounds_once, f) {
    weft_device *device = NULL;
    assert_ok(
        weft_device_open(&device, weft_device_params(.host = f->host.host, .math = WEFT_MATH_FUSED,
                                                     .cache_dir = f->folder)));
    struct answers *answers = malloc(sizeof *answers);
    assert_non_null(answers);
    const weft_fma own = device->info.fma;
    assert_in_range(own, WEFT_FMA_INSTRUCTION, WEFT_FMA_INTEGERS);
    try_way(device, answers, own, 0);
    try_way(device, answers, WEFT_FMA_INTEGERS, TRIPLES);
    if (device->float64) {
        try_way(device, answers, WEFT_FMA_FLOAT64, 2 * TRIPLES);
    }
    /* Results are flushed by instructions as the hardware does. */
    const bool keeps = device->keeps_subnormals, loses = device->loses_small_products;
    device->keeps_subnormals = true;
    for (int rescues = 0; rescues < 2; rescues++) {
        device->loses_small_products = rescues != 0 || loses;
        try_way(device, answers, own, 3 * TRIPLES);
    }
    device->keeps_subnormals = keeps;
    device->loses_small_products = loses;
    device->info.fma = own;
    weft_device_destroy(&device);
    /* The verdict is on disk, with the way. */
    assert_ok(
        weft_device_open(&device, weft_device_params(.host = f->host.host, .math = WEFT_MATH_FUSED,
                                                     .cache_dir = f->folder)));
    assert_int_equal(device->info.fma, own);
    weft_device_destroy(&device);
    free(answers);
}

WEFT_TEST_IN_PLACE(other_modes_know_no_way, f) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(&device,
                               weft_device_params(.host = f->host.host, .cache_dir = f->folder)));
    assert_int_equal(device->info.fma, WEFT_FMA_NONE);
    weft_device_destroy(&device);
}
