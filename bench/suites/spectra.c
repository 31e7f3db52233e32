/* SPDX-License-Identifier: MIT */
/*
 * Spectraformer's grid: every component function of weft/mixers.h with every weight matrix of weft/features.h that it works
 * with, and linear attention with these features. One head of 64 channels and 128 rows (129 of sgq and 131 of ssr, whose
 * rules have that many), of hybrid features 4 directions. The structured matrices are there twice: as dense ones, and
 * ("fast") applied by their fast transforms, which hybrid and discrete features do not take. ROM has 2 factors, SORF is 3.
 */
#include "bench/suites/builders.h"
#include "bench/suites/suites.h"

#define ROWS     128
#define SGQ_ROWS 129 /* 2 · 64 + 1 */
#define SSR_ROWS 131 /* 2 · (64 + 1) + 1 */

#define PAIR(text, of, count, ...)                                                             \
    {                                                                                          \
        text, .matrix = WEFT_FEATURES_##of, .growth = WEFT_BENCH_GROWTH_LINEAR, .rows = count, \
              __VA_ARGS__                                                                      \
    }

/* clang-format off */
#define DENSE(text, ...)                                \
    PAIR(text ",base", BASE, ROWS, __VA_ARGS__),         \
    PAIR(text ",orf", ORF, ROWS, __VA_ARGS__),           \
    PAIR(text ",sorf", SORF, ROWS, __VA_ARGS__),         \
    PAIR(text ",rom", ROM, ROWS, __VA_ARGS__),           \
    PAIR(text ",s_hybrid", S_HYBRID, ROWS, __VA_ARGS__), \
    PAIR(text ",fastfood", FASTFOOD, ROWS, __VA_ARGS__), \
    PAIR(text ",scrf", SCRF, ROWS, __VA_ARGS__),         \
    PAIR(text ",p_model", P_MODEL, ROWS, __VA_ARGS__),   \
    PAIR(text ",qmc", QMC, ROWS, __VA_ARGS__),           \
    PAIR(text ",mm", MM, ROWS, __VA_ARGS__),             \
    PAIR(text ",ssf", SSF, ROWS, __VA_ARGS__),           \
    PAIR(text ",sgq", SGQ, SGQ_ROWS, __VA_ARGS__),       \
    PAIR(text ",ssr", SSR, SSR_ROWS, __VA_ARGS__),       \
    PAIR(text ",simrf", SIMRF, ROWS, __VA_ARGS__),       \
    PAIR(text ",simrf_dependent", SIMRF_DEPENDENT, ROWS, __VA_ARGS__)

#define FAST(text, ...)                                                    \
    PAIR(text ",sorf,fast", SORF, ROWS, .fast = true, __VA_ARGS__),         \
    PAIR(text ",rom,fast", ROM, ROWS, .fast = true, __VA_ARGS__),           \
    PAIR(text ",s_hybrid,fast", S_HYBRID, ROWS, .fast = true, __VA_ARGS__), \
    PAIR(text ",fastfood,fast", FASTFOOD, ROWS, .fast = true, __VA_ARGS__), \
    PAIR(text ",scrf,fast", SCRF, ROWS, .fast = true, __VA_ARGS__)

#define COMPONENT(text, of)                             \
    DENSE(text, .component = WEFT_COMPONENT_##of), \
    FAST(text, .component = WEFT_COMPONENT_##of)
/* clang-format on */

static const weft_bench_mixer pairs[] = {
    COMPONENT("trigonometric", TRIGONOMETRIC),
    COMPONENT("positive", POSITIVE),
    COMPONENT("hyperbolic", HYPERBOLIC),
    COMPONENT("optimal", OPTIMAL),
    COMPONENT("generalized", GENERALIZED),
    COMPONENT("asymmetric", ASYMMETRIC),
    DENSE("hybrid", .family = WEFT_BENCH_FAMILY_HYBRID),
    PAIR("discrete,poisson", POISSON, ROWS, .family = WEFT_BENCH_FAMILY_DISCRETE),
    PAIR("discrete,geometric", GEOMETRIC, ROWS, .family = WEFT_BENCH_FAMILY_DISCRETE),
};

/** Short: every component with ORF, every matrix with OPRF, and discrete features, which have matrices of their own. */
static bool belongs(const weft_bench_mixer *pair, weft_bench_size size) {
    const bool orthogonal = pair->matrix == WEFT_FEATURES_ORF;
    const bool optimal =
        pair->family == WEFT_BENCH_FAMILY_RANDOM && pair->component == WEFT_COMPONENT_OPTIMAL;
    switch (size) {
    case WEFT_BENCH_SMALLEST:
        return optimal && orthogonal;
    case WEFT_BENCH_SHORT:
        return optimal || orthogonal || pair->family == WEFT_BENCH_FAMILY_DISCRETE;
    default:
        return true;
    }
}

void weft_bench_add_spectra(weft_bench_list *list, const weft_bench_scope *scope) {
    static const uint32_t lengths[] = {
        [WEFT_BENCH_FULL] = 1024, [WEFT_BENCH_SHORT] = 256, [WEFT_BENCH_SMALLEST] = 64};
    const uint32_t *given = scope->lengths_given ? scope->lengths : &lengths[scope->size];
    const uint32_t count = scope->lengths_given ? scope->length_count : 1;
    for (uint32_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        for (uint32_t k = 0; k < count && belongs(&pairs[i], scope->size); k++) {
            const uint32_t sizes[] = {given[k], WEFT_BENCH_WIDTH, 1};
            weft_bench_case made = weft_bench_mixer_case_of(&pairs[i], "spectra", NULL, sizes);
            if (!scope->lengths_given) {
                made.series = NULL; /* one length */
                made.length = 0;
            }
            weft_bench_list_add(list, &made);
        }
    }
}
