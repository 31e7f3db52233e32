/* SPDX-License-Identifier: MIT */
/*
 * The one description of a mixer: its operands, the places of common parameters in its own, the way to add it to a
 * graph, its trials, and the arguments that it refuses.
 *
 * A sheet stands at the top of the mixer's file here, and in a row of lists.h. Cases of `weft verify` and the suites of
 * `weft bench` build graphs by sheets, and so do the tests that run all mixers: test_trials.c, test_sheets.c, test_lengths.c and
 * test_decode.c of tests/unit.
 */
#ifndef WEFT_VERIFY_SHEET_H
#define WEFT_VERIFY_SHEET_H

#include <stddef.h>

#include <weft/decode.h>
#include <weft/mixers.h>

#include "verify/paired.h"

#define WEFT_OPERANDS 8
#define WEFT_LENGTHS  WEFT_OPERANDS /* in trials: the lengths, which are no operand otherwise */

/* ---- operands ---- */

/** The sizes of a problem. Heads are not optional; other zeros stand for what the comments say. */
typedef struct weft_sizes {
    uint32_t batch, n, heads;
    uint32_t width;    /* channels of a head of q and k, or of x */
    uint32_t keys;     /* 0: n */
    uint32_t values;   /* channels of a head of v; 0: width */
    uint32_t rows;     /* of a weight matrix; 0: 16 */
    uint32_t reach;    /* lags that coefficients have to each side; 0: n */
    uint32_t taps;     /* 0: 5 */
    uint32_t kv_heads; /* of k and v; 0: heads */
} weft_sizes;

typedef enum weft_axis {
    WEFT_AXIS_NONE = 0, /* behind the last */
    WEFT_AXIS_BATCH,
    WEFT_AXIS_TOKENS, /* n */
    WEFT_AXIS_KEYS,
    WEFT_AXIS_CHANNELS,     /* heads · width */
    WEFT_AXIS_KEY_CHANNELS, /* kv_heads · width */
    WEFT_AXIS_VALUES,       /* kv_heads · values */
    WEFT_AXIS_HEADS,
    WEFT_AXIS_WIDTH,
    WEFT_AXIS_ROWS,
    WEFT_AXIS_LAGS,     /* 2 reach - 1; causal: reach */
    WEFT_AXIS_POINTS,   /* reach + 1: of a frequency response */
    WEFT_AXIS_SPECTRUM, /* 2 heads · width; causal: heads · width */
    WEFT_AXIS_ODD_ROWS, /* 2 rows + 1 */
    WEFT_AXIS_FEW,      /* 3: directions, frequencies */
    WEFT_AXIS_LONGER,   /* width and 2 for each of the few */
    WEFT_AXIS_TAPS,
    WEFT_AXIS_ONE
} weft_axis;

/** Ranges of an operand's elements. */
typedef enum weft_operand_range {
    WEFT_RANGE_ANY = 0,
    WEFT_RANGE_POSITIVE, /* above 0: features */
    WEFT_RANGE_UNIT,     /* from 0 to 1: rates */
    WEFT_RANGE_DECAYS,   /* from -1 to 0: of exponents */
    WEFT_RANGE_POWERS,   /* a few 2, else 0 */
    WEFT_RANGE_STEPS     /* 1, 1.25, 1.5 …, for each row */
} weft_operand_range;

typedef struct weft_mixer_operand {
    const char *name;
    uint8_t axes[WEFT_MAX_RANK]; /* weft_axis */
    weft_shape shape;            /* without axes: of trials */
    size_t field; /* WEFT_SHEET_FIELD: a tensor of the parameters; 0: an argument of its own */
    weft_operand_range range;
    bool is_weight;   /* usually a constant of the graph */
    bool is_optional; /* absent unless a use has it */
} weft_operand;

/** Place of a member plus 1, so that 0 can mean that there is none. */
#define WEFT_SHEET_FIELD(type, member) (offsetof(type, member) + 1)

/* ---- trials: what is refused ---- */

/** Replacement of an operand: an input of that shape and type, or a constant. */
typedef struct weft_replacement {
    uint32_t operand;
    weft_shape shape;
    weft_dtype dtype;
    const void *data; /* of a constant */
    bool is_other;    /* the tensor `id`, which the graph does not have; 0: none */
    uint32_t id;
} weft_replacement;

/** One thing changed, and what comes of it; verify/trials.h has words for the rows. */
typedef struct weft_trial {
    weft_status status;
    weft_replacement replaced[5]; /* up to the first that has neither a shape nor is_other */
    const void *params;           /* null: the sheet's `usual` */
    bool without_params;
    const char *says[4]; /* texts in the message of a failure */
    weft_shape gives;    /* of a result; rank 0: whatever comes */
} weft_trial;

/* ---- the sheet ---- */

/** A way in which a mixer is tried. */
typedef struct weft_use {
    const char *name;
    const void *params;         /* null: all 0 */
    const char *implementation; /* null: the usual choice */
    weft_sizes sizes;           /* of steps; in other tests only `rows` and `reach` count */
    uint32_t
        longest;     /* sequences of so many tokens have the same bits alone and together; 0: all */
    float tolerance; /* of earlier tokens when later ones change; 0: they keep their bits */
    uint32_t with;   /* bits of the optional operands that it has */
    bool reads_nearby; /* a bidirectional one, of which no token reads all others */
} weft_use;

typedef struct weft_sheet {
    const char *name;
    weft_operand operands[WEFT_OPERANDS];
    size_t params_size;
    size_t heads, causal, lengths; /* WEFT_SHEET_FIELD, or 0 */
    size_t kv_heads;               /* likewise: of k and v */
    size_t half_width;             /* likewise: at most n - 1 */
    const char *lengths_of;        /* the op within that the lengths are given to; null: itself */
    bool is_causal;                /* always, without a field */
    bool grows_linearly; /* its memory beside inputs and outputs, with the number of tokens */

    /** Adds the op; null: a mixer of several ops, which has no trials. */
    weft_status (*call)(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                        const void *params);
    /** Definition of attention with the first three operands and perhaps a fourth; null: `mix` has it. */
    weft_definition define;
    /** Adds the mixer with what its definition makes of it; null: `call` and `define` do, or it is an op of other mixers. */
    weft_array (*mix)(weft_case *c, const weft_array *x, const void *params);
    /** Adds the step of a token; null: there is none. */
    weft_status (*step)(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                        const weft_step *step, const void *params);
    /** Elements of a sequence's state, as weft/decode.h says. */
    uint32_t (*state_size)(const weft_sizes *s, const void *params);

    const weft_use *uses, *steps;
    uint32_t use_count, step_count;

    weft_sizes sizes;  /* of trials */
    const void *usual; /* parameters of trials; null: all 0 */
    const weft_trial *trials;
    uint32_t trial_count;
} weft_sheet;

/** Functions of a sheet, by the call of that name. The operands that are not in the parameters are x[0], x[1] … */
#define WEFT_SHEET_CALL(name, ...)                                                          \
    static weft_status call_##name(weft_tensor *y, weft_graph *graph, const weft_tensor *x, \
                                   const void *params) {                                    \
        return weft_graph_##name(y, graph, __VA_ARGS__, params);                            \
    }
#define WEFT_SHEET_MIX(name, ...)                                                         \
    static weft_array mix_##name(weft_case *c, const weft_array *x, const void *params) { \
        return weft_case_##name(c, __VA_ARGS__, params);                                  \
    }
#define WEFT_SHEET_STEP(name, ...)                                                          \
    static weft_status step_##name(weft_tensor *y, weft_graph *graph, const weft_tensor *x, \
                                   const weft_step *step, const void *params) {             \
        return weft_graph_##name##_step(y, graph, __VA_ARGS__, step, params);               \
    }

/** Members of a sheet: of an op with parameters, of one with heads, of attention, and of attention with features. */
#define WEFT_SHEET_OP(op)         .name = #op, .params_size = sizeof(weft_##op##_params), .call = call_##op
#define WEFT_SHEET_HEADS(type)    .heads = WEFT_SHEET_FIELD(type, heads)
#define WEFT_SHEET_KV_HEADS(type) .kv_heads = WEFT_SHEET_FIELD(type, kv_heads)
#define WEFT_SHEET_LENGTHS(type)  .lengths = WEFT_SHEET_FIELD(type, lengths)
#define WEFT_SHEET_CAUSAL(type)   .causal = WEFT_SHEET_FIELD(type, causal)
#define WEFT_SHEET_ATTENTION(op)                             \
    WEFT_SHEET_OP(op), WEFT_SHEET_HEADS(weft_##op##_params), \
        WEFT_SHEET_CAUSAL(weft_##op##_params), WEFT_SHEET_LENGTHS(weft_##op##_params)
#define WEFT_SHEET_FEATURES(text)                                                        \
    .name = (text), .params_size = sizeof(weft_feature_attention),                       \
    WEFT_SHEET_HEADS(weft_feature_attention), WEFT_SHEET_CAUSAL(weft_feature_attention), \
    WEFT_SHEET_LENGTHS(weft_feature_attention), .grows_linearly = true
#define WEFT_SHEET_USES(rows)   .uses = (rows), .use_count = WEFT_COUNT(rows)
#define WEFT_SHEET_STEPS(rows)  .steps = (rows), .step_count = WEFT_COUNT(rows)
#define WEFT_SHEET_TRIALS(rows) .trials = (rows), .trial_count = WEFT_COUNT(rows)

/** Operands by their axes: an input, a weight, and a tensor of the parameters that may be absent. */
#define WEFT_AXES(...) .axes = {__VA_ARGS__}
#define WEFT_INPUT(text, ...) \
    { .name = (text), __VA_ARGS__ }
#define WEFT_WEIGHT(text, ...)                                     \
    {                                                              \
        .name = (text), .is_weight = true, .axes = { __VA_ARGS__ } \
    }
#define WEFT_OPTIONAL(text, type, member, ...) \
    { .name = (text), .is_optional = true, .field = WEFT_SHEET_FIELD(type, member), __VA_ARGS__ }

/** Operands that most mixers have. */
#define WEFT_OPERAND_Q \
    WEFT_INPUT("q", WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_CHANNELS))
#define WEFT_OPERAND_K \
    WEFT_INPUT("k", WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_KEYS, WEFT_AXIS_KEY_CHANNELS))
#define WEFT_OPERAND_V WEFT_INPUT("v", WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_KEYS, WEFT_AXIS_VALUES))
#define WEFT_OPERAND_X \
    WEFT_INPUT("x", WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_CHANNELS))
#define WEFT_OPERAND_W    WEFT_WEIGHT("w", WEFT_AXIS_ROWS, WEFT_AXIS_WIDTH)
#define WEFT_OPERANDS_QKV WEFT_OPERAND_Q, WEFT_OPERAND_K, WEFT_OPERAND_V
/** Positive features in place of q and k. */
#define WEFT_OPERANDS_FEATURES                                                          \
    WEFT_INPUT("q", WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_CHANNELS),   \
               .range = WEFT_RANGE_POSITIVE),                                           \
        WEFT_INPUT("k", WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_KEYS, WEFT_AXIS_CHANNELS), \
                   .range = WEFT_RANGE_POSITIVE),                                       \
        WEFT_OPERAND_V

#define WEFT_DECLARE_SHEET(name) extern const weft_sheet weft_sheet_##name;
WEFT_SHEETS(WEFT_DECLARE_SHEET)
#undef WEFT_DECLARE_SHEET

/* ---- building ---- */

/** Parameters of any mixer. */
typedef struct weft_sheet_params {
    uint64_t words[32];
} weft_sheet_params;

/** Those given (null: all 0) with the heads of the sizes and the lengths. */
weft_sheet_params weft_sheet_params_of(const weft_sheet *sheet, const void *params,
                                       const weft_sizes *sizes, weft_tensor lengths);
/** Writes a tensor into a field; nothing without one. */
void weft_sheet_set(weft_sheet_params *params, size_t field, weft_tensor tensor);
bool weft_sheet_is_causal(const weft_sheet *sheet, const void *params);

/** How many operands there are; of rank 0 is the shape of one that is not there. */
uint32_t weft_sheet_operand_count(const weft_sheet *sheet);
weft_shape weft_sheet_shape(const weft_sheet *sheet, uint32_t operand, const weft_sizes *sizes,
                            bool causal);

/** The mixer of operands, of which those without tensor are absent; a band is no wider than the sequence. */
weft_array weft_sheet_mix(weft_case *c, const weft_sheet *sheet, const weft_array *x,
                          const void *params);

/** Mixes arrays that are given one by one. */
#define WEFT_MIX(c, name, params, ...) \
    weft_sheet_mix(c, &weft_sheet_##name, (const weft_array[WEFT_OPERANDS]){__VA_ARGS__}, params)

/** Fills data with what `operand` has to be, of uniform numbers in [-1, 1). */
void weft_sheet_fill(float *data, const weft_operand *operand, weft_shape shape, uint64_t seed,
                     uint64_t stream);

/**
 * Brings any numbers into an operand's range: their sigmoid is a rate, and numbers 1.25 larger are positive features.
 */
weft_array weft_sheet_in_range(weft_case *c, const weft_operand *operand, weft_array x);

/** Likewise of an input named as in the sheet or a constant, with elements of that kind where any will do. */
weft_array weft_sheet_operand(weft_case *c, const weft_sheet *sheet, uint32_t operand,
                              const weft_sizes *sizes, bool causal, weft_values kind);

/** The case of all operands that are not optional, and of those `with` bits, with the result `y`. The parameters are those given. */
void weft_sheet_case(weft_case *c, const weft_sheet *sheet, uint32_t with, const weft_sizes *sizes,
                     weft_values kind, const void *params);

/* ---- for sheets ---- */

/** Parameters of mixers that are features of queries and keys and linear attention with them. */
typedef struct weft_feature_attention {
    uint32_t heads;
    bool causal;
    weft_component component; /* of random features */
    float epsilon;            /* of linear attention */
    weft_tensor lengths;
} weft_feature_attention;

weft_array weft_attend_with_features(weft_case *c, weft_array phi, weft_array psi, weft_array v,
                                     const weft_feature_attention *params);

/** weft/decode.h: elements of the state of a far field, of so many features of a head. */
uint32_t weft_far_state_size(const weft_sizes *s, uint32_t features);

/** The sheet of the row `index` of lists.h; null behind the last. */
const weft_sheet *weft_sheet_at(uint32_t index);

#endif
