/* SPDX-License-Identifier: MIT */
/*
 * A graph of tensor ops, and the plan it is compiled to.
 *
 *   weft_graph_create → weft_graph_input, weft_graph_weight, ops … → weft_graph_output
 *   → weft_plan_compile → weft_bindings_create, weft_bindings_set → weft_plan_run (or weft_plan_record, see vulkan.h)
 *
 * A graph does not depend on a device: shapes are checked while it is built, and it can be compiled for several
 * devices. Tensors are dense, row-major and immutable (SSA); activations are [B, n, d] with channels innermost.
 */
#ifndef WEFT_GRAPH_H
#define WEFT_GRAPH_H

#include <weft/buffer.h>
#include <weft/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- weights ---- */

/**
 * Constant data that graphs refer to. A device holds one copy for all graphs and plans. Reference counted: destroying
 * the handle releases the caller's reference; graphs and plans hold their own. The counting is atomic, so a weight may
 * be shared by graphs in several threads.
 */
typedef struct weft_weight weft_weight;

/** Called when the last reference to a borrowed weight's data is gone. Must return: see weft_host. */
typedef void (*weft_release)(void *user);

/**
 * How the elements of an f32 weight are given, and kept on devices where products and embeddings read it: in 16 bits or a byte each, in all
 * math modes. Widening 16 bits is exact, so results have the bits that they have with the widened elements.
 *
 * A byte q of -127 … 127 stands for q · scale, one scale for each row or column of a matrix. Products use the bytes
 * if the matrix is on the right-hand side, with a scale for each column of the result (row of the weight of
 * weft_graph_linear). I8 then converts the other factor to bytes, too, and adds up integers; I8_ONLY leaves it f32,
 * and multiplies each sum by the scale. Everything else reads q · scale, rounded to f32. docs/reproducibility.md,
 * int8, has the exact rules.
 */
typedef enum weft_stored {
    WEFT_STORED_WHOLE = 0,  /**< elements of dtype */
    WEFT_STORED_F16 = 1,    /**< IEEE 754 binary16 */
    WEFT_STORED_BF16 = 2,   /**< bfloat16: the upper halves of f32 elements */
    WEFT_STORED_I8 = 3,     /**< signed bytes; products convert the other factor to bytes, too */
    WEFT_STORED_I8_ONLY = 4 /**< signed bytes, multiplied with f32 */
} weft_stored;

typedef struct weft_weight_params {
    const char *name; /**< for messages; copied; may be null */
    weft_dtype dtype;
    weft_shape shape;
    const void *data; /**< dense, row-major, elements of dtype or as `stored` says; not null */
    /** Borrow instead of copying: data must not change until `release` is called. Null: the data is copied. */
    weft_release release;
    void *release_user;
    weft_stored stored; /**< with dtype WEFT_F32 */
    /** I8 and I8_ONLY, of shape [rows, columns]: a scale for each row, copied; each 0, or positive and normal */
    const float *scales;
    bool scale_columns; /**< a scale for each column instead */
} weft_weight_params;

#ifndef __cplusplus
#define weft_weight_params(...) (&(weft_weight_params){__VA_ARGS__})
#endif

/**
 * host may be null.
 * Errors: WEFT_INVALID_ARGUMENT for null data, rank over WEFT_MAX_RANK or an axis of 0; bytes also for another rank
 * than 2, an invalid scale, or an element of -128.
 */
WEFT_API weft_status weft_weight_create(weft_weight **weight, const weft_weight_params *params,
                                        const weft_host *host);
WEFT_API void weft_weight_destroy(weft_weight **weight);

/**
 * Makes a weight that stores an f32 matrix [rows, columns] as I8 or I8_ONLY. The scale of each row or column is the
 * 127th part of its largest magnitude. The weight holds a reference to `source`, and reads it when a device needs the
 * bytes.
 * Errors: WEFT_INVALID_ARGUMENT for another type or rank, a source of bytes, or an element that is not finite; those of reading the source.
 */
WEFT_API weft_status weft_weight_quantize(weft_weight **weight, weft_weight *source,
                                          weft_stored stored, bool scale_columns);

/* ---- graphs ---- */

/**
 * Thread safety: one thread at a time. A graph may be destroyed as soon as its plans are compiled. A call that fails
 * (also for lack of memory) leaves the graph unchanged and usable.
 */
typedef struct weft_graph weft_graph;

/** A value in a graph; meaningful only with the graph that made it. id 0 is "no tensor". */
typedef struct weft_tensor {
    uint32_t id;
} weft_tensor;

/** host may be null. */
WEFT_API weft_status weft_graph_create(weft_graph **graph, const weft_host *host);
WEFT_API void weft_graph_destroy(weft_graph **graph);

/**
 * Shape and type of a tensor; WEFT_INVALID_ARGUMENT when it belongs to another graph. Either out-pointer may be null.
 */
WEFT_API weft_status weft_graph_get_tensor(const weft_graph *graph, weft_tensor tensor,
                                           weft_shape *shape, weft_dtype *dtype);

/** A tensor given at run time. Names must be unique among inputs and outputs. */
WEFT_API weft_status weft_graph_input(weft_tensor *out, weft_graph *graph, const char *name,
                                      weft_dtype dtype, weft_shape shape);

/** A constant. The same weight may be used any number of times. */
WEFT_API weft_status weft_graph_weight(weft_tensor *out, weft_graph *graph, weft_weight *weight);

/** Marks a tensor as a result, under a name. A tensor may be an output under several names. */
WEFT_API weft_status weft_graph_output(weft_graph *graph, const char *name, weft_tensor tensor);

/* ---- plain ops; the mixers are in mixers.h ---- */
/*
 * Common errors: WEFT_INVALID_ARGUMENT for a tensor of another graph or a parameter out of range, WEFT_SHAPE_MISMATCH
 * with both shapes in the message.
 */

typedef struct weft_embedding_params {
    weft_tensor tokens;     /**< i32 [B, n], each in 0 … V-1 */
    weft_tensor table;      /**< f32 [V, d] */
    weft_tensor types;      /**< i32 [B, n], each in 0 … T-1; none: all 0. Only with type_table */
    weft_tensor type_table; /**< f32 [T, d], or none */
    weft_tensor positions;  /**< f32 [P, d] with P ≥ n, row s added at position s, or none */
} weft_embedding_params;

#ifndef __cplusplus
#define weft_embedding_params(...) (&(weft_embedding_params){__VA_ARGS__})
#endif

/**
 * out[b, s] = (table[tokens[b, s]] + type_table[types[b, s]]) + positions[s], f32 [B, n, d]. An index outside its table
 * gives a row of NaN; weft_plan_execute rejects such indices before anything runs.
 */
WEFT_API weft_status weft_graph_embedding(weft_tensor *out, weft_graph *graph,
                                          const weft_embedding_params *params);

typedef struct weft_matmul_params {
    bool transpose_a; /**< a is [..., k, m] instead of [..., m, k] */
    bool transpose_b; /**< b is [..., n, k] instead of [..., k, n] */
    float alpha;      /**< factor on the product; 0 means 1 */
} weft_matmul_params;

#ifndef __cplusplus
#define weft_matmul_params(...) (&(weft_matmul_params){__VA_ARGS__})
#endif

/**
 * out = alpha · a b over the last two axes. Leading axes are batches: equal on both sides, unless a or b has rank 2 and
 * is used for every batch. At least two axes each. params may be null.
 */
WEFT_API weft_status weft_graph_matmul(weft_tensor *out, weft_graph *graph, weft_tensor a,
                                       weft_tensor b, const weft_matmul_params *params);

/** out = x Wᵀ + bias: x f32 [..., k], weight f32 [m, k] (PyTorch's layout), bias f32 [m] or none; out [..., m]. */
WEFT_API weft_status weft_graph_linear(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       weft_tensor weight, weft_tensor bias);

#define WEFT_MAX_EXPERTS 65535 /**< of weft_graph_expert_linear */

/**
 * Linear maps of experts, of which each row of x chooses some (Shazeer et al., "Outrageously large neural networks", 2017, (1), without
 * the gates): out[…, s, :] = W[choices[…, s]] x[…, :]. x f32 [..., k]; choices i32 [..., c], with the axes of x but its last one and
 * one more, or where each choice has a row of its own [...]; weight f32 [experts · m, k], those of all experts one behind the
 * other, which must be a weight of the graph; out [..., c, m], or [..., m]. Each row has the bits that weft_graph_linear gives with
 * this expert's weight, where that is not of bytes (WEFT_STORED_I8 counts as I8_ONLY here). A choice that is no expert gives NaN.
 */
WEFT_API weft_status weft_graph_expert_linear(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                              weft_tensor choices, weft_tensor weight,
                                              uint32_t experts);

/**
 * (x - mean) / sqrt(variance + epsilon) · gamma + beta over the last axis, with the biased variance: Ba et al., "Layer
 * normalization", 2016. gamma and beta are f32 [d], d at most 2^24; epsilon ≥ 0. Where the sum of (x - mean)² is beyond
 * float32, as for elements from 1.8e19 on, the variance counts as infinite, and the row gives beta.
 */
WEFT_API weft_status weft_graph_layer_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                           weft_tensor gamma, weft_tensor beta, float epsilon);

/** Elementwise functions. GLSL has these names in "activation.glsl". */
typedef enum weft_activation {
    WEFT_ACTIVATION_NONE = 0,
    WEFT_ACTIVATION_GELU_TANH = 1, /**< x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))): "gelu_new" */
    WEFT_ACTIVATION_GELU_ERF = 2, /**< x/2 · (1 + erf(x/√2)): "gelu" */
    WEFT_ACTIVATION_TANH = 3,
    WEFT_ACTIVATION_RELU = 4,
    WEFT_ACTIVATION_SIGMOID = 5,
    WEFT_ACTIVATION_SILU = 6, /**< x · sigmoid(x) */
    WEFT_ACTIVATION_ELU1 = 7, /**< elu(x) + 1: exp(x) for x ≤ 0, x + 1 above */
    WEFT_ACTIVATION_EXP = 8,
    WEFT_ACTIVATION_COUNT
} weft_activation;

/** A constant name such as "gelu_tanh"; never null. */
WEFT_API const char *weft_activation_name(weft_activation activation);

WEFT_API weft_status weft_graph_activate(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_activation activation);

/** Softmax over the last axis, with the row's largest element subtracted first. A row of -inf gives NaN. */
WEFT_API weft_status weft_graph_softmax(weft_tensor *out, weft_graph *graph, weft_tensor x);

typedef enum weft_binary {
    WEFT_BINARY_ADD = 0,
    WEFT_BINARY_SUBTRACT = 1,
    WEFT_BINARY_MULTIPLY = 2,
    WEFT_BINARY_DIVIDE = 3,       /**< of i32: towards zero */
    WEFT_BINARY_MINIMUM = 4,      /**< NaN if an operand is; -0 is below +0 */
    WEFT_BINARY_MAXIMUM = 5,      /**< likewise */
    WEFT_BINARY_POWER = 6,        /**< pow of C; of i32 with b < 0 as 1 / a^-b towards zero */
    WEFT_BINARY_MODULO = 7,       /**< a - b ⌊a/b⌋, exact, with b's sign: Python's % */
    WEFT_BINARY_FLOOR_DIVIDE = 8, /**< ⌊a/b⌋, rounded once: Python's //, but a/b where b is 0 */
    WEFT_BINARY_EQUAL = 9,        /**< this and the next five give i32, 1 or 0 */
    WEFT_BINARY_NOT_EQUAL = 10,   /**< with NaN 1, where the others give 0 */
    WEFT_BINARY_LESS = 11,
    WEFT_BINARY_LESS_EQUAL = 12,
    WEFT_BINARY_GREATER = 13,
    WEFT_BINARY_GREATER_EQUAL = 14,
    WEFT_BINARY_LOGICAL_AND =
        15, /**< this and the rest are of i32; a number other than 0 is true */
    WEFT_BINARY_LOGICAL_OR = 16,
    WEFT_BINARY_LOGICAL_XOR = 17,
    WEFT_BINARY_BITWISE_AND = 18,
    WEFT_BINARY_BITWISE_OR = 19,
    WEFT_BINARY_BITWISE_XOR = 20,
    WEFT_BINARY_COUNT
} weft_binary;

/** A constant name such as "add"; never null. */
WEFT_API const char *weft_binary_name(weft_binary binary);

/**
 * Elementwise a ∘ b, both f32 or both i32, with NumPy's broadcasting: shapes are aligned at their last axes, and an axis
 * of 1, or a missing one, is repeated. The result has the operands' type, or i32 where weft_binary says so. i32 wraps
 * around; i32 division by 0, also in MODULO and FLOOR_DIVIDE, gives 0.
 */
WEFT_API weft_status weft_graph_binary(weft_tensor *out, weft_graph *graph, weft_binary op,
                                       weft_tensor a, weft_tensor b);

/** out = scale · x + offset, elementwise; both finite. */
WEFT_API weft_status weft_graph_affine(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       float scale, float offset);

/** The token at `position` of each sequence: [B, n, d] → [B, d]; position < n. */
WEFT_API weft_status weft_graph_gather(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       uint32_t position);

/** The last token of each sequence, lengths i32 [B], each 1 … n: [B, n, d] → [B, d]. See weft_graph_mask. */
WEFT_API weft_status weft_graph_gather_last(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                            weft_tensor lengths);

/**
 * Sequences of different lengths in one batch: keeps the first lengths[b] tokens of sequence b and replaces the others,
 * NaN included, by zeros. x f32 [B, n, ...], lengths i32 [B], each 1 … n. weft_plan_execute rejects other lengths; in
 * other runs a length below 1 counts as 0 here, and one above n as n.
 *
 * Mixers take such lengths as a parameter: how many keys and values of a sequence count. Later keys and values
 * influence no token. A token before the length has the bits that it has when its sequence runs alone with `length`
 * tokens, unless the mixer's documentation says otherwise. Queries are not masked: tokens after the length still give
 * results, and NaN for NaN.
 */
WEFT_API weft_status weft_graph_mask(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                     weft_tensor lengths);

/**
 * Converts f16, u8 or i32 to f32 and back. Only inputs and outputs may be f16 or u8; a 32-bit word holds 2 or 4
 * elements, the first in its lowest bits. Of the other ops only reshape takes these types.
 *
 * f16 to f32 is exact, subnormal numbers included. f32 to f16 rounds to nearest even, also to subnormal numbers, and
 * from 65520 on to infinity; a NaN becomes 0x7e00. u8 to f32 gives 0 … 255. f32 to u8 rounds to nearest even and clamps
 * to 0 … 255; a NaN becomes 0. i32 to f32 rounds to nearest even. f32 to i32 drops the fraction, as C does, and clamps to
 * the range of i32; a NaN becomes 0. Both math modes do the same. For pixels between 0 and 1 use weft_graph_affine: by
 * 1/255 after, or by 255 before.
 */
WEFT_API weft_status weft_graph_convert(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                        weft_dtype dtype);

/** Gives the elements, in their order, another shape; costs nothing at run time. */
WEFT_API weft_status weft_graph_reshape(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                        weft_shape shape);

/* ---- plans ---- */

/**
 * A graph compiled for one device: pipelines, one arena for all intermediate tensors, the recorded commands.
 * Thread safety: one thread at a time for a plan and its bindings; other plans of the device may be in use. Each
 * bindings object of weft_bindings_create_concurrent may have its own thread, which sets, submits, waits, records and
 * reads timings. No thread may create or destroy bindings of the plan meanwhile. Destroy bindings before their plan,
 * and plans before their device.
 */
typedef struct weft_plan weft_plan;

/** Which values of a run a plan keeps as further outputs. They depend on the graph alone, and are the same on every device. */
typedef enum weft_checkpoints {
    WEFT_CHECKPOINTS_NONE = 0,
    /** Values on which all later ones depend, such as the result of a layer; 16 at most, and four of large ones */
    WEFT_CHECKPOINTS_LAYERS = 1,
    WEFT_CHECKPOINTS_NODES =
        2 /**< every node's value: nothing is fused, and memory holds all of them */
} weft_checkpoints;

/** Whether single checkpoints of a plan can be computed from others: weft_receipt_compile_part of weft/receipt.h. */
typedef enum weft_opening {
    WEFT_OPENING_NONE = 0,
    WEFT_OPENING_ALSO = 1, /**< the plan keeps its graph for this */
    WEFT_OPENING_ONLY =
        2 /**< it cannot run itself: no weight is uploaded, and nothing compiled but its parts */
} weft_opening;

typedef struct weft_plan_params {
    bool timestamps; /**< time every dispatch (weft_plan_get_timings) */
    /** Gives every op its own dispatch in every run: slower, same bits in reproducible mode; for tests and debugging */
    bool no_fusion;
    /**
     * Forces the implementation of this name, such as "fft" or "matrix", on every op that has it; null: the usual
     * choice.
     */
    const char *implementation;
    /**
     * Dispatches with a longer expected time, in milliseconds, are cut into parts for weft_plan_record_frame of
     * weft/vulkan.h, without any change of bits; 0: only where the device's submission_limit_ms requires it. The
     * expected time comes from the arithmetic rate that weft_plan_execute has measured on the device; before the first
     * run the device counts as slow.
     */
    double part_ms;
    /**
     * Keeps values of the run as outputs "node 17 layer_norm", named by the node's place in the graph and its op. No bit
     * changes. Receipts hash them (weft/receipt.h).
     */
    weft_checkpoints checkpoints;
    weft_opening opening;
} weft_plan_params;

#ifndef __cplusplus
#define weft_plan_params(...) (&(weft_plan_params){__VA_ARGS__})
#endif

/**
 * Compiles a graph and uploads weights that the device does not hold yet. The graph is neither changed nor kept.
 * Results that depend on weights alone are computed here, once, from f32. They become weights of this plan and later
 * ones, kept until weft_device_trim finds them unused.
 * Errors: WEFT_INVALID_ARGUMENT when the graph has no output; WEFT_UNSUPPORTED, naming the op, when it has no
 * implementation for this device and shape, or has a tensor larger than the device can bind and cannot be computed in
 * slices; WEFT_OUT_OF_DEVICE_MEMORY, WEFT_COMPILE_ERROR.
 */
WEFT_API weft_status weft_plan_compile(weft_plan **plan, weft_device *device,
                                       const weft_graph *graph, const weft_plan_params *params);
WEFT_API void weft_plan_destroy(weft_plan **plan);

typedef struct weft_plan_info {
    uint64_t arena_bytes; /**< device memory for intermediate tensors */
    /** Largest sum of the tensors alive at one dispatch: the least possible arena */
    uint64_t arena_lower_bound;
    uint64_t weight_bytes;     /**< device memory of the weights it uses, shared with other plans */
    uint64_t f16_weight_bytes; /**< of these, the bytes rounded to f16 (weft_weight_storage) */
    uint64_t narrow_weight_bytes; /**< and those kept in fewer than 32 bits each, as given */
    uint64_t int8_weight_bytes;   /**< of these, bytes with their scales (weft_stored) */
    uint64_t block_weight_bytes;  /**< of these, blocks of codes with their scales (GGUF files) */
    uint32_t dispatches;
    uint32_t barriers;
    /** Dispatches, and the parts of those that are cut: see weft_plan_params.part_ms */
    uint32_t parts;
    uint32_t submissions; /**< command buffer submissions of one run */
    /** GLSL texts compiled for the device while the plan was compiled, by any thread */
    uint32_t shaders_compiled;
    uint32_t
        pipelines_compiled; /**< pipelines that no cache held, compiled meanwhile by any thread */
    double compile_ms;
    double flops; /**< floating-point operations of one run, as counted by the ops */
} weft_plan_info;

WEFT_API weft_status weft_plan_get_info(const weft_plan *plan, weft_plan_info *info);

/** One dispatch of a plan, for tools. The strings live as long as the plan. */
typedef struct weft_dispatch_info {
    const char *node;   /**< op and output, such as "matmul %12" */
    const char *kernel; /**< shader */
    uint32_t groups[3];
    double flops;
    double bytes; /**< read and written, each tensor counted once */
    bool barrier; /**< waits for earlier dispatches */
} weft_dispatch_info;

WEFT_API weft_status weft_plan_get_dispatch(const weft_plan *plan, uint32_t index,
                                            weft_dispatch_info *info);

/** An input or output of a plan. The name lives as long as the plan. */
typedef struct weft_port_info {
    const char *name;
    weft_dtype dtype;
    weft_shape shape;
    uint64_t bytes;
    bool is_output;
    /** An input whose buffer runs read and change: the state that a step of decode.h keeps from token to token. */
    bool is_state;
} weft_port_info;

/** Inputs first, in the order they were declared, then outputs. WEFT_NOT_FOUND past the last one. */
WEFT_API weft_status weft_plan_get_port(const weft_plan *plan, uint32_t index,
                                        weft_port_info *info);

/** The buffers of a plan's inputs and outputs. A plan may have any number of bindings, and must outlive them. */
typedef struct weft_bindings weft_bindings;

/**
 * Makes bindings with nothing set. They share the plan's arena with weft_plan_execute and with all other bindings of
 * this kind, so only one of their runs may execute at a time. Weft ensures this in its own queue; a program that
 * records runs ensures it in other queues.
 */
WEFT_API weft_status weft_bindings_create(weft_bindings **bindings, weft_plan *plan);

/**
 * Makes bindings with nothing set, with their own arena and time stamps. Their runs may overlap any other run of the
 * plan, in different queues or alternating part by part (weft_plan_record_range of vulkan.h); runs of the same
 * bindings may not. Two runs that share a state's buffer (decode.h), or of which one reads the other's output, still
 * follow each other. Each takes weft_plan_info.arena_bytes of device memory, which weft_device_stats.bytes_in_use
 * counts.
 * Errors also: WEFT_OUT_OF_DEVICE_MEMORY.
 */
WEFT_API weft_status weft_bindings_create_concurrent(weft_bindings **bindings, weft_plan *plan);
WEFT_API void weft_bindings_destroy(weft_bindings **bindings);

/**
 * Sets an input or output to the start of a buffer, which must stay alive while it is set. No unfinished work may use
 * the bindings. Two outputs, or an input and an output, must not share memory.
 * Errors: WEFT_NOT_FOUND for an unknown name (the log lists the names), WEFT_SHAPE_MISMATCH when the buffer is too
 * small, WEFT_INVALID_ARGUMENT for a buffer of another device.
 */
WEFT_API weft_status weft_bindings_set(weft_bindings *bindings, const char *name,
                                       weft_buffer *buffer);

/**
 * Submits one run. Pass *ticket to weft_plan_wait.
 * Errors: WEFT_INVALID_ARGUMENT naming the first input or output that is not set.
 */
WEFT_API weft_status weft_plan_submit(weft_plan *plan, weft_bindings *bindings, uint64_t *ticket);

/**
 * Waits for a submitted run for at most timeout_ns nanoseconds (UINT64_MAX: forever). *done may be null.
 * Errors: WEFT_INVALID_ARGUMENT for an unknown ticket.
 */
WEFT_API weft_status weft_plan_wait(weft_plan *plan, uint64_t ticket, uint64_t timeout_ns,
                                    bool *done);

/** Submits and waits. */
WEFT_API weft_status weft_plan_run(weft_plan *plan, weft_bindings *bindings);

/** Host memory for weft_plan_execute: a port's name and its dense data. */
typedef struct weft_host_tensor {
    const char *name;
    void *data; /**< read for inputs, written for outputs, both for states */
    uint64_t bytes;
} weft_host_tensor;

/**
 * The simplest way to run: uploads every input, runs, and downloads the listed outputs, with buffers that the plan
 * keeps for this. Before anything runs it rejects missing inputs, wrong sizes, indices outside their embedding table
 * and lengths outside their sequence (WEFT_INVALID_ARGUMENT naming input, position, value and range). A state that is
 * not listed keeps its value from the last call; before the first call it is undefined.
 *
 * The processor works on f32 inputs and outputs where they are, if they begin at multiples of
 * weft_device_info.host_memory_alignment and an output shares no bytes with anything else that is listed; otherwise they
 * are copied there, too. After an error outputs are undefined.
 */
WEFT_API weft_status weft_plan_execute(weft_plan *plan, const weft_host_tensor *tensors,
                                       uint32_t count);

/** Device time of one dispatch of the newest finished run. */
typedef struct weft_timing {
    double start_ms; /**< since the run's first dispatch */
    /** Sum over its parts (vulkan.h), without work between them in other frames */
    double duration_ms;
} weft_timing;

/**
 * Times per dispatch of the newest run in the plan's own arena, submitted or recorded. Waits for a submitted run.
 * *count as in weft_device_list.
 * Errors: WEFT_UNSUPPORTED without weft_plan_params.timestamps; WEFT_INVALID_ARGUMENT before the first run, or when the
 * newest run is recorded and has not finished executing.
 */
WEFT_API weft_status weft_plan_get_timings(weft_plan *plan, weft_timing *timings, uint32_t *count);

/**
 * Times per dispatch, as weft_plan_get_timings, of the newest run in the arena of these bindings: their own, or else
 * the plan's.
 */
WEFT_API weft_status weft_bindings_get_timings(weft_bindings *bindings, weft_timing *timings,
                                               uint32_t *count);

/** Counters of a plan since it was compiled, and times of its runs, for an overlay. */
typedef struct weft_plan_stats {
    uint64_t runs_submitted; /**< by weft_plan_submit, directly or through another function */
    uint64_t runs_finished;  /**< of these; may lag behind while more than 64 runs are unfinished */
    /** to their last part, in the caller's command buffers; Weft does not know whether they were executed */
    uint64_t runs_recorded;
    uint64_t parts_recorded; /**< in the caller's command buffers */
    uint64_t arena_bytes;    /**< of all arenas: the plan's and its bindings' */
    uint64_t weight_bytes;   /**< as weft_plan_info */
    /** Submitted or recorded runs that calls of weft_plan_get_stats found newly finished; 0 without time stamps */
    uint64_t runs_timed;
    double newest_ms; /**< device time of the newest of these, summed over its dispatches */
    double mean_ms;   /**< of all of them */
    double max_ms;
} weft_plan_stats;

/**
 * Does not wait. For each arena it counts the newest run if that has finished; it misses a run if a newer one has begun
 * since the last call. Call it once a frame. (With time stamps, lavapipe of Mesa 22 waits in vkGetQueryPoolResults for
 * the caller's own submissions, not for Weft's.) One thread may call this while others submit, record and wait.
 * Meanwhile no thread may create or destroy bindings of the plan, or cut it again (weft_plan_split_measured).
 */
WEFT_API weft_status weft_plan_get_stats(weft_plan *plan, weft_plan_stats *stats);

/**
 * The result of a pass as text, for `weft inspect --pass`: "graph", "fuse", "choose", "place" or "order". *text lives
 * as long as the plan. WEFT_NOT_FOUND for another name.
 */
WEFT_API weft_status weft_plan_describe(const weft_plan *plan, const char *pass, const char **text);

#ifdef __cplusplus
}
#endif

#endif
