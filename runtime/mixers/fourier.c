/* SPDX-License-Identifier: MIT */
/*
 * FNet's Fourier sublayer, Re(F_seq(F_hidden(x))), by FFT or by matrices. Both make only the columns 0 … d/2, which is
 * all that real input leaves free; shaders/fourier/unfold.comp makes the rest of them, adds the residual and
 * normalises.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/mixers.h>

#include "core/trig.h"
#include "mixers/vkfft/fft_program.h"
#include "ops/matmul.h"
#include "ops/row.h"

weft_status weft_graph_fourier(weft_tensor *out, weft_graph *graph, weft_tensor x) {
    return weft_graph_add(out, graph, "fourier", &x, 1, NULL, 0);
}

static weft_status fourier_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                 weft_shape *shape) {
    weft_status status = weft_expect_f32(graph, node, 0, "x");
    const weft_shape *x = weft_node_shape(graph, node, 0);
    if (status == WEFT_OK && x->rank != 3) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        status = weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                           "fourier: x must be [B, n, d], not %s", weft_shape_text(*x, text));
    }
    *dtype = WEFT_F32;
    *shape = *x;
    return status;
}

/** The columns 0 … d/2 of the transform in memory. */
struct half_spectrum {
    uint32_t storage;
    uint32_t columns; /* of a row in memory */
    uint32_t stride;  /* 2: complex, 1: real parts alone */
};

static weft_status lower_unfold(struct weft_lowering *lowering, const struct weft_node *node,
                                struct half_spectrum half) {
    weft_row_prepare_epilogue(lowering, &node->epilogue);
    uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch = weft_lower_dispatch(lowering, "fourier/unfold");
    weft_row_bind_epilogue(lowering, dispatch, &node->epilogue, half.storage);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_read(dispatch, half.storage);
    weft_row_finish(lowering, dispatch, node);
    weft_dispatch_push_u32(dispatch, weft_node_shape(lowering->graph, node, 0)->dim[1]);
    weft_dispatch_push_u32(dispatch, half.columns);
    weft_dispatch_push_u32(dispatch, half.stride);
    return weft_lower_status(lowering);
}

/* ---- by matrices: C_n (X C_d) - S_n (X S_d) ---- */

static uint32_t padded_half(uint32_t d) {
    return (d / 2 + 1 + 3) / 4 * 4; /* whole fours let the kernels load vectors */
}

struct table_size {
    uint32_t n, d;
};

/** [2, d, padded_half(d)]: cosines, then sines, of 2π j k / d; the padding is 0. */
static weft_status fill_hidden(void *user, void *data) {
    const struct table_size *size = user;
    uint32_t columns = padded_half(size->d);
    float *cosines = data;
    float *sines = cosines + (size_t)size->d * columns;
    memset(data, 0, 2 * (size_t)size->d * columns * sizeof(float));
    for (uint32_t j = 0; j < size->d; j++) {
        for (uint32_t k = 0; k <= size->d / 2; k++) {
            double c;
            double s;
            weft_unit_root(&c, &s, (uint64_t)j * k, size->d);
            cosines[(size_t)j * columns + k] = (float)c;
            sines[(size_t)j * columns + k] = (float)s;
        }
    }
    return WEFT_OK;
}

/** [n, 2n]: row s is cos 2π s t / n for all t, then -sin 2π s t / n. */
static weft_status fill_sequence(void *user, void *data) {
    const struct table_size *size = user;
    float *row = data;
    for (uint32_t s = 0; s < size->n; s++, row += 2 * (size_t)size->n) {
        for (uint32_t t = 0; t < size->n; t++) {
            double cosine;
            double sine;
            weft_unit_root(&cosine, &sine, (uint64_t)s * t, size->n);
            row[t] = (float)cosine;
            row[size->n + t] = (float)-sine;
        }
    }
    return WEFT_OK;
}

static weft_status lower_matrix(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    struct table_size size = {.n = x->dim[1], .d = x->dim[2]};
    uint32_t columns = padded_half(size.d);
    char key[48];
    snprintf(key, sizeof key, "fourier/hidden/%u", size.d);
    uint64_t hidden_bytes = UINT64_C(8) * size.d * columns;
    uint32_t hidden = weft_lower_table(lowering, key, hidden_bytes, fill_hidden, &size);
    snprintf(key, sizeof key, "fourier/sequence/%u", size.n);
    uint64_t sequence_bytes = UINT64_C(8) * size.n * size.n;
    uint32_t sequence = weft_lower_table(lowering, key, sequence_bytes, fill_sequence, &size);
    uint32_t source = weft_lower_value(lowering, node->input[0]);
    uint32_t both = weft_lower_scratch(lowering, UINT64_C(8) * x->dim[0] * size.n * columns);
    uint32_t half = weft_lower_scratch(lowering, UINT64_C(4) * x->dim[0] * size.n * columns);

    /* Batches are (sequence of x, cosine or sine): [X C_d; X S_d] stacked as [2n, columns]. */
    struct weft_product product = {
        .a = {.storage = source, .outer = size.n * size.d, .row = size.d, .column = 1},
        .b = {.storage = hidden, .inner = size.d * columns, .row = columns, .column = 1},
        .c = {.storage = both,
              .outer = 2 * size.n * columns,
              .inner = size.n * columns,
              .row = columns,
              .column = 1},
        .m = size.n,
        .n = columns,
        .k = size.d,
        .batches = 2 * x->dim[0],
        .inner_count = 2,
        .alpha = 1.0F,
        .bias = WEFT_NO_STORAGE,
        .residual = WEFT_NO_STORAGE};
    weft_lower_product(lowering, &product);
    product.a = (struct weft_matrix){.storage = sequence, .row = 2 * size.n, .column = 1};
    product.b = product.c;
    product.b.inner = 0;
    product.c = (struct weft_matrix){
        .storage = half, .outer = size.n * columns, .row = columns, .column = 1};
    product.k = 2 * size.n;
    product.batches = x->dim[0];
    product.inner_count = 1;
    weft_lower_product(lowering, &product);
    return lower_unfold(lowering, node,
                        (struct half_spectrum){.storage = half, .columns = columns, .stride = 1});
}

/* ---- by FFT ---- */

/** A program and the names of its kernels, kept with the device. */
struct kept_program {
    struct weft_fft_program *program;
    char key[64];
};

static void destroy_program(void *object, const weft_host *host) {
    struct kept_program *kept = object;
    weft_fft_program_destroy(&kept->program, host);
    weft_free(host, kept);
}

static weft_status make_program(const struct kept_program **out, weft_device *device,
                                const struct weft_fft_desc *desc, const char *key) {
    struct kept_program *kept = weft_alloc_zero(&device->host, 1, sizeof *kept);
    if (!kept) {
        return weft_fail_memory(&device->host, key);
    }
    snprintf(kept->key, sizeof kept->key, "%s", key);
    uint32_t compiled = 0;
    weft_status status =
        weft_fft_program_create(&kept->program, desc, device->cache_dir, &compiled, &device->host);
    if (status != WEFT_OK) {
        weft_free(&device->host, kept);
        return status;
    }
    device->stats.shaders_compiled += compiled;
    status = weft_device_keep(device, key, kept, destroy_program);
    *out = kept;
    return status;
}

static weft_status find_program(const struct kept_program **out, weft_device *device,
                                const weft_shape *x) {
    struct weft_fft_desc desc = {.kind = WEFT_FFT_R2C,
                                 .rank = x->dim[1] > 1 ? 2 : 1,
                                 .size = {x->dim[2], x->dim[1]},
                                 .batch = x->dim[0],
                                 .transform_axis = {true, x->dim[1] > 1}};
    char key[64];
    snprintf(key, sizeof key, "vkfft/r2c %ux%u batch %u", x->dim[1], x->dim[2], x->dim[0]);
    *out = weft_device_find_kept(device, key);
    return *out ? WEFT_OK : make_program(out, device, &desc, key);
}

static weft_status copy_table(void *user, void *data) {
    const struct weft_fft_table *table = user;
    memcpy(data, table->data, table->size);
    return WEFT_OK;
}

/** What a program reads and writes, as storages of the plan. */
struct program_storages {
    uint32_t input, output, temporary;
};

static uint32_t storage_of(struct weft_lowering *lowering, const struct kept_program *kept,
                           const struct weft_fft_binding *binding,
                           const struct program_storages *storages) {
    switch (binding->buffer) {
    case WEFT_FFT_INPUT:
        return storages->input;
    case WEFT_FFT_OUTPUT:
        return storages->output;
    case WEFT_FFT_TEMP:
        return storages->temporary;
    case WEFT_FFT_TABLE:
        break;
    }
    char key[96];
    struct weft_fft_table *table = &kept->program->tables[binding->table];
    snprintf(key, sizeof key, "%s/table %u", kept->key, binding->table);
    return weft_lower_table(lowering, key, table->size, copy_table, table);
}

static void lower_program(struct weft_lowering *lowering, const struct kept_program *kept,
                          uint32_t input, uint32_t output) {
    const struct weft_fft_program *program = kept->program;
    struct program_storages storages = {.input = input, .output = output};
    if (program->temp_bytes) {
        storages.temporary = weft_lower_scratch(lowering, program->temp_bytes);
    }
    for (uint32_t i = 0; i < program->dispatch_count; i++) {
        const struct weft_fft_dispatch *source = &program->dispatches[i];
        uint32_t storage[WEFT_FFT_MAX_BINDINGS];
        for (uint32_t b = 0; b < source->binding_count; b++) {
            storage[b] = storage_of(lowering, kept, &source->binding[b], &storages);
        }
        struct weft_dispatch *dispatch = weft_lower_dispatch(lowering, kept->key);
        dispatch->pipeline.spirv.words = program->modules[source->module].words;
        dispatch->pipeline.spirv.size = program->modules[source->module].size;
        for (uint32_t b = 0; b < source->binding_count; b++) {
            const struct weft_fft_binding *binding = &source->binding[b];
            bool written = binding->buffer == WEFT_FFT_OUTPUT || binding->buffer == WEFT_FFT_TEMP;
            dispatch->operand[b] = (struct weft_operand){.storage = storage[b],
                                                         .write = written,
                                                         .offset = binding->offset,
                                                         .range = binding->range};
        }
        dispatch->operand_count = source->binding_count;
        memcpy(dispatch->push, source->push, source->push_size);
        dispatch->push_size = source->push_size;
        memcpy(dispatch->groups, source->groups, sizeof dispatch->groups);
        dispatch->bytes = (double)(program->input_bytes + program->output_bytes);
    }
}

/** Operations of a real transform of that many points, by the usual count of 5/2 N log2 N. */
static double fft_flops(double points) {
    return 2.5 * points * log2(points);
}

static weft_status lower_fft(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const struct kept_program *kept = NULL;
    weft_status status = find_program(&kept, lowering->device, x);
    if (status != WEFT_OK) {
        return status;
    }
    uint32_t input = weft_lower_value(lowering, node->input[0]);
    uint32_t spectrum = weft_lower_scratch(lowering, kept->program->output_bytes);
    uint32_t first = lowering->dispatch_count;
    lower_program(lowering, kept, input, spectrum);
    double flops =
        x->dim[0] * fft_flops((double)x->dim[1] * x->dim[2]) / kept->program->dispatch_count;
    for (uint32_t i = first; i < lowering->dispatch_count; i++) {
        lowering->dispatches[i].flops = flops;
    }
    return lower_unfold(
        lowering, node,
        (struct half_spectrum){.storage = spectrum, .columns = x->dim[2] / 2 + 1, .stride = 2});
}

/* ---- the choice ---- */

static bool fft_supports(const weft_graph *graph, const struct weft_node *node,
                         const weft_device_info *device) {
    (void)device;
    return weft_node_shape(graph, node, 0)->dim[2] >
           1; /* one channel leaves no innermost axis to transform */
}

/*
 * The table of design section 4, rule 8. Matrices cost O(n d (n + d)), transforms O(n d log(n d)) and the generation
 * of their kernels; below 64 in both axes the matrices are in the cache and start at once.
 */
static const char *fourier_choose(const weft_graph *graph, const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(graph, node, 0);
    bool small = x->dim[1] <= 64 && x->dim[2] <= 64;
    return small || x->dim[2] == 1 ? "matrix" : "fft";
}

const struct weft_op weft_op_fourier = {
    .name = "fourier",
    .min_inputs = 1,
    .max_inputs = 1,
    .fusable = WEFT_FUSE_RESIDUAL | WEFT_FUSE_NORM,
    .infer = fourier_infer,
    .choose = fourier_choose,
    .implementation = {{.name = "fft", .supports = fft_supports, .lower = lower_fft},
                       {.name = "matrix", .lower = lower_matrix}},
};
