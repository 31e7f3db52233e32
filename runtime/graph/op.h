/* SPDX-License-Identifier: MIT */
/*
 * Definition of an op. Programs outside Weft define ops through weft/op.h, which exposes most of this struct. To add
 * one: a C file with its functions and a `const struct weft_op`, a shader folder, a row in op_list.h, and a reference
 * among those of `weft verify`.
 */
#ifndef WEFT_GRAPH_OP_H
#define WEFT_GRAPH_OP_H

#include "core/text.h"
#include "graph/graph.h"
#include "graph/op_list.h"

/** Work of later nodes that an op's implementations can take over. */
enum weft_fusable {
    WEFT_FUSE_BIAS = 1,
    WEFT_FUSE_ACTIVATION = 2,
    WEFT_FUSE_RESIDUAL = 4,
    WEFT_FUSE_NORM = 8
};

/** Type of a member of an op's parameters. A bool may have any number of bytes, a word has four. */
enum weft_member_kind {
    WEFT_MEMBER_U32,
    WEFT_MEMBER_COUNT, /* uint32_t, at least 1 */
    WEFT_MEMBER_I32,
    WEFT_MEMBER_F32,
    WEFT_MEMBER_BOOL,
    WEFT_MEMBER_WORD /* an enum: words[value], which is null for numbers that programs cannot give */
};

/**
 * A member of the struct that weft_graph_add takes: by these, programs (model/program/program.h) are read and saved, and `weft inspect`
 * shows nodes. "op", "inputs", "output" and "comment" are no names of fields. Where a field is added to an op that was there,
 * programs of before must mean the same: it is optional.
 */
struct weft_member {
    const char *name;
    enum weft_member_kind kind;
    bool optional;     /* 0 where a program does not name it; every bool is */
    uint16_t offset;   /* of the member, or of an array's first element */
    uint16_t size;     /* of the member: of all elements */
    uint16_t capacity; /* of an array: its most elements; 0: no array */
    uint16_t
        counted_at; /* offset of the uint32_t that counts them; arrays may share it. WEFT_FIELD_FULL: all are there */
    const char *const *words;
    uint32_t word_count;
};

#define WEFT_FIELD_FULL UINT16_MAX

#define WEFT_FIELDS(...)           \
    (const struct weft_member[]) { \
        __VA_ARGS__, {             \
            .name = NULL           \
        }                          \
    }

#define WEFT_MEMBER_AT(type, member) \
    .offset = (uint16_t)offsetof(struct type, member), .size = sizeof(((struct type *)0)->member)

/* Rows of WEFT_FIELDS. */
#define WEFT_FIELD(type, member, kind_) \
    { #member, WEFT_MEMBER_##kind_, WEFT_MEMBER_AT(type, member) }
#define WEFT_FIELD_OPTIONAL(type, member, kind_) \
    { #member, WEFT_MEMBER_##kind_, .optional = true, WEFT_MEMBER_AT(type, member) }
/** name_: as it is called in programs; words_: an array of texts, by number. */
#define WEFT_FIELD_WORDS(type, member, name_, words_)                          \
    {                                                                          \
        name_, WEFT_MEMBER_WORD, WEFT_MEMBER_AT(type, member),                 \
            .words = (words_), .word_count = sizeof(words_) / sizeof *(words_) \
    }
/** An array whose elements the uint32_t `count` counts. */
#define WEFT_FIELD_ARRAY(type, member, count, kind_)                           \
    {                                                                          \
#member, WEFT_MEMBER_##kind_, WEFT_MEMBER_AT(type, member),            \
            .capacity = sizeof(((struct type *)0)->member) / sizeof(uint32_t), \
            .counted_at = (uint16_t)offsetof(struct type, count)               \
    }
/** A weft_shape. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name */
#define WEFT_FIELD_SHAPE(type, member)                                                            \
    {                                                                                             \
#member, WEFT_MEMBER_U32, WEFT_MEMBER_AT(type, member.dim),                               \
            .capacity = WEFT_MAX_RANK, .counted_at = (uint16_t)offsetof(struct type, member.rank) \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

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
    /**
     * Its members: WEFT_FIELDS(…). infer must check any values of them, as programs give them. Null where there is none, and for
     * ops that programs cannot have (weft_op_is_for_programs).
     */
    const struct weft_member *fields;
    uint32_t fusable; /* weft_fusable bits: what its nodes can take over */
    /**
     * Ways to fuse a node into the one before it, as weft_fusable bits; writes its activation or norm to the
     * epilogue. Null: none.
     */
    uint32_t (*fuses_as)(struct weft_epilogue *epilogue, const struct weft_node *node);
    bool view; /* the output is the first input under another shape: no dispatch */
    /** True if this node is such a view, too: then it is added as a reshape. Null: never. */
    bool (*is_view)(const weft_graph *graph, const struct weft_node *node);
    /** True if this node exchanges the last two axes of its input and does nothing else. Null: never. */
    bool (*is_transpose)(const weft_graph *graph, const struct weft_node *node);
    /** Makes a node take an input's last two axes the other way round. Null: it cannot. */
    void (*read_transposed)(struct weft_node *node, uint32_t input);
    /** In what order the node's kernels read an input that is a constant matrix: an enum weft_layout. Null: as it is. */
    uint32_t (*constant_layout)(const struct weft_node *node, uint32_t input);
    /**
     * True if an input of a node may be a matrix of bytes (weft_stored); *columns tells if these need scales for
     * columns. Null: none may.
     */
    bool (*takes_bytes)(bool *columns, const weft_graph *graph, const struct weft_node *node,
                        uint32_t input);
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
    /** Inputs i32 that count along an axis of input `table`, the first unless `axis` says which. Zeros: none. */
    struct weft_indices {
        uint32_t input, table;
        uint32_t (*axis)(const struct weft_node *node);
    } indices[2];
    /** Checks inputs and params (may normalise node->params) and gives the output's type and shape; logs errors. */
    weft_status (*infer)(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                         weft_shape *shape);
    /**
     * When implementations differ in bits: the one whose bits reproducible mode gives, a function of shapes alone.
     * Null: all give the same bits.
     */
    const char *(*choose)(const weft_graph *graph, const struct weft_node *node);
    /** Text of the params for `weft inspect`; null: the fields but `shape`, which the output shows. */
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

/**
 * True if programs can have it: not steps, whose infer trusts what the functions of weft/decode.h have checked, nor ops whose
 * parameters are not all fields, such as those that only lowering adds.
 */
bool weft_op_is_for_programs(const struct weft_op *op);

/** Elements of a field in these parameters; 1 for what is no array. At most its capacity. */
uint32_t weft_field_count(const struct weft_member *field, const void *params);

/** The word of an element of a WEFT_MEMBER_WORD, or null. */
const char *weft_field_word(const struct weft_member *field, const void *params, uint32_t index);

/** True if a WEFT_MEMBER_BOOL is set. */
bool weft_field_is_set(const struct weft_member *field, const void *params);

/** Appends the fields of a node's parameters to a text: "[heads 12, causal]"; nothing where nothing is to be said. */
void weft_fields_describe(struct weft_text *text, const struct weft_node *node);

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
