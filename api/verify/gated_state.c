/* SPDX-License-Identifier: MIT */
/* Gated states by their formula, token by token. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/token_steps.h"
#include "verify/trials.h"

WEFT_SHEET_CALL(gated_state, x[0], x[1], x[2])

/* ---- the definition ---- */

/* Operands by their values; a pointer is null where there is none. */
struct operands {
    const weft_gated_state_params *params;
    const double *q, *k, *v, *decay, *beta, *erase, *along, *state, *lengths;
    uint32_t batch, n, heads, q_heads, k_heads, read, rows, columns;
    bool row_decay;
};

static struct operands operands_of(const weft_case *c, const weft_array *x,
                                   const weft_gated_state_params *p) {
    const weft_array decay = weft_case_find(c, p->decay);
    struct operands o = {.params = p,
                         .q = x[0].value,
                         .k = x[1].value,
                         .v = x[2].value,
                         .decay = decay.value,
                         .beta = weft_case_find(c, p->beta).value,
                         .erase = weft_case_find(c, p->erase).value,
                         .along = weft_case_find(c, p->erase_along).value,
                         .state = weft_case_find(c, p->state).value,
                         .lengths = weft_case_find(c, p->lengths).value,
                         .batch = x[0].shape.dim[0],
                         .n = x[0].shape.dim[1],
                         .heads = p->heads ? p->heads : 1};
    o.q_heads = p->q_heads ? p->q_heads : o.heads;
    o.k_heads = p->k_heads ? p->k_heads : o.heads;
    o.read = o.q_heads > o.heads ? o.q_heads : o.heads;
    o.rows = x[0].shape.dim[2] / o.q_heads;
    o.columns = x[2].shape.dim[2] / o.heads;
    o.row_decay = decay.shape.rank == 3 && decay.shape.dim[2] == o.heads * o.rows;
    return o;
}

/* A token of a sequence, and the head of a state. */
struct place {
    uint64_t token; /* of all sequences */
    uint32_t head;
};

static const double *key_of(const struct operands *o, const double *x, struct place at) {
    return x + (at.token * o->k_heads + at.head * o->k_heads / o->heads) * o->rows;
}

/* What the erase finds in column c of the state. */
static double found_in(const struct operands *o, const double *s, struct place at, uint32_t c) {
    const double *asks = key_of(o, o->erase, at);
    double sum = 0.0;
    for (uint32_t i = 0; i < o->rows; i++) {
        sum += s[(uint64_t)i * o->columns + c] * asks[i];
    }
    return sum;
}

/* S = diag(a) S - r (…ᵀ e)ᵀ + k (beta v)ᵀ, in column c. */
static void write_column(const struct operands *o, double *s, struct place at, uint32_t c) {
    const uint64_t own = at.token * o->heads + at.head;
    const double *k = key_of(o, o->k, at);
    const double beta = o->beta ? o->beta[own] : 1.0;
    const double before = o->erase ? found_in(o, s, at, c) : 0.0;
    for (uint32_t i = 0; i < o->rows && o->decay; i++) {
        s[(uint64_t)i * o->columns + c] *= o->decay[o->row_decay ? own * o->rows + i : own];
    }
    const double found = !o->erase ? 0.0 : o->params->erase_first ? before : found_in(o, s, at, c);
    for (uint32_t i = 0; i < o->rows; i++) {
        const double along = o->along ? key_of(o, o->along, at)[i] : beta * k[i];
        s[(uint64_t)i * o->columns + c] += k[i] * beta * o->v[own * o->columns + c] - along * found;
    }
}

/* y = scale Sᵀ q of the heads that read this state. */
static void read_state(const struct operands *o, double *y, const double *s, struct place at) {
    const double scale = o->params->scale != 0.0F ? (double)o->params->scale : 1.0;
    for (uint32_t head = 0; head < o->read; head++) {
        if ((uint64_t)head * o->heads / o->read != at.head) {
            continue;
        }
        const uint64_t q_head = (uint64_t)head * o->q_heads / o->read;
        const double *q = o->q + (at.token * o->q_heads + q_head) * o->rows;
        double *result = y + (at.token * o->read + head) * o->columns;
        for (uint64_t e = 0; e < (uint64_t)o->rows * o->columns; e++) {
            result[e % o->columns] += scale * s[e] * q[e / o->columns];
        }
    }
}

static void take_token(const struct operands *o, double *y, double *s, struct place at) {
    if (o->params->read_first) {
        read_state(o, y, s, at);
    }
    for (uint32_t c = 0; c < o->columns; c++) {
        write_column(o, s, at, c);
    }
    if (!o->params->read_first) {
        read_state(o, y, s, at);
    }
}

/* y zeroed; last: of all states. */
static void define(const struct operands *o, double *y, double *last) {
    const uint64_t size = (uint64_t)o->rows * o->columns;
    for (uint32_t b = 0; b < o->batch; b++) {
        const uint32_t tokens = o->lengths ? (uint32_t)o->lengths[b] : o->n;
        for (uint32_t head = 0; head < o->heads; head++) {
            double *s = last + ((uint64_t)b * o->heads + head) * size;
            if (o->state) {
                memcpy(s, o->state + ((uint64_t)b * o->heads + head) * size, size * sizeof *s);
            }
            for (uint32_t t = 0; t < tokens; t++) {
                take_token(o, y, s, (struct place){(uint64_t)b * o->n + t, head});
            }
        }
    }
}

static const weft_gated_state_params none;

static weft_array mix_gated_state(weft_case *c, const weft_array *x, const void *params) {
    const weft_gated_state_params *p = params ? params : &none;
    const struct operands o = operands_of(c, x, p);
    weft_tensor tensor = {0};
    double *y;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_gated_state(&tensor, c->graph, x[0].tensor, x[1].tensor,
                                                x[2].tensor, params));
    const weft_array made = weft_case_made(
        c, status, tensor, weft_shape_of(o.batch, o.n, o.read * o.columns), false, &y);
    double *last =
        y ? weft_case_scratch(c, (uint64_t)o.batch * o.heads * o.rows * o.columns) : NULL;
    if (last) {
        define(&o, y, last);
    }
    return made;
}

/* The same, and the states behind the last tokens. */
static void mix_with_last(weft_array made[2], weft_case *c, const weft_array *x,
                          const weft_gated_state_params *params) {
    const struct operands o = operands_of(c, x, params);
    weft_tensor tensor[2] = {{0}};
    double *value[2];
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_gated_state_with_last(tensor, c->graph, x[0].tensor,
                                                          x[1].tensor, x[2].tensor, params));
    made[0] = weft_case_made(c, status, tensor[0], weft_shape_of(o.batch, o.n, o.read * o.columns),
                             false, &value[0]);
    made[1] = weft_case_made(c, status, tensor[1],
                             weft_shape_of(o.batch, o.heads, o.rows, o.columns), false, &value[1]);
    if (value[0] && value[1]) {
        define(&o, value[0], value[1]);
    }
}

/* ---- the sheet ---- */

enum { Q, K, V, DECAY, BETA, ERASE, ALONG, STATE };

#define PARAMS(...) weft_gated_state_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)
#define HEADED(...) WITH(.heads = 2, __VA_ARGS__)

static const weft_use uses[] = {
    {.name = "a state that only grows"},
    {.name = "a gated state", .with = 1 << DECAY | 1 << BETA},
    {.name = "a gated state that is read first", WITH(.read_first = true), .with = 1 << DECAY},
};

static const weft_trial trials[] = {
    {ACCEPTED, IS(AS(Q, 2, 9, 3), AS(K, 2, 9, 3)), .without_params = true, GIVES(2, 9, 6)},
    {ACCEPTED, GIVES(2, 9, 6)},
    {ACCEPTED, IS(AS(DECAY, 2, 9, 6), AS(BETA, 2, 9, 2), AS(ERASE, 2, 9, 6), AS(STATE, 2, 2, 3, 3)),
     GIVES(2, 9, 6)},
    {ACCEPTED, IS(AS(Q, 2, 9, 12), AS(K, 2, 9, 3), AS(V, 2, 9, 10)),
     HEADED(.q_heads = 4, .k_heads = 1), GIVES(2, 9, 20)},
    {ACCEPTED, IS(AS(Q, 2, 9, 256), AS(K, 2, 9, 512)), HEADED(.q_heads = 1), GIVES(2, 9, 6)},
    {MISMATCH, IS(AS(Q, 9, 6)), SAYS("q must be [B, n, q_heads·d_k]", "[9, 6]")},
    {MISMATCH, IS(AS(K, 2, 9, 8)), SAYS("k must be [2, 9, 6]", "[2, 9, 8]")},
    {MISMATCH, IS(AS(Q, 2, 8, 6)), SAYS("q must be [2, 9, 6]", "[2, 8, 6]")},
    {MISMATCH, IS(AS(V, 2, 6)), SAYS("v must be [B, n, heads·d_v]", "[2, 6]")},
    {MISMATCH, IS(AS_I32(V, 2, 9, 6)), SAYS("v must be f32")},
    {MISMATCH, IS(AS(DECAY, 2, 9, 3)), SAYS("decay must be [2, 9, 6]", "[2, 9, 3]")},
    {MISMATCH, IS(AS_I32(DECAY, 2, 9, 2)), SAYS("decay must be f32")},
    {MISMATCH, IS(AS(BETA, 2, 9, 1)), SAYS("beta must be [2, 9, 2]", "[2, 9, 1]")},
    {MISMATCH, IS(AS(ERASE, 2, 9, 2)), SAYS("erase must be [2, 9, 6]", "[2, 9, 2]")},
    {MISMATCH, IS(AS(ERASE, 2, 9, 6), AS(ALONG, 2, 9, 2)), SAYS("erase_along must be [2, 9, 6]")},
    {MISMATCH, IS(AS(STATE, 2, 3, 3)), SAYS("state must be [2, 2, 3, 3]", "[2, 3, 3]")},
    {INVALID, IS(AS(ALONG, 2, 9, 6)), SAYS("erase_along needs an erase")},
    {INVALID, HEADED(.erase_first = true), SAYS("erase_first needs an erase")},
    {INVALID, HEADED(.scale = NAN), SAYS("scale nan must be finite")},
    {INVALID, WITH(.heads = 4), SAYS("4 heads do not divide the 6 channels of q")},
    {INVALID, IS(AS(V, 2, 9, 5)), SAYS("2 heads do not divide the 5 channels of v")},
    {INVALID, HEADED(.q_heads = 3), SAYS("q_heads 3", "the 2 heads")},
    {INVALID, HEADED(.k_heads = 4), SAYS("k_heads 4 must be in 1 … 2")},
    {INVALID, IS(AS_NOTHING(K)), SAYS("input 1")},
    {UNSUPPORTED, IS(AS(Q, 2, 9, 514), AS(K, 2, 9, 514)), SAYS("257 channels", "wider than 256")},
};

const weft_sheet weft_sheet_gated_state = {
    WEFT_SHEET_OP(gated_state),
    WEFT_SHEET_HEADS(weft_gated_state_params),
    WEFT_SHEET_LENGTHS(weft_gated_state_params),
    .is_causal = true,
    .operands = {WEFT_OPERANDS_QKV,
                 WEFT_OPTIONAL("decay", weft_gated_state_params, decay,
                               WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_HEADS),
                               .range = WEFT_RANGE_UNIT),
                 WEFT_OPTIONAL("beta", weft_gated_state_params, beta,
                               WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_HEADS),
                               .range = WEFT_RANGE_UNIT),
                 WEFT_OPTIONAL("erase", weft_gated_state_params, erase, .shape = {0}),
                 WEFT_OPTIONAL("erase_along", weft_gated_state_params, erase_along, .shape = {0}),
                 WEFT_OPTIONAL("state", weft_gated_state_params, state, .shape = {0})},
    .grows_linearly = true,
    .mix = mix_gated_state,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 9, .heads = 2, .width = 3},
    .usual = PARAMS(.heads = 2),
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

/* Which mixer's operands a case has. */
enum rule {
    LINEAR,
    GATED,
    ROWS_GATED,
    READ_FIRST,
    DELTA,
    GATED_DELTA,
    ROWS_DELTA,
    OWN_ERASE,
    APART,
    RULES
};

/* What they are made of. */
static const struct {
    const char *name;
    uint32_t decay; /* 1: of a head, 2: of each row */
    bool beta, erase, own_erase, along, erase_first, read_first;
} rules[] = {
    [LINEAR] = {"linear", 0, .beta = false},
    [GATED] = {"gated", 1, .beta = false},
    [ROWS_GATED] = {"rows-gated", 2, .beta = true},
    [READ_FIRST] = {"read-first", 2, .read_first = true},
    [DELTA] = {"delta", 0, .beta = true, .erase = true},
    [GATED_DELTA] = {"gated-delta", 1, .beta = true, .erase = true},
    [ROWS_DELTA] = {"rows-delta", 2, .beta = true, .erase = true},
    [OWN_ERASE] = {"own-erase", 2, .erase = true, .own_erase = true},
    [APART] = {"apart", 2, .erase = true, .own_erase = true, .along = true, .erase_first = true},
};
static_assert(WEFT_COUNT(rules) == RULES, "operands of each rule");

/* Decays: about a half, near 1, or 0. */
enum decays { SHORT, LONG, FORGETS };

struct row {
    enum rule rule;
    uint32_t batch, n, heads, width;
    uint32_t values;           /* columns of a state */
    uint32_t q_heads, k_heads; /* 0: heads */
    enum decays decays;
    weft_values kind;
    bool has_state, has_lengths, with_last;
    float scale;
    uint32_t prompt;  /* of steps: tokens of the first one; 0: 1 */
    uint32_t shorter; /* and how many each sequence lacks of the one before it */
};

/* Strands with and without a rest, lanes of all widths likewise, registers for 32 to 256 rows, and dispatches that go on. */
static const struct row rows[] = {
    {LINEAR, 1, 1, 1, 1, .values = 1},
    {APART, 1, 1, 1, 1, .values = 1, .has_state = true, .with_last = true},
    {LINEAR, 2, 19, 2, 5, .values = 7},
    {LINEAR, 2, 19, 2, 8, .values = 16, .has_state = true, .with_last = true, .scale = 0.25F},
    {GATED, 2, 37, 2, 33, .values = 17, .with_last = true},
    {GATED, 3, 23, 4, 16, .values = 24, .q_heads = 1, .k_heads = 1, .decays = LONG,
     .has_lengths = true},
    {ROWS_GATED, 2, 37, 3, 19, .values = 13, .q_heads = 6, .has_state = true, .has_lengths = true,
     .with_last = true},
    {READ_FIRST, 2, 29, 2, 24, .values = 9, .q_heads = 4, .with_last = true},
    {DELTA, 2, 37, 2, 64, .values = 32},
    {DELTA, 1, 64, 1, 7, .values = 1, .q_heads = 4},
    {GATED_DELTA, 1, 131, 4, 64, .values = 64, .q_heads = 2, .k_heads = 2, .decays = LONG,
     .with_last = true, .scale = 0.125F},
    {GATED_DELTA, 3, 31, 2, 20, .values = 12, .has_state = true, .has_lengths = true,
     .with_last = true},
    {ROWS_DELTA, 2, 23, 2, 128, .values = 40, .decays = LONG, .has_lengths = true},
    {ROWS_DELTA, 1, 11, 1, 256, .values = 33, .has_state = true, .with_last = true},
    {OWN_ERASE, 2, 37, 2, 21, .values = 18, .has_lengths = true},
    {APART, 2, 37, 2, 64, .values = 8, .decays = LONG, .has_state = true, .with_last = true},
    {APART, 2, 19, 4, 9, .values = 21, .q_heads = 2, .k_heads = 2, .has_state = true,
     .has_lengths = true},
    {GATED, 2, 4099, 1, 3, .values = 2, .decays = LONG, .has_lengths = true},
    {GATED_DELTA, 1, 4097, 1, 5, .values = 3, .decays = LONG, .with_last = true},
    {GATED, 2, 21, 2, 12, .values = 12, .kind = WEFT_VALUES_MIXED},
    {GATED_DELTA, 2, 21, 2, 12, .values = 12, .decays = FORGETS, .has_state = true,
     .with_last = true},
    {LINEAR, 2, 21, 2, 12, .values = 12, .kind = WEFT_VALUES_ZEROS, .has_state = true},
    {GATED_DELTA, 2, 21, 2, 12, .values = 12, .kind = WEFT_VALUES_SMALL},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    static const char *const decays[] = {"", "long/", "forgets/"};
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s/n=%u,d=%u,dv=%u,heads=%u%s%s,batch=%u%s%s%s%s%s%s",
             rules[row->rule].name, decays[row->decays], weft_values_name(row->kind), row->n,
             row->width, row->values, row->heads,
             WEFT_CASE_PART(row->q_heads != 0, ",q=%u", row->q_heads),
             WEFT_CASE_PART(row->k_heads != 0, ",k=%u", row->k_heads), row->batch,
             row->has_state ? ",state" : "", row->has_lengths ? ",lengths" : "",
             row->with_last ? ",last" : "",
             WEFT_CASE_PART(row->scale != 0.0F, ",scale=%g", (double)row->scale),
             WEFT_CASE_PART(row->prompt != 0, ",prompt=%u", row->prompt),
             WEFT_CASE_PART(row->shorter != 0, ",shorter=%u", row->shorter));
}

/* Numbers that make no more of the state than there is of it, so that errors do not grow from token to token. */
static weft_array vector_of(weft_case *c, const struct row *row, const char *name, float scale) {
    const uint32_t heads = row->k_heads ? row->k_heads : row->heads;
    const weft_array x = weft_case_input(
        c, name, weft_shape_of(row->batch, row->n, heads * row->width), WEFT_VALUES_UNIT);
    return weft_case_affine(c, x, scale / sqrtf((float)row->width), 0.0F);
}

static weft_array decay_of(weft_case *c, const struct row *row) {
    const uint32_t columns = rules[row->rule].decay == 2 ? row->heads * row->width : row->heads;
    const weft_array x =
        weft_case_input(c, "decay", weft_shape_of(row->batch, row->n, columns), WEFT_VALUES_UNIT);
    if (row->decays == SHORT) {
        return weft_case_activate(c, x, WEFT_ACTIVATION_SIGMOID);
    }
    return row->decays == LONG ? weft_case_affine(c, x, 0.01F, 0.99F)
                               : weft_case_affine(c, x, 0.0F, 0.0F);
}

static weft_array beta_of(weft_case *c, const struct row *row) {
    const weft_shape shape = weft_shape_of(row->batch, row->n, row->heads);
    return weft_case_activate(c, weft_case_input(c, "beta", shape, WEFT_VALUES_UNIT),
                              WEFT_ACTIVATION_SIGMOID);
}

static weft_gated_state_params params_of(weft_case *c, const struct row *row, weft_tensor k) {
    weft_gated_state_params params = {.heads = row->heads,
                                      .q_heads = row->q_heads,
                                      .k_heads = row->k_heads,
                                      .scale = row->scale,
                                      .erase_first = rules[row->rule].erase_first,
                                      .read_first = rules[row->rule].read_first};
    if (rules[row->rule].decay != 0) {
        params.decay = decay_of(c, row).tensor;
    }
    if (rules[row->rule].beta) {
        params.beta = beta_of(c, row).tensor;
    }
    if (rules[row->rule].erase) {
        params.erase = rules[row->rule].own_erase ? vector_of(c, row, "erase", 1.0F).tensor : k;
    }
    if (rules[row->rule].along) {
        params.erase_along = vector_of(c, row, "along", 1.0F).tensor;
    }
    if (row->has_state) {
        const weft_shape shape = weft_shape_of(row->batch, row->heads, row->width, row->values);
        params.state = weft_case_input(c, "state", shape, WEFT_VALUES_UNIT).tensor;
    }
    if (row->has_lengths) {
        params.lengths =
            weft_case_indices(c, "lengths", weft_shape_of(row->batch), 1, (int32_t)row->n).tensor;
    }
    return params;
}

static void make_qkv(weft_array x[3], weft_case *c, const struct row *row) {
    const uint32_t q_heads = row->q_heads ? row->q_heads : row->heads;
    x[0] =
        weft_case_input(c, "q", weft_shape_of(row->batch, row->n, q_heads * row->width), row->kind);
    x[1] = vector_of(c, row, "k", 1.0F);
    x[2] = weft_case_input(c, "v", weft_shape_of(row->batch, row->n, row->heads * row->values),
                           row->kind);
}

static void build(weft_case *c, const struct row *row) {
    weft_array x[3];
    make_qkv(x, c, row);
    const weft_gated_state_params params = params_of(c, row, x[1].tensor);
    if (!row->with_last) {
        weft_case_expect(c, "y", mix_gated_state(c, x, &params));
        return;
    }
    weft_array both[2];
    mix_with_last(both, c, x, &params);
    weft_case_expect(c, "y", both[0]);
    weft_case_expect(c, "last", both[1]);
}

WEFT_CASE_TABLE(gated_state, rows, WEFT_TOLERANCE_LINEAR, name_case, build);

/* ---- steps ---- */

static const struct row step_rows[] = {
    {LINEAR, 1, 1, 1, 1, .values = 1},
    {GATED, 2, 7, 2, 16, .values = 16, .q_heads = 1, .k_heads = 1, .decays = LONG},
    {READ_FIRST, 2, 6, 2, 9, .values = 5, .q_heads = 4},
    {GATED_DELTA, 1, 9, 4, 64, .values = 64, .q_heads = 2, .k_heads = 2, .scale = 0.125F},
    {ROWS_DELTA, 1, 5, 1, 256, .values = 33, .decays = LONG},
    {APART, 2, 8, 2, 21, .values = 18},
    {GATED_DELTA, 2, 17, 2, 12, .values = 19, .prompt = 13},
    {OWN_ERASE, 1, 70, 1, 7, .values = 5, .prompt = 66},
    {ROWS_GATED, 3, 15, 2, 8, .values = 17, .prompt = 12, .shorter = 5},
    {GATED_DELTA, 2, 9, 2, 12, .values = 12, .kind = WEFT_VALUES_MIXED, .prompt = 4},
};

enum { AT_DECAY = 3, AT_BETA, AT_ERASE, AT_ALONG, TOKEN_OPERANDS };
static_assert(TOKEN_OPERANDS <= WEFT_TOKEN_OPERANDS, "operands of a token");

struct step_call {
    const struct row *row;
    const weft_gated_state_params *params;
};

static weft_status add_step(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                            const weft_step *step, const void *user) {
    const struct step_call *call = user;
    weft_gated_state_params params = *call->params;
    params.decay = x[AT_DECAY];
    params.beta = x[AT_BETA];
    params.erase =
        rules[call->row->rule].erase && !rules[call->row->rule].own_erase ? x[1] : x[AT_ERASE];
    params.erase_along = x[AT_ALONG];
    return weft_graph_gated_state_step(y, graph, x[0], x[1], x[2], step, &params);
}

static void build_steps(weft_case *c, const struct row *row) {
    weft_array x[TOKEN_OPERANDS];
    make_qkv(x, c, row);
    const weft_gated_state_params params = params_of(c, row, x[1].tensor);
    const bool own_erase = rules[row->rule].own_erase;
    x[AT_DECAY] = weft_case_find(c, params.decay);
    x[AT_BETA] = weft_case_find(c, params.beta);
    x[AT_ERASE] = weft_case_find(c, own_erase ? params.erase : (weft_tensor){0});
    x[AT_ALONG] = weft_case_find(c, params.erase_along);
    weft_case_state(c, "state", weft_shape_of(row->batch, row->heads * row->width * row->values));
    c->only_values = true;
    const weft_array whole = mix_gated_state(c, x, &params);
    c->only_values = false;
    const struct step_call call = {row, &params};
    weft_case_expect_steps(
        c, x, TOKEN_OPERANDS, whole,
        (weft_token_cuts){.prompt = row->prompt, .shorter = row->shorter, .zeros_behind = true},
        add_step, &call);
}

WEFT_CASE_TABLE(gated_state_step, step_rows, WEFT_TOLERANCE_LINEAR, name_case, build_steps);
