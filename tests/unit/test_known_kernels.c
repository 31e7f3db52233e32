/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/*
 * A batch is no reason to compile kernels, and neither is a length. Some lengths of one sequence make all kernels that a mixer has: those
 * that read vectors want multiples of four, and others are for what lies behind the first chunk of tokens. Then no other shape makes one.
 */
#include <stdlib.h>
#include <string.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_sheet.h"

enum { SHORTEST = 40, LONGEST = 120, HEADS = 2, WIDTH = 12 };

static const uint32_t batches[] = {1, 2, 7, 64};

/* One that only compiles, so that there is time for many shapes. */
static int set_up(void **state) {
    return weft_test_graph_set_up_null(state, (weft_device_params){.compile_only = true});
}

/* VkFFT makes kernels for a length: only the batch is none. */
static bool is_for_a_length(const weft_use *use) {
    return use->implementation && strcmp(use->implementation, "fft") == 0;
}

/* A response is of the model, and as long for all sequences. */
static struct weft_test_mix mix_of(const weft_sheet *sheet, const weft_use *use, uint32_t batch,
                                   uint32_t n) {
    struct weft_test_mix mix = weft_test_mix_of(sheet, use);
    mix.sizes.batch = batch;
    mix.sizes.n = n;
    mix.sizes.heads = HEADS;
    mix.sizes.width = WIDTH;
    mix.sizes.values = 0;
    mix.sizes.reach = sheet == &weft_sheet_toeplitz_fd ? LONGEST : mix.sizes.reach;
    weft_test_mix_fill(&mix, 1);
    return mix;
}

/* Compiles it; how many pipelines are new. */
static uint32_t compile(weft_device *device, const weft_sheet *sheet, const weft_use *use,
                        uint32_t batch, uint32_t n) {
    struct weft_test_mix mix = mix_of(sheet, use, batch, n);
    struct weft_test_run run;
    weft_device_stats before, after;
    const weft_tensor y = weft_test_mix_begin(&run, device, &mix);
    assert_ok(weft_device_get_stats(device, &before));
    weft_plan *plan = weft_test_plan_to(&run, "y", y, mix.implementation);
    assert_ok(weft_device_get_stats(device, &after));
    weft_plan_destroy(&plan);
    weft_test_mix_free(&mix);
    return after.pipelines_created - before.pipelines_created;
}

/* The least length: SKI has 64 points. */
static uint32_t least_of(const weft_sheet *sheet) {
    return sheet == &weft_sheet_ski_toeplitz ? 64 : SHORTEST;
}

static void make_kernels(weft_device *device, const weft_sheet *sheet, const weft_use *use) {
    const uint32_t least = least_of(sheet);
    const uint32_t lengths[] = {least, least + 1, least + 2, LONGEST - 2, LONGEST - 1, LONGEST};
    for (size_t i = 0; i < WEFT_COUNT(lengths); i++) {
        (void)compile(device, sheet, use, 1, lengths[i]);
    }
}

static void expect_none(weft_device *device, const weft_sheet *sheet, const weft_use *use,
                        uint32_t batch, uint32_t n) {
    const uint32_t made = compile(device, sheet, use, batch, n);
    if (made > 0) {
        fail_msg("%s: %u sequences of %u tokens make %u kernels", use->name, batch, n, made);
    }
}

static void check(weft_device *device,
                  void (*look)(weft_device *device, const weft_sheet *sheet, const weft_use *use)) {
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        const weft_sheet *sheet = weft_sheet_at(s);
        for (uint32_t i = 0; i < sheet->use_count; i++) {
            make_kernels(device, sheet, &sheet->uses[i]);
            look(device, sheet, &sheet->uses[i]);
        }
    }
}

static void look_at_all(weft_device *device, const weft_sheet *sheet, const weft_use *use) {
    for (uint32_t n = least_of(sheet); n <= LONGEST && !is_for_a_length(use); n += 3) {
        expect_none(device, sheet, use, batches[n % 4], n);
    }
    for (uint32_t b = 0; b < 4; b++) {
        expect_none(device, sheet, use, batches[b], least_of(sheet));
        expect_none(device, sheet, use, batches[b], LONGEST - 1);
    }
}

WEFT_TEST_WITH(no_shape_makes_kernels, struct weft_test_graph *f, set_up,
               weft_test_graph_tear_down) {
    check(f->device, look_at_all);
}

/* By chance. */
static void look_at_some(weft_device *device, const weft_sheet *sheet, const weft_use *use) {
    const uint32_t least = least_of(sheet);
    for (uint32_t b = 0; b < 4; b++) {
        const uint32_t n = least + weft_philox_u32(1, b, 0) % (LONGEST - least + 1);
        expect_none(device, sheet, use, batches[b], is_for_a_length(use) ? LONGEST : n);
    }
}

/* Where times decide among variants, too: each is made once. */
WEFT_TEST_ON_GRAPH(measuring_makes_no_kernels_for_a_shape, f) {
    check(f->device, look_at_some);
}
