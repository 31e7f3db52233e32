/* SPDX-License-Identifier: MIT */
/*
 * Stochastic positional encoding: queries and keys times random codes of their positions, made of sines or by a
 * convolution. The codes are ops of their own, sine_spe_codes and conv_spe_codes, so that they can be made once when
 * noise and parameters are weights and in every run otherwise.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "graph/prepared.h"
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

weft_status weft_graph_sine_spe(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                weft_tensor noise, const weft_sine_spe_params *params) {
    if (!graph || !params) {
        return weft_fail(graph ? &graph->host : NULL, WEFT_INVALID_ARGUMENT,
                         "weft_graph_sine_spe: null argument");
    }
    struct spe_node node = {.heads = params->heads ? params->heads : 1};
    weft_tensor inputs[SINE_INPUTS] = {x, noise, params->frequencies, params->gains,
                                       params->phases};
    return weft_graph_add(out, graph, &weft_op_sine_spe, inputs, SINE_INPUTS, &node, sizeof node);
}

weft_status weft_graph_conv_spe(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                weft_tensor noise, const weft_conv_spe_params *params) {
    if (!graph || !params) {
        return weft_fail(graph ? &graph->host : NULL, WEFT_INVALID_ARGUMENT,
                         "weft_graph_conv_spe: null argument");
    }
    struct spe_node node = {.heads = params->heads ? params->heads : 1};
    weft_tensor inputs[CONV_INPUTS] = {x, noise, params->filters};
    return weft_graph_add(out, graph, &weft_op_conv_spe, inputs, CONV_INPUTS, &node, sizeof node);
}

/* ---- checking ---- */

/** f32 of that rank; `input` may be an optional one that is missing here. */
static weft_status expect_rank(const weft_graph *graph, const struct weft_node *node,
                               uint32_t input, const char *role, uint32_t rank,
                               const char *wanted) {
    if (node->input[input] == 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: %s is missing", node->op->name,
                         role);
    }
    weft_status status = weft_expect_f32(graph, node, input, role);
    const weft_shape *shape = weft_node_shape(graph, node, input);
    if (status == WEFT_OK && shape->rank != rank) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        status = weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: %s must be %s, not %s",
                           node->op->name, role, wanted, weft_shape_text(*shape, text));
    }
    return status;
}

static weft_status check_x(const weft_graph *graph, const struct weft_node *node) {
    const struct spe_node *params = (const void *)node->params.bytes;
    weft_status status = expect_rank(graph, node, X, "x", 3, "[B, n, d]");
    if (status == WEFT_OK && weft_node_shape(graph, node, X)->dim[2] % params->heads != 0) {
        status =
            weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: %u heads do not divide %u channels",
                      node->op->name, params->heads, weft_node_shape(graph, node, X)->dim[2]);
    }
    return status;
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
    weft_status status =
        expect_rank(graph, node, FREQUENCIES - skipped, "frequencies", 2, "[d, t]");
    if (status == WEFT_OK) {
        status = expect_rank(graph, node, NOISE - skipped, "noise", 3, "[d, 2t, s]");
    }
    if (status != WEFT_OK) {
        return status;
    }
    uint32_t count = weft_node_shape(graph, node, FREQUENCIES - skipped)->dim[1];
    weft_shape each = weft_shape_of(channels, count);
    weft_shape noise = *weft_node_shape(graph, node, NOISE - skipped);
    status = weft_expect_shape(graph, node, FREQUENCIES - skipped, "frequencies", each);
    if (status == WEFT_OK) {
        status = weft_expect_shape(graph, node, GAINS - skipped, "gains", each);
    }
    if (status == WEFT_OK && node->input[PHASES - skipped] != 0) {
        status = weft_expect_shape(graph, node, PHASES - skipped, "phases", each);
    }
    if (status == WEFT_OK && (noise.dim[0] != channels || noise.dim[1] != 2 * (uint64_t)count)) {
        status = fail_noise(graph, node, NOISE - skipped, "", channels, 2 * count);
    }
    if (status == WEFT_OK && tokens > MAX_TOKENS) {
        status = weft_fail(&graph->host, WEFT_UNSUPPORTED, "%s: n is %u, and at most %u",
                           node->op->name, tokens, MAX_TOKENS);
    }
    return status;
}

/* noise [m, d, s] with m ≥ n + p - 1, filters [p, d]. */
static weft_status check_conv(const weft_graph *graph, const struct weft_node *node,
                              uint32_t skipped, uint32_t channels, uint32_t tokens) {
    weft_status status = expect_rank(graph, node, FILTERS - skipped, "filters", 2, "[p, d]");
    if (status == WEFT_OK) {
        status = expect_rank(graph, node, NOISE - skipped, "noise", 3, "[m, d, s]");
    }
    if (status != WEFT_OK) {
        return status;
    }
    uint32_t taps = weft_node_shape(graph, node, FILTERS - skipped)->dim[0];
    weft_shape noise = *weft_node_shape(graph, node, NOISE - skipped);
    status =
        weft_expect_shape(graph, node, FILTERS - skipped, "filters", weft_shape_of(taps, channels));
    uint64_t needed = (uint64_t)tokens + taps - 1;
    if (status == WEFT_OK && (noise.dim[0] < needed || noise.dim[1] != channels)) {
        status = fail_noise(graph, node, NOISE - skipped, "at least ", (uint32_t)needed, channels);
    }
    return status;
}

/* Of sine_spe and conv_spe, after the checks: [B, n, heads · s]. */
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

static weft_status sine_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    weft_status status = check_x(graph, node);
    const weft_shape *x = weft_node_shape(graph, node, X);
    if (status == WEFT_OK) {
        status = check_sine(graph, node, 0, x->dim[2], x->dim[1]);
    }
    return status == WEFT_OK ? result_shape(graph, node, dtype, shape) : status;
}

static weft_status conv_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    weft_status status = check_x(graph, node);
    const weft_shape *x = weft_node_shape(graph, node, X);
    if (status == WEFT_OK) {
        status = check_conv(graph, node, 0, x->dim[2], x->dim[1]);
    }
    return status == WEFT_OK ? result_shape(graph, node, dtype, shape) : status;
}

/* ---- codes ---- */

/** What the codes are made of, as values, and their sizes. */
struct codes {
    bool sines;
    uint32_t input[CODE_INPUTS]; /* noise and parameters; 0: not given */
    uint32_t n, channels, realizations;
    uint32_t frequencies, taps; /* of a channel: t, or p */
};

/** Of a node whose inputs start `skipped` later than those of sine_spe and conv_spe. */
static struct codes codes_of(const weft_graph *graph, const struct weft_node *node, bool sines,
                             uint32_t skipped, uint32_t n) {
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

/** Whether 32-bit indices reach all that is made. */
static bool countable(struct weft_lowering *lowering, const struct codes *codes) {
    uint64_t waves = 2 * wave_count(codes);
    uint64_t count = code_count(codes) > waves ? code_count(codes) : waves;
    if (count <= INT32_MAX) {
        return true;
    }
    weft_lower_fail(lowering,
                    weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                              "%s: %llu elements of the codes of all positions, more than %d",
                              lowering->label, (unsigned long long)count, INT32_MAX));
    return false;
}

static uint32_t lower_waves(struct weft_lowering *lowering, const struct codes *codes) {
    uint64_t count = wave_count(codes);
    uint32_t frequencies = weft_lower_value(lowering, codes->input[FREQUENCIES - NOISE]);
    uint32_t waves = weft_lower_scratch(lowering, 2 * count * sizeof(float));
    uint32_t phases = codes->input[PHASES - NOISE];
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "spe/waves");
    weft_dispatch_read(dispatch, frequencies);
    weft_dispatch_read(dispatch, weft_lower_value(lowering, codes->input[GAINS - NOISE]));
    weft_dispatch_read(dispatch, phases ? weft_lower_value(lowering, phases) : frequencies);
    weft_dispatch_write(dispatch, waves);
    weft_dispatch_specialize(dispatch, phases != 0);
    weft_dispatch_items(dispatch, count);
    weft_dispatch_push_u32(dispatch, codes->channels * codes->frequencies);
    dispatch->flops = 80.0 * (double)count;
    dispatch->bytes = 8.0 * (double)count;
    return waves;
}

/** For each channel, waves [n, 2t] times noise [2t, s]. */
static void lower_sine_codes(struct weft_lowering *lowering, const struct codes *codes,
                             uint32_t result) {
    uint32_t terms = 2 * codes->frequencies;
    const struct weft_product product = {
        .a = {.storage = lower_waves(lowering, codes),
              .inner = terms,
              .row = codes->channels * terms,
              .column = 1},
        .b = {.storage = weft_lower_value(lowering, codes->input[0]),
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
    uint64_t count = code_count(codes);
    uint32_t noise = weft_lower_value(lowering, codes->input[0]);
    uint32_t filters = weft_lower_value(lowering, codes->input[FILTERS - NOISE]);
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "spe/convolve");
    weft_dispatch_read(dispatch, filters);
    weft_dispatch_read(dispatch, noise);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_items(dispatch, count);
    weft_dispatch_push_u32(dispatch, codes->taps);
    weft_dispatch_push_u32(dispatch, codes->channels);
    weft_dispatch_push_u32(dispatch, codes->realizations);
    dispatch->flops = 2.0 * (double)count * codes->taps;
    dispatch->bytes = 8.0 * (double)count;
}

static void lower_codes_to(struct weft_lowering *lowering, const struct codes *codes,
                           uint32_t result) {
    if (!countable(lowering, codes)) {
        return;
    }
    if (codes->sines) {
        lower_sine_codes(lowering, codes, result);
    } else {
        lower_conv_codes(lowering, codes, result);
    }
}

/* ---- the ops of the codes ---- */

static weft_status sine_codes_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    const struct spe_codes_node *params = (const void *)node->params.bytes;
    uint32_t channels = weft_node_shape(graph, node, FREQUENCIES - NOISE)->dim[0];
    weft_status status = check_sine(graph, node, NOISE, channels, params->tokens);
    *dtype = WEFT_F32;
    *shape = weft_shape_of(params->tokens, channels, weft_node_shape(graph, node, 0)->dim[2]);
    return status;
}

static weft_status conv_codes_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    const struct spe_codes_node *params = (const void *)node->params.bytes;
    uint32_t channels = weft_node_shape(graph, node, FILTERS - NOISE)->dim[1];
    weft_status status = check_conv(graph, node, NOISE, channels, params->tokens);
    *dtype = WEFT_F32;
    *shape = weft_shape_of(params->tokens, channels, weft_node_shape(graph, node, 0)->dim[2]);
    return status;
}

static weft_status lower_codes_node(struct weft_lowering *lowering, const struct weft_node *node,
                                    bool sines) {
    const struct spe_codes_node *params = (const void *)node->params.bytes;
    struct codes codes = codes_of(lowering->graph, node, sines, NOISE, params->tokens);
    lower_codes_to(lowering, &codes, weft_lower_value(lowering, node->output));
    return weft_lower_status(lowering);
}

static weft_status sine_codes_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_codes_node(lowering, node, true);
}

static weft_status conv_codes_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_codes_node(lowering, node, false);
}

const struct weft_op weft_op_sine_spe_codes = {
    .name = "sine_spe_codes",
    .min_inputs = CODE_INPUTS - 1,
    .max_inputs = CODE_INPUTS,
    .params_size = sizeof(struct spe_codes_node),
    .infer = sine_codes_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "product", .lower = sine_codes_lower}),
};

const struct weft_op weft_op_conv_spe_codes = {
    .name = "conv_spe_codes",
    .min_inputs = CONV_INPUTS - 1,
    .max_inputs = CONV_INPUTS - 1,
    .params_size = sizeof(struct spe_codes_node),
    .infer = conv_codes_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "direct", .lower = conv_codes_lower}),
};

/* ---- codes of weights: made once ---- */

struct constant_codes {
    const struct codes *codes;
    weft_weight *weight[CODE_INPUTS]; /* null: not given */
};

static weft_status build_codes(weft_tensor *out, weft_graph *graph, void *user) {
    const struct constant_codes *constant = user;
    const struct codes *codes = constant->codes;
    const uint32_t d = codes->channels;
    const uint32_t s = codes->realizations;
    weft_shape shape[CODE_INPUTS];
    shape[0] = codes->sines
                   ? weft_shape_of(d, 2 * codes->frequencies, s)
                   : weft_shape_of(
                         (uint32_t)(weft_shape_elements(constant->weight[0]->shape) / d / s), d, s);
    for (uint32_t i = 1; i < CODE_INPUTS; i++) {
        shape[i] =
            codes->sines ? weft_shape_of(d, codes->frequencies) : weft_shape_of(codes->taps, d);
    }
    weft_tensor inputs[CODE_INPUTS] = {{0}};
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < CODE_INPUTS && status == WEFT_OK; i++) {
        if (constant->weight[i]) {
            status = weft_prepare_weight(&inputs[i], graph, constant->weight[i], shape[i]);
        }
    }
    struct spe_codes_node node = {.tokens = codes->n};
    return status == WEFT_OK
               ? weft_graph_add(
                     out, graph, codes->sines ? &weft_op_sine_spe_codes : &weft_op_conv_spe_codes,
                     inputs, codes->sines ? CODE_INPUTS : CONV_INPUTS - 1, &node, sizeof node)
               : status;
}

static uint64_t uid_of(const weft_weight *weight) {
    return weight ? weight->uid : 0;
}

/* The storage of the codes: a constant where they are made of weights, otherwise scratch. */
static uint32_t lower_codes(struct weft_lowering *lowering, const struct codes *codes) {
    struct constant_codes constant = {.codes = codes};
    bool all = true;
    for (uint32_t i = 0; i < CODE_INPUTS; i++) {
        if (codes->input[i] != 0) {
            constant.weight[i] = weft_lower_weight_of(lowering, codes->input[i]);
            all = all && constant.weight[i] != NULL;
        }
    }
    uint64_t bytes = code_count(codes) * sizeof(float);
    if (!countable(lowering, codes)) {
        return 0;
    }
    if (!all) {
        uint32_t storage = weft_lower_scratch(lowering, bytes);
        lower_codes_to(lowering, codes, storage);
        return storage;
    }
    char key[160];
    snprintf(key, sizeof key,
             "spe/%s/%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%u %u %u %u %u",
             codes->sines ? "sine" : "conv", uid_of(constant.weight[0]), uid_of(constant.weight[1]),
             uid_of(constant.weight[2]), uid_of(constant.weight[3]), codes->n, codes->channels,
             codes->realizations, codes->frequencies, codes->taps);
    return weft_lower_prepared(lowering, key, bytes, build_codes, &constant);
}

/* ---- sine_spe and conv_spe ---- */

/* Of x by the codes, the queries' and the keys' factor each taking half of the 1/(s √w) on their product. */
static weft_status lower_apply(struct weft_lowering *lowering, const struct weft_node *node,
                               bool sines) {
    const struct spe_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(lowering->graph, node, X);
    struct codes codes = codes_of(lowering->graph, node, sines, 0, x->dim[1]);
    uint32_t width = x->dim[2] / params->heads;
    uint64_t count = (uint64_t)x->dim[0] * x->dim[1] * params->heads * codes.realizations;
    uint32_t source = weft_lower_value(lowering, node->input[X]);
    uint32_t storage = lower_codes(lowering, &codes);
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "spe/apply");
    weft_dispatch_read(dispatch, source);
    weft_dispatch_read(dispatch, storage);
    weft_dispatch_write(dispatch, weft_lower_value(lowering, node->output));
    weft_dispatch_items(dispatch, count);
    weft_dispatch_push_u32(dispatch, x->dim[1] * params->heads);
    weft_dispatch_push_u32(dispatch, width);
    weft_dispatch_push_u32(dispatch, codes.realizations);
    weft_dispatch_push_f32(dispatch,
                           (float)(1.0 / sqrt(sqrt((double)width) * (double)codes.realizations)));
    dispatch->flops = 2.0 * (double)count * width;
    dispatch->bytes = 4.0 * ((double)count * (1.0 + 1.0 / codes.realizations * width) +
                             (double)code_count(&codes));
    return weft_lower_status(lowering);
}

static weft_status sine_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_apply(lowering, node, true);
}

static weft_status conv_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_apply(lowering, node, false);
}

static void spe_describe(const struct weft_node *node, char *text, size_t size) {
    const struct spe_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%u heads]", params->heads);
}

const struct weft_op weft_op_sine_spe = {
    .name = "sine_spe",
    .min_inputs = 2,
    .max_inputs = SINE_INPUTS,
    .params_size = sizeof(struct spe_node),
    .infer = sine_infer,
    .describe = spe_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "codes", .lower = sine_lower}),
};

const struct weft_op weft_op_conv_spe = {
    .name = "conv_spe",
    .min_inputs = 2,
    .max_inputs = CONV_INPUTS,
    .params_size = sizeof(struct spe_node),
    .infer = conv_infer,
    .describe = spe_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "codes", .lower = conv_lower}),
};
