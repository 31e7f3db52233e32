/* SPDX-License-Identifier: MIT */
/* Gated states: a matrix for each head, which every token decays, erases, writes and reads; and their step. */
#include <math.h>

#include <weft/mixers.h>
#include <weft/movement.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/gated_state/steps.h"
#include "kernels/gated_state/steps_lanes.h"
#include "lower/cut.h"
#include "mixers/scan_steps.h"
#include "mixers/step.h"
#include "ops/copy.h"
#include "ops/row.h"

static_assert(WEFT_GATED_STATE_STEPS_ROWS == WEFT_MAX_GATED_STATE_ROWS, "shaders/gated_state");

enum { Q, K, V, DECAY, BETA, ERASE, ALONG, STATE, LENGTHS, INPUTS };

/* The step has those of all steps in front of its own, and neither lengths nor a state with a shape. */
enum { STEP_INPUTS = WEFT_STEP_INPUTS + STATE - DECAY };

static bool is_step(const struct weft_node *node) {
    return node->op == &weft_op_gated_state_step;
}

/* Where a node has an input of that name. */
static uint32_t at(const struct weft_node *node, uint32_t input) {
    if (!is_step(node) || input < DECAY) {
        return input;
    }
    return input == STATE ? WEFT_STEP_STATE : input - DECAY + WEFT_STEP_INPUTS;
}

struct weft_gated_state_node {
    uint32_t heads, q_heads, k_heads;
    float scale;
    uint32_t erase_first,
        read_first;     /* truth values without padding: equal nodes have equal bytes */
    uint32_t with_last; /* the states behind the results of each sequence */
};

/* ---- building ---- */

static const weft_gated_state_params none;

static struct weft_gated_state_node node_of(const weft_gated_state_params *given, bool with_last) {
    const uint32_t heads = given->heads ? given->heads : 1;
    return (struct weft_gated_state_node){.heads = heads,
                                          .q_heads = given->q_heads ? given->q_heads : heads,
                                          .k_heads = given->k_heads ? given->k_heads : heads,
                                          .scale = given->scale,
                                          .erase_first = given->erase_first,
                                          .read_first = given->read_first,
                                          .with_last = with_last};
}

static weft_status add(weft_tensor *out, weft_graph *graph, const weft_tensor qkv[3],
                       const weft_gated_state_params *params, bool with_last) {
    const weft_gated_state_params given = params ? *params : none;
    const struct weft_gated_state_node node = node_of(&given, with_last);
    const weft_tensor inputs[INPUTS] = {
        qkv[0],      qkv[1],       qkv[2], given.decay, given.beta, given.erase, given.erase_along,
        given.state, given.lengths};
    return weft_graph_add(out, graph, &weft_op_gated_state, inputs, INPUTS, &node, sizeof node);
}

weft_status weft_graph_gated_state(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                   weft_tensor k, weft_tensor v,
                                   const weft_gated_state_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    return add(out, graph, (const weft_tensor[]){q, k, v}, params, false);
}

/* The sizes of checked operands. */
struct sizes {
    struct weft_scan_sizes scan;
    uint32_t heads, read;   /* of the states, and of the results */
    uint32_t rows, columns; /* of a state */
};

static struct sizes sizes_of(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_gated_state_node *p = (const void *)node->params.bytes;
    const weft_shape *v = weft_node_shape(graph, node, V);
    struct sizes s = {.scan = {.batch = v->dim[0], .n = v->dim[1], .with_last = p->with_last},
                      .heads = p->heads,
                      .read = p->q_heads > p->heads ? p->q_heads : p->heads,
                      .rows = weft_node_shape(graph, node, Q)->dim[2] / p->q_heads,
                      .columns = v->dim[2] / p->heads};
    s.scan.width = s.read * s.columns;
    s.scan.state = s.heads * s.rows * s.columns;
    return s;
}

static weft_status add_with_last(weft_tensor out[2], weft_graph *graph, const weft_tensor qkv[3],
                                 const weft_gated_state_params *params) {
    weft_tensor made = {0};
    WEFT_TRY(add(&made, graph, qkv, params, true));
    const struct weft_node *node = &graph->nodes[weft_graph_producer(graph, made.id)];
    const struct sizes s = sizes_of(graph, node);
    return weft_take_both(out, graph, made, weft_shape_of(s.scan.batch, s.scan.n, s.scan.width),
                          weft_shape_of(s.scan.batch, s.heads, s.rows, s.columns));
}

weft_status weft_graph_gated_state_with_last(weft_tensor out[2], weft_graph *graph, weft_tensor q,
                                             weft_tensor k, weft_tensor v,
                                             const weft_gated_state_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_tensor both[2] = {{0}};
    WEFT_TRY(weft_graph_end(graph, mark,
                            add_with_last(both, graph, (const weft_tensor[]){q, k, v}, params)));
    out[0] = both[0];
    out[1] = both[1];
    return WEFT_OK;
}

/* ---- checks ---- */

static weft_status check_params(const weft_graph *graph, struct weft_node *node) {
    struct weft_gated_state_node *p = (void *)node->params.bytes;
    if (p->heads == 0 || p->q_heads == 0 ||
        (p->heads % p->q_heads != 0 && p->q_heads % p->heads != 0)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: q_heads %u must divide the %u heads or be a multiple of them",
                         node->op->name, p->q_heads, p->heads);
    }
    if (p->k_heads == 0 || p->heads % p->k_heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: k_heads %u must be in 1 … %u and divide the %u heads", node->op->name,
                         p->k_heads, p->heads, p->heads);
    }
    if (!isfinite(p->scale)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: scale %g must be finite",
                         node->op->name, (double)p->scale);
    }
    if (!weft_node_has_input(node, at(node, ERASE)) &&
        (p->erase_first || weft_node_has_input(node, at(node, ALONG)))) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: %s needs an erase, and there is none", node->op->name,
                         p->erase_first ? "erase_first" : "erase_along");
    }
    p->scale = p->scale == 0.0F ? 1.0F : p->scale;
    return WEFT_OK;
}

static weft_status check_widths(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_gated_state_node *p = (const void *)node->params.bytes;
    WEFT_TRY(weft_expect_rank(graph, node, Q, "q", 3, "[B, n, q_heads·d_k]"));
    WEFT_TRY(weft_expect_rank(graph, node, K, "k", 3, "[B, n, k_heads·d_k]"));
    WEFT_TRY(weft_expect_rank(graph, node, V, "v", 3, "[B, n, heads·d_v]"));
    const uint32_t q = weft_node_shape(graph, node, Q)->dim[2];
    const uint32_t v = weft_node_shape(graph, node, V)->dim[2];
    if (q % p->q_heads != 0 || v % p->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: %u heads do not divide the %u channels of %s", node->op->name,
                         q % p->q_heads != 0 ? p->q_heads : p->heads, q % p->q_heads != 0 ? q : v,
                         q % p->q_heads != 0 ? "q" : "v");
    }
    if (q / p->q_heads > WEFT_MAX_GATED_STATE_ROWS) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "%s: heads of %u channels of q are wider than %d", node->op->name,
                         q / p->q_heads, WEFT_MAX_GATED_STATE_ROWS);
    }
    return WEFT_OK;
}

static weft_status check_decay(const weft_graph *graph, const struct weft_node *node,
                               const struct sizes *s) {
    const uint32_t batch = s->scan.batch;
    const uint32_t n = s->scan.n;
    const uint32_t decay = at(node, DECAY);
    WEFT_TRY(weft_expect_f32(graph, node, decay, "decay"));
    if (weft_shape_equal(*weft_node_shape(graph, node, decay), weft_shape_of(batch, n, s->heads))) {
        return WEFT_OK;
    }
    return weft_expect_shape(graph, node, decay, "decay",
                             weft_shape_of(batch, n, s->heads * s->rows));
}

static weft_status check_operands(const weft_graph *graph, const struct weft_node *node,
                                  const struct sizes *s) {
    const struct weft_gated_state_node *p = (const void *)node->params.bytes;
    const uint32_t batch = s->scan.batch;
    const uint32_t n = s->scan.n;
    const weft_shape keys = weft_shape_of(batch, n, p->k_heads * s->rows);
    const struct {
        const char *name;
        weft_shape shape;
    } expected[INPUTS] = {[Q] = {"q", weft_shape_of(batch, n, p->q_heads * s->rows)},
                          [K] = {"k", keys},
                          [BETA] = {"beta", weft_shape_of(batch, n, s->heads)},
                          [ERASE] = {"erase", keys},
                          [ALONG] = {"erase_along", keys},
                          [STATE] = {is_step(node) ? NULL : "state",
                                     weft_shape_of(batch, s->heads, s->rows, s->columns)}};
    for (uint32_t i = 0; i < INPUTS; i++) {
        if (expected[i].name && weft_node_has_input(node, at(node, i))) {
            WEFT_TRY(
                weft_expect_shape(graph, node, at(node, i), expected[i].name, expected[i].shape));
        }
    }
    return weft_node_has_input(node, at(node, DECAY)) ? check_decay(graph, node, s) : WEFT_OK;
}

static weft_status gated_state_infer(const weft_graph *graph, struct weft_node *node,
                                     weft_dtype *dtype, weft_shape *shape) {
    WEFT_TRY(check_params(graph, node));
    WEFT_TRY(check_widths(graph, node));
    const struct sizes s = sizes_of(graph, node);
    WEFT_TRY(check_operands(graph, node, &s));
    return weft_scan_infer(dtype, shape, graph, node, &s.scan,
                           (double)s.scan.n * s.read * s.columns +
                               (double)s.heads * s.rows * s.columns);
}

/* ---- lowering ---- */

static struct weft_grid steps_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct weft_gated_state_steps_args *words = args;
    (void)batches;
    return weft_scan_grid(variant, words->push.states, words->push.columns,
                          WEFT_GATED_STATE_STEPS_COLUMNS);
}

WEFT_VARIANTS(gated_state_steps, "gated_state/steps",
              WEFT_GROUP_ROW(gated_state_steps, steps_grid, 1.0F),
              WEFT_LANES_ROWS(gated_state_steps_lanes, steps_grid, 1))

/* What more than one dispatch has. */
struct steps {
    struct weft_gated_state_steps_args args;
    struct sizes sizes;
};

/* The storage of operands behind one another, and where each begins: one of them is bound as it is. */
static uint32_t lower_more(struct weft_lowering *lowering, uint32_t first[3],
                           const uint32_t storage[3], const uint64_t count[3]) {
    const uint64_t words = weft_cut_alignment(lowering) / sizeof(float);
    uint32_t given = 0;
    uint32_t only = WEFT_NO_STORAGE;
    uint64_t all = 0;
    for (uint32_t i = 0; i < 3; i++) {
        first[i] = (uint32_t)all;
        if (storage[i] != WEFT_NO_STORAGE) {
            all += (count[i] + words - 1) / words * words;
            only = storage[i];
            given++;
        }
    }
    if (given < 2 || !weft_lower_countable(lowering, (double)all, "elements")) {
        return only;
    }
    const uint32_t more = weft_lower_scratch(lowering, all * sizeof(float));
    for (uint32_t i = 0; i < 3; i++) {
        if (storage[i] != WEFT_NO_STORAGE) {
            weft_lower_copy(
                lowering,
                weft_lower_part(lowering, more, first[i] * sizeof(float), count[i] * sizeof(float)),
                storage[i], count[i]);
        }
    }
    return more;
}

static void bind_more(struct weft_lowering *lowering, struct steps *steps,
                      const struct weft_node *node) {
    const struct sizes *s = &steps->sizes;
    const uint64_t tokens = (uint64_t)s->scan.batch * s->scan.n;
    struct weft_gated_state_steps_args *args = &steps->args;
    const uint32_t erase = node->input[at(node, ERASE)];
    const bool by_key = erase == node->input[K];
    const uint32_t storage[3] = {weft_lower_optional(lowering, node->input[at(node, BETA)]),
                                 weft_lower_optional(lowering, by_key ? 0 : erase),
                                 weft_lower_optional(lowering, node->input[at(node, ALONG)])};
    const uint64_t keys = tokens * args->push.k_heads * s->rows;
    const uint64_t count[3] = {tokens * s->heads, keys, keys};
    uint32_t first[3];
    args->bind.more = lower_more(lowering, first, storage, count);
    args->push.rates = first[0];
    args->push.erase = first[1];
    args->push.apart = first[2];
    args->constant.rated = storage[0] != WEFT_NO_STORAGE;
    args->constant.erase = by_key ? 1 : storage[1] != WEFT_NO_STORAGE ? 2 : 0;
    args->constant.apart = storage[2] != WEFT_NO_STORAGE;
}

/* DECAY of the shader. */
static uint32_t decay_of(const struct weft_lowering *lowering, const struct weft_node *node,
                         const struct sizes *s) {
    if (node->input[at(node, DECAY)] == 0) {
        return 0;
    }
    const uint32_t columns = weft_node_shape(lowering->graph, node, at(node, DECAY))->dim[2];
    return columns == s->heads ? 1 : 2;
}

/* Lengths and states decide nothing but numbers, so that they need no kernels. */
static struct steps steps_of(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_gated_state_node *params = (const void *)node->params.bytes;
    const struct sizes s = sizes_of(lowering->graph, node);
    const uint32_t keys = weft_lower_value(lowering, node->input[K]);
    const struct weft_scan_counted counted =
        is_step(node) ? weft_scan_lower_positions(lowering, node)
                      : weft_scan_lower_lengths(lowering, node, LENGTHS, keys);
    const uint32_t result = weft_lower_value(lowering, node->output);
    struct steps steps = {
        .sizes = s,
        .args = {
            .bind = {.queries = weft_lower_value(lowering, node->input[Q]),
                     .keys = keys,
                     .values = weft_lower_value(lowering, node->input[V]),
                     .decay = weft_lower_optional(lowering, node->input[at(node, DECAY)]),
                     .counted = counted.storage,
                     .state = result,
                     .result = result},
            .push = {.states = s.scan.batch * s.heads,
                     .n = s.scan.n,
                     .heads = s.heads,
                     .q_heads = params->q_heads,
                     .k_heads = params->k_heads,
                     .rows = s.rows,
                     .columns = s.columns,
                     .stride = weft_scan_stride(&s.scan),
                     .last = s.scan.n * s.scan.width,
                     .scale = params->scale,
                     .counts = counted.counts},
            .constant = {.decay = decay_of(lowering, node, &s),
                         .before = (params->erase_first ? 1U : 0U) | (params->read_first ? 2U : 0U),
                         .slots = weft_scan_slots(s.rows, 4),
                         .rest = s.rows % WEFT_SCAN_STRANDS != 0}}};
    bind_more(lowering, &steps, node);
    return steps;
}

/* Of an invocation's loops for a token, at most: passes over the rows, of what is found, written and read. */
static double turns_of_token(const struct steps *steps) {
    const struct weft_gated_state_steps_args *args = &steps->args;
    const double reads = fmax((double)args->push.q_heads / args->push.heads, 1.0);
    return (2.0 + reads) * (1.25 * steps->sizes.rows + 16.0);
}

static void lower_piece(struct weft_lowering *lowering, const struct weft_scan_piece *piece,
                        void *user) {
    struct steps *steps = user;
    const struct sizes *s = &steps->sizes;
    struct weft_gated_state_steps_args *args = &steps->args;
    args->push.first = piece->first;
    args->push.steps = piece->count;
    args->push.starts = piece->starts;
    args->push.ends = piece->ends;
    struct weft_dispatch *dispatch =
        weft_lower_variants(lowering, &weft_gated_state_steps_variants, 1, args);
    const double tokens = (double)s->scan.batch * piece->count;
    const double cells = (double)s->rows * s->columns;
    dispatch->turns = piece->count * turns_of_token(steps);
    dispatch->flops = tokens * cells * (6.0 * s->heads + 2.0 * s->read);
    dispatch->bytes = 4.0 * (tokens * ((double)s->read + s->heads) * (s->rows + s->columns) +
                             2.0 * s->scan.batch * s->heads * cells);
}

static struct weft_scan scan_of(struct steps *steps) {
    const struct sizes *s = &steps->sizes;
    const double rows = (double)s->scan.batch * s->scan.n * s->rows;
    return (struct weft_scan){.sizes = s->scan,
                              /* queries, keys or decays */
                              .largest = rows * fmax(steps->args.push.q_heads, s->heads),
                              .operations = 8 * WEFT_GATED_STATE_STEPS_COLUMNS * s->rows,
                              .turns = turns_of_token(steps),
                              .state = &steps->args.bind.state,
                              .lower_piece = lower_piece,
                              .steps = steps};
}

static weft_status gated_state_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    struct steps steps = steps_of(lowering, node);
    struct weft_scan scan = scan_of(&steps);
    return weft_scan_lower(lowering, &scan, node->input[STATE]);
}

const struct weft_op weft_op_gated_state = {
    .name = "gated_state",
    .min_inputs = 3,
    .max_inputs = INPUTS,
    .lengths = {{.input = LENGTHS, .of = Q}},
    .params_size = sizeof(struct weft_gated_state_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_gated_state_node, heads, COUNT),
                          WEFT_FIELD(weft_gated_state_node, q_heads, COUNT),
                          WEFT_FIELD(weft_gated_state_node, k_heads, COUNT),
                          WEFT_FIELD(weft_gated_state_node, scale, F32),
                          WEFT_FIELD(weft_gated_state_node, erase_first, BOOL),
                          WEFT_FIELD(weft_gated_state_node, read_first, BOOL),
                          WEFT_FIELD(weft_gated_state_node, with_last, BOOL)),
    .infer = gated_state_infer,
    .cuts = WEFT_CUTS({.inputs = (1 << INPUTS) - 1, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "steps", .lower = gated_state_lower}),
};

/* ---- one token at a time ---- */

/* Elements of a sequence's state; infer reports what is no gated state. */
static double state_size(const struct weft_step_call *call,
                         const struct weft_gated_state_node *node) {
    const bool is_sized = call->shape[0].rank == 3 && call->shape[2].rank == 3;
    const uint32_t rows = is_sized ? call->shape[0].dim[2] / node->q_heads : 1;
    return is_sized ? (double)rows * call->shape[2].dim[2] : 1.0;
}

weft_status weft_graph_gated_state_step(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                        weft_tensor k, weft_tensor v, const weft_step *step,
                                        const weft_gated_state_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, step);
    const weft_gated_state_params given = params ? *params : none;
    const struct weft_gated_state_node node = node_of(&given, false);
    struct weft_step_call call = {
        .op = &weft_op_gated_state_step,
        .step = step,
        .input = {q, k, v, {0}, {0}, given.decay, given.beta, given.erase, given.erase_along},
        .input_count = STEP_INPUTS,
        .lengths = given.lengths};
    WEFT_TRY(weft_scan_check_step(graph, call.op->name, given.state));
    WEFT_TRY(weft_graph_get_tensor(graph, q, &call.shape[0], NULL));
    WEFT_TRY(weft_graph_get_tensor(graph, v, &call.shape[2], NULL));
    WEFT_TRY(weft_check_step_place(graph, &call));
    const double size = state_size(&call, &node);
    return weft_add_step(out, graph, &call, size >= 1.0 ? size : 1.0, &node, sizeof node);
}

static weft_status step_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    struct steps steps = steps_of(lowering, node);
    struct weft_scan scan = scan_of(&steps);
    return weft_scan_lower_step(lowering, &scan, node->input[WEFT_STEP_STATE]);
}

const struct weft_op weft_op_gated_state_step = {
    .name = "gated_state_step",
    .min_inputs = WEFT_STEP_INPUTS, /* of its own, each may be missing */
    .max_inputs = STEP_INPUTS,
    .params_size = sizeof(struct weft_gated_state_node),
    .state_input = WEFT_STEP_STATE,
    .infer = gated_state_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = step_lower}),
};
