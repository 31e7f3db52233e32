/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Softmax attention in one pass has the bits of a product, a softmax and a product. */
#include "support_sheet.h"

static float *attend(struct weft_test_graph *f, const struct weft_test_mix *of,
                     const char *implementation) {
    struct weft_test_mix mix = *of;
    float *y = malloc((size_t)weft_test_mix_elements(&mix, 0) * sizeof *y);
    assert_non_null(y);
    mix.implementation = implementation;
    weft_test_mix_run(f->device, &mix, y);
    return y;
}

/* A device without such subgroups has no kernel for the one pass. */
static bool has_lanes(const weft_device_info *info) {
    return info->subgroup_size == 4 || info->subgroup_size == 8 || info->subgroup_size == 16;
}

/* Of a kernel's invocation lavapipe 22.3 runs 65,535 turns of loops. */
static bool is_long(const weft_sizes *sizes) {
    return sizes->n * sizes->width > 10000;
}

WEFT_TEST_ON_GRAPH(test_one_pass_has_the_bits_of_three, f) {
    /* Edges of blocks, panels and chunks; narrow and wide values; rows with levels of sums. */
    static const weft_sizes sizes[] = {{.batch = 1, .n = 16, .heads = 1, .width = 1},
                                       {.batch = 2, .n = 131, .heads = 3, .width = 30},
                                       {.batch = 1, .n = 97, .heads = 2, .width = 33},
                                       {.batch = 1, .n = 33, .heads = 1, .width = 130},
                                       {.batch = 1, .n = 200, .heads = 1, .width = 150},
                                       {.batch = 1, .n = 2113, .heads = 1, .width = 20}};
    static const int32_t lengths[] = {131, 40};
    weft_device_info info;
    assert_ok(weft_device_get_info(f->device, &info));
    for (size_t i = 0; i < WEFT_COUNT(sizes); i++) {
        if (!has_lanes(&info) || (is_long(&sizes[i]) && info.threads == 0)) {
            continue;
        }
        struct weft_test_mix mix = {.sheet = &weft_sheet_attention, .sizes = sizes[i]};
        mix.lengths = sizes[i].batch == 2 ? lengths : NULL;
        weft_test_mix_fill(&mix, 5);
        float *scores = attend(f, &mix, "scores");
        float *rows = attend(f, &mix, "rows");
        assert_memory_equal(rows, scores, (size_t)weft_test_mix_elements(&mix, 0) * sizeof(float));
        free(scores);
        free(rows);
        weft_test_mix_free(&mix);
    }
}
