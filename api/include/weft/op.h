/* SPDX-License-Identifier: MIT */
/*
 * Ops of your own, registered at run time, with kernels as GLSL text or SPIR-V. Weft treats them like its own ops.
 * Their kernels go through the same passes and the same lint: reproducible mode gives the same bits on every device, or
 * rejects the kernel. Their implementations are chosen, folded, placed and ordered like all others.
 *
 *   weft_op_create → weft_graph_add (any number of times) → plans as in graph.h → … → weft_op_destroy
 *
 * api/examples/mixer is a complete program. Texts in the structs of this header are not copied. Texts and functions
 * must outlive the handle and all graphs with the op.
 */
#ifndef WEFT_OP_H
#define WEFT_OP_H

#include <string.h>

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_MAX_NODE_INPUTS     10
#define WEFT_MAX_PARAMETER_BYTES 128
#define WEFT_MAX_VARIANTS        32 /**< rows: implementations of an op, variants of a kernel */
#define WEFT_NO_STORAGE          UINT32_MAX

/**
 * An op. Any number of threads may use it at a time. Reference counted: destroying the handle releases the caller's
 * reference; graphs hold their own, and plans need none. Create an op once and use it for all graphs: results computed
 * from weights alone are shared only between nodes of the same op object.
 */
typedef struct weft_op weft_op;

/** An op in a graph, with its inputs and parameters. It is valid only during the callback that receives it. */
typedef struct weft_node weft_node;

/** Collects the dispatches that a node is lowered to. The first error sticks; later calls do nothing. */
typedef struct weft_lowering weft_lowering;

/* ---- implementations ---- */

typedef enum weft_device_kind {
    WEFT_ANY_DEVICE = 0,
    WEFT_SOFTWARE_DEVICE, /**< the processor, by itself or by a driver */
    WEFT_HARDWARE_DEVICE
} weft_device_kind;

/**
 * Requirements of an implementation on a device; 0: none. `kind`, `vendor_id` and, without subgroup_arithmetic, the
 * subgroup sizes say where it is expected to be fast, not where it can run. weft_plan_params.implementation overrides
 * these.
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
    /** A further requirement, or null. */
    bool (*also)(const weft_device_info *info);
    const char *also_text; /**< in words, for `weft inspect --choices` */
} weft_needs;

/** Expected time relative to the op's other implementations, 0 for 1. Above twice the least it is not even measured. */
typedef struct weft_cost {
    float software;  /**< on drivers that emulate */
    float hardware;  /**< on GPUs */
    float processor; /**< on the processor device */
} weft_cost;

/** One way to compute an op. Its functions must return: see weft_host. */
typedef struct weft_implementation {
    const char *name; /**< for weft_plan_params.implementation and messages; at most 63 bytes */
    uint32_t bits;    /**< implementations with equal numbers give the same bits */
    weft_needs needs;
    weft_cost cost;
    /** True if it can run this node on a device with this info; null: always. */
    bool (*supports)(const weft_graph *graph, const weft_node *node,
                     const weft_device_info *device);
    const char *limits; /**< what `supports` requires of a node, for the message; may be null */
    /** Appends the dispatches; returns weft_lower_status, or its own error, which it has logged. */
    weft_status (*lower)(weft_lowering *lowering, const weft_node *node);
} weft_implementation;

/* ---- ops ---- */

typedef struct weft_op_params {
    const char *name;    /**< for messages, `weft inspect` and traces; not null */
    uint32_t min_inputs; /**< 1 … max_inputs; later inputs are optional */
    uint32_t max_inputs; /**< 0: min_inputs; at most WEFT_MAX_NODE_INPUTS */
    /** Bytes of the struct that weft_graph_add takes, at most WEFT_MAX_PARAMETER_BYTES; 0: none. Plain data without
     * pointers, zeroed before it is filled: nodes of equal bytes are equal. */
    size_t params_size;
    /**
     * Checks inputs and parameters and returns the output's type and shape, while the graph is built. Not null. It logs
     * its errors by weft_node_fail or weft_expect_….
     */
    weft_status (*infer)(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                         weft_shape *shape);
    /**
     * When implementations differ in bits: the name of one whose `bits` reproducible mode uses, chosen by shapes and
     * parameters alone. Null: those with bits 0.
     */
    const char *(*choose)(const weft_graph *graph, const weft_node *node);
    /** Writes the parameters for `weft inspect`; null: nothing. */
    void (*describe)(const weft_node *node, char *text, size_t size);
    const weft_implementation *implementations; /**< copied */
    uint32_t implementation_count;              /**< 1 … WEFT_MAX_VARIANTS */
    void *user;                                 /**< for weft_node_user */
} weft_op_params;

#ifndef __cplusplus
#define weft_op_params(...) (&(weft_op_params){__VA_ARGS__})
#endif

/**
 * host may be null.
 * Errors: WEFT_INVALID_ARGUMENT naming the field that is missing, out of range or duplicate; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_op_create(weft_op **op, const weft_op_params *params,
                                    const weft_host *host);
WEFT_API void weft_op_destroy(weft_op **op);

/**
 * Appends a node of an op. `inputs` may contain tensors with id 0 where the op allows it; `params` are `params_size`
 * bytes, copied.
 * Errors: those of infer; WEFT_INVALID_ARGUMENT for null, a wrong number of inputs, a tensor of another graph or a
 * wrong params_size. An error leaves the graph unchanged.
 */
WEFT_API weft_status weft_graph_add(weft_tensor *out, weft_graph *graph, const weft_op *op,
                                    const weft_tensor *inputs, uint32_t input_count,
                                    const void *params, size_t params_size);

/* ---- for all callbacks ---- */

/** weft_op_params.user. */
WEFT_API void *weft_node_user(const weft_node *node);

/** The node's copy of the parameters, aligned for any scalar. */
WEFT_API const void *weft_node_params(const weft_node *node);

/** In infer: replaces the parameters, for example to fill in defaults. `params` are params_size bytes. */
WEFT_API void weft_node_set_params(weft_node *node, const void *params);

/** True if the input with this index, from 0, is given. */
WEFT_API bool weft_node_has_input(const weft_node *node, uint32_t input);

/** An input's shape; a scalar's for an input that is not given. Valid until something is added to the graph. */
WEFT_API const weft_shape *weft_node_shape(const weft_graph *graph, const weft_node *node,
                                           uint32_t input);
WEFT_API weft_dtype weft_node_dtype(const weft_graph *graph, const weft_node *node, uint32_t input);

/**
 * The elements of an input that is a weight, or a reshaped weight. Null for other inputs, and when a model's file has
 * become unreadable, which then fails the plan, too. They stay in host memory as long as the weight: use this for small
 * weights only.
 */
WEFT_API const void *weft_node_weight(const weft_graph *graph, const weft_node *node,
                                      uint32_t input);

#if defined(__MINGW32__) && !defined(__clang__) /* where "printf" means an old library's format */
#define WEFT_PRINTF_KIND gnu_printf
#else
#define WEFT_PRINTF_KIND printf
#endif

/** Logs an error, prefixed by the op's name, through the graph's host. Returns status. */
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

/**
 * WEFT_SHAPE_MISMATCH unless the input is f32 with this many axes; messages call the shape `form`, such as "[B, n,
 * d]". WEFT_INVALID_ARGUMENT when the input is not given.
 */
WEFT_API weft_status weft_expect_rank(const weft_graph *graph, const weft_node *node,
                                      uint32_t input, const char *role, uint32_t rank,
                                      const char *form);

/* ---- for lower ---- */

/**
 * The graph of the node that is lowered, for the functions above. It is the passes' copy: its tensors differ from
 * yours.
 */
WEFT_API const weft_graph *weft_lower_graph(const weft_lowering *lowering);

/** The device that the plan is for. */
WEFT_API weft_device *weft_lower_device(const weft_lowering *lowering);

/** The error that stuck, or WEFT_OK. */
WEFT_API weft_status weft_lower_status(const weft_lowering *lowering);

/** Records an error, which the caller has logged, unless one is recorded; returns the recorded error. */
WEFT_API weft_status weft_lower_fail(weft_lowering *lowering, weft_status status);

/** The memory of an input, or WEFT_NO_STORAGE when it is not given. Dense, row-major, 4 bytes an element. */
WEFT_API uint32_t weft_lower_input(weft_lowering *lowering, const weft_node *node, uint32_t input);

/** The memory of the node's output. */
WEFT_API uint32_t weft_lower_output(weft_lowering *lowering, const weft_node *node);

/** Scratch memory that lives from the first to the last dispatch that binds it. Its contents are undefined. */
WEFT_API uint32_t weft_lower_scratch(weft_lowering *lowering, uint64_t bytes);

/**
 * A table computed on the host and kept on the device under `key`, a text that determines its contents; begin it with
 * the op's name. `fill` writes `bytes` bytes; it is called only when the device does not hold the table.
 */
WEFT_API uint32_t weft_lower_table(weft_lowering *lowering, const char *key, uint64_t bytes,
                                   weft_status (*fill)(void *user, void *data), void *user);

/* ---- kernels ---- */

/** A text that a kernel's GLSL can include by name. */
typedef struct weft_op_include {
    /** As in `#include "name"`; unique in the kernel, and not the name of a file of Weft's */
    const char *name;
    const char *text;
} weft_op_include;

/**
 * A compute shader with the entry point "main". Its interface is read from the module. Push constants (at most 32) and
 * specialization constants (constant_id below 24) are 32-bit scalars. Buffers are storage buffers at set 0 with
 * consecutive bindings, at most 12 and at most the device's limit, which is at least 8. Fields are named after members
 * of the push constant block, buffer blocks and specialization constants, in snake_case. The launch fills in a push
 * constant `groups_x` (see weft_launch).
 *
 * GLSL may #include Weft's files, such as "math.glsl", "index.glsl" and "reduce.glsl", and the kernel's own `includes`,
 * by their exact names, with `#extension GL_GOOGLE_include_directive : require`. No file is opened, and any other name
 * is a compile error unless an #if skips the line. Limits: a text must not include itself, even inside an #ifndef;
 * texts nest less than 64 deep; the total is at most 16 MiB. WEFT_MATH_FAST is defined in fast mode. A text is code: it
 * is compiled in this process, and must be as trusted as the program. SPIR-V has version 1.5 at most and must keep its
 * names (OpName).
 *
 * GLSL with GL_NV_cooperative_matrix becomes SPIR-V with SPV_KHR_cooperative_matrix, which drivers of today have. The
 * matrices of a type must be the first factor of products, the second, or what they are added to: give these types
 * constants of their own. weft_device_info.matrix_shapes and integer_matrix_shapes have the sizes; elsewhere compiling
 * the plan returns WEFT_UNSUPPORTED. Outside of fast mode, matrices of integers alone.
 *
 * Accesses outside a buffer are harmless where the driver can check bounds for single pipelines: always on the
 * processor device; elsewhere with VK_EXT_pipeline_robustness on devices that Weft opened. They read zeros or other
 * data of the same buffer, and write nothing outside. The processor device also checks shared memory and arrays.
 * `unchecked` turns these checks off.
 *
 * A kernel is compiled once per device, text and includes, and lives as long as the device. In reproducible mode it
 * must follow the rules in docs/reproducibility.md. Otherwise compiling the plan returns WEFT_UNSUPPORTED, and the log
 * says what to use instead.
 */
typedef struct weft_op_kernel {
    const char *name;      /**< for messages and traces; at most 79 bytes */
    const char *glsl;      /**< a text, or null */
    const uint32_t *spirv; /**< words, when there is no text */
    size_t spirv_size;     /**< bytes */
    bool unchecked;        /**< no bounds checks, for a kernel known to stay within its buffers */
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

/** A value for a named field of a kernel, made by the functions below. */
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

/** WEFT_NO_STORAGE is allowed only if the constants keep the shader from accessing the buffer. */
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

/** One dispatch. Set exactly one of items, groups and extent as its size. */
typedef struct weft_launch {
    weft_op_kernel kernel;
    /**
     * Invocations, or workgroups, spread over x and y. weft_item_index and weft_group_index of "index.glsl" compute the
     * index from the push constant `groups_x`; weft_item_index needs workgroups of WEFT_ITEMS_PER_GROUP.
     */
    uint64_t items, groups;
    uint32_t extent[3]; /**< workgroups along each axis, at most 65,535 */
    /** Every push constant, buffer and specialization constant, in any order; constants named TILE_… are optional. */
    const weft_arg *args;
    uint32_t arg_count;
    double flops; /**< for reports */
    double bytes; /**< read and written, each tensor counted once; for reports */
    /**
     * Invocations of a subgroup that the kernel is made for, as kernels with cooperative matrices are: a power of two from
     * least_subgroup to most_subgroup of weft_device_info. 0: the driver's choice
     */
    uint32_t subgroup;
} weft_launch;

#ifndef __cplusplus
#define weft_launch(...) (&(weft_launch){__VA_ARGS__})
#endif

/**
 * Appends a dispatch. Weft derives barriers and memory from the buffers that the shader reads and writes.
 * Errors, which stick: WEFT_INVALID_ARGUMENT naming the field that is missing, unknown or of another type, or the
 * include without a name or text, or with a duplicate name; WEFT_UNSUPPORTED for a subgroup that the device cannot
 * have; WEFT_COMPILE_ERROR; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_lower_launch(weft_lowering *lowering, const weft_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
