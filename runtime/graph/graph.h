/* SPDX-License-Identifier: MIT */
/* A graph as the passes see it: values, and the nodes that make them, in an order in which they can run. */
#ifndef WEFT_GRAPH_GRAPH_H
#define WEFT_GRAPH_GRAPH_H

#include <stdatomic.h>

#include <weft/op.h>

#include "core/digest_map.h"
#include "core/host.h"
#include "core/shape.h"

struct weft_weight_part;

/** Reads `count` elements of a weight, as it stores them, from `first` on, and says in the log why it cannot. Any thread, several at once. */
typedef weft_status (*weft_weight_reader)(void *user, uint64_t first, uint64_t count, void *out);

/** What scales and offsets are on the device. */
enum weft_block_scales {
    WEFT_SCALES_F32 = 0,
    WEFT_SCALES_F16,  /* each is a number of binary16 */
    WEFT_SCALES_UNITS /* each is a whole number of 8 bits times a unit, a number of binary16 for WEFT_UNIT_ELEMENTS of a row; rows are whole units */
};

#define WEFT_UNIT_ELEMENTS 256u

/**
 * How the numbers of a matrix are made: each is its code times the scale of its run, the elements of a row that lie in one block, and, with
 * offsets, plus the run's offset. The product is exact, so that each number is rounded once, wherever it is made; so is that of a unit.
 */
struct weft_block_form {
    uint32_t bits; /* of a code: 4, -8 to 7, with offsets 0 to 15; or 8, -128 to 127 */
    uint32_t run;  /* 16 or 32; rows are whole runs */
    bool offsets;
    enum weft_block_scales scales;
};

/**
 * Codes, [rows, columns], and scales and offsets, [rows, columns / run]; offsets of forms without are null. Of forms with units, those who ask also get
 * the whole numbers of scales [0] and offsets [1], and their units, [rows, columns / WEFT_UNIT_ELEMENTS].
 */
struct weft_blocks {
    int8_t *codes;
    float *scales, *offsets;
    int8_t *steps[2]; /* or null, as the units */
    float *units[2];
};

/** The same from an element on that begins a unit, or where there are none a run. */
static inline struct weft_blocks weft_blocks_from(const struct weft_blocks *blocks,
                                                  const struct weft_block_form *form,
                                                  uint64_t element) {
    const uint64_t run = element / form->run, unit = element / WEFT_UNIT_ELEMENTS;
    struct weft_blocks from = {.codes = blocks->codes + element,
                               .scales = blocks->scales + run,
                               .offsets = blocks->offsets ? blocks->offsets + run : NULL};
    for (int i = 0; i < 2 && blocks->steps[i]; i++) {
        from.steps[i] = blocks->steps[i] + run;
        from.units[i] = blocks->units[i] + unit;
    }
    return from;
}

/** Reads whole rows of a matrix that has a form. As weft_weight_reader. */
typedef weft_status (*weft_block_reader)(void *user, uint64_t first_row, uint64_t rows,
                                         const struct weft_blocks *out);

struct weft_weight {
    weft_host host;
    atomic_uint references;
    _Atomic(struct weft_weight_part *) parts; /* that there ever were: weft_weight_part_of's */
    weft_weight *part_of;                     /* a reference to what it is a part of, or null */
    uint64_t first;                           /* element of that */
    uint64_t uid;             /* never used again in this process: identifies the device's copy */
    atomic_int half_exponent; /* half_weight.c's: found when it is first asked for */
    char *name;
    weft_dtype dtype;
    weft_stored stored; /* what `data` has and `read` gives */
    float *scales;      /* of bytes that are no part of another weight's */
    bool scale_columns; /* … are of columns */
    bool exact;         /* never quantized; set before anybody else has the weight */
    atomic_int finite;  /* half_weight.c's, of f16: found when it is first asked for */
    weft_shape shape;
    const void *data;     /* null: they are read when they are needed, by `read` or of the whole */
    void *owned;          /* the same, when they are not borrowed */
    _Atomic(void *) kept; /* weft_weight_data's copy of what was read, or null */
    weft_weight_reader read;              /* with release_user; or null */
    const struct weft_block_form *blocks; /* how an f32 matrix's numbers are made; or null … */
    weft_block_reader read_blocks;        /* … and of what, with release_user */
    weft_release release;
    void *release_user;
};

weft_weight *weft_weight_retain(weft_weight *weight);

/** A weight of these params, without data, whose elements are 0 and the caller's to write first: weight->owned. */
weft_status weft_weight_create_empty(weft_weight **weight, const weft_weight_params *params,
                                     const weft_host *host);

/** A weight of these params, without data, whose elements are read each time they are needed, with release_user. */
weft_status weft_weight_create_read(weft_weight **weight, const weft_weight_params *params,
                                    weft_weight_reader read, const weft_host *host);

/**
 * Stores the elements of an f32 weight that has them in memory of its own (weft_weight_create_empty) in 16 bits each, if that changes
 * none and there is memory for it. Before anybody else has the weight.
 */
void weft_weight_narrow(weft_weight *weight, weft_stored stored);

/** Copies `count` elements of its dtype from `first` on. Errors: the reader's. */
weft_status weft_weight_read(const weft_weight *weight, uint64_t first, uint64_t count, void *out);
/** Reads elements as they are stored: weft_weight_element_size bytes each. */
weft_status weft_weight_read_stored(const weft_weight *weight, uint64_t first, uint64_t count,
                                    void *out);
uint32_t weft_weight_element_size(const weft_weight *weight);

/** How the numbers of a weight are made, or null: also where it is a part that is not of whole rows. */
const struct weft_block_form *weft_weight_blocks(const weft_weight *weight);
/** Reads whole rows of such a weight. Errors: the reader's. */
weft_status weft_weight_read_blocks(const weft_weight *weight, uint64_t first_row, uint64_t rows,
                                    const struct weft_blocks *out);

/** True if it is stored as bytes; below, the scale of an element. */
bool weft_weight_is_int8(const weft_weight *weight);
float weft_weight_scale(const weft_weight *weight, uint64_t element);

/** All elements in memory, for a while: what was read for it is freed by weft_weight_view_close. */
struct weft_weight_view {
    const void *data;
    void *owned; /* in the weight's host's memory, or null */
};
weft_status weft_weight_view_open(struct weft_weight_view *view, const weft_weight *weight);
void weft_weight_view_close(struct weft_weight_view *view, const weft_weight *weight);

/** All elements in memory, for as long as there is the weight: for small ones that are looked at on the host. */
weft_status weft_weight_data(const void **data, weft_weight *weight);

/**
 * A weight of the elements from `first` on, which it borrows from `whole`. As long as that is there, the same part has the
 * same uid, so that a device keeps it once.
 */
weft_status weft_weight_part_of(weft_weight **part, weft_weight *whole, uint64_t first,
                                weft_shape shape);

/**
 * Rows of a state that tokens take in turn: each of `count` areas [rows, width] has token j in row j % rows, and those of
 * tokens that are not there mean nothing. All zeros: the state's elements are sums over all tokens, or of a fixed number of them.
 */
struct weft_state_rings {
    uint32_t count, rows, width;
    bool halves; /* f16, and laid out as shaders/include/half_ring.glsl says */
};

enum weft_value_source { WEFT_VALUE_INPUT, WEFT_VALUE_WEIGHT, WEFT_VALUE_NODE, WEFT_VALUE_PART };

struct weft_value {
    weft_dtype dtype;
    weft_shape shape;
    enum weft_value_source source;
    weft_weight *weight;           /* for WEFT_VALUE_WEIGHT; a reference */
    char *name;                    /* for WEFT_VALUE_INPUT */
    bool is_state;                 /* an input that nodes change in place (weft_graph_state) */
    struct weft_state_rings rings; /* of a state */
    uint32_t root;     /* the value whose elements it shares: itself, or what it is a view of */
    uint32_t producer; /* index of the node that makes it, for WEFT_VALUE_NODE */
    /* For WEFT_VALUE_PART (lower/cut.h): */
    uint32_t part_of; /* the value in whose memory it is, which is no view and no part */
    uint64_t first;   /* element of that */
    uint32_t stride;  /* elements from row to row; 0: they lie one behind the other */
};

/** Work of a fused node on its result: norm(activation(result + bias) + residual). Value ids; 0 means none. */
struct weft_epilogue {
    uint32_t bias;     /* f32 [last axis] */
    uint32_t residual; /* f32, the result's shape */
    uint32_t
        gamma; /* f32 [last axis]; present exactly when beta is: LayerNorm over the last axis */
    uint32_t beta;
    float epsilon;
    weft_activation activation;
};

struct weft_node {
    const struct weft_op *op; /* null: removed by a pass */
    uint32_t input_count;
    uint32_t input[WEFT_MAX_NODE_INPUTS]; /* value ids; 0 is an optional input that is not given */
    uint32_t output;                      /* value id */
    union {
        uint8_t bytes[WEFT_MAX_PARAMETER_BYTES];
        uint64_t alignment;
    } params;
    struct weft_epilogue epilogue;
    const struct weft_implementation *implementation; /* set by the choose pass */
};

struct weft_result {
    char *name;
    uint32_t value;
};

/** Value id i is values[i]; values[0] is unused, so that id 0 can mean none. */
struct weft_graph {
    weft_host host;
    struct weft_value *values;
    uint32_t value_count, value_capacity;
    struct weft_node *nodes;
    uint32_t node_count, node_capacity;
    struct weft_result *results;
    uint32_t result_count, result_capacity;
    const struct weft_op **ops; /* that programs have registered, each once; references */
    uint32_t op_count, op_capacity;
    struct weft_digest_map kept_ops; /* their numbers, by address */
    /* Lookup of callers' additions (not in a copy): values by the name of an input and by weight, results by name. */
    struct weft_digest_map inputs, weights, outputs;
};

/**
 * A tensor f32 or f16 [batch, elements] that outlasts a run: an input whose buffer ops with a `state_input` read and change in
 * place, in the order in which they were added. A state of that name, type and shape that is there already is the same one.
 * Errors: as weft_graph_input; WEFT_SHAPE_MISMATCH when the state of that name has another type or shape.
 */
weft_status weft_graph_state(weft_tensor *out, weft_graph *graph, const char *name,
                             weft_dtype dtype, weft_shape shape);

/* ---- for helpers made of several ops ---- */

/** How far a graph has got. */
struct weft_graph_mark {
    uint32_t values, nodes;
};

struct weft_graph_mark weft_graph_mark(const weft_graph *graph);

/** Returns status. If that is an error, takes back what was added since the mark, so that the graph is as it was. */
weft_status weft_graph_end(weft_graph *graph, struct weft_graph_mark mark, weft_status status);

/** Adds a weight that the library itself makes: dense data of that type and shape, copied. */
weft_status weft_graph_constant(weft_tensor *out, weft_graph *graph, const char *name,
                                weft_dtype dtype, weft_shape shape, const void *data);

/* ---- for passes ---- */

/** A copy that passes may change; shares weights by reference. */
weft_status weft_graph_copy(weft_graph **copy, const weft_graph *graph);

/** Number of nodes and results that read each value, as an array of value_count counts in host memory. */
weft_status weft_graph_count_uses(uint32_t **uses, const weft_graph *graph);

/** Bytes that a value takes: whole words, so that a shader may read the last elements as part of one. */
uint64_t weft_value_bytes(const struct weft_value *value);

/** Appends a value; takes over value->name and value->weight only on success. */
weft_status weft_graph_add_value(weft_tensor *out, weft_graph *graph,
                                 const struct weft_value *value);

/** The value whose elements `value` shares: itself, or what it is a view of. */
uint32_t weft_graph_storage_of(const weft_graph *graph, uint32_t value);

/** Index of the node that makes a value, or UINT32_MAX for inputs and weights. */
uint32_t weft_graph_producer(const weft_graph *graph, uint32_t value);

#endif
