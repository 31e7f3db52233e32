/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/*
 * What mixers say of themselves in their sheets (verify/sheet.h): what tokens of causal ones read and of others, and how much
 * memory they take. Of lengths test_lengths.c has more, of steps test_decode.c, of refused arguments test_trials.c.
 */
#include <math.h>

#include "support_sheet.h"

enum { N = 150, HEADS = 2, WIDTH = 8, COLUMNS = HEADS * WIDTH };

/* One sequence of n tokens. */
static struct weft_test_mix mix_of(const weft_sheet *sheet, const weft_use *use, uint32_t n) {
    struct weft_test_mix mix = weft_test_mix_of(sheet, use);
    mix.sizes.batch = 1;
    mix.sizes.n = n;
    mix.sizes.heads = HEADS;
    mix.sizes.width = WIDTH;
    mix.sizes.values = 0;
    return mix;
}

/* ---- what a token reads ---- */

/* Adds to the tokens from `from` on of all operands that have tokens. */
static void disturb(struct weft_test_mix *mix, uint32_t from, float by) {
    for (uint32_t i = 0; i < weft_sheet_operand_count(mix->sheet); i++) {
        const weft_operand *operand = &mix->sheet->operands[i];
        const bool has_tokens = mix->x[i] && (operand->axes[1] == WEFT_AXIS_TOKENS ||
                                              operand->axes[1] == WEFT_AXIS_KEYS);
        const uint64_t size = has_tokens ? weft_test_mix_elements(mix, i) : 0;
        for (uint64_t at = size / mix->sizes.n * from; at < size; at++) {
            mix->x[i][at] += by;
        }
    }
}

static void run_disturbed(struct weft_test_graph *f, const weft_sheet *sheet, const weft_use *use,
                          uint32_t from, float by, float *out) {
    struct weft_test_mix mix = mix_of(sheet, use, N);
    weft_test_mix_fill(&mix, 31);
    disturb(&mix, from, by);
    weft_test_mix_run(f->device, &mix, out);
    weft_test_mix_free(&mix);
}

static void expect_kept(const weft_use *use, uint32_t cut, const float *before,
                        const float *after) {
    for (uint32_t i = 0; i < cut * COLUMNS; i++) {
        const bool kept = use->tolerance > 0.0F
                              ? fabsf(before[i] - after[i]) < use->tolerance
                              : memcmp(&before[i], &after[i], sizeof before[i]) == 0;
        if (!kept) {
            fail_msg("%s: when tokens from %u on change, token %u changes from %a to %a", use->name,
                     cut, i / COLUMNS, (double)before[i], (double)after[i]);
        }
    }
}

/* Later tokens show in no earlier one, around the ends of chunks and in the middle of one; their own result changes. */
static void check_causality(struct weft_test_graph *f, const weft_sheet *sheet,
                            const weft_use *use) {
    static const uint32_t cuts[] = {1, 31, 32, 40, 63, 64, 65, 128, 149};
    float before[N * COLUMNS];
    float after[N * COLUMNS];
    run_disturbed(f, sheet, use, N, 0.0F, before);
    for (size_t i = 0; i < WEFT_COUNT(cuts); i++) {
        for (uint32_t nan = 0; nan < (use->tolerance > 0.0F ? 1 : 2); nan++) {
            run_disturbed(f, sheet, use, cuts[i], nan ? NAN : 0.25F, after);
            expect_kept(use, cuts[i], before, after);
            const size_t at = (size_t)cuts[i] * COLUMNS;
            if (memcmp(before + at, after + at, COLUMNS * sizeof *before) == 0) {
                fail_msg("%s: token %u does not read itself", use->name, cuts[i]);
            }
        }
    }
}

/* The first tokens of a longer sequence get the very bits that they get alone. */
static void check_prefixes(struct weft_test_graph *f, const weft_sheet *sheet,
                           const weft_use *use) {
    static const uint32_t lengths[] = {1, 63, 64, 65, 127, 128, 129};
    struct weft_test_mix whole = mix_of(sheet, use, N);
    float expected[N * COLUMNS];
    float found[N * COLUMNS];
    weft_test_mix_fill(&whole, 32);
    weft_test_mix_run(f->device, &whole, expected);
    for (size_t i = 0; i < WEFT_COUNT(lengths); i++) {
        struct weft_test_mix part = whole;
        part.sizes.n = lengths[i];
        part.sizes.reach = use->sizes.reach ? use->sizes.reach : N;
        weft_test_mix_run(f->device, &part, found);
        if (memcmp(expected, found, (size_t)lengths[i] * COLUMNS * sizeof *found) != 0) {
            fail_msg("%s: the first %u of %d tokens have other bits alone", use->name, lengths[i],
                     N);
        }
    }
    weft_test_mix_free(&whole);
}

/* Without causality the first token does depend on the last one. */
static void check_all_read(struct weft_test_graph *f, const weft_sheet *sheet,
                           const weft_use *use) {
    float before[N * COLUMNS];
    float after[N * COLUMNS];
    run_disturbed(f, sheet, use, N, 0.0F, before);
    run_disturbed(f, sheet, use, N - 1, 0.25F, after);
    const bool changes = memcmp(before, after, COLUMNS * sizeof *before) != 0;
    if (changes == use->reads_nearby) {
        fail_msg("%s: the first of %d tokens %s the last", use->name, N,
                 changes ? "reads" : "does not read");
    }
}

WEFT_TEST_ON_GRAPH(test_what_tokens_read, f) {
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        const weft_sheet *sheet = weft_sheet_at(s);
        for (uint32_t i = 0; i < sheet->use_count; i++) {
            const weft_use *use = &sheet->uses[i];
            if (!weft_sheet_is_causal(sheet, use->params)) {
                check_all_read(f, sheet, use);
                continue;
            }
            check_causality(f, sheet, use);
            if (use->tolerance == 0.0F && use->longest != 1) {
                check_prefixes(f, sheet, use);
            }
        }
    }
}

/* ---- one tensor twice ---- */

/* q and k of the same tensor may share what is made of them: the bits of two equal tensors. */
static void check_shared(struct weft_test_graph *f, const weft_sheet *sheet, const weft_use *use) {
    enum { Q, K };
    float apart[N * COLUMNS];
    float together[N * COLUMNS];
    struct weft_test_mix mix = mix_of(sheet, use, N);
    weft_test_mix_fill(&mix, 33);
    memcpy(mix.x[K], mix.x[Q], sizeof apart);
    weft_test_mix_run(f->device, &mix, apart);
    mix.shares_first = true;
    weft_test_mix_run(f->device, &mix, together);
    if (memcmp(apart, together, sizeof apart) != 0) {
        fail_msg("%s: one tensor for q and k gives other bits than two", use->name);
    }
    weft_test_mix_free(&mix);
}

WEFT_TEST_ON_GRAPH(test_one_tensor_for_queries_and_keys, f) {
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        const weft_sheet *sheet = weft_sheet_at(s);
        for (uint32_t i = 0; i < sheet->use_count; i++) {
            if (strcmp(sheet->operands[0].name, "q") == 0) {
                check_shared(f, sheet, &sheet->uses[i]);
            }
        }
    }
}

/* ---- memory ---- */

static uint64_t bytes_in_use(weft_device *device) {
    weft_device_stats stats;
    assert_ok(weft_device_get_stats(device, &stats));
    return stats.bytes_in_use;
}

/* Device memory that a plan holds beside its inputs and outputs: intermediate results and tables. */
static uint64_t memory_of(struct weft_test_device *f, const weft_sheet *sheet, const weft_use *use,
                          uint32_t n) {
    const uint64_t before = bytes_in_use(f->device);
    struct weft_test_mix mix = mix_of(sheet, use, n);
    struct weft_test_run run;
    mix.sizes.width = 32;
    mix.feeds_weights = true;
    weft_plan *plan = weft_test_plan_to(&run, "y", weft_test_mix_begin(&run, f->device, &mix),
                                        use->implementation);
    const uint64_t bytes = bytes_in_use(f->device) - before;
    weft_plan_destroy(&plan);
    return bytes;
}

#define LENGTHS 6

/* Memory that is no growth: the state that a long sequence keeps between its dispatches. */
#define LITTLE (64.0 * 1024.0)

/* The slope of log(memory) over log(n), by least squares, n from 512 to 16,384; 0 for none at any length. */
static double exponent_of(struct weft_test_device *f, const weft_sheet *sheet,
                          const weft_use *use) {
    double x[LENGTHS];
    double y[LENGTHS];
    double x_mean = 0.0;
    double y_mean = 0.0;
    double product = 0.0;
    double square = 0.0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < LENGTHS; i++) {
        const uint64_t bytes = memory_of(f, sheet, use, 512U << i);
        most = bytes > most ? bytes : most;
        x[i] = log(512.0) + i * log(2.0);
        y[i] = log(fmax((double)bytes, LITTLE));
        x_mean += x[i] / LENGTHS;
        y_mean += y[i] / LENGTHS;
    }
    for (uint32_t i = 0; i < LENGTHS; i++) {
        product += (x[i] - x_mean) * (y[i] - y_mean);
        square += (x[i] - x_mean) * (x[i] - x_mean);
    }
    return most == 0 ? 0.0 : product / square;
}

WEFT_TEST_ON_DEVICE(test_memory_is_linear, f) {
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        const weft_sheet *sheet = weft_sheet_at(s);
        for (uint32_t i = 0; i < sheet->use_count && sheet->grows_linearly; i++) {
            const weft_use *use = &sheet->uses[i];
            const double exponent = exponent_of(f, sheet, use);
            print_message("%s: n^%.3f\n", use->name, exponent);
            if (!(exponent <= 1.05)) {
                fail_msg("%s: memory grows as n^%.3f", use->name, exponent);
            }
        }
    }
}

/* What the test above is able to see. */
WEFT_TEST_ON_DEVICE(test_memory_of_dense_attention_is_not, f) {
    weft_use use = weft_sheet_attention.uses[0];
    use.implementation =
        "scores"; /* on the processor another one, which does not keep them, would be chosen */
    const double few = (double)memory_of(f, &weft_sheet_attention, &use, 512);
    const double many = (double)memory_of(f, &weft_sheet_attention, &use, 2048);
    assert_true(log(many / few) / log(4.0) > 1.9);
}
