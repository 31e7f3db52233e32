/* SPDX-License-Identifier: MIT */
/* Selective scans by their formula, token by token. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/token_steps.h"
#include "verify/trials.h"

/* Operands of the sheet and of cases. */
enum { X, DELTA, A, B, C, SKIP, STATE };

WEFT_SHEET_CALL(selective_scan, x[X], x[DELTA], x[A], x[B], x[C])

/* ---- the definition ---- */

/* Operands by their values; a pointer is null where there is none. */
struct operands {
    const double *x, *delta, *a, *b, *c, *skip, *state, *lengths;
    uint32_t batch, n, channels, states;
};

static struct operands operands_of(const weft_case *c, const weft_array *x,
                                   const weft_selective_scan_params *p) {
    return (struct operands){.x = x[X].value,
                             .delta = x[DELTA].value,
                             .a = x[A].value,
                             .b = x[B].value,
                             .c = x[C].value,
                             .skip = weft_case_find(c, p->skip).value,
                             .state = weft_case_find(c, p->state).value,
                             .lengths = weft_case_find(c, p->lengths).value,
                             .batch = x[X].shape.dim[0],
                             .n = x[X].shape.dim[1],
                             .channels = x[X].shape.dim[2],
                             .states = x[B].shape.dim[2]};
}

/* What channel i makes of a token of all sequences: h[s, i] is at h + s channels. */
static double take_token(const struct operands *o, double *h, uint64_t token, uint32_t i) {
    const uint64_t at = token * o->channels + i;
    double y = o->skip ? o->skip[i] * o->x[at] : 0.0;
    for (uint32_t s = 0; s < o->states; s++) {
        double *own = h + (uint64_t)s * o->channels;
        const double decay = exp(o->delta[at] * o->a[(uint64_t)s * o->channels + i]);
        *own = decay * *own + o->delta[at] * o->b[token * o->states + s] * o->x[at];
        y += o->c[token * o->states + s] * *own;
    }
    return y;
}

/* y zeroed; last: of all sequences. */
static void define(const struct operands *o, double *y, double *last) {
    const uint64_t size = (uint64_t)o->states * o->channels;
    if (o->state) {
        memcpy(last, o->state, o->batch * size * sizeof *last);
    }
    for (uint32_t b = 0; b < o->batch; b++) {
        const uint32_t tokens = o->lengths ? (uint32_t)o->lengths[b] : o->n;
        for (uint64_t e = 0; e < (uint64_t)tokens * o->channels; e++) {
            const uint64_t token = (uint64_t)b * o->n + e / o->channels;
            const uint32_t i = (uint32_t)(e % o->channels);
            y[token * o->channels + i] = take_token(o, last + b * size + i, token, i);
        }
    }
}

static const weft_selective_scan_params none;

static weft_array mix_selective_scan(weft_case *c, const weft_array *x, const void *params) {
    const struct operands o = operands_of(c, x, params ? params : &none);
    weft_tensor tensor = {0};
    double *y;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_selective_scan(&tensor, c->graph, x[X].tensor, x[DELTA].tensor,
                                                   x[A].tensor, x[B].tensor, x[C].tensor, params));
    const weft_array made = weft_case_made(c, status, tensor, x[X].shape, false, &y);
    double *last = y ? weft_case_scratch(c, (uint64_t)o.batch * o.states * o.channels) : NULL;
    if (last) {
        define(&o, y, last);
    }
    return made;
}

static void mix_with_last(weft_array made[2], weft_case *c, const weft_array *x,
                          const weft_selective_scan_params *params) {
    const struct operands o = operands_of(c, x, params);
    weft_tensor tensor[2] = {{0}};
    double *value[2];
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_selective_scan_with_last(tensor, c->graph, x[X].tensor, x[DELTA].tensor,
                                               x[A].tensor, x[B].tensor, x[C].tensor, params));
    made[0] = weft_case_made(c, status, tensor[0], x[X].shape, false, &value[0]);
    made[1] = weft_case_made(c, status, tensor[1], weft_shape_of(o.batch, o.states, o.channels),
                             false, &value[1]);
    if (value[0] && value[1]) {
        define(&o, value[0], value[1]);
    }
}

/* ---- the sheet ---- */

static const weft_use uses[] = {
    {.name = "a selective scan"},
    {.name = "a selective scan with what it skips", .with = 1 << SKIP},
};

static const weft_trial trials[] = {
    {ACCEPTED, .without_params = true, GIVES(2, 9, 6)},
    {ACCEPTED, IS(AS(SKIP, 6), AS(STATE, 2, 16, 6)), GIVES(2, 9, 6)},
    {ACCEPTED, IS(AS(A, 128, 6), AS(B, 2, 9, 128), AS(C, 2, 9, 128)), GIVES(2, 9, 6)},
    {ACCEPTED, IS(AS(A, 1, 6), AS(B, 2, 9, 1), AS(C, 2, 9, 1)), GIVES(2, 9, 6)},
    {MISMATCH, IS(AS(X, 9, 6)), SAYS("x must be [B, n, channels]", "[9, 6]")},
    {MISMATCH, IS(AS_I32(X, 2, 9, 6)), SAYS("x must be f32")},
    {MISMATCH, IS(AS(DELTA, 2, 9, 5)), SAYS("delta must be [2, 9, 6]", "[2, 9, 5]")},
    {MISMATCH, IS(AS(DELTA, 2, 9, 1)), SAYS("delta must be [2, 9, 6]", "[2, 9, 1]")},
    {MISMATCH, IS(AS(A, 6)), SAYS("a must be [states, channels]", "[6]")},
    {MISMATCH, IS(AS(A, 6, 16)), SAYS("a must be [16, 6]", "[6, 16]")},
    {MISMATCH, IS(AS(A, 6, 16), AS(SKIP, 16)), SAYS("a must be [16, 6]", "[7, 16]")},
    {MISMATCH, IS(AS(A, 16, 5), AS(SKIP, 5)), SAYS("a must be [17, 6]", "[17, 5]")},
    {MISMATCH, IS(AS(B, 9, 16)), SAYS("b must be [B, n, states]", "[9, 16]")},
    {MISMATCH, IS(AS(B, 2, 8, 16)), SAYS("b must be [2, 9, 16]", "[2, 8, 16]")},
    {MISMATCH, IS(AS(C, 2, 9, 15)), SAYS("c must be [2, 9, 16]", "[2, 9, 15]")},
    {MISMATCH, IS(AS(SKIP, 5)), SAYS("skip must be f32 [6]", "[5]")},
    {MISMATCH, IS(AS(SKIP, 1, 6)), SAYS("skip must be f32 [6]", "[1, 6]")},
    {MISMATCH, IS(AS_I32(SKIP, 6)), SAYS("skip must be f32 [6]", "i32")},
    {MISMATCH, IS(AS(STATE, 2, 6, 16)), SAYS("state must be [2, 16, 6]", "[2, 6, 16]")},
    {INVALID, IS(AS_NOTHING(C)), SAYS("input 4")},
    {UNSUPPORTED, IS(AS(A, 129, 6), AS(B, 2, 9, 129), AS(C, 2, 9, 129)),
     SAYS("129 states", "more than 128")},
};

/* B [batch, n, states] and its like. */
#define OF_STATES WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_ROWS)

const weft_sheet weft_sheet_selective_scan = {
    WEFT_SHEET_OP(selective_scan),
    WEFT_SHEET_LENGTHS(weft_selective_scan_params),
    .is_causal = true,
    .operands = {WEFT_OPERAND_X,
                 WEFT_INPUT("delta",
                            WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_CHANNELS),
                            .range = WEFT_RANGE_UNIT),
                 WEFT_INPUT("a", WEFT_AXES(WEFT_AXIS_ROWS, WEFT_AXIS_CHANNELS), .is_weight = true,
                            .range = WEFT_RANGE_DECAYS),
                 WEFT_INPUT("b", OF_STATES), WEFT_INPUT("c", OF_STATES),
                 WEFT_OPTIONAL("skip", weft_selective_scan_params, skip,
                               WEFT_AXES(WEFT_AXIS_CHANNELS), .is_weight = true),
                 WEFT_OPTIONAL("state", weft_selective_scan_params, state, .shape = {0})},
    .grows_linearly = true,
    .mix = mix_selective_scan,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 9, .heads = 1, .width = 6},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

/* Decays: about a half, near 1, or 0. */
enum decays { SHORT, LONG, FORGETS };

struct row {
    uint32_t batch, n, channels, states;
    enum decays decays;
    weft_values kind;
    bool has_skip, has_state, has_lengths, with_last;
    uint32_t prompt;  /* of steps: tokens of the first one; 0: 1 */
    uint32_t shorter; /* and how many each sequence lacks of the one before it */
};

/* Strands with and without a rest, registers for 8 to 128 states, lanes and blocks of tokens likewise, and dispatches that go on. */
static const struct row rows[] = {
    {1, 1, 1, 1, .with_last = true},
    {2, 1, 17, 16, .has_skip = true, .has_state = true},
    {2, 19, 7, 15, .with_last = true},
    {2, 37, 48, 16, .has_skip = true, .has_state = true, .with_last = true},
    {3, 23, 33, 17, .decays = LONG, .has_skip = true, .has_lengths = true, .with_last = true},
    {2, 16, 16, 8, .has_state = true, .has_lengths = true},
    {2, 41, 5, 9, .decays = LONG, .has_state = true, .with_last = true},
    {1, 29, 19, 64, .has_skip = true},
    {1, 11, 21, 128, .has_skip = true, .with_last = true},
    {1, 9, 3, 127, .decays = LONG, .has_state = true},
    {1, 331, 96, 16, .decays = LONG, .has_skip = true, .with_last = true},
    {2, 131, 9, 1, .decays = LONG, .has_skip = true, .with_last = true},
    {1, 1031, 13, 17, .decays = LONG, .with_last = true},
    {2, 4099, 3, 2, .decays = LONG, .has_lengths = true, .with_last = true},
    {1, 4097, 2, 16, .decays = LONG, .has_skip = true},
    {2, 21, 24, 16, .kind = WEFT_VALUES_MIXED, .has_skip = true},
    {2, 21, 24, 16, .decays = FORGETS, .has_state = true, .with_last = true},
    {2, 21, 24, 16, .kind = WEFT_VALUES_ZEROS, .has_skip = true, .has_state = true},
    {2, 21, 24, 16, .kind = WEFT_VALUES_SMALL, .has_skip = true},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    static const char *const decays[] = {"", "long/", "forgets/"};
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/n=%u,channels=%u,states=%u,batch=%u%s%s%s%s%s%s",
             decays[row->decays], weft_values_name(row->kind), row->n, row->channels, row->states,
             row->batch, row->has_skip ? ",skip" : "", row->has_state ? ",state" : "",
             row->has_lengths ? ",lengths" : "", row->with_last ? ",last" : "",
             WEFT_CASE_PART(row->prompt != 0, ",prompt=%u", row->prompt),
             WEFT_CASE_PART(row->shorter != 0, ",shorter=%u", row->shorter));
}

/* Steps from 0 to 1, and rates below 0. */
static weft_array delta_of(weft_case *c, const struct row *row) {
    const weft_shape shape = weft_shape_of(row->batch, row->n, row->channels);
    return weft_case_activate(c, weft_case_input(c, "delta", shape, WEFT_VALUES_UNIT),
                              WEFT_ACTIVATION_SIGMOID);
}

static weft_array rates_of(weft_case *c, const struct row *row) {
    static const float least[] = {[SHORT] = -2.0F, [LONG] = -0.02F, [FORGETS] = -1e4F};
    const weft_array x =
        weft_case_weight(c, weft_shape_of(row->states, row->channels), WEFT_VALUES_UNIT);
    return weft_case_affine(c, weft_case_activate(c, x, WEFT_ACTIVATION_SIGMOID),
                            least[row->decays], row->decays == FORGETS ? -1e4F : 0.0F);
}

static void make_operands(weft_array x[STATE], weft_case *c, const struct row *row) {
    const weft_shape of_states = weft_shape_of(row->batch, row->n, row->states);
    x[X] = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->channels), row->kind);
    x[DELTA] = delta_of(c, row);
    x[A] = rates_of(c, row);
    x[B] = weft_case_input(c, "b", of_states, WEFT_VALUES_UNIT);
    x[C] = weft_case_input(c, "c", of_states, WEFT_VALUES_UNIT);
    x[SKIP] = weft_case_optional_weight(c, row->has_skip, weft_shape_of(row->channels));
}

static weft_selective_scan_params params_of(weft_case *c, const struct row *row, weft_tensor skip) {
    weft_selective_scan_params params = {.skip = skip};
    if (row->has_state) {
        params.state =
            weft_case_input(c, "state", weft_shape_of(row->batch, row->states, row->channels),
                            WEFT_VALUES_UNIT)
                .tensor;
    }
    if (row->has_lengths) {
        params.lengths =
            weft_case_indices(c, "lengths", weft_shape_of(row->batch), 1, (int32_t)row->n).tensor;
    }
    return params;
}

static void build(weft_case *c, const struct row *row) {
    weft_array x[STATE];
    make_operands(x, c, row);
    const weft_selective_scan_params params = params_of(c, row, x[SKIP].tensor);
    if (!row->with_last) {
        weft_case_expect(c, "y", mix_selective_scan(c, x, &params));
        return;
    }
    weft_array both[2];
    mix_with_last(both, c, x, &params);
    weft_case_expect(c, "y", both[0]);
    weft_case_expect(c, "last", both[1]);
}

WEFT_CASE_TABLE(selective_scan, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);

/* ---- steps ---- */

static const struct row step_rows[] = {
    {1, 1, 1, 1, .has_skip = false},
    {2, 7, 48, 16, .has_skip = true},
    {2, 5, 17, 15, .decays = LONG},
    {1, 5, 5, 128, .has_skip = true},
    {2, 17, 19, 17, .has_skip = true, .prompt = 13},
    {1, 70, 7, 9, .decays = LONG, .prompt = 66},
    {3, 15, 21, 16, .has_skip = true, .prompt = 12, .shorter = 5},
    {2, 9, 12, 16, .kind = WEFT_VALUES_MIXED, .has_skip = true, .prompt = 4},
};

struct step_call {
    weft_tensor a;
    const weft_selective_scan_params *params;
};

/* The operands that tokens have. */
enum { OF_X, OF_DELTA, OF_B, OF_C, TOKEN_OPERANDS };
static_assert(TOKEN_OPERANDS <= WEFT_TOKEN_OPERANDS, "operands of a token");

static weft_status add_step(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                            const weft_step *step, const void *user) {
    const struct step_call *call = user;
    return weft_graph_selective_scan_step(y, graph, x[OF_X], x[OF_DELTA], call->a, x[OF_B], x[OF_C],
                                          step, call->params);
}

static void build_steps(weft_case *c, const struct row *row) {
    weft_array x[STATE];
    make_operands(x, c, row);
    const weft_selective_scan_params params = params_of(c, row, x[SKIP].tensor);
    const weft_array tokens[TOKEN_OPERANDS] = {x[X], x[DELTA], x[B], x[C]};
    weft_case_state(c, "state", weft_shape_of(row->batch, row->states * row->channels));
    c->only_values = true;
    const weft_array whole = mix_selective_scan(c, x, &params);
    c->only_values = false;
    const struct step_call call = {x[A].tensor, &params};
    weft_case_expect_steps(
        c, tokens, TOKEN_OPERANDS, whole,
        (weft_token_cuts){.prompt = row->prompt, .shorter = row->shorter, .zeros_behind = true},
        add_step, &call);
}

WEFT_CASE_TABLE(selective_scan_step, step_rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build_steps);
