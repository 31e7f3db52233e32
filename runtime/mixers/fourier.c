/* SPDX-License-Identifier: MIT */
/*
 * FNet's Fourier sublayer, Re(F_seq(F_hidden(x))), by FFT, by matrices, or by an FFT along the channels and matrices along
 * the tokens. All make only the columns 0 … d/2, which is all that real input leaves free; the kernels fourier/unfold make the
 * rest of them, add the residual and normalise.
 */
#include <stdio.h>
#include <string.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/math/trig.h"
#include "core/try.h"
#include "kernels/fourier/fold.h"
#include "kernels/fourier/unfold.h"
#include "kernels/fourier/unfold_lanes.h"
#include "lower/divisor.h"
#include "mixers/fourier_lanes.h"
#include "mixers/vkfft/fft_lowering.h"
#include "ops/matmul.h"
#include "ops/row.h"

weft_status weft_graph_fourier(weft_tensor *out, weft_graph *graph, weft_tensor x) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    return weft_graph_add(out, graph, &weft_op_fourier, &x, 1, NULL, 0);
}

static weft_status fourier_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                 weft_shape *shape) {
    WEFT_TRY(weft_expect_rank(graph, node, 0, "x", 3, "[B, n, d]"));
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return WEFT_OK;
}

/** The columns 0 … d/2 of the transform in memory. */
struct half_spectrum {
    uint32_t storage;
    uint32_t columns; /* of a row in memory */
    uint32_t stride;  /* 2: complex, 1: real parts alone, 0: folded, see below */
};

WEFT_VARIANTS(fourier_unfold, "fourier/unfold",
              WEFT_GROUP_ROW(fourier_unfold, weft_grid_of_first_groups, 1.0F),
              WEFT_LANES_ROWS(fourier_unfold_lanes, weft_lanes_grid, 1))

static weft_status lower_unfold(struct weft_lowering *lowering, const struct weft_node *node,
                                struct half_spectrum half) {
    const weft_shape *shape = weft_node_shape(lowering->graph, node, 0);
    const struct weft_row_args row = weft_lower_row_args(lowering, *shape, &node->epilogue);
    uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_fourier_unfold_variants, 1, fourier_unfold,
        .bind = {.residual = row.residual,
                 .gamma = row.gamma,
                 .beta = row.beta,
                 .result = result,
                 .half = half.storage},
        .push = {.rows = row.rows,
                 .columns = row.columns,
                 .epsilon = row.epsilon,
                 .sequence_length = shape->dim[1],
                 .half_columns = half.columns,
                 WEFT_INVERSE(sequence_length, shape->dim[1]),
                 .stride = half.stride},
        .constant = {.has_residual = row.has_residual, .has_norm = row.has_norm, .kept = row.kept});
    weft_row_finish(dispatch, &row);
    return weft_lower_status(lowering);
}

/* ---- by matrices: C_n (X C_d) - S_n (X S_d) ---- */

static uint32_t padded_half(uint32_t d) {
    return (d / 2 + 1 + 3) / 4 * 4; /* whole fours let the kernels load vectors */
}

struct table_size {
    uint32_t n, d;
};

/** [2, d, padded_half(d)]: cosines, then sines, of 2π j k / d; the padding is 0. */
static weft_status fill_hidden(void *user, void *data) {
    const struct table_size *size = user;
    uint32_t columns = padded_half(size->d);
    float *cosines = data;
    float *sines = cosines + (size_t)size->d * columns;
    memset(data, 0, 2 * (size_t)size->d * columns * sizeof(float));
    for (uint32_t j = 0; j < size->d; j++) {
        for (uint32_t k = 0; k <= size->d / 2; k++) {
            double c;
            double s;
            weft_unit_root(&c, &s, (uint64_t)j * k, size->d);
            cosines[(size_t)j * columns + k] = (float)c;
            sines[(size_t)j * columns + k] = (float)s;
        }
    }
    return WEFT_OK;
}

/** [n, 2n]: row s is cos 2π s t / n for all t, then -sin 2π s t / n. */
static weft_status fill_sequence(void *user, void *data) {
    const struct table_size *size = user;
    float *row = data;
    for (uint32_t s = 0; s < size->n; s++, row += 2 * (size_t)size->n) {
        for (uint32_t t = 0; t < size->n; t++) {
            double cosine;
            double sine;
            weft_unit_root(&cosine, &sine, (uint64_t)s * t, size->n);
            row[t] = (float)cosine;
            row[size->n + t] = (float)-sine;
        }
    }
    return WEFT_OK;
}

static weft_status lower_matrix(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    struct table_size size = {.n = x->dim[1], .d = x->dim[2]};
    uint32_t columns = padded_half(size.d);
    char key[48];
    snprintf(key, sizeof key, "fourier/hidden/%u", size.d);
    uint64_t hidden_bytes = UINT64_C(8) * size.d * columns;
    uint32_t hidden = weft_lower_table(lowering, key, hidden_bytes, fill_hidden, &size);
    snprintf(key, sizeof key, "fourier/sequence/%u", size.n);
    uint64_t sequence_bytes = UINT64_C(8) * size.n * size.n;
    uint32_t sequence = weft_lower_table(lowering, key, sequence_bytes, fill_sequence, &size);
    uint32_t source = weft_lower_value(lowering, node->input[0]);
    uint32_t both = weft_lower_scratch(lowering, UINT64_C(8) * x->dim[0] * size.n * columns);
    uint32_t half = weft_lower_scratch(lowering, UINT64_C(4) * x->dim[0] * size.n * columns);

    /* Batches are (sequence of x, cosine or sine): [X C_d; X S_d] stacked as [2n, columns]. */
    struct weft_product product = {
        .a = {.storage = source, .outer = size.n * size.d, .row = size.d, .column = 1},
        .b = {.storage = hidden, .inner = size.d * columns, .row = columns, .column = 1},
        .c = {.storage = both,
              .outer = 2 * size.n * columns,
              .inner = size.n * columns,
              .row = columns,
              .column = 1},
        .m = size.n,
        .n = columns,
        .k = size.d,
        .batches = 2 * x->dim[0],
        .inner_count = 2,
        .alpha = 1.0F,
        .bias = WEFT_NO_STORAGE,
        .residual = WEFT_NO_STORAGE};
    weft_lower_product(lowering, &product);
    product.a = (struct weft_matrix){.storage = sequence, .row = 2 * size.n, .column = 1};
    product.b = product.c;
    product.b.inner = 0;
    product.c = (struct weft_matrix){
        .storage = half, .outer = size.n * columns, .row = columns, .column = 1};
    product.k = 2 * size.n;
    product.batches = x->dim[0];
    product.inner_count = 1;
    weft_lower_product(lowering, &product);
    return lower_unfold(lowering, node,
                        (struct half_spectrum){.storage = half, .columns = columns, .stride = 1});
}

/* ---- by FFT ---- */

static weft_status lower_fft(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const struct weft_fft_desc desc = {.kind = WEFT_FFT_R2C,
                                       .rank = x->dim[1] > 1 ? 2 : 1,
                                       .size = {x->dim[2], x->dim[1]},
                                       .batch = x->dim[0],
                                       .transform_axis = {true, x->dim[1] > 1}};
    uint32_t columns = x->dim[2] / 2 + 1;
    uint32_t input = weft_lower_value(lowering, node->input[0]);
    uint32_t spectrum = weft_lower_scratch(lowering, UINT64_C(8) * x->dim[0] * x->dim[1] * columns);
    weft_lower_fft(lowering, &desc, input, spectrum);
    return lower_unfold(
        lowering, node,
        (struct half_spectrum){.storage = spectrum, .columns = columns, .stride = 2});
}

/* Lowers the transform with lanes along rows and columns. */
static weft_status lower_fft_lanes(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const uint32_t input = weft_lower_value(lowering, node->input[0]);
    const uint32_t spectrum = weft_lower_fourier_lanes(lowering, input, *x);
    return lower_unfold(
        lowering, node,
        (struct half_spectrum){.storage = spectrum,
                               .columns = weft_fourier_lanes_columns(x->dim[1], x->dim[2]),
                               .stride = 2});
}

/* ---- by an FFT along the channels, and matrices along the tokens, whose length no kernel knows ---- */

/*
 * y[t] and y[n - t] are P[t] ± Q[t], where P = Σ cos 2π s t / n Re z[s] and Q = Σ sin 2π s t / n Im z[s] over the spectra z of the
 * tokens, and s and n - s share their products as well (fold.comp). So both matrices have n/2 + 1 rows and columns.
 */
struct folding {
    uint32_t n, batch;
    uint32_t half;    /* n/2 + 1 */
    uint32_t steps;   /* the same in whole fours */
    uint32_t points;  /* d */
    uint32_t columns; /* d/2 + 1 */
    uint32_t padded;  /* the same in whole fours */
};

/** [2, half, steps]: row t is cos 2π s t / n for s = 0 … n/2, then zeros; then the sines. */
static weft_status fill_folded(void *user, void *data) {
    const struct folding *folding = user;
    float *cosines = data;
    float *sines = cosines + (size_t)folding->half * folding->steps;
    memset(data, 0, 2 * (size_t)folding->half * folding->steps * sizeof(float));
    for (uint32_t t = 0; t < folding->half; t++) {
        for (uint32_t s = 0; s < folding->half; s++) {
            double cosine;
            double sine;
            weft_unit_root(&cosine, &sine, (uint64_t)s * t, folding->n);
            cosines[(size_t)t * folding->steps + s] = (float)cosine;
            sines[(size_t)t * folding->steps + s] = (float)sine;
        }
    }
    return WEFT_OK;
}

/* The spectra of all tokens, row by row. */
static struct weft_row_spectra lower_spectra(struct weft_lowering *lowering,
                                             const struct weft_node *node,
                                             const struct folding *folding) {
    const uint32_t d = weft_node_shape(lowering->graph, node, 0)->dim[2];
    const uint32_t rows = folding->batch * folding->n;
    const struct weft_fft_desc desc = {.kind = WEFT_FFT_R2C,
                                       .rank = 1,
                                       .size = {d, 1},
                                       .batch = rows,
                                       .transform_axis = {true, false}};
    const uint64_t room = weft_lower_fft_room(lowering, &desc);
    const uint32_t input = weft_lower_value(lowering, node->input[0]);
    const uint32_t spectrum = weft_lower_scratch(lowering, 8 * room * folding->columns);
    weft_lower_fft(lowering, &desc, input, spectrum);
    return (struct weft_row_spectra){.storage = spectrum};
}

/** They, folded: [2, steps, B, padded]. */
static uint32_t lower_folded(struct weft_lowering *lowering, const struct folding *folding,
                             struct weft_row_spectra spectra) {
    const uint64_t count = (uint64_t)folding->steps * folding->batch * folding->padded;
    const uint32_t folded = weft_lower_scratch(lowering, 8 * count);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, fourier_fold, weft_grid_of_items(count),
                   .bind = {.spectrum = spectra.storage, .folded = folded},
                   .push = {.count = (uint32_t)count,
                            .sequence_length = folding->n,
                            .batch = folding->batch,
                            .columns = folding->columns,
                            .width = spectra.width,
                            .points = folding->points,
                            .padded_columns = folding->padded,
                            WEFT_INVERSE(batch, folding->batch),
                            WEFT_INVERSE(width, spectra.width),
                            WEFT_INVERSE(padded_columns, folding->padded)});
    dispatch->flops = 2.0 * (double)count;
    dispatch->bytes = 24.0 * (double)count;
    return folded;
}

static struct folding folding_of(const weft_shape *x) {
    struct folding folding = {.n = x->dim[1],
                              .batch = x->dim[0],
                              .half = x->dim[1] / 2 + 1,
                              .points = x->dim[2],
                              .columns = x->dim[2] / 2 + 1,
                              .padded = padded_half(x->dim[2])};
    folding.steps = (folding.half + 3) / 4 * 4;
    return folding;
}

static weft_status lower_token_matrix(struct weft_lowering *lowering, const struct weft_node *node,
                                      struct weft_row_spectra spectra) {
    struct folding folding = folding_of(weft_node_shape(lowering->graph, node, 0));
    char key[48];
    snprintf(key, sizeof key, "fourier/folded/%u", folding.n);
    const uint64_t matrix = (uint64_t)folding.half * folding.steps;
    const uint32_t table = weft_lower_table(lowering, key, 8 * matrix, fill_folded, &folding);
    const uint32_t folded = lower_folded(lowering, &folding, spectra);
    const uint32_t wide = folding.batch * folding.padded;
    const uint32_t sums = weft_lower_scratch(lowering, UINT64_C(8) * folding.half * wide);
    const struct weft_product product = {
        .a = {.storage = table, .inner = (uint32_t)matrix, .row = folding.steps, .column = 1},
        .b = {.storage = folded, .inner = folding.steps * wide, .row = wide, .column = 1},
        .c = {.storage = sums, .inner = folding.half * wide, .row = wide, .column = 1},
        .m = folding.half,
        .n = wide,
        .k = folding.steps,
        .batches = 2,
        .inner_count = 2,
        .alpha = 1.0F,
        .bias = WEFT_NO_STORAGE,
        .residual = WEFT_NO_STORAGE};
    weft_lower_product(lowering, &product);
    return lower_unfold(lowering, node,
                        (struct half_spectrum){.storage = sums, .columns = folding.padded});
}

static weft_status lower_fft_matrix(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct folding folding = folding_of(weft_node_shape(lowering->graph, node, 0));
    return lower_token_matrix(lowering, node, lower_spectra(lowering, node, &folding));
}

static weft_status lower_lanes_matrix(struct weft_lowering *lowering,
                                      const struct weft_node *node) {
    const uint32_t input = weft_lower_value(lowering, node->input[0]);
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    return lower_token_matrix(lowering, node, weft_lower_fourier_rows(lowering, input, *x));
}

/* ---- the choice ---- */

#define LONG_TOKENS \
    256 /* from here on transforms are faster than matrices, by more than their kernels cost */

static bool fft_supports(const weft_graph *graph, const struct weft_node *node,
                         const weft_device_info *device) {
    (void)device;
    return weft_node_shape(graph, node, 0)->dim[2] >
           1; /* one channel leaves no innermost axis to transform */
}

static bool lanes_supports(const weft_graph *graph, const struct weft_node *node,
                           const weft_device_info *device) {
    const weft_shape *x = weft_node_shape(graph, node, 0);
    (void)device;
    return weft_fourier_lanes_fit(x->dim[1], x->dim[2]);
}

static bool row_lanes_supports(const weft_graph *graph, const struct weft_node *node,
                               const weft_device_info *device) {
    (void)device;
    return weft_fourier_lanes_fit(0, weft_node_shape(graph, node, 0)->dim[2]);
}

/*
 * The choice by shape of docs/reproducibility.md, rule 8. Transforms have kernels of their own for each length, which take a driver up to
 * seconds to compile. Below 64 in both axes the matrices are in the cache. Up to LONG_TOKENS only the transforms of the channels have
 * such kernels, of which a model has one length; one token has no other axis.
 */
static const char *fourier_choose(const weft_graph *graph, const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(graph, node, 0);
    bool small = x->dim[1] <= 64 && x->dim[2] <= 64;
    if (small || x->dim[2] == 1) {
        return "matrix";
    }
    return x->dim[1] > 1 && x->dim[1] < LONG_TOKENS ? "fft_matrix" : "fft";
}

#define LANES_NEEDS \
    { .invocations = 1024, .shared_memory = 64u << 10 }
#define LANES_LIMITS                                                                              \
    "16 to 2047 channels, and up to 65536 tokens, whose prime factors are at most 13, and VkFFT " \
    "1.3.4"

const struct weft_op weft_op_fourier = {
    .name = "fourier",
    .min_inputs = 1,
    .max_inputs = 1,
    .fusable = WEFT_FUSE_RESIDUAL | WEFT_FUSE_NORM,
    .infer = fourier_infer,
    .choose = fourier_choose,
    .cuts = WEFT_CUTS({.inputs = 1, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS(
        {.name = "fft", .cost = {.processor = 8.0F}, .supports = fft_supports, .lower = lower_fft},
        {.name = "fft_lanes",
         .needs = LANES_NEEDS,
         .cost = {.software = 4.0F, .hardware = 4.0F},
         .supports = lanes_supports,
         .limits = LANES_LIMITS,
         .lower = lower_fft_lanes},
        {.name = "matrix", .bits = 1, .lower = lower_matrix},
        {.name = "fft_matrix",
         .bits = 2,
         .cost = {.processor = 8.0F},
         .supports = fft_supports,
         .lower = lower_fft_matrix},
        {.name = "fft_matrix_lanes",
         .bits = 2,
         .needs = LANES_NEEDS,
         .cost = {.software = 4.0F, .hardware = 4.0F},
         .supports = row_lanes_supports,
         .limits = LANES_LIMITS,
         .lower = lower_lanes_matrix}),
};
