/* SPDX-License-Identifier: MIT */
/*
 * Lowering: from nodes to dispatches over storages. Implementations of ops use these functions; errors are sticky, so
 * an implementation can append everything and return weft_lower_status at the end. What programs may use of it is in
 * weft/op.h.
 */
#ifndef WEFT_LOWER_LOWERING_H
#define WEFT_LOWER_LOWERING_H

#include <weft/inspect.h>

#include "graph/op.h"
#include "lower/kernel_args.h"
#include "lower/variant.h"
#include "shader/pipeline.h"

struct weft_chooser;
struct weft_constant;

/** How many workgroups a dispatch has; from the functions below. */
struct weft_grid {
    uint64_t items;     /* invocations, or 0 */
    uint64_t groups;    /* or workgroups, spread over x and y, or 0 */
    uint32_t extent[3]; /* or workgroups along each axis */
};

/** A dispatch that is run to see how long it takes, in memory of its own. What its buffers hold is not defined. */
struct weft_measured_dispatch {
    const struct weft_variant *variant;
    struct weft_grid grid;
    const void *args;                  /* words of the shader's struct */
    uint64_t bytes[WEFT_MAX_BINDINGS]; /* of its buffers; 0: nothing is bound */
};

/** Functions that lowering needs from the layer above it, which runs plans. */
struct weft_engine {
    /**
     * Runs a graph whose sources are weights and whose only output is "out", of `bytes` bytes, and forgets it. No weight
     * is rounded, whatever the device does with them: a plan reads them once. implementation may be null.
     */
    weft_status (*run_once)(const char *implementation, weft_device *device,
                            const weft_graph *graph, void *data, uint64_t bytes);
    weft_status (*time_dispatch)(double *ms, weft_device *device,
                                 const struct weft_measured_dispatch *dispatch);
    /** Has the kernels of dispatches compiled together, so that timing them finds them made. */
    weft_status (*compile_dispatches)(weft_device *device,
                                      const struct weft_measured_dispatch *dispatches,
                                      uint32_t count);
};

/** A stretch of device memory that dispatches bind. */
struct weft_storage {
    weft_storage_kind kind;
    uint64_t bytes;
    uint32_t port;                  /* index, for WEFT_STORAGE_PORT */
    struct weft_constant *constant; /* for WEFT_STORAGE_CONSTANT; a reference */
    uint32_t half;                  /* enum weft_half: how a constant holds its elements */
    bool is_part; /* of the storage `whole`, from `offset` on: what dispatches bind is that */
    uint32_t whole;
    uint32_t value;       /* the graph value it holds, or 0 */
    uint32_t first, last; /* dispatches that touch it; set by the place pass */
    uint64_t offset;      /* in the arena; set by the place pass. Of a part: see there */
};

struct weft_operand {
    uint32_t storage;
    bool write;      /* written, and perhaps read */
    uint64_t offset; /* bytes from the storage's start: a multiple of 256 */
    uint64_t range;  /* bytes; 0: to the storage's end */
};

struct weft_dispatch {
    struct weft_pipeline_desc pipeline;
    const struct weft_shader *kernel;  /* null: of VkFFT */
    const struct weft_pipeline *built; /* set when the plan is built */
    uint32_t operand_count;
    struct weft_operand operand[WEFT_MAX_BINDINGS]; /* binding i is operand[i] */
    uint32_t push_size;
    uint8_t push[WEFT_MAX_PUSH_BYTES];
    uint32_t groups[3];
    double flops;
    double bytes;
    double turns;   /* of all loops of an invocation, at most; 0: few, for any size */
    char label[48]; /* "matmul %12": the node it belongs to */
    bool barrier;   /* set by the order pass */
};

/** Rows of a value as bytes (ops/matmul_int8.c), which several products may read: those of queries, keys and values. */
struct weft_row_bytes {
    uint32_t root; /* the value in whose memory the rows are; 0: there are none */
    uint32_t rows, k;
    bool transposed;
    uint32_t storage;
};

struct weft_lowering {
    weft_device *device;
    weft_graph *graph; /* the plan's own, which lowering gives more values (cut.h) */
    weft_status status;
    bool runs_once; /* a plan of the engine's run_once: no weight is rounded to f16 */
    const struct weft_engine *engine;
    struct weft_chooser *chooser;
    char label[48]; /* of the node being lowered */
    struct weft_storage *storages;
    uint32_t storage_count, storage_capacity;
    struct weft_digest_map constants; /* storages by their constant; some were taken back (cut.c) */
    struct weft_dispatch *dispatches;
    uint32_t dispatch_count, dispatch_capacity;
    uint32_t *storage_of; /* per graph value: storage index, or UINT32_MAX */
    uint32_t value_room;  /* of these */
    uint32_t *stored;     /* values in the order in which they got a storage by weft_lower_value */
    uint32_t stored_count, stored_room;
    struct weft_row_bytes row_bytes; /* that were made last */
    uint64_t steps; /* of the passes that look for what is nearby: what tests count */
    struct weft_dispatch discarded; /* what weft_lower_dispatch gives after an error */
};

/** True if the 32-bit indices of kernels reach that many of `what`; else sticks WEFT_UNSUPPORTED with both. */
bool weft_lower_countable(struct weft_lowering *lowering, double count, const char *what);

/** The storage of a value as it is in memory. */
uint32_t weft_lower_value(struct weft_lowering *lowering, uint32_t value);

/** Storage of a value, or WEFT_NO_STORAGE for value 0, an optional input that is not given. */
uint32_t weft_lower_optional(struct weft_lowering *lowering, uint32_t value);

/** A part of a storage: `offset` is a multiple of weft_cut_alignment (cut.h). */
uint32_t weft_lower_part(struct weft_lowering *lowering, uint32_t storage, uint64_t offset,
                         uint64_t bytes);

/** Operand that binds a storage, or if range is not 0 `range` bytes of it from `offset` on. */
struct weft_operand weft_lower_operand(const struct weft_lowering *lowering, uint32_t storage,
                                       uint64_t offset, uint64_t range);

/** The storage of a rank-2 f32 weight with rows and columns exchanged; uploaded in that layout on first use. */
uint32_t weft_lower_transposed_weight(struct weft_lowering *lowering, uint32_t value);

/** How kernels find a constant operand, two elements in a word if it is not f32: constants HALF_… (shaders/include/half.glsl). */
enum weft_half {
    WEFT_HALF_NOT = 0,
    WEFT_HALF_SCALED = 1, /* f16, rounded, times a power of two: in fast mode */
    WEFT_HALF_BF16 = 2,   /* as given; widening is exact */
    WEFT_HALF_F16 = 3,    /* as given; all elements are finite */
    WEFT_HALF_I8 = 4,     /* bytes, four in a word, with their scales behind them */
    WEFT_HALF_BLOCKS =
        8 /* with flags: codes with the scales of their runs behind them (shaders/include/blocks.glsl) */
};

/** Flags of WEFT_HALF_BLOCKS: codes of 4 bits instead of 8; with offsets; runs of 16 instead of 32; scales as f16, or with units, instead of f32. */
enum {
    WEFT_BLOCKS_OF_FOUR = 1,
    WEFT_BLOCKS_OFFSETS = 2,
    WEFT_BLOCKS_SHORT = 4,
    WEFT_BLOCKS_F16 = 16,
    WEFT_BLOCKS_UNITS = 32
};

/**
 * True if a value is a weight that this device keeps as f16, rounded, times 2^exponent. Reads all its elements the first time.
 */
bool weft_lower_half_exponent(int *exponent, struct weft_lowering *lowering, uint32_t value);

/**
 * How a weight is kept whose elements must not change: BF16, F16, or as f32, which is NOT. f16 infinities and NaN are kept as f32; so
 * elements in memory are looked at the first time.
 */
enum weft_half weft_lower_exact_half(struct weft_lowering *lowering, uint32_t value);

/** The storage of a weight in one of these forms, but NOT; `transposed` as weft_lower_transposed_weight. Uploaded on first use. */
uint32_t weft_lower_half_weight(struct weft_lowering *lowering, uint32_t value, bool transposed,
                                enum weft_half half);

/** How a constant matrix lies in device memory. */
enum weft_layout {
    WEFT_LAYOUT_AS_IT_IS = 0,
    WEFT_LAYOUT_TRANSPOSED = 1,           /* rows and columns exchanged */
    WEFT_LAYOUT_PANELS_OF_TRANSPOSED = 2, /* weft_lower_panel_weight, with `transposed` … */
    WEFT_LAYOUT_PANELS = 3,               /* … and without */
    WEFT_LAYOUT_FOURS =
        4 /* panels of words of bytes, each of four elements along k: products of bytes by bytes read it */
};

#define WEFT_PANEL_COLUMNS 64u

/**
 * The storage of an f32 weight, or with `transposed` of its transpose, as the right-hand side of products, its axes but the first as one:
 * panels of WEFT_PANEL_COLUMNS columns, each with one row behind the other. Zeros fill up the last panel. With `half` a word has columns c and
 * c + WEFT_PANEL_COLUMNS / 2. Uploaded in that layout on first use.
 */
uint32_t weft_lower_panel_weight(struct weft_lowering *lowering, uint32_t value, bool transposed,
                                 enum weft_half half);

/** True if a value is a matrix of bytes with a scale for each row, or each column. */
bool weft_lower_is_int8(const weft_graph *graph, uint32_t value, bool scale_columns);

/** True if, besides, products convert the other factor to bytes: not where a sum of 32 bits could overflow. */
bool weft_lower_makes_bytes(const weft_graph *graph, uint32_t value, bool scale_columns);

/** The storage of such a matrix in a layout, and behind it of the scales. Uploaded on first use. */
uint32_t weft_lower_int8_weight(struct weft_lowering *lowering, uint32_t value,
                                enum weft_layout layout);

/** The form of a matrix of blocks, each row a column of a product or a row of a table; NOT for others. */
enum weft_half weft_lower_block_form(const weft_graph *graph, uint32_t value);

/** The storage of such a matrix in panels, as weft_lower_panel_weight with `transposed`. Uploaded on first use. */
uint32_t weft_lower_block_weight(struct weft_lowering *lowering, uint32_t value);

/** The storage of a weight in that layout and form: one of the above. */
uint32_t weft_lower_matrix(struct weft_lowering *lowering, uint32_t value, enum weft_layout layout,
                           enum weft_half half);

/** How a matrix is kept whose rows are those of a table, or columns of a product: BLOCKS, I8 or as weft_lower_exact_half says. */
enum weft_half weft_lower_rows_form(struct weft_lowering *lowering, uint32_t value);

/**
 * The order in which another node of this plan reads a table of rows, if that is its transpose, as the head of a language model whose table is
 * that of its embedding: who reads it so, too, saves a copy. As it is, where there is none, and where that node would round it.
 */
enum weft_layout weft_lower_shared_layout(struct weft_lowering *lowering, uint32_t table);

/** An invocation for each of `count` items; shaders/include/index.glsl finds them with the push constant `groups_x`. */
struct weft_grid weft_grid_of_items(uint64_t count);
/** A workgroup for each of `count` rows or the like, found likewise. */
struct weft_grid weft_grid_of_groups(uint64_t count);
/** Workgroups that lie in rows of so many items, found likewise: weft_row_item. */
struct weft_grid weft_grid_of_rows(uint64_t rows, uint32_t items);
/** True if the device is the processor, whose lanes are those of vectors. */
bool weft_lower_on_processor(const struct weft_lowering *lowering);
/** True where such rows pay: on processors, of rows that fill a vector. */
bool weft_lower_by_rows(const struct weft_lowering *lowering, uint32_t items);
struct weft_grid weft_grid_of(uint32_t x, uint32_t y, uint32_t z);

/* Grids of variants: as many items or workgroups as the first push constant says, and a workgroup for each of `batches`. */
struct weft_grid weft_grid_of_first_items(const struct weft_variant *variant, const void *args,
                                          uint32_t batches);
struct weft_grid weft_grid_of_first_groups(const struct weft_variant *variant, const void *args,
                                           uint32_t batches);
struct weft_grid weft_grid_of_batches(const struct weft_variant *variant, const void *args,
                                      uint32_t batches);

/**
 * Appends a dispatch of a kernel; the caller notes its flops and bytes before the next one, which may move it. Never
 * null: after an error it is a dispatch that goes nowhere.
 *
 *     WEFT_LOWER(lowering, elementwise_copy, weft_grid_of_items(count),
 *                .bind = {.source = source, .result = target},
 *                .push = {.count = count, .inner = inner, .stride = stride, .offset = 0});
 *
 * The fields are those of struct weft_elementwise_copy_args in "kernels/elementwise/copy.h", which the build makes from
 * the shader. All are to be given, by name; one that is missing, unknown or of another type does not compile. A binding
 * that the constants keep the shader from touching may be WEFT_NO_STORAGE. Values with a comma of their own want
 * parentheses, and those that call weft_lower_… a variable before, since nothing orders the fields.
 */
#define WEFT_LOWER(lowering, kernel, grid, ...)                    \
    weft_lower_kernel(lowering, &weft_shader_##kernel, NULL, grid, \
                      WEFT_KERNEL_ARGS(kernel, __VA_ARGS__))

/**
 * Appends the dispatch of work that several kernels can do, by the one that is fastest here. `shader` is any of the
 * set's, which gives the fields their names.
 *
 *     WEFT_LOWER_VARIANTS(lowering, &product_variants, batches, matmul_tiled, .push = {…}, .bind = {…}, .constant = {…});
 */
#define WEFT_LOWER_VARIANTS(lowering, set, batches, shader, ...) \
    weft_lower_variants(lowering, set, batches, WEFT_KERNEL_ARGS(shader, __VA_ARGS__))

struct weft_dispatch *weft_lower_variants(struct weft_lowering *lowering,
                                          const struct weft_variant_set *set, uint32_t batches,
                                          const void *args);

#define WEFT_MAX_GROUPS 65535 /* along an axis: the smallest maximum of Vulkan */

/** Workgroups of a grid along each axis, for kernels of that interface. */
void weft_lower_groups(uint32_t groups[3], const struct weft_lowering *lowering,
                       const struct weft_shader_interface *interface, struct weft_grid grid);

/** The most workgroups of a dispatch along an axis: WEFT_MAX_GROUPS, on every device, but for tests. */
uint32_t weft_lower_most_groups(const struct weft_lowering *lowering, uint32_t axis);

/** The axis along which there are more of them, or 3. A node with such a dispatch is lowered in parts (cut.h). */
uint32_t weft_lower_crowded_axis(const struct weft_lowering *lowering, const uint32_t groups[3]);

/**
 * Function behind the macros. `args` are the words of the kernel's struct; `tiles` one word for each of its tile
 * constants, or null for their defaults (a 0 is the default, too).
 */
struct weft_dispatch *weft_lower_kernel(struct weft_lowering *lowering,
                                        const struct weft_shader *kernel, const uint32_t *tiles,
                                        struct weft_grid grid, const void *args);

/* ---- kernels that arrive at run time (given_kernel.c) ---- */

/**
 * The kernel of a GLSL text, compiled once per device and key: null after an error, which sticks. The key determines
 * the text and is what traces call the kernel; at most 79 bytes, copied. `name` is what the compiler's messages call
 * the text. The kernel lives as long as the device.
 */
const struct weft_shader *weft_lower_text_kernel(struct weft_lowering *lowering, const char *key,
                                                 const char *name, const char *text);

/**
 * weft_lower_kernel with its fields by name, for kernels that are not known when this is compiled. A field that is
 * missing, unknown or of another type sticks as WEFT_INVALID_ARGUMENT naming it. kernel may be null after an error.
 */
struct weft_dispatch *weft_lower_named(struct weft_lowering *lowering,
                                       const struct weft_shader *kernel, struct weft_grid grid,
                                       const weft_arg *args, uint32_t count);

/** An empty dispatch, for who fills all of it in (VkFFT's): null never, see WEFT_LOWER. */
struct weft_dispatch *weft_lower_dispatch(struct weft_lowering *lowering);

/**
 * An object that is made once per device and kept until the device is destroyed, found by key: what an implementation
 * computes on the host and several plans share. Null when it has not been kept yet.
 */
void *weft_device_find_kept(weft_device *device, const char *key);

/** Hands an object over to the device. On failure the object is destroyed. */
weft_status weft_device_keep(weft_device *device, const char *key, void *object,
                             void (*destroy)(void *object, const weft_host *host));

/** A weight that the device itself has made (fold.c), found by key, with a reference for the caller; or null. */
weft_weight *weft_device_find_weight(weft_device *device, const char *key);

/** The device takes a reference, which it drops when trimmed while no graph has another. On failure the caller's is gone. */
weft_status weft_device_keep_weight(weft_device *device, const char *key, weft_weight *weight);

/* ---- constants on the device (constant_store.c) ---- */

struct weft_constant {
    char *key;
    bool ready;             /* made; under device->locks.constants, as the store is */
    atomic_uint references; /* of plans; an entry without any stays until the device is trimmed */
    VkBuffer buffer;
    struct weft_allocation *allocation;
    uint64_t bytes;
};

/**
 * A reference to the constant of that key. When it is not there it is made from the data that `fill` writes, or, with
 * fill null, from the elements of `user`, a weft_weight. Where another thread is making it, this one waits for that.
 */
weft_status weft_constant_acquire(struct weft_constant **constant, weft_device *device,
                                  const char *key, uint64_t bytes,
                                  weft_status (*fill)(void *user, void *data), void *user);
void weft_constant_release(struct weft_constant **constant);

/** weft_vkbuffer_create in device memory; when the memory limit is in the way, frees unused constants first. */
weft_status weft_vkbuffer_create_or_trim(VkBuffer *buffer, struct weft_allocation **allocation,
                                         weft_device *device, uint64_t size);

#endif
