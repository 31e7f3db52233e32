/* SPDX-License-Identifier: MIT */
#include "support_causality.h"

#include <math.h>

#define MOST_INPUTS 5

/* The mixer's result, in malloc's memory. */
static float *result_of(struct weft_test_graph *f, const struct weft_test_mixer *mixer) {
    float *out = malloc((size_t)mixer->n * mixer->values * sizeof *out);
    assert_non_null(out);
    mixer->run(f, mixer->problem, out);
    return out;
}

/* The result with `by` added to the tokens from `from` on of the inputs from `first` to `last`. */
static float *result_with(struct weft_test_graph *f, const struct weft_test_mixer *mixer,
                          uint32_t first, uint32_t last, uint32_t from, float by) {
    float *kept[MOST_INPUTS] = {NULL};
    for (uint32_t i = first; i <= last && mixer->inputs[i].columns > 0; i++) {
        const size_t columns = mixer->inputs[i].columns;
        float *data = mixer->inputs[i].data;
        kept[i] = malloc(mixer->n * columns * sizeof *data);
        assert_non_null(kept[i]);
        memcpy(kept[i], data, mixer->n * columns * sizeof *data);
        for (size_t at = from * columns; at < mixer->n * columns; at++) {
            data[at] += by;
        }
    }
    float *out = result_of(f, mixer);
    for (uint32_t i = first; i <= last && kept[i]; i++) {
        memcpy(mixer->inputs[i].data, kept[i],
               (size_t)mixer->n * mixer->inputs[i].columns * sizeof(float));
        free(kept[i]);
    }
    return out;
}

void weft_test_expect_causal(struct weft_test_graph *f, const struct weft_test_mixer *mixer,
                             uint32_t from, float by) {
    const size_t at = (size_t)from * mixer->values;
    float *before = result_of(f, mixer);
    float *after = result_with(f, mixer, 0, MOST_INPUTS - 1, from, by);
    for (size_t i = 0; i < at && mixer->tolerance > 0.0F; i++) {
        assert_true(fabsf(before[i] - after[i]) < mixer->tolerance);
    }
    if (mixer->tolerance == 0.0F) {
        assert_memory_equal(before, after, at * sizeof *before);
    }
    assert_memory_not_equal(before + at, after + at, mixer->values * sizeof *before);
    free(before);
    free(after);
}

void weft_test_expect_all_read(struct weft_test_graph *f, const struct weft_test_mixer *mixer,
                               uint32_t input, float by) {
    float *before = result_of(f, mixer);
    float *after = result_with(f, mixer, input, input, mixer->n - 1, by);
    assert_memory_not_equal(before, after, mixer->values * sizeof *before);
    free(before);
    free(after);
}
