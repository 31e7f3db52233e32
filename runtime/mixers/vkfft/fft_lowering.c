/* SPDX-License-Identifier: MIT */
#include "mixers/vkfft/fft_lowering.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mixers/vkfft/any_batch.h"
#include "ops/copy.h"
#include "spirv/index.h"

/* A program and the name of its kernels, kept with the device. */
struct kept_program {
    struct weft_fft_any_batch any;
    char key[96];
};

static void destroy_program(void *object, const weft_host *host) {
    struct kept_program *kept = object;
    weft_fft_any_batch_clear(&kept->any, host);
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
        weft_fft_any_batch_make(&kept->any, desc, device->cache, &compiled, &device->host);
    if (status != WEFT_OK) {
        destroy_program(kept, &device->host);
        return status;
    }
    device->stats.shaders_compiled += compiled;
    status = weft_device_keep(device, key, kept, destroy_program);
    *out = kept;
    return status;
}

static weft_status find_program(const struct kept_program **out, weft_device *device,
                                const struct weft_fft_desc *desc) {
    static const char *const kinds[] = {"forward", "inverse", "r2c", "c2r"};
    char key[96];
    const int length = snprintf(key, sizeof key, "vkfft/%s %" PRIu32 "x%" PRIu32, kinds[desc->kind],
                                desc->rank == 2 ? desc->size[1] : 1, desc->size[0]);
    if (desc->columns > 0) {
        snprintf(key + length, sizeof key - (size_t)length, " by %" PRIu32 " of %" PRIu32,
                 desc->columns, desc->share);
    }
    *out = weft_device_find_kept(device, key);
    return *out ? WEFT_OK : make_program(out, device, desc, key);
}

static weft_status copy_table(void *user, void *data) {
    const struct weft_fft_table *table = user;
    memcpy(data, table->data, table->size);
    return WEFT_OK;
}

/* Storages of the plan that a program reads and writes. */
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
    char key[128];
    struct weft_fft_table *table = &kept->any.program->tables[binding->table];
    snprintf(key, sizeof key, "%s/table %" PRIu32, kept->key, binding->table);
    return weft_lower_table(lowering, key, table->size, copy_table, table);
}

static void lower_step(struct weft_lowering *lowering, const struct kept_program *kept,
                       const struct weft_fft_dispatch *source,
                       const struct program_storages *storages, double flops, double bytes) {
    uint32_t storage[WEFT_FFT_MAX_BINDINGS];
    for (uint32_t b = 0; b < source->binding_count; b++) {
        storage[b] = storage_of(lowering, kept, &source->binding[b], storages);
    }
    struct weft_dispatch *dispatch = weft_lower_dispatch(lowering);
    dispatch->pipeline.name = kept->key;
    dispatch->pipeline.spirv.words = kept->any.program->modules[source->module].words;
    dispatch->pipeline.spirv.size = kept->any.program->modules[source->module].size;
    for (uint32_t b = 0; b < source->binding_count; b++) {
        const struct weft_fft_binding *binding = &source->binding[b];
        bool written = binding->buffer == WEFT_FFT_OUTPUT || binding->buffer == WEFT_FFT_TEMP;
        dispatch->operand[b] =
            weft_lower_operand(lowering, storage[b], binding->offset, binding->range);
        dispatch->operand[b].write = written;
    }
    dispatch->operand_count = source->binding_count;
    memcpy(dispatch->groups, source->groups, sizeof dispatch->groups);
    dispatch->flops = flops;
    dispatch->bytes = bytes;
}

/* The usual count: 5 N log2 N operations for N complex points, half of that for real ones. */
static double flops_of(const struct weft_fft_desc *desc) {
    bool is_complex = desc->kind == WEFT_FFT_C2C_FORWARD || desc->kind == WEFT_FFT_C2C_INVERSE;
    double elements = (double)desc->size[0] * (desc->rank == 2 ? desc->size[1] : 1);
    double transformed = (desc->transform_axis[0] ? desc->size[0] : 1.0) *
                         (desc->rank == 2 && desc->transform_axis[1] ? desc->size[1] : 1.0);
    return (is_complex ? 5.0 : 2.5) * desc->batch * elements * log2(transformed);
}

/* Bytes of an array. */
static uint64_t row_bytes(const struct weft_fft_desc *desc, bool is_input) {
    const uint64_t count = desc->rank == 2 ? desc->size[1] : 1;
    const bool real = desc->kind == (is_input ? WEFT_FFT_R2C : WEFT_FFT_C2R);
    const bool half = desc->kind == WEFT_FFT_R2C || desc->kind == WEFT_FFT_C2R;
    const uint64_t columns = half ? desc->size[0] / 2 + UINT64_C(1) : desc->size[0];
    return count * (real ? UINT64_C(4) * desc->size[0] : 8 * columns);
}

/* A storage for the arrays of whole workgroups: the given one where it has room for them. */
static uint32_t with_room(struct weft_lowering *lowering, uint32_t storage, uint64_t bytes,
                          uint32_t whole) {
    return lowering->storages[storage].bytes >= bytes * whole
               ? storage
               : weft_lower_scratch(lowering, bytes * whole);
}

static void lower_program(struct weft_lowering *lowering, const struct kept_program *kept,
                          const struct weft_fft_desc *desc, uint32_t batch,
                          struct program_storages *storages) {
    const uint64_t temp_bytes = weft_fft_temp_bytes_of(&kept->any, batch);
    const uint32_t count = kept->any.program->dispatch_count;
    const double bytes = (double)(row_bytes(desc, true) + row_bytes(desc, false)) * batch;
    if (temp_bytes > 0) {
        storages->temporary = weft_lower_scratch(lowering, temp_bytes);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_fft_dispatch step = weft_fft_dispatch_of(&kept->any, i, batch);
        lower_step(lowering, kept, &step, storages, flops_of(desc) / count, bytes);
    }
}

static const struct kept_program *lower_kept(struct weft_lowering *lowering,
                                             const struct weft_fft_desc *desc) {
    const struct kept_program *kept = NULL;
    if (weft_lower_status(lowering) == WEFT_OK) {
        weft_lower_fail(lowering, find_program(&kept, lowering->device, desc));
    }
    return weft_lower_status(lowering) == WEFT_OK ? kept : NULL;
}

static uint32_t whole_batch(const struct kept_program *kept, uint32_t batch) {
    return ((batch - 1) / kept->any.rows + 1) * kept->any.rows;
}

uint32_t weft_lower_fft_room(struct weft_lowering *lowering, const struct weft_fft_desc *desc) {
    const struct kept_program *kept = lower_kept(lowering, desc);
    return kept ? whole_batch(kept, desc->batch) : desc->batch;
}

uint32_t weft_lower_fft_rows(struct weft_lowering *lowering, const struct weft_fft_desc *desc) {
    const struct kept_program *kept = lower_kept(lowering, desc);
    uint32_t size[3] = {1, 1, 1};
    struct weft_spirv_module module;
    if (!kept) {
        return 1;
    }
    const struct weft_fft_module *first = &kept->any.program->modules[0];
    weft_lower_fail(lowering,
                    weft_spirv_read(&module, first->words, first->size, &lowering->device->host));
    if (weft_lower_status(lowering) == WEFT_OK) {
        weft_spirv_local_size(size, &module, NULL, 0);
    }
    weft_spirv_module_free(&module);
    return size[1];
}

void weft_lower_fft(struct weft_lowering *lowering, const struct weft_fft_desc *desc,
                    uint32_t input, uint32_t output) {
    if (weft_lower_status(lowering) != WEFT_OK) {
        return;
    }
    if (desc->batch > weft_lower_most_groups(lowering, 2)) {
        /* A workgroup for each along z, or fewer: before such a program is made, the node is lowered in parts (cut.c). */
        weft_lower_dispatch(lowering)->groups[2] = desc->batch;
        return;
    }
    const struct kept_program *kept = lower_kept(lowering, desc);
    if (!kept) {
        return;
    }
    const uint32_t whole = whole_batch(kept, desc->batch);
    struct program_storages storages = {
        .input = with_room(lowering, input, row_bytes(desc, true), whole),
        .output = with_room(lowering, output, row_bytes(desc, false), whole)};
    if (storages.input != input) {
        weft_lower_copy(lowering, storages.input, input, row_bytes(desc, true) / 4 * desc->batch);
    }
    lower_program(lowering, kept, desc, whole, &storages);
    if (storages.output != output) {
        weft_lower_copy(lowering, output, storages.output,
                        row_bytes(desc, false) / 4 * desc->batch);
    }
}
