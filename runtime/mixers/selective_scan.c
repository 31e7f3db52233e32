/* SPDX-License-Identifier: MIT */
/* Selective scans: numbers of each channel, which every token decays, writes and reads; and their step. */
#include <weft/mixers.h>
#include <weft/movement.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/selective_scan/steps.h"
#include "kernels/selective_scan/steps_lanes.h"
#include "mixers/scan_steps.h"
#include "mixers/step.h"
#include "ops/row.h"

static_assert(WEFT_SELECTIVE_SCAN_STEPS_STATES == WEFT_MAX_SELECTIVE_SCAN_STATES,
              "shaders/selective_scan");

enum { X, DELTA, RATES, WRITES, READS, STATE, LENGTHS, INPUTS };

/* The step has those of all steps in front of its own, and neither lengths nor a state with a shape. */
enum { STEP_INPUTS = WEFT_STEP_INPUTS + STATE - WRITES };

static bool is_step(const struct weft_node *node) {
    return node->op == &weft_op_selective_scan_step;
}

/* Where a node has an input of that name. */
static uint32_t at(const struct weft_node *node, uint32_t input) {
    if (!is_step(node) || input < WRITES) {
        return input;
    }
    return input == STATE ? WEFT_STEP_STATE : input - WRITES + WEFT_STEP_INPUTS;
}

struct weft_selective_scan_node {
    uint32_t with_last; /* the states behind the results of each sequence */
};

/* ---- building ---- */

/* The sizes of checked operands. */
struct sizes {
    struct weft_scan_sizes scan;
    uint32_t channels;
    uint32_t states; /* of a channel */
    bool skip;       /* a factor of x stands behind the rates */
};

static struct sizes sizes_of(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_selective_scan_node *p = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(graph, node, X);
    const uint32_t channels = x->dim[2];
    const uint32_t states = weft_node_shape(graph, node, at(node, WRITES))->dim[2];
    return (struct sizes){.scan = {.batch = x->dim[0],
                                   .n = x->dim[1],
                                   .width = channels,
                                   .state = states * channels,
                                   .with_last = p->with_last},
                          .channels = channels,
                          .states = states,
                          .skip = weft_node_shape(graph, node, RATES)->dim[0] == states + 1};
}

/* The rates, and behind them the factor of the token itself, where there is one: one tensor, since a kernel binds only so many. */
static weft_status join_rates(weft_tensor *rates, weft_graph *graph, weft_tensor a,
                              weft_tensor skip, const char *op) {
    weft_shape of_a, of_skip;
    weft_dtype dtype;
    weft_tensor row = skip;
    *rates = a;
    if (skip.id == 0) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_graph_get_tensor(graph, a, &of_a, NULL));
    WEFT_TRY(weft_graph_get_tensor(graph, skip, &of_skip, &dtype));
    const uint32_t channels = of_a.rank == 2 ? of_a.dim[1] : 0;
    if (channels != 0 &&
        (dtype != WEFT_F32 || !weft_shape_equal(of_skip, weft_shape_of(channels)))) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: skip must be f32 %s, not %s %s",
                         op, weft_shape_text(weft_shape_of(channels), text[0]),
                         weft_dtype_name(dtype), weft_shape_text(of_skip, text[1]));
    }
    if (channels == 0) {
        return WEFT_OK; /* infer says what a must be */
    }
    WEFT_TRY(weft_graph_reshape(&row, graph, row, weft_shape_of(1, channels)));
    return weft_graph_concat(rates, graph, (const weft_tensor[]){a, row}, 2, 0);
}

static const weft_selective_scan_params none;

static weft_status add(weft_tensor *out, weft_graph *graph, const weft_tensor operands[STATE],
                       const weft_selective_scan_params *given, bool with_last) {
    const struct weft_selective_scan_node node = {.with_last = with_last};
    weft_tensor inputs[INPUTS] = {operands[X],      operands[DELTA], operands[RATES],
                                  operands[WRITES], operands[READS], given->state,
                                  given->lengths};
    WEFT_TRY(join_rates(&inputs[RATES], graph, operands[RATES], given->skip,
                        weft_op_selective_scan.name));
    return weft_graph_add(out, graph, &weft_op_selective_scan, inputs, INPUTS, &node, sizeof node);
}

weft_status weft_graph_selective_scan(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                      weft_tensor delta, weft_tensor a, weft_tensor b,
                                      weft_tensor c, const weft_selective_scan_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_tensor made = {0};
    WEFT_TRY(weft_graph_end(graph, mark,
                            add(&made, graph, (const weft_tensor[]){x, delta, a, b, c},
                                params ? params : &none, false)));
    *out = made;
    return WEFT_OK;
}

static weft_status add_with_last(weft_tensor out[2], weft_graph *graph,
                                 const weft_tensor operands[STATE],
                                 const weft_selective_scan_params *given) {
    weft_tensor made = {0};
    WEFT_TRY(add(&made, graph, operands, given, true));
    const struct sizes s = sizes_of(graph, &graph->nodes[weft_graph_producer(graph, made.id)]);
    return weft_take_both(out, graph, made, weft_shape_of(s.scan.batch, s.scan.n, s.channels),
                          weft_shape_of(s.scan.batch, s.states, s.channels));
}

weft_status weft_graph_selective_scan_with_last(weft_tensor out[2], weft_graph *graph,
                                                weft_tensor x, weft_tensor delta, weft_tensor a,
                                                weft_tensor b, weft_tensor c,
                                                const weft_selective_scan_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_tensor both[2] = {{0}};
    WEFT_TRY(weft_graph_end(graph, mark,
                            add_with_last(both, graph, (const weft_tensor[]){x, delta, a, b, c},
                                          params ? params : &none)));
    out[0] = both[0];
    out[1] = both[1];
    return WEFT_OK;
}

/* ---- checks ---- */

static weft_status check_ranks(const weft_graph *graph, const struct weft_node *node) {
    WEFT_TRY(weft_expect_rank(graph, node, X, "x", 3, "[B, n, channels]"));
    WEFT_TRY(weft_expect_rank(graph, node, RATES, "a", 2, "[states, channels]"));
    return weft_expect_rank(graph, node, at(node, WRITES), "b", 3, "[B, n, states]");
}

static weft_status check_operands(const weft_graph *graph, const struct weft_node *node,
                                  const struct sizes *s) {
    const uint32_t batch = s->scan.batch;
    const weft_shape of_states = weft_shape_of(batch, s->scan.n, s->states);
    WEFT_TRY(weft_expect_shape(graph, node, DELTA, "delta",
                               weft_shape_of(batch, s->scan.n, s->channels)));
    WEFT_TRY(weft_expect_shape(graph, node, at(node, WRITES), "b", of_states));
    WEFT_TRY(weft_expect_shape(graph, node, at(node, READS), "c", of_states));
    WEFT_TRY(weft_expect_shape(graph, node, RATES, "a",
                               weft_shape_of(s->states + (s->skip ? 1 : 0), s->channels)));
    return is_step(node) || !weft_node_has_input(node, STATE)
               ? WEFT_OK
               : weft_expect_shape(graph, node, STATE, "state",
                                   weft_shape_of(batch, s->states, s->channels));
}

static weft_status selective_scan_infer(const weft_graph *graph, struct weft_node *node,
                                        weft_dtype *dtype, weft_shape *shape) {
    WEFT_TRY(check_ranks(graph, node));
    const struct sizes s = sizes_of(graph, node);
    if (s.states > WEFT_MAX_SELECTIVE_SCAN_STATES) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "%s: b has %u states of a channel, more than %d", node->op->name, s.states,
                         WEFT_MAX_SELECTIVE_SCAN_STATES);
    }
    WEFT_TRY(check_operands(graph, node, &s));
    return weft_scan_infer(dtype, shape, graph, node, &s.scan,
                           ((double)s.scan.n + s.states) * s.channels);
}

/* ---- lowering ---- */

static struct weft_grid steps_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct weft_selective_scan_steps_args *words = args;
    (void)batches;
    return weft_scan_grid(variant, words->push.sequences, words->push.channels,
                          WEFT_SELECTIVE_SCAN_STEPS_COLUMNS);
}

WEFT_VARIANTS(selective_scan_steps, "selective_scan/steps",
              WEFT_GROUP_ROW(selective_scan_steps, steps_grid, 1.0F),
              WEFT_LANES_ROWS(selective_scan_steps_lanes, steps_grid, 1))

/* What more than one dispatch has. */
struct steps {
    struct weft_selective_scan_steps_args args;
    struct sizes sizes;
};

/* Lengths and states decide nothing but numbers, so that they need no kernels. */
static struct steps steps_of(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct sizes s = sizes_of(lowering->graph, node);
    const uint32_t values = weft_lower_value(lowering, node->input[X]);
    const struct weft_scan_counted counted =
        is_step(node) ? weft_scan_lower_positions(lowering, node)
                      : weft_scan_lower_lengths(lowering, node, LENGTHS, values);
    const uint32_t result = weft_lower_value(lowering, node->output);
    return (struct steps){
        .sizes = s,
        .args = {.bind = {.values = values,
                          .deltas = weft_lower_value(lowering, node->input[DELTA]),
                          .rates = weft_lower_value(lowering, node->input[RATES]),
                          .writes = weft_lower_value(lowering, node->input[at(node, WRITES)]),
                          .reads = weft_lower_value(lowering, node->input[at(node, READS)]),
                          .counted = counted.storage,
                          .state = result,
                          .result = result},
                 .push = {.sequences = s.scan.batch,
                          .n = s.scan.n,
                          .channels = s.channels,
                          .states = s.states,
                          .stride = weft_scan_stride(&s.scan),
                          .last = s.scan.n * s.scan.width,
                          .counts = counted.counts},
                 .constant = {.skip = s.skip,
                              .slots = weft_scan_slots(s.states, 1),
                              .rest = s.states % WEFT_SCAN_STRANDS != 0}}};
}

/* Of an invocation's loops for a token, at most. */
static double turns_of_token(const struct steps *steps) {
    return 1.25 * steps->sizes.states + 16.0;
}

static void lower_piece(struct weft_lowering *lowering, const struct weft_scan_piece *piece,
                        void *user) {
    enum { OPERATIONS = 25 }; /* of a state: an exponential, and six more */
    struct steps *steps = user;
    const struct sizes *s = &steps->sizes;
    struct weft_selective_scan_steps_args *args = &steps->args;
    args->push.first = piece->first;
    args->push.steps = piece->count;
    args->push.starts = piece->starts;
    args->push.ends = piece->ends;
    struct weft_dispatch *dispatch =
        weft_lower_variants(lowering, &weft_selective_scan_steps_variants, 1, args);
    const double tokens = (double)s->scan.batch * piece->count;
    dispatch->turns = piece->count * turns_of_token(steps);
    dispatch->flops = tokens * OPERATIONS * s->scan.state;
    dispatch->bytes = 4.0 * (tokens * (3.0 * s->channels + 2.0 * s->states) +
                             (2.0 * s->scan.batch + 1.0) * s->scan.state);
}

static struct weft_scan scan_of(struct steps *steps) {
    const struct sizes *s = &steps->sizes;
    return (struct weft_scan){.sizes = s->scan,
                              .largest = (double)s->scan.batch * s->scan.n * s->states,
                              .operations = 32 * WEFT_SELECTIVE_SCAN_STEPS_COLUMNS * s->states,
                              .turns = turns_of_token(steps),
                              .state = &steps->args.bind.state,
                              .lower_piece = lower_piece,
                              .steps = steps};
}

static weft_status selective_scan_lower(struct weft_lowering *lowering,
                                        const struct weft_node *node) {
    struct steps steps = steps_of(lowering, node);
    struct weft_scan scan = scan_of(&steps);
    return weft_scan_lower(lowering, &scan, node->input[STATE]);
}

const struct weft_op weft_op_selective_scan = {
    .name = "selective_scan",
    .min_inputs = STATE,
    .max_inputs = INPUTS,
    .lengths = {{.input = LENGTHS, .of = X}},
    .params_size = sizeof(struct weft_selective_scan_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_selective_scan_node, with_last, BOOL)),
    .infer = selective_scan_infer,
    .cuts = WEFT_CUTS({.inputs = (1 << INPUTS) - 1 - (1 << RATES), .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "steps", .lower = selective_scan_lower}),
};

/* ---- one token at a time ---- */

static weft_status add_step(weft_tensor *out, weft_graph *graph, struct weft_step_call *call,
                            weft_tensor skip) {
    const struct weft_selective_scan_node node = {.with_last = false};
    weft_shape b;
    WEFT_TRY(weft_graph_get_tensor(graph, call->input[X], &call->shape[0], NULL));
    WEFT_TRY(weft_graph_get_tensor(graph, call->input[WEFT_STEP_INPUTS], &b, NULL));
    WEFT_TRY(weft_check_step_place(graph, call));
    WEFT_TRY(join_rates(&call->input[RATES], graph, call->input[RATES], skip, call->op->name));
    /* infer reports other ranks. */
    const double states = b.rank == 3 ? b.dim[2] : 1.0;
    const double channels = call->shape[0].rank == 3 ? call->shape[0].dim[2] : 1.0;
    return weft_add_step(out, graph, call, states * channels, &node, sizeof node);
}

weft_status weft_graph_selective_scan_step(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                           weft_tensor delta, weft_tensor a, weft_tensor b,
                                           weft_tensor c, const weft_step *step,
                                           const weft_selective_scan_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, step);
    const weft_selective_scan_params given = params ? *params : none;
    struct weft_step_call call = {.op = &weft_op_selective_scan_step,
                                  .step = step,
                                  .input = {x, delta, a, {0}, {0}, b, c},
                                  .input_count = STEP_INPUTS,
                                  .lengths = given.lengths};
    WEFT_TRY(weft_scan_check_step(graph, call.op->name, given.state));
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_tensor made = {0};
    WEFT_TRY(weft_graph_end(graph, mark, add_step(&made, graph, &call, given.skip)));
    *out = made;
    return WEFT_OK;
}

static weft_status step_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    struct steps steps = steps_of(lowering, node);
    struct weft_scan scan = scan_of(&steps);
    return weft_scan_lower_step(lowering, &scan, node->input[WEFT_STEP_STATE]);
}

const struct weft_op weft_op_selective_scan_step = {
    .name = "selective_scan_step",
    .min_inputs = STEP_INPUTS,
    .max_inputs = STEP_INPUTS,
    .params_size = sizeof(struct weft_selective_scan_node),
    .state_input = WEFT_STEP_STATE,
    .infer = selective_scan_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = step_lower}),
};
