/* SPDX-License-Identifier: MIT */
/* What the random weights of a mixer are drawn from. */
#include "bench/suites/mixer.h"
#include "bench/graph.h"

/* Means of the powers of discrete features: x has elements up to 64^(-1/4), whose squares' mean is 1/24. */
#define POISSON_RATE   0.0417F
#define GEOMETRIC_RATE 0.9375F

const weft_kernel weft_bench_kernels[3] = {
    {.map = WEFT_FEATURE_ELU1}, {.map = WEFT_FEATURE_ELU1_NEGATED}, {.map = WEFT_FEATURE_TANH1}};

static float rate_of(weft_features_kind kind) {
    return kind == WEFT_FEATURES_POISSON     ? POISSON_RATE
           : kind == WEFT_FEATURES_GEOMETRIC ? GEOMETRIC_RATE
                                             : 0.0F;
}

/* ROM has 2 factors: with the 3 that are its default it would be SORF. */
weft_features_params weft_bench_mixer_features(const weft_bench_mixer *mixer, uint32_t width) {
    return (weft_features_params){.kind = mixer->matrix,
                                  .rows =
                                      mixer->rows == 0 ? WEFT_BENCH_RANDOM_FEATURES : mixer->rows,
                                  .columns = width,
                                  .seed = WEFT_BENCH_SEED,
                                  .factors = mixer->matrix == WEFT_FEATURES_ROM ? 2 : 0,
                                  .rate = rate_of(mixer->matrix)};
}

weft_features_params weft_bench_mixer_directions(uint32_t width) {
    return (weft_features_params){.kind = WEFT_FEATURES_BASE,
                                  .rows = WEFT_BENCH_DIRECTIONS,
                                  .columns = width,
                                  .matrix = 1,
                                  .seed = WEFT_BENCH_SEED};
}

bool weft_bench_mixer_is_weighted(const weft_bench_mixer *mixer) {
    return mixer->matrix == WEFT_FEATURES_SGQ || mixer->matrix == WEFT_FEATURES_SSR ||
           mixer->matrix == WEFT_FEATURES_POISSON || mixer->matrix == WEFT_FEATURES_GEOMETRIC;
}

/* ---- relative positions ---- */

uint32_t weft_bench_mixer_dimensions(const weft_bench_mixer *mixer) {
    static const uint32_t dimensions[] = {
        [WEFT_BENCH_POSITIONS_NONE] = 0,     [WEFT_BENCH_POSITIONS_KERNEL] = 1,
        [WEFT_BENCH_POSITIONS_MIXTURE] = 1,  [WEFT_BENCH_POSITIONS_LOCAL] = 1,
        [WEFT_BENCH_POSITIONS_LOCAL_2D] = 2, [WEFT_BENCH_POSITIONS_MOLECULAR] = 3};
    return dimensions[mixer->positions];
}

weft_flt_params weft_bench_mixer_flt(const weft_bench_mixer *mixer) {
    static const float kernel_width = 16.0F;
    static const float mixture_weights[] = {8.0F, 4.0F};
    static const float mixture_centres[] = {0.0F, 0.05F};
    static const float mixture_widths[] = {0.03125F, 0.015625F};
    static const float radius = 16.0F;
    static const float radii_2d[] = {4.0F, 4.0F};
    static const float molecular_weight = 50.0F; /* f is 0.4 at 0 */
    static const float molecular_width = 2.0F;
    weft_flt_params params = {.kind = WEFT_FLT_GAUSSIAN_KERNEL,
                              .count = WEFT_BENCH_FLT_FREQUENCIES,
                              .dimensions = weft_bench_mixer_dimensions(mixer),
                              .seed = WEFT_BENCH_SEED};
    switch (mixer->positions) {
    case WEFT_BENCH_POSITIONS_MIXTURE:
        params.kind = WEFT_FLT_GAUSSIAN_MIXTURE;
        params.terms = 2;
        params.coefficients = mixture_weights;
        params.centres = mixture_centres;
        params.widths = mixture_widths;
        params.sigma = 0.0625F;
        break;
    case WEFT_BENCH_POSITIONS_LOCAL:
        params.kind = WEFT_FLT_LOCAL;
        params.radii = &radius;
        params.sigma = 0.03125F;
        break;
    case WEFT_BENCH_POSITIONS_LOCAL_2D:
        params.kind = WEFT_FLT_LOCAL;
        params.radii = radii_2d;
        params.sigma = 0.125F;
        break;
    case WEFT_BENCH_POSITIONS_MOLECULAR:
        params.kind = WEFT_FLT_MOLECULAR;
        params.coefficients = &molecular_weight;
        params.widths = &molecular_width;
        params.sigma = 0.125F;
        break;
    default:
        params.widths = &kernel_width;
        break;
    }
    return params;
}

/** The least side of a square or cube with n places. */
static uint32_t side_of(uint32_t n, uint32_t dimensions) {
    uint32_t side = 1;
    for (;; side++) {
        uint64_t places = side;
        for (uint32_t i = 1; i < dimensions; i++) {
            places *= side;
        }
        if (places >= n) {
            return side;
        }
    }
}

void weft_bench_mixer_positions(float *positions, const weft_bench_mixer *mixer, uint32_t n) {
    const uint32_t dimensions = weft_bench_mixer_dimensions(mixer);
    const uint32_t side = side_of(n, dimensions);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rest = i;
        for (uint32_t axis = 0; axis < dimensions; axis++) {
            positions[(size_t)i * dimensions + axis] = (float)(rest % side);
            rest /= side;
        }
    }
}
