/* SPDX-License-Identifier: MIT */
#include "mixers/vkfft/recorder.h"

#include <stdalign.h>

#include "mixers/vkfft/recorder_object.h"

/* Offsets of storage buffers are multiples of minStorageBufferOffsetAlignment, which is at most
 * 256. */
#define PLACE_ALIGNMENT 256u

struct weft_fft_block {
    struct weft_fft_block *next, *previous;
    alignas(max_align_t) unsigned char bytes[];
};

void weft_fft_recorder_fail(struct weft_fft_recorder *recorder, const char *reason) {
    if (!recorder->failure) {
        recorder->failure = reason;
    }
}

void weft_fft_recorder_out_of_memory(struct weft_fft_recorder *recorder) {
    recorder->out_of_memory = true;
    if (recorder->escape) {
        longjmp(*recorder->escape, 1);
    }
}

struct weft_fft_object *weft_fft_object_new(struct weft_fft_recorder *recorder,
                                            enum weft_fft_object_kind kind) {
    struct weft_fft_object *object = weft_alloc_zero(recorder->host, 1, sizeof *object);
    if (!object) {
        weft_fft_recorder_out_of_memory(recorder);
        return NULL;
    }
    object->kind = kind;
    object->next = recorder->objects;
    if (recorder->objects) {
        recorder->objects->previous = object;
    }
    recorder->objects = object;
    return object;
}

void weft_fft_object_delete(struct weft_fft_recorder *recorder, struct weft_fft_object *object) {
    if (!object) {
        return;
    }
    if (object->previous) {
        object->previous->next = object->next;
    } else {
        recorder->objects = object->next;
    }
    if (object->next) {
        object->next->previous = object->previous;
    }
    weft_free(recorder->host, object->data);
    weft_free(recorder->host, object);
}

void weft_fft_recorder_init(struct weft_fft_recorder *recorder, const weft_host *host) {
    *recorder = (struct weft_fft_recorder){.host = host};
}

void weft_fft_recorder_finish(struct weft_fft_recorder *recorder) {
    const weft_host *host = recorder->host;
    while (recorder->objects) {
        weft_fft_object_delete(recorder, recorder->objects);
    }
    while (recorder->blocks) {
        weft_fft_free(recorder, recorder->blocks->bytes);
    }
    for (uint32_t i = 0; i < recorder->module_count; i++) {
        weft_free(host, recorder->modules[i].words);
    }
    for (uint32_t i = 0; i < recorder->table_count; i++) {
        weft_free(host, recorder->tables[i].data);
    }
    weft_free(host, recorder->modules);
    weft_free(host, recorder->tables);
    weft_free(host, recorder->table_owners);
    weft_free(host, recorder->dispatches);
    weft_fft_recorder_init(recorder, host);
}

VkBuffer weft_fft_recorder_buffer(struct weft_fft_recorder *recorder, enum weft_fft_role role,
                                  uint64_t size) {
    struct weft_fft_object *object = weft_fft_object_new(recorder, WEFT_FFT_OBJECT_BUFFER);
    if (object) {
        object->role = role;
        object->size = size;
    }
    return WEFT_FFT_HANDLE(VkBuffer, object);
}

void weft_fft_recorder_set_role(VkBuffer buffer, enum weft_fft_role role) {
    WEFT_FFT_OBJECT(buffer)->role = role;
}

/* ---- memory of VkFFT's own ---- */

static struct weft_fft_block *block_of(void *pointer) {
    return (struct weft_fft_block *)(void *)((unsigned char *)pointer -
                                             offsetof(struct weft_fft_block, bytes));
}

/* Zeros: VkFFT uploads a table of 4 bytes that it never writes, and programs are to be the same each time. */
void *weft_fft_malloc(struct weft_fft_recorder *recorder, size_t size) {
    struct weft_fft_block *block = NULL;
    if (size <= SIZE_MAX - sizeof *block) {
        block = weft_alloc_zero(recorder->host, 1, sizeof *block + size);
    }
    if (!block) {
        weft_fft_recorder_out_of_memory(recorder);
        return NULL;
    }
    block->previous = NULL;
    block->next = recorder->blocks;
    if (recorder->blocks) {
        recorder->blocks->previous = block;
    }
    recorder->blocks = block;
    return block->bytes;
}

void *weft_fft_calloc(struct weft_fft_recorder *recorder, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size) {
        weft_fft_recorder_out_of_memory(recorder);
        return NULL;
    }
    return weft_fft_malloc(recorder, count * size);
}

void weft_fft_free(struct weft_fft_recorder *recorder, void *pointer) {
    if (!pointer) {
        return;
    }
    struct weft_fft_block *block = block_of(pointer);
    if (block->previous) {
        block->previous->next = block->next;
    } else {
        recorder->blocks = block->next;
    }
    if (block->next) {
        block->next->previous = block->previous;
    }
    weft_free(recorder->host, block);
}

/* ---- the program ---- */

/* VkFFT binds what a kernel reads at 0, what it writes at 1, and tables behind. */
#define READ_BINDING  0
#define WRITE_BINDING 1

static void check_dispatches(struct weft_fft_recorder *recorder) {
    if (recorder->dispatch_count == 0) {
        weft_fft_recorder_fail(recorder, "nothing was dispatched");
    }
    for (uint32_t i = 0; i < recorder->dispatch_count; i++) {
        const struct weft_fft_dispatch *dispatch = &recorder->dispatches[i];
        for (uint32_t b = 0; b < dispatch->binding_count; b++) {
            enum weft_fft_buffer buffer = dispatch->binding[b].buffer;
            if ((b != READ_BINDING && buffer == WEFT_FFT_INPUT) ||
                (b > WRITE_BINDING) != (buffer == WEFT_FFT_TABLE)) {
                weft_fft_recorder_fail(recorder,
                                       "a kernel binds a buffer where it does not belong");
            }
        }
        if (dispatch->binding_count <= WRITE_BINDING) {
            weft_fft_recorder_fail(recorder, "a kernel has too few bindings");
        }
    }
}

/* Puts the temporary buffer and the work buffer, as far as used, one behind the other. */
static uint64_t place_temporaries(struct weft_fft_recorder *recorder) {
    uint64_t size[2] = {0, 0};
    for (uint32_t i = 0; i < recorder->dispatch_count; i++) {
        for (uint32_t b = 0; b < recorder->dispatches[i].binding_count; b++) {
            const struct weft_fft_binding *binding = &recorder->dispatches[i].binding[b];
            uint64_t end = binding->offset + binding->range;
            if (binding->buffer == WEFT_FFT_TEMP && end > size[binding->table]) {
                size[binding->table] = end;
            }
        }
    }
    uint64_t second = (size[0] + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
    for (uint32_t i = 0; i < recorder->dispatch_count; i++) {
        for (uint32_t b = 0; b < recorder->dispatches[i].binding_count; b++) {
            struct weft_fft_binding *binding = &recorder->dispatches[i].binding[b];
            if (binding->buffer == WEFT_FFT_TEMP) {
                binding->offset += binding->table == 0 ? 0 : second;
                binding->table = 0;
            }
        }
    }
    return size[1] == 0 ? size[0] : second + size[1];
}

/* VkFFT also compiles kernels for axes that are left alone. */
static void drop_unused_modules(struct weft_fft_recorder *recorder) {
    uint32_t kept = 0;
    for (uint32_t m = 0; m < recorder->module_count; m++) {
        bool used = false;
        for (uint32_t i = 0; i < recorder->dispatch_count; i++) {
            if (recorder->dispatches[i].module == m) {
                recorder->dispatches[i].module = kept;
                used = true;
            }
        }
        if (used) {
            recorder->modules[kept++] = recorder->modules[m];
        } else {
            weft_free(recorder->host, recorder->modules[m].words);
        }
    }
    recorder->module_count = kept;
}

weft_status weft_fft_recorder_take(struct weft_fft_recorder *recorder,
                                   struct weft_fft_program *program) {
    if (recorder->out_of_memory) {
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    check_dispatches(recorder);
    if (recorder->failure) {
        return WEFT_UNSUPPORTED;
    }
    drop_unused_modules(recorder);
    program->temp_bytes = place_temporaries(recorder);
    program->module_count = recorder->module_count;
    program->modules = recorder->modules;
    program->table_count = recorder->table_count;
    program->tables = recorder->tables;
    program->dispatch_count = recorder->dispatch_count;
    program->dispatches = recorder->dispatches;
    recorder->module_count = 0;
    recorder->modules = NULL;
    recorder->table_count = 0;
    recorder->tables = NULL;
    recorder->dispatch_count = 0;
    recorder->dispatches = NULL;
    return WEFT_OK;
}
