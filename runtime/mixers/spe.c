/* SPDX-License-Identifier: MIT */
/*
 * Stochastic positional encoding: queries and keys times random codes of their positions, made of sines or by a
 * convolution. The codes are ops of their own, sine_spe_codes and conv_spe_codes, so that they can be made once when
 * noise and parameters are weights and in every run otherwise.
 */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/spe/apply.h"
#include "kernels/spe/convolve.h"
#include "kernels/spe/waves.h"
#include "lower/divisor.h"
#include "lower/prepared.h"
#include "ops/matmul.h"

/* Inputs of sine_spe and conv_spe; the ops of the codes have them without x. */
enum { X = 0, NOISE = 1, FREQUENCIES = 2, GAINS = 3, PHASES = 4, FILTERS = 2, SINE_INPUTS = 5 };
enum { CONV_INPUTS = 3, CODE_INPUTS = SINE_INPUTS - 1 };

#define MAX_TOKENS (1U << 24) /* whole numbers that a float32 has */

struct spe_node {
    uint32_t heads;
};

struct spe_codes_node {
    uint32_t tokens;
};

/* ---- building ---- */

static struct spe_node node_of(uint32_t heads) {
    return (struct spe_node){.heads = heads ? heads : 1};
}

weft_status weft_graph_sine_spe(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                weft_tensor noise, const weft_sine_spe_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    const struct spe_node node = node_of(params->heads);
    const weft_tensor inputs[SINE_INPUTS] = {x, noise, params->frequencies, params->gains,
                                             params->phases};
    return weft_graph_add(out, graph, &weft_op_sine_spe, inputs, SINE_INPUTS, &node, sizeof node);
}

weft_status weft_graph_conv_spe(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                weft_tensor noise, const weft_conv_spe_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    const struct spe_node node = node_of(params->heads);
    const weft_tensor inputs[CONV_INPUTS] = {x, noise, params->filters};
    return weft_graph_add(out, graph, &weft_op_conv_spe, inputs, CONV_INPUTS, &node, sizeof node);
}

/* ---- checking ---- */

static weft_status check_x(const weft_graph *graph, const struct weft_node *node) {
    const struct spe_node *params = (const void *)node->params.bytes;
    WEFT_TRY(weft_expect_rank(graph, node, X, "x", 3, "[B, n, d]"));
    const uint32_t channels = weft_node_shape(graph, node, X)->dim[2];
    if (channels % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: %u heads do not divide %u channels", node->op->name, params->heads,
                         channels);
    }
    return WEFT_OK;
}

static weft_status fail_noise(const weft_graph *graph, const struct weft_node *node, uint32_t input,
                              const char *wanted, uint32_t first, uint32_t second) {
    char text[WEFT_SHAPE_TEXT_SIZE];
    return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: noise %s must be [%s%u, %u, s]",
                     node->op->name, weft_shape_text(*weft_node_shape(graph, node, input), text),
                     wanted, first, second);
}

/* noise [d, 2t, s], frequencies, gains and phases [d, t], for `skipped` inputs that are not there before them. */
static weft_status check_sine(const weft_graph *graph, const struct weft_node *node,
                              uint32_t skipped, uint32_t channels, uint32_t tokens) {
    WEFT_TRY(weft_expect_rank(graph, node, FREQUENCIES - skipped, "frequencies", 2, "[d, t]"));
    WEFT_TRY(weft_expect_rank(graph, node, NOISE - skipped, "noise", 3, "[d, 2t, s]"));
    const uint32_t count = weft_node_shape(graph, node, FREQUENCIES - skipped)->dim[1];
    const weft_shape each = weft_shape_of(channels, count);
    const weft_shape noise = *weft_node_shape(graph, node, NOISE - skipped);
    WEFT_TRY(weft_expect_shape(graph, node, FREQUENCIES - skipped, "frequencies", each));
    WEFT_TRY(weft_expect_shape(graph, node, GAINS - skipped, "gains", each));
    if (node->input[PHASES - skipped]) {
        WEFT_TRY(weft_expect_shape(graph, node, PHASES - skipped, "phases", each));
    }
    if (noise.dim[0] != channels || noise.dim[1] != 2 * (uint64_t)count) {
        return fail_noise(graph, node, NOISE - skipped, "", channels, 2 * count);
    }
    if (tokens > MAX_TOKENS) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED, "%s: n %u must be at most %u",
                         node->op->name, tokens, MAX_TOKENS);
    }
    return WEFT_OK;
}

/* noise [m, d, s] with m ≥ n + p - 1, filters [p, d]. */
static weft_status check_conv(const weft_graph *graph, const struct weft_node *node,
                              uint32_t skipped, uint32_t channels, uint32_t tokens) {
    WEFT_TRY(weft_expect_rank(graph, node, FILTERS - skipped, "filters", 2, "[p, d]"));
    WEFT_TRY(weft_expect_rank(graph, node, NOISE - skipped, "noise", 3, "[m, d, s]"));
    const uint32_t taps = weft_node_shape(graph, node, FILTERS - skipped)->dim[0];
    const weft_shape noise = *weft_node_shape(graph, node, NOISE - skipped);
    WEFT_TRY(weft_expect_shape(graph, node, FILTERS - skipped, "filters",
                               weft_shape_of(taps, channels)));
    const uint64_t needed = (uint64_t)tokens + taps - 1;
    if (noise.dim[0] < needed || noise.dim[1] != channels) {
        return fail_noise(graph, node, NOISE - skipped, "at least ", (uint32_t)needed, channels);
    }
    return WEFT_OK;
}

/* Result's shape of sine_spe and conv_spe, after the checks: [B, n, heads · s]. */
static weft_status result_shape(const weft_graph *graph, const struct weft_node *node,
                                weft_dtype *dtype, weft_shape *shape) {
    const struct spe_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(graph, node, X);
    uint64_t columns = (uint64_t)params->heads * weft_node_shape(graph, node, NOISE)->dim[2];
    if (columns > UINT32_MAX) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: %u heads of %u realizations are too many", node->op->name,
                         params->heads, weft_node_shape(graph, node, NOISE)->dim[2]);
    }
    *dtype = WEFT_F32;
    *shape = weft_shape_of(x->dim[0], x->dim[1], (uint32_t)columns);
    return WEFT_OK;
}

static bool has_sines(const struct weft_node *node) {
    return node->op == &weft_op_sine_spe || node->op == &weft_op_sine_spe_codes;
}

static weft_status spe_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                             weft_shape *shape) {
    WEFT_TRY(check_x(graph, node));
    const weft_shape *x = weft_node_shape(graph, node, X);
    WEFT_TRY((has_sines(node) ? check_sine : check_conv)(graph, node, 0, x->dim[2], x->dim[1]));
    return result_shape(graph, node, dtype, shape);
}

/* ---- codes ---- */

/** Values from which the codes are computed, and their sizes. */
struct codes {
    bool sines;
    uint32_t input[CODE_INPUTS]; /* noise and parameters; 0: not given */
    uint32_t n, channels, realizations;
    uint32_t frequencies, taps; /* of a channel: t, or p */
};

/** Codes of a node whose inputs start `skipped` later than those of sine_spe and conv_spe. */
static struct codes codes_of(const weft_graph *graph, const struct weft_node *node,
                             uint32_t skipped, uint32_t n) {
    const bool sines = has_sines(node);
    const weft_shape *parameters = weft_node_shape(graph, node, FREQUENCIES - skipped);
    struct codes codes = {.sines = sines,
                          .n = n,
                          .channels = parameters->dim[sines ? 0 : 1],
                          .realizations = weft_node_shape(graph, node, NOISE - skipped)->dim[2],
                          .frequencies = sines ? parameters->dim[1] : 0,
                          .taps = sines ? 0 : parameters->dim[0]};
    for (uint32_t i = 0; i < CODE_INPUTS && i + NOISE - skipped < node->input_count; i++) {
        codes.input[i] = node->input[i + NOISE - skipped];
    }
    return codes;
}

static uint64_t code_count(const struct codes *codes) {
    return (uint64_t)codes->n * codes->channels * codes->realizations;
}

static uint64_t wave_count(const struct codes *codes) {
    return (uint64_t)codes->n * codes->channels * codes->frequencies;
}

/** True if 32-bit indices reach all that is made. */
static bool countable(struct weft_lowering *lowering, const struct codes *codes) {
    uint64_t waves = 2 * wave_count(codes);
    uint64_t count = code_count(codes) > waves ? code_count(codes) : waves;
    if (count <= INT32_MAX) {
        return true;
    }
    weft_lower_fail(lowering,
                    weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                              "%s: the codes of all positions have %llu elements, more than %d",
                              lowering->label, (unsigned long long)count, INT32_MAX));
    return false;
}

static uint32_t lower_waves(struct weft_lowering *lowering, const struct codes *codes) {
    const uint64_t count = wave_count(codes);
    const uint32_t frequencies = weft_lower_value(lowering, codes->input[FREQUENCIES - NOISE]);
    const uint32_t waves = weft_lower_scratch(lowering, 2 * count * sizeof(float));
    const uint32_t gains = weft_lower_value(lowering, codes->input[GAINS - NOISE]);
    const uint32_t phases = weft_lower_optional(lowering, codes->input[PHASES - NOISE]);
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, spe_waves, weft_grid_of_items(count),
        .bind = {.frequencies = frequencies, .gains = gains, .phases = phases, .result = waves},
        .push = {.count = (uint32_t)count,
                 .channel_frequencies = codes->channels * codes->frequencies,
                 WEFT_INVERSE(channel_frequencies, codes->channels * codes->frequencies)},
        .constant = {.has_phases = phases != WEFT_NO_STORAGE});
    dispatch->flops = 80.0 * (double)count;
    dispatch->bytes = 8.0 * (double)count;
    return waves;
}

/** For each channel, waves [n, 2t] times noise [2t, s]. */
static void lower_sine_codes(struct weft_lowering *lowering, const struct codes *codes,
                             uint32_t result) {
    const uint32_t terms = 2 * codes->frequencies;
    const uint32_t waves = lower_waves(lowering, codes);
    const uint32_t noise = weft_lower_value(lowering, codes->input[0]);
    const struct weft_product product = {
        .a = {.storage = waves, .inner = terms, .row = codes->channels * terms, .column = 1},
        .b = {.storage = noise,
              .inner = terms * codes->realizations,
              .row = codes->realizations,
              .column = 1},
        .c = {.storage = result,
              .inner = codes->realizations,
              .row = codes->channels * codes->realizations,
              .column = 1},
        .m = codes->n,
        .n = codes->realizations,
        .k = terms,
        .batches = codes->channels,
        .inner_count = codes->channels,
        .alpha = 1.0F,
        .bias = WEFT_NO_STORAGE,
        .residual = WEFT_NO_STORAGE};
    weft_lower_product(lowering, &product);
}

static void lower_conv_codes(struct weft_lowering *lowering, const struct codes *codes,
                             uint32_t result) {
    const uint64_t count = code_count(codes);
    const uint32_t noise = weft_lower_value(lowering, codes->input[0]);
    const uint32_t filters = weft_lower_value(lowering, codes->input[FILTERS - NOISE]);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, spe_convolve, weft_grid_of_items(count),
                   .bind = {.filters = filters, .noise = noise, .result = result},
                   .push = {.count = (uint32_t)count,
                            .taps = codes->taps,
                            .channels = codes->channels,
                            .realizations = codes->realizations});
    dispatch->flops = 2.0 * (double)count * codes->taps;
    dispatch->bytes = 8.0 * (double)count;
}

/* ---- the ops of the codes ---- */

static weft_status codes_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                               weft_shape *shape) {
    const struct spe_codes_node *params = (const void *)node->params.bytes;
    const bool sines = has_sines(node);
    const uint32_t channels = weft_node_shape(graph, node, 1)->dim[sines ? 0 : 1];
    WEFT_TRY((sines ? check_sine : check_conv)(graph, node, NOISE, channels, params->tokens));
    *dtype = WEFT_F32;
    *shape = weft_shape_of(params->tokens, channels, weft_node_shape(graph, node, 0)->dim[2]);
    return WEFT_OK;
}

static void lower_codes_to(struct weft_lowering *lowering, const struct weft_node *node,
                           uint32_t result) {
    const struct spe_codes_node *params = (const void *)node->params.bytes;
    const struct codes codes = codes_of(lowering->graph, node, NOISE, params->tokens);
    if (!countable(lowering, &codes)) {
        return;
    }
    if (codes.sines) {
        lower_sine_codes(lowering, &codes, result);
    } else {
        lower_conv_codes(lowering, &codes, result);
    }
}

static weft_status codes_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    lower_codes_to(lowering, node, weft_lower_value(lowering, node->output));
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_sine_spe_codes = {
    .name = "sine_spe_codes",
    .min_inputs = CODE_INPUTS - 1,
    .max_inputs = CODE_INPUTS,
    .params_size = sizeof(struct spe_codes_node),
    .infer = codes_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "product", .lower = codes_lower}),
};

const struct weft_op weft_op_conv_spe_codes = {
    .name = "conv_spe_codes",
    .min_inputs = CONV_INPUTS - 1,
    .max_inputs = CONV_INPUTS - 1,
    .params_size = sizeof(struct spe_codes_node),
    .infer = codes_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "direct", .lower = codes_lower}),
};

/* ---- sine_spe and conv_spe ---- */

/* Multiplies x by the codes. The factors of queries and of keys each take half of the 1/(s √w) on their product. */
static weft_status spe_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct spe_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(lowering->graph, node, X);
    const struct codes codes = codes_of(lowering->graph, node, 0, x->dim[1]);
    const struct spe_codes_node made = {.tokens = codes.n};
    const uint32_t width = x->dim[2] / params->heads;
    const uint64_t count = (uint64_t)x->dim[0] * x->dim[1] * params->heads * codes.realizations;
    if (!countable(lowering, &codes)) {
        return weft_lower_status(lowering);
    }
    const uint32_t source = weft_lower_value(lowering, node->input[X]);
    const uint32_t storage = weft_lower_prepared(
        lowering, codes.sines ? &weft_op_sine_spe_codes : &weft_op_conv_spe_codes,
        &node->input[NOISE], codes.sines ? CODE_INPUTS : CONV_INPUTS - 1, &made, lower_codes_to);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const double scale = 1.0 / sqrt(sqrt((double)width) * (double)codes.realizations);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, spe_apply, weft_grid_of_items(count),
                   .bind = {.x = source, .codes = storage, .result = result},
                   .push = {.count = (uint32_t)count,
                            .code_rows = x->dim[1] * params->heads,
                            .width = width,
                            .realizations = codes.realizations,
                            .scale = (float)scale});
    dispatch->flops = 2.0 * (double)count * width;
    dispatch->bytes = 4.0 * ((double)count * (1.0 + 1.0 / codes.realizations * width) +
                             (double)code_count(&codes));
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_sine_spe = {
    .name = "sine_spe",
    .min_inputs = 2,
    .max_inputs = SINE_INPUTS,
    .params_size = sizeof(struct spe_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(spe_node, heads, COUNT)),
    .infer = spe_infer,
    .cuts = WEFT_CUTS({.inputs = 1 << X, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "codes", .lower = spe_lower}),
};

const struct weft_op weft_op_conv_spe = {
    .name = "conv_spe",
    .min_inputs = 2,
    .max_inputs = CONV_INPUTS,
    .params_size = sizeof(struct spe_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(spe_node, heads, COUNT)),
    .infer = spe_infer,
    .cuts = WEFT_CUTS({.inputs = 1 << X, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "codes", .lower = spe_lower}),
};
