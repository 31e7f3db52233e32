/* SPDX-License-Identifier: MIT */
/*
 * Ops of your own: registered at run time, with kernels as GLSL text or SPIR-V, and treated as Weft's own are. Their
 * kernels go through the same passes and the same lint, so that reproducible mode gives the same bits on every device
 * or refuses; their implementations are chosen, folded, placed and ordered like all others.
 *
 *   weft_op_create → weft_graph_add (any number of times) → plans as in graph.h → … → weft_op_destroy
 *
 * api/examples/mixer is a complete program. Texts in the structs of this header are not copied: they, and the functions,
 * must outlive the handle and all graphs with the op, as literals do.
 */
#ifndef WEFT_OP_H
#define WEFT_OP_H

#include <string.h>

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_MAX_NODE_INPUTS     10
#define WEFT_MAX_PARAMETER_BYTES 64
#define WEFT_MAX_VARIANTS        32 /**< rows: implementations of an op, variants of a kernel */
#define WEFT_NO_STORAGE          UINT32_MAX

/**
 * An op. Any number of threads may use it at a time. Reference counted: destroying the handle releases the caller's
 * reference; graphs hold their own, and plans need none. Make it once and keep it where many graphs have it: results
 * that were computed from weights alone are found again by the same op only.
 */
typedef struct weft_op weft_op;

/** An op in a graph, with its inputs and parameters; callbacks get it, and keep it no longer than they run. */
typedef struct weft_node weft_node;

/** What is lowered to: dispatches over memory. The first error sticks, and what follows it does nothing. */
typedef struct weft_lowering weft_lowering;

/* ---- implementations ---- */

typedef enum weft_device_kind {
    WEFT_ANY_DEVICE = 0,
    WEFT_SOFTWARE_DEVICE, /**< the processor, by itself or by a driver */
    WEFT_HARDWARE_DEVICE
} weft_device_kind;

/**
 * What a row asks of a device; 0: nothing. `kind`, `vendor_id` and, without arithmetic over subgroups, the subgroup sizes say
 * where a row is expected to be fast and not where it can run: who names a row (weft_plan_params.implementation) overrides them.
 */
typedef struct weft_needs {
    weft_device_kind kind;
    uint32_t vendor_id;       /**< PCI */
    uint32_t least_subgroup;  /**< invocations */
    uint32_t most_subgroup;   /**< invocations */
    uint32_t invocations;     /**< of a workgroup */
    uint32_t shared_memory;   /**< bytes of a workgroup */
    bool subgroup_arithmetic; /**< … and with it fast mode */
    bool f16_arithmetic;      /**< … and with it fast mode */
    /** What the fields above cannot say; null: nothing. */
    bool (*also)(const weft_device_info *info);
    const char *also_text; /**< in words, for `weft inspect --choices` */
} weft_needs;

/** Expected time beside that of the other rows, 0 for 1: those of more than twice the least are not even measured. */
typedef struct weft_cost {
    float software;  /**< on drivers that emulate */
    float hardware;  /**< on GPUs */
    float processor; /**< on the processor device */
} weft_cost;

/** A row of an op: one way to compute it. Its functions must return: see weft_host. */
typedef struct weft_implementation {
    const char *name; /**< for weft_plan_params.implementation and messages; at most 63 bytes */
    uint32_t bits;    /**< rows of one number give the same bits */
    weft_needs needs;
    weft_cost cost;
    /** Whether it can run this node on a device like that; null: always. */
    bool (*supports)(const weft_graph *graph, const weft_node *node,
                     const weft_device_info *device);
    const char
        *limits; /**< what `supports` asks of a node, for the message; null: nothing to say */
    /** Appends the dispatches; returns weft_lower_status or an error of its own, logged. */
    weft_status (*lower)(weft_lowering *lowering, const weft_node *node);
} weft_implementation;

/* ---- ops ---- */

typedef struct weft_op_params {
    const char *name;    /**< for messages, `weft inspect` and traces; not null */
    uint32_t min_inputs; /**< 1 … max_inputs; those behind it are optional */
    uint32_t max_inputs; /**< 0: min_inputs; at most WEFT_MAX_NODE_INPUTS */
    /** Bytes of the struct that weft_graph_add takes, at most WEFT_MAX_PARAMETER_BYTES; 0: none. Plain data without
     * pointers, zeroed before it is filled: nodes of equal bytes are equal. */
    size_t params_size;
    /**
     * Checks inputs and parameters and gives the output's type and shape, while the graph is built. Not null. Errors are
     * logged: by weft_node_fail or weft_expect_….
     */
    weft_status (*infer)(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                         weft_shape *shape);
    /**
     * When implementations differ in bits: the name of one of those that reproducible mode takes, from shapes and
     * parameters alone. Null: those of bits 0.
     */
    const char *(*choose)(const weft_graph *graph, const weft_node *node);
    /** Writes what `weft inspect` shows of the parameters; null: nothing. */
    void (*describe)(const weft_node *node, char *text, size_t size);
    const weft_implementation *implementations; /**< copied */
    uint32_t implementation_count;              /**< 1 … WEFT_MAX_VARIANTS */
    void *user;                                 /**< for weft_node_user */
} weft_op_params;

#ifndef __cplusplus
#define weft_op_params(...) (&(weft_op_params){__VA_ARGS__})
#endif

/**
 * host may be null. Errors: WEFT_INVALID_ARGUMENT naming what is missing, out of range or twice there;
 * WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_op_create(weft_op **op, const weft_op_params *params,
                                    const weft_host *host);
WEFT_API void weft_op_destroy(weft_op **op);

/**
 * Appends a node of an op. `inputs` may contain tensors with id 0 where the op allows it; `params` are `params_size`
 * bytes, copied. Errors: what infer says; WEFT_INVALID_ARGUMENT for null, another number of inputs, a tensor of another
 * graph or another params_size. The graph is then as it was.
 */
WEFT_API weft_status weft_graph_add(weft_tensor *out, weft_graph *graph, const weft_op *op,
                                    const weft_tensor *inputs, uint32_t input_count,
                                    const void *params, size_t params_size);

/* ---- for all callbacks ---- */

/** weft_op_params.user. */
WEFT_API void *weft_node_user(const weft_node *node);

/** The node's copy of the parameters, aligned for any scalar. */
WEFT_API const void *weft_node_params(const weft_node *node);

/** In infer: replaces the parameters, as with defaults filled in. `params` are params_size bytes. */
WEFT_API void weft_node_set_params(weft_node *node, const void *params);

/** Whether the input of that index, from 0, is given. */
WEFT_API bool weft_node_has_input(const weft_node *node, uint32_t input);

/** An input's shape; of one that is not given, a scalar's. Valid until something is added to the graph. */
WEFT_API const weft_shape *weft_node_shape(const weft_graph *graph, const weft_node *node,
                                           uint32_t input);
WEFT_API weft_dtype weft_node_dtype(const weft_graph *graph, const weft_node *node, uint32_t input);

/**
 * The elements of an input that is a weight, or a weight under another shape; null for all others, and where a model's file cannot be
 * read any more, which then fails the plan, too. They stay in host memory as long as the weight: ask for small ones only.
 */
WEFT_API const void *weft_node_weight(const weft_graph *graph, const weft_node *node,
                                      uint32_t input);

#if defined(__MINGW32__) && !defined(__clang__) /* where "printf" is that of an old library */
#define WEFT_PRINTF_KIND gnu_printf
#else
#define WEFT_PRINTF_KIND printf
#endif

/** Logs an error, behind the op's name, through the graph's host. Returns status. */
WEFT_API weft_status weft_node_fail(const weft_graph *graph, const weft_node *node,
                                    weft_status status, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(WEFT_PRINTF_KIND, 4, 5)))
#endif
    ;
#undef WEFT_PRINTF_KIND

/* ---- for infer; `role` names the input in the message ---- */

/** WEFT_SHAPE_MISMATCH unless the input is f32. */
WEFT_API weft_status weft_expect_f32(const weft_graph *graph, const weft_node *node, uint32_t input,
                                     const char *role);

/** WEFT_SHAPE_MISMATCH unless the input is f32 and of exactly this shape; WEFT_INVALID_ARGUMENT when it is not given. */
WEFT_API weft_status weft_expect_shape(const weft_graph *graph, const weft_node *node,
                                       uint32_t input, const char *role, weft_shape expected);

/** The same for any shape of that many axes, which messages call `form`, such as "[B, n, d]". */
WEFT_API weft_status weft_expect_rank(const weft_graph *graph, const weft_node *node,
                                      uint32_t input, const char *role, uint32_t rank,
                                      const char *form);

/* ---- for lower ---- */

/** The graph of the node that is lowered, for the functions above. It is the passes' copy: tensors are other ones. */
WEFT_API const weft_graph *weft_lower_graph(const weft_lowering *lowering);

/** The device that the plan is for. */
WEFT_API weft_device *weft_lower_device(const weft_lowering *lowering);

/** The error that stuck, or WEFT_OK. */
WEFT_API weft_status weft_lower_status(const weft_lowering *lowering);

/** Makes an error stick (it has been logged); returns the one that is stuck. */
WEFT_API weft_status weft_lower_fail(weft_lowering *lowering, weft_status status);

/** The memory of an input, or WEFT_NO_STORAGE when it is not given. Dense, row-major, 4 bytes an element. */
WEFT_API uint32_t weft_lower_input(weft_lowering *lowering, const weft_node *node, uint32_t input);

/** The memory of the node's output. */
WEFT_API uint32_t weft_lower_output(weft_lowering *lowering, const weft_node *node);

/** Scratch memory that lives from the first to the last dispatch that binds it. Its contents are undefined. */
WEFT_API uint32_t weft_lower_scratch(weft_lowering *lowering, uint64_t bytes);

/**
 * A table computed on the host, kept on the device under `key` (a text that determines its contents; begin it with the
 * op's name). `fill` writes `bytes` bytes; it is called only when the device does not hold the table.
 */
WEFT_API uint32_t weft_lower_table(weft_lowering *lowering, const char *key, uint64_t bytes,
                                   weft_status (*fill)(void *user, void *data), void *user);

/* ---- kernels ---- */

/** A text that a kernel's GLSL may include by its name. */
typedef struct weft_op_include {
    const char *
        name; /**< as in `#include "name"`; not that of one of Weft's files, and once in a kernel */
    const char *text;
} weft_op_include;

/**
 * A compute shader, entry point "main". Its interface is read from the module: push constants (at most 32) and
 * specialization constants (at constant_ids below 24) are 32-bit scalars, buffers are storage buffers at set 0 and
 * bindings without a gap, at most 12, and of these as many as the device has, which are at least 8. Fields go by the
 * names that members of the push constant block, buffer blocks and specialization constants have, in snake_case. A push
 * constant `groups_x` is filled in by the launch (see weft_launch).
 *
 * GLSL may #include Weft's files, such as "math.glsl", "index.glsl" and "reduce.glsl", and the kernel's own `includes`, by
 * exactly their names, with `#extension GL_GOOGLE_include_directive : require`. Nothing else is included: no file is opened,
 * and any other name is an error of the compiler, unless an #if leaves the line out. A text may not include itself, not even
 * behind an #ifndef, nor 64 texts be within each other, nor the whole be larger than 16 MiB. WEFT_MATH_FAST is defined in fast
 * mode. A text is code: it is compiled in this process, and is as trusted as the program. SPIR-V is of version 1.5 at most and
 * must still have its names (OpName).
 *
 * Where the driver can check bounds for single pipelines (the processor device always; others with
 * VK_EXT_pipeline_robustness on devices that Weft opened), accesses outside of a buffer are harmless: they read zeros or
 * something of the same buffer, and write nothing outside. On the processor device that is true of shared memory and
 * arrays, too. A kernel that wants none of this is `unchecked`.
 *
 * A kernel is compiled once per device, text and includes, and lives as long as the device. In reproducible mode it is held to the
 * rules in docs/reproducibility.md; compiling the plan gives WEFT_UNSUPPORTED with what to use instead when it is not.
 */
typedef struct weft_op_kernel {
    const char *name;      /**< for messages and traces; at most 79 bytes */
    const char *glsl;      /**< a text, or null */
    const uint32_t *spirv; /**< words, when there is no text */
    size_t spirv_size;     /**< bytes */
    bool unchecked;        /**< no bounds checks: it is known to stay within its buffers */
    const weft_op_include *includes; /**< for `glsl`, read during the call */
    uint32_t include_count;          /**< at most 256 */
} weft_op_kernel;

typedef enum weft_arg_kind {
    WEFT_ARG_BUFFER = 0,
    WEFT_ARG_UINT,
    WEFT_ARG_INT,
    WEFT_ARG_FLOAT,
    WEFT_ARG_BOOL
} weft_arg_kind;

/** A value for a field of a kernel, by its name; from the functions below. */
typedef struct weft_arg {
    const char *name;
    weft_arg_kind kind;
    uint32_t word; /**< the value's bits, or a storage */
} weft_arg;

static inline weft_arg weft_arg_make(const char *name, weft_arg_kind kind, uint32_t word) {
    weft_arg arg;
    arg.name = name;
    arg.kind = kind;
    arg.word = word;
    return arg;
}

/** WEFT_NO_STORAGE only for a buffer that the constants keep the shader from touching. */
static inline weft_arg weft_arg_buffer(const char *name, uint32_t storage) {
    return weft_arg_make(name, WEFT_ARG_BUFFER, storage);
}

static inline weft_arg weft_arg_uint(const char *name, uint32_t value) {
    return weft_arg_make(name, WEFT_ARG_UINT, value);
}

static inline weft_arg weft_arg_int(const char *name, int32_t value) {
    return weft_arg_make(name, WEFT_ARG_INT, (uint32_t)value);
}

static inline weft_arg weft_arg_float(const char *name, float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return weft_arg_make(name, WEFT_ARG_FLOAT, word);
}

static inline weft_arg weft_arg_bool(const char *name, bool value) {
    return weft_arg_make(name, WEFT_ARG_BOOL, value ? 1U : 0U);
}

/** One dispatch. Exactly one of items, groups and extent says how large it is. */
typedef struct weft_launch {
    weft_op_kernel kernel;
    /** Invocations, or workgroups: spread over x and y; weft_item_index and weft_group_index of "index.glsl" find their
     * place by the push constant `groups_x`, the former in workgroups of WEFT_ITEMS_PER_GROUP. */
    uint64_t items, groups;
    uint32_t extent[3]; /**< workgroups along each axis, at most 65,535 */
    /** Every push constant, buffer and specialization constant, in any order; those called TILE_… may be left out. */
    const weft_arg *args;
    uint32_t arg_count;
    double flops; /**< for reports */
    double bytes; /**< read and written, each tensor counted once; for reports */
} weft_launch;

#ifndef __cplusplus
#define weft_launch(...) (&(weft_launch){__VA_ARGS__})
#endif

/**
 * Appends a dispatch. Barriers and memory follow from what the shader reads and writes. Errors, which stick:
 * WEFT_INVALID_ARGUMENT naming the field that is missing, unknown or of another type, or the include without a name or text,
 * or whose name is taken; WEFT_COMPILE_ERROR,
 * WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_lower_launch(weft_lowering *lowering, const weft_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
