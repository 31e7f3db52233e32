/* SPDX-License-Identifier: MIT */
#include "mixers/vkfft/fft_lowering.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A program and the name of its kernels, kept with the device. */
struct kept_program {
    struct weft_fft_program *program;
    char key[96];
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
        weft_fft_program_create(&kept->program, desc, device->cache, &compiled, &device->host);
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
                                const struct weft_fft_desc *desc) {
    static const char *const kinds[] = {"forward", "inverse", "r2c", "c2r"};
    char key[96];
    snprintf(key, sizeof key, "vkfft/%s %" PRIu32 "%sx%" PRIu32 "%s batch %" PRIu32,
             kinds[desc->kind], desc->rank == 2 ? desc->size[1] : 1,
             desc->rank == 2 && !desc->transform_axis[1] ? "-" : "", desc->size[0],
             desc->transform_axis[0] ? "" : "-", desc->batch);
    *out = weft_device_find_kept(device, key);
    return *out ? WEFT_OK : make_program(out, device, desc, key);
}

static weft_status copy_table(void *user, void *data) {
    const struct weft_fft_table *table = user;
    memcpy(data, table->data, table->size);
    return WEFT_OK;
}

/* What a program reads and writes, as storages of the plan. */
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
    struct weft_fft_table *table = &kept->program->tables[binding->table];
    snprintf(key, sizeof key, "%s/table %" PRIu32, kept->key, binding->table);
    return weft_lower_table(lowering, key, table->size, copy_table, table);
}

static void lower_step(struct weft_lowering *lowering, const struct kept_program *kept,
                       const struct weft_fft_dispatch *source,
                       const struct program_storages *storages, double flops) {
    uint32_t storage[WEFT_FFT_MAX_BINDINGS];
    for (uint32_t b = 0; b < source->binding_count; b++) {
        storage[b] = storage_of(lowering, kept, &source->binding[b], storages);
    }
    struct weft_dispatch *dispatch = weft_lower_dispatch(lowering);
    dispatch->pipeline.name = kept->key;
    dispatch->pipeline.spirv.words = kept->program->modules[source->module].words;
    dispatch->pipeline.spirv.size = kept->program->modules[source->module].size;
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
    dispatch->bytes = (double)(kept->program->input_bytes + kept->program->output_bytes);
}

/* The usual count: 5 N log2 N operations for N complex points, half of that for real ones. */
static double flops_of(const struct weft_fft_desc *desc) {
    bool is_complex = desc->kind == WEFT_FFT_C2C_FORWARD || desc->kind == WEFT_FFT_C2C_INVERSE;
    double elements = (double)desc->size[0] * (desc->rank == 2 ? desc->size[1] : 1);
    double transformed = (desc->transform_axis[0] ? desc->size[0] : 1.0) *
                         (desc->rank == 2 && desc->transform_axis[1] ? desc->size[1] : 1.0);
    return (is_complex ? 5.0 : 2.5) * desc->batch * elements * log2(transformed);
}

void weft_lower_fft(struct weft_lowering *lowering, const struct weft_fft_desc *desc,
                    uint32_t input, uint32_t output) {
    const struct kept_program *kept = NULL;
    if (weft_lower_status(lowering) != WEFT_OK) {
        return;
    }
    if (desc->batch > weft_lower_most_groups(lowering, 2)) {
        /* A workgroup for each along z, or fewer: before such a program is made, the node is lowered in parts (cut.c). */
        weft_lower_dispatch(lowering)->groups[2] = desc->batch;
        return;
    }
    weft_status status = find_program(&kept, lowering->device, desc);
    if (status != WEFT_OK) {
        weft_lower_fail(lowering, status);
        return;
    }
    const struct weft_fft_program *program = kept->program;
    struct program_storages storages = {.input = input, .output = output};
    if (program->temp_bytes) {
        storages.temporary = weft_lower_scratch(lowering, program->temp_bytes);
    }
    for (uint32_t i = 0; i < program->dispatch_count; i++) {
        lower_step(lowering, kept, &program->dispatches[i], &storages,
                   flops_of(desc) / program->dispatch_count);
    }
}
