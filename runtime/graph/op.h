/* SPDX-License-Identifier: MIT */
/*
 * What an op is. Strangers make theirs by weft/op.h, which has most of it. To add one: a C file with its functions and a
 * `const struct weft_op`, a shader folder, a row in op_list.h, and a reference among those of `weft verify`.
 */
#ifndef WEFT_GRAPH_OP_H
#define WEFT_GRAPH_OP_H

#include "graph/graph.h"
#include "graph/op_list.h"

/** What an op's implementations can take over from the nodes behind it. */
enum weft_fusable {
    WEFT_FUSE_BIAS = 1,
    WEFT_FUSE_ACTIVATION = 2,
    WEFT_FUSE_RESIDUAL = 4,
    WEFT_FUSE_NORM = 8
};

#define WEFT_ROW_NAME_SIZE 64 /* of a row's name, with the 0 behind it */

/** The rows of an op, at most WEFT_MAX_VARIANTS. */
#define WEFT_IMPLEMENTATIONS(...)          \
    (const struct weft_implementation[]) { \
        __VA_ARGS__, {                     \
            .name = NULL                   \
        }                                  \
    }

/**
 * How a node is cut into several of the same op and implementation, each with a part of the output, that together give the
 * same bits: by what the first axes count, as if they were one, where these inputs have them, too. All others stay whole.
 */
struct weft_cut {
    uint32_t inputs; /* bits */
    uint32_t axes;   /* how many from the first on; 0: all but the last `whole` */
    uint32_t whole;
    uint32_t as;      /* an input, not the first, with as many axes as stay whole; 0: none */
    bool one;         /* where the first axis counts 1 */
    uint32_t without; /* and this input, not the first, is not given; 0: any */
};

/** The ways to cut nodes of an op, the best first. */
#define WEFT_CUTS(...)          \
    (const struct weft_cut[]) { \
        __VA_ARGS__, {          \
            .inputs = 0         \
        }                       \
    }

struct weft_op {
    const char *name;
    uint32_t min_inputs;
    uint32_t max_inputs;
    size_t params_size; /* of the struct that weft_graph_add takes; 0: none */
    uint32_t fusable;   /* weft_fusable bits: what its nodes can take over */
    /** What a node is to the one before it, as weft_fusable bits; writes its activation or norm to the epilogue. Null: nothing. */
    uint32_t (*fuses_as)(struct weft_epilogue *epilogue, const struct weft_node *node);
    bool view;         /* the output is the first input under another shape: no dispatch */
    bool takes_packed; /* reads or makes f16 or u8, which other ops but views do not */
    /**
     * The input that is a state (weft_graph_state), which the node reads and changes; 0: none. Such a node is kept also
     * where nothing reads its output, and runs behind those before it on the same state.
     */
    uint32_t state_input;
    /**
     * Inputs i32 [B] that say how many tokens of input `of`, [B, n, …], count: 1 … n; unused ones are zeros. Messages call
     * the first "lengths" and the second "other_lengths". weft_graph_add checks them.
     */
    struct weft_lengths {
        uint32_t input, of;
    } lengths[2];
    /** Inputs i32 of rows of input `table`: 0 … its rows - 1. table 0: none. */
    struct weft_indices {
        uint32_t input, table;
    } indices[2];
    /** Checks inputs and params (may normalise node->params) and gives the output's type and shape; logs errors. */
    weft_status (*infer)(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                         weft_shape *shape);
    /**
     * When implementations differ in bits: the one whose bits reproducible mode gives, a function of shapes alone.
     * Null: all give the same bits.
     */
    const char *(*choose)(const weft_graph *graph, const struct weft_node *node);
    /** What `weft inspect` shows of the params; null: nothing. */
    void (*describe)(const struct weft_node *node, char *text, size_t size);
    /** For devices that cannot bind all of a node's tensors (lower/cut.h): WEFT_CUTS(…); null: it cannot be cut. */
    const struct weft_cut *cuts;
    /**
     * Lowers a node in parts in a way of its own, by weft_lower_node: asked first. Gives back whether there was a way; null: there
     * is none.
     */
    bool (*lower_parts)(struct weft_lowering *lowering, const struct weft_node *node);
    const struct weft_implementation
        *implementations; /* WEFT_IMPLEMENTATIONS(…); a view has none */
    void *user;           /* of weft_op_params */
    uint64_t uid; /* of weft_op_create: names of such ops tell nothing; 0: one of the library's */
};

/** References to an op with a uid. */
void weft_op_retain(const struct weft_op *op);
void weft_op_release(const struct weft_op *op);

#define WEFT_DECLARE_OP(name) extern const struct weft_op weft_op_##name;
WEFT_OPS(WEFT_DECLARE_OP)

/** Checks the inputs that op->lengths names, where they are given. WEFT_SHAPE_MISMATCH. */
weft_status weft_check_lengths(const weft_graph *graph, const struct weft_node *node);

/* ---- shapes, as ops see them ---- */

/** Product of all axes but the last, and the last (1 for a scalar). */
struct weft_rows {
    uint64_t rows;
    uint32_t columns;
};
struct weft_rows weft_shape_rows(weft_shape shape);

#endif
