/* SPDX-License-Identifier: MIT */
/* weft-test: slow device */
/*
 * Mixers of a batch whose sequences have different lengths: with NaN behind them, each sequence has the bits that it has
 * alone. What is expected of the numbers themselves, weft verify has.
 */
#include <math.h>

#include "core/math/philox.h"
#include "support_sheet.h"

enum { BATCH = 4, HEADS = 2, WIDTH = 12, D = HEADS * WIDTH };

/* Whether operand i has an element for each channel of each token, and not the rate of a head. */
static bool has_tokens(const weft_sheet *sheet, uint32_t i) {
    return sheet->operands[i].axes[0] == WEFT_AXIS_BATCH;
}

/* Elements of a token. */
static uint64_t token_size(const struct weft_test_mix *mix, uint32_t i) {
    return weft_test_mix_elements(mix, i) / mix->sizes.batch / mix->sizes.n;
}

/* NaN and infinities behind each sequence. */
static void poison(struct weft_test_mix *mix) {
    for (uint32_t i = 0; i < weft_sheet_operand_count(mix->sheet); i++) {
        const uint64_t token = mix->x[i] && has_tokens(mix->sheet, i) ? token_size(mix, i) : 0;
        const uint64_t size = mix->sizes.n * token;
        for (uint32_t b = 0; token > 0 && b < BATCH; b++) {
            for (uint64_t j = (uint64_t)mix->lengths[b] * token; j < size; j++) {
                mix->x[i][b * size + j] = j % 3 == 0 ? -INFINITY : NAN;
            }
        }
    }
}

/* Sequence b by itself. */
static struct weft_test_mix alone(const struct weft_test_mix *all, uint32_t b) {
    struct weft_test_mix one = *all;
    one.lengths = NULL;
    one.sizes.batch = 1;
    one.sizes.n = (uint32_t)all->lengths[b];
    one.sizes.reach = all->sizes.reach ? all->sizes.reach : all->sizes.n;
    for (uint32_t i = 0; i < weft_sheet_operand_count(all->sheet); i++) {
        if (one.x[i] && has_tokens(all->sheet, i)) {
            one.x[i] += b * all->sizes.n * token_size(all, i);
        }
    }
    return one;
}

static void check_sequence(struct weft_test_graph *f, const char *name,
                           const struct weft_test_mix *all, const float *together, uint32_t b) {
    const struct weft_test_mix one = alone(all, b);
    const uint64_t first = (uint64_t)b * all->sizes.n * D;
    const uint64_t count = (uint64_t)one.sizes.n * D;
    float *found = malloc(count * sizeof *found);
    assert_non_null(found);
    weft_test_mix_run(f->device, &one, found);
    for (uint64_t i = 0; i < count; i++) {
        if (!isfinite(found[i]) || memcmp(&found[i], &together[first + i], sizeof *found) != 0) {
            fail_msg(
                "%s: of %u tokens in a batch of up to %u, token %u has %a where it has %a alone",
                name, one.sizes.n, all->sizes.n, (uint32_t)(i / D), (double)together[first + i],
                (double)found[i]);
        }
    }
    free(found);
}

static void check_use(struct weft_test_graph *f, const weft_sheet *sheet, const weft_use *use,
                      uint32_t n) {
    const int32_t lengths[BATCH] = {1, 1 + (int32_t)(weft_philox_u32(n, 7, 0) % n), (int32_t)n,
                                    1 + (int32_t)(weft_philox_u32(n, 7, 1) % n)};
    struct weft_test_mix all = weft_test_mix_of(sheet, use);
    all.sizes.batch = BATCH;
    all.sizes.n = n;
    all.sizes.heads = HEADS;
    all.sizes.width = WIDTH;
    all.sizes.values = 0;
    all.lengths = lengths;
    weft_test_mix_fill(&all, n);
    poison(&all);
    float *together = malloc((size_t)BATCH * n * D * sizeof *together);
    assert_non_null(together);
    weft_test_mix_run(f->device, &all, together);
    for (uint32_t b = 0; b < BATCH; b++) {
        check_sequence(f, use->name, &all, together, b);
    }
    free(together);
    weft_test_mix_free(&all);
}

/* Of those that take lengths, or, being causal, need none. A prime below a chunk of tokens, one above it, and more than the largest chunk. */
WEFT_TEST_ON_GRAPH(test_sequences_alone, f) {
    static const uint32_t longest[] = {31, 89, 331};
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        const weft_sheet *sheet = weft_sheet_at(s);
        for (uint32_t i = 0; i < sheet->use_count; i++) {
            const weft_use *use = &sheet->uses[i];
            const bool takes = sheet->lengths != 0 || weft_sheet_is_causal(sheet, use->params);
            for (uint32_t k = 0; k < WEFT_COUNT(longest) && takes; k++) {
                if (use->longest == 0 || longest[k] <= use->longest) {
                    check_use(f, sheet, use, longest[k]);
                }
            }
        }
    }
}
