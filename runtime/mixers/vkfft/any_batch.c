/* SPDX-License-Identifier: MIT */
#include "mixers/vkfft/any_batch.h"

#include "core/try.h"
#include "spirv/edit.h"

/* As recorder.c places the second of two temporary buffers. */
#define PLACE_ALIGNMENT 256u

/*
 * A multiple of the rows that a workgroup takes for nearly every length: 128 / 2^k, and 12 and 20, say. Longer arrays have a workgroup
 * each, or several.
 */
#define SHORT_LENGTH 2048u
#define SHORT_BATCH  1920u
#define LEAST_BATCH  2u /* kernels of a single array do not look which it is */

/* ---- what depends on the batch ---- */

/* Arrays of rank 2 are along z, rows along y, or along z where a kernel's workgroups share one. */
static uint32_t batch_axis(const struct weft_fft_dispatch *dispatch, uint32_t batch) {
    return dispatch->groups[2] == batch ? 2 : 1;
}

/* The rows of a workgroup, or 0 where the last one has fewer: *enough is then a batch for which it has not. */
static uint32_t rows_of(const struct weft_fft_program *program, uint32_t batch, uint32_t *enough) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < program->dispatch_count; i++) {
        const struct weft_fft_dispatch *dispatch = &program->dispatches[i];
        const uint32_t groups = dispatch->groups[batch_axis(dispatch, batch)];
        const uint32_t rows = (batch - 1) / groups + 1;
        *enough = rows * groups;
        if (*enough != batch || (rows > 1 && most > 1 && rows != most)) {
            return 0;
        }
        most = rows > most ? rows : most;
    }
    return most;
}

/* ---- buffers without lengths ---- */

/* The type of the array in the buffer that is bound at one of the first two places; null for other variables. */
static const uint32_t *array_of(const struct weft_spirv_module *module, const uint32_t *variable) {
    uint32_t binding = 0;
    if (!weft_spirv_has_decoration(&binding, module, variable[2], SpvDecorationBinding) ||
        binding > 1) {
        return NULL;
    }
    const uint32_t *pointer = weft_spirv_made_by(module, variable[1], SpvOpTypePointer);
    const uint32_t *block =
        pointer ? weft_spirv_made_by(module, pointer[3], SpvOpTypeStruct) : NULL;
    return block ? weft_spirv_made_by(module, block[2], SpvOpTypeArray) : NULL;
}

static weft_status drop_lengths(struct weft_fft_module *module, const weft_host *host) {
    struct weft_spirv_edit edit = {0};
    weft_status status = weft_spirv_edit_begin(&edit, module->words, module->size, host);
    const uint32_t *last = NULL;
    for (const uint32_t *at = edit.module.words ? edit.module.words + WEFT_SPIRV_HEADER_WORDS
                                                : NULL;
         status == WEFT_OK && at < edit.module.words + edit.module.count;
         at = weft_spirv_next(at)) {
        const uint32_t *array =
            weft_spirv_opcode(at[0]) == SpvOpVariable ? array_of(&edit.module, at) : NULL;
        if (array && array != last) {
            weft_spirv_replace(&edit, array);
            WEFT_SPIRV_PUT(&edit, SpvOpTypeRuntimeArray, array[1], array[2]);
            last = array;
        }
    }
    status = status == WEFT_OK ? weft_spirv_apply(&edit) : status;
    if (status == WEFT_OK) {
        weft_free(host, module->words);
        module->words = edit.words;
        module->size = edit.module.count * sizeof *edit.words;
        edit.words = NULL;
    }
    weft_spirv_edit_free(&edit);
    return status;
}

/* ---- making ---- */

weft_status weft_fft_any_batch_make(struct weft_fft_any_batch *made,
                                    const struct weft_fft_desc *desc, struct weft_cache *cache,
                                    uint32_t *compiled, const weft_host *host) {
    struct weft_fft_desc planned = *desc;
    *made = (struct weft_fft_any_batch){0};
    planned.batch = desc->rank == 1 && desc->size[0] < SHORT_LENGTH ? SHORT_BATCH : LEAST_BATCH;
    *compiled = 0;
    for (int attempt = 0; attempt < 2 && made->rows == 0; attempt++) {
        uint32_t more = 0;
        weft_fft_program_destroy(&made->program, host);
        WEFT_TRY(weft_fft_program_create(&made->program, &planned, cache, &more, host));
        *compiled += more;
        made->batch = planned.batch;
        made->rows = rows_of(made->program, planned.batch, &planned.batch);
    }
    if (made->rows == 0 || made->rows > WEFT_FFT_MOST_ROWS) {
        return weft_fail(host, WEFT_UNSUPPORTED, "FFT of %u: VkFFT's workgroups take uneven parts",
                         desc->size[0]);
    }
    for (uint32_t i = 0; i < made->program->module_count; i++) {
        WEFT_TRY(drop_lengths(&made->program->modules[i], host));
    }
    return WEFT_OK;
}

void weft_fft_any_batch_clear(struct weft_fft_any_batch *made, const weft_host *host) {
    if (made->program) {
        weft_fft_program_destroy(&made->program, host);
    }
}

/* ---- for a batch ---- */

static uint64_t scaled(const struct weft_fft_any_batch *any, uint64_t bytes, uint32_t batch) {
    return bytes / any->batch * batch;
}

/* Start of temporary memory that does not begin at 0: after the part that does. */
static uint64_t second_place(const struct weft_fft_any_batch *any, uint32_t batch) {
    uint64_t first = 0;
    for (uint32_t i = 0; i < any->program->dispatch_count; i++) {
        const struct weft_fft_dispatch *dispatch = &any->program->dispatches[i];
        for (uint32_t b = 0; b < dispatch->binding_count; b++) {
            const struct weft_fft_binding *binding = &dispatch->binding[b];
            const bool counts = binding->buffer == WEFT_FFT_TEMP && binding->offset == 0;
            first = counts && binding->range > first ? binding->range : first;
        }
    }
    return (scaled(any, first, batch) + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
}

struct weft_fft_dispatch weft_fft_dispatch_of(const struct weft_fft_any_batch *any, uint32_t index,
                                              uint32_t batch) {
    struct weft_fft_dispatch dispatch = any->program->dispatches[index];
    uint32_t *groups = &dispatch.groups[batch_axis(&dispatch, any->batch)];
    *groups = batch / (any->batch / *groups);
    for (uint32_t b = 0; b < dispatch.binding_count; b++) {
        struct weft_fft_binding *binding = &dispatch.binding[b];
        if (binding->buffer != WEFT_FFT_TABLE) {
            binding->offset = binding->offset > 0 ? second_place(any, batch) : 0;
            binding->range = scaled(any, binding->range, batch);
        }
    }
    return dispatch;
}

uint64_t weft_fft_temp_bytes_of(const struct weft_fft_any_batch *any, uint32_t batch) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; any->program->temp_bytes > 0 && i < any->program->dispatch_count; i++) {
        const struct weft_fft_dispatch dispatch = weft_fft_dispatch_of(any, i, batch);
        for (uint32_t b = 0; b < dispatch.binding_count; b++) {
            const struct weft_fft_binding *binding = &dispatch.binding[b];
            const uint64_t end = binding->offset + binding->range;
            bytes = binding->buffer == WEFT_FFT_TEMP && end > bytes ? end : bytes;
        }
    }
    return bytes;
}
