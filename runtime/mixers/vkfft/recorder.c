/* SPDX-License-Identifier: MIT */
#include "mixers/vkfft/recorder.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "device/instance.h"
#include "device/software.h"
#include "softvk/memory.h"
#include "softvk/stream.h"

/* Offsets of storage buffers are multiples of minStorageBufferOffsetAlignment, which is at most
 * 256. */
#define PLACE_ALIGNMENT 256u

/* Remembers the first thing that VkFFT asked for in vain. */
static void fail(struct weft_fft_recorder *recorder, const char *reason) {
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

static bool grow(struct weft_fft_recorder *recorder, void *array_address, uint32_t count,
                 uint32_t *capacity, size_t element_size) {
    if (weft_grow(recorder->host, array_address, count, capacity, element_size)) {
        return true;
    }
    weft_fft_recorder_out_of_memory(recorder);
    return false;
}

/* A copy in the memory of the program, null when memory is out. */
static void *copy_of(struct weft_fft_recorder *recorder, const void *bytes, size_t size) {
    void *copy = weft_alloc(recorder->host, size);
    if (!copy) {
        weft_fft_recorder_out_of_memory(recorder);
        return NULL;
    }
    memcpy(copy, bytes, size);
    return copy;
}

/* ---- memory of VkFFT's own, and of the device's ---- */

struct weft_fft_block {
    struct weft_fft_block *next, *previous;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

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
    block->size = size;
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

/* weft_host::reallocate */
static void *reallocate(void *user, void *pointer, size_t size) {
    void *moved = size > 0 ? weft_fft_malloc(user, size) : NULL;
    if (size > 0 && !moved) {
        return NULL;
    }
    if (moved && pointer) {
        const size_t before = block_of(pointer)->size;
        memcpy(moved, pointer, before < size ? before : size);
    }
    weft_fft_free(user, pointer);
    return moved;
}

/* ---- the device ---- */

static void describe(struct weft_soft_properties *properties, void *user) {
    VkPhysicalDeviceLimits *limits = &properties->limits;
    const struct weft_fft_recorder *recorder = user;
    const uint32_t invocations = recorder->share * WEFT_FFT_MAX_INVOCATIONS;
    properties->memory = UINT64_MAX;
    properties->buffer_alignment = sizeof(float);
    properties->immediate = true;
    limits->maxStorageBufferRange = UINT32_MAX;
    limits->maxComputeSharedMemorySize = recorder->share * WEFT_FFT_SHARED_BYTES;
    limits->maxComputeWorkGroupInvocations = invocations;
    limits->maxComputeWorkGroupSize[0] = invocations;
    limits->maxComputeWorkGroupSize[1] = invocations;
    limits->maxComputeWorkGroupSize[2] = WEFT_FFT_MAX_LOCAL_SIZE_Z;
    for (int i = 0; i < 3; i++) {
        limits->maxComputeWorkGroupCount[i] = WEFT_FFT_NO_LIMIT;
    }
}

static VkResult open_device(void **state, struct weft_soft_device *device, void *user) {
    (void)device;
    *state = user;
    return VK_SUCCESS;
}

static void close_device(void *state) {
    (void)state;
}

/* Input, output and temporary buffer are never touched, so bytes appear on first use only. */
static VkResult allocate(struct weft_soft_memory *memory, void *state) {
    (void)memory;
    (void)state;
    return VK_SUCCESS;
}

static void free_memory(struct weft_soft_memory *memory, void *state) {
    weft_fft_free(state, memory->own);
}

static uint8_t *map(struct weft_soft_memory *memory, void *state) {
    if (!memory->own) {
        memory->own = weft_fft_malloc(state, (size_t)memory->size);
    }
    return memory->own;
}

static uint8_t *bytes_of(struct weft_fft_recorder *recorder, const struct weft_soft_range *range) {
    struct weft_soft_memory *memory = (struct weft_soft_memory *)(uintptr_t)range->memory;
    if (!memory || range->offset > memory->size || range->size > memory->size - range->offset) {
        fail(recorder, "a command accesses memory beyond its end");
        return NULL;
    }
    uint8_t *bytes = map(memory, recorder);
    return bytes ? bytes + range->offset : NULL;
}

static weft_status compile(struct weft_soft_object *object, const struct weft_soft_source *source,
                           void *state, const weft_host *host) {
    if (source->constants || strcmp(source->entry_point, "main") != 0) {
        fail(state, "a pipeline has specialization constants or an entry point other than main");
        return WEFT_UNSUPPORTED;
    }
    object->bytes = weft_alloc(host, source->size);
    if (!object->bytes) {
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    memcpy(object->bytes, source->words, source->size);
    object->size = source->size;
    return WEFT_OK;
}

/* A kernel's own is the number of its module. */
static weft_status load(struct weft_soft_kernel *kernel, const uint8_t *bytes, size_t size,
                        void *state, const weft_host *host) {
    struct weft_fft_recorder *recorder = state;
    (void)host;
    uint32_t *words = grow(recorder, &recorder->modules, recorder->module_count,
                           &recorder->module_capacity, sizeof *recorder->modules)
                          ? copy_of(recorder, bytes, size)
                          : NULL;
    if (!words) {
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    kernel->own = (void *)(uintptr_t)recorder->module_count;
    recorder->modules[recorder->module_count++] =
        (struct weft_fft_module){.words = words, .size = size};
    recorder->compiled++;
    return WEFT_OK;
}

static void unload(struct weft_soft_kernel *kernel, void *state) {
    (void)kernel;
    (void)state;
}

/* ---- running: copies are made, and dispatches are noted ---- */

static void copy(struct weft_fft_recorder *recorder, const struct weft_soft_copy_record *record) {
    const uint8_t *from = bytes_of(recorder, &record->from);
    uint8_t *to = bytes_of(recorder, &record->to);
    if (from && to) {
        memmove(to, from, (size_t)record->from.size);
    }
}

/* The table that holds a buffer's bytes, made on first use: VkFFT has filled it by the time it
   dispatches. */
static bool table_of(struct weft_fft_recorder *recorder, const struct weft_soft_memory *memory,
                     uint32_t *index) {
    const struct weft_soft_range whole = {.memory = memory, .size = memory->size};
    for (*index = 0; *index < recorder->table_count; ++*index) {
        if (recorder->table_owners[*index] == memory) {
            return true;
        }
    }
    const uint8_t *bytes = bytes_of(recorder, &whole);
    if (!bytes ||
        !grow(recorder, &recorder->tables, recorder->table_count, &recorder->table_capacity,
              sizeof *recorder->tables) ||
        !grow(recorder, &recorder->table_owners, recorder->table_count, &recorder->owner_capacity,
              sizeof *recorder->table_owners)) {
        return false;
    }
    uint8_t *data = copy_of(recorder, bytes, (size_t)memory->size);
    if (!data) {
        return false;
    }
    recorder->tables[*index] = (struct weft_fft_table){.data = data, .size = (size_t)memory->size};
    recorder->table_owners[*index] = memory;
    recorder->table_count++;
    return true;
}

/* While recording, `table` of a temporary binding says which: 0 VkFFT's temporary buffer, 1 the
   work buffer. */
static bool resolve(struct weft_fft_recorder *recorder, struct weft_fft_binding *binding,
                    const struct weft_soft_range *range) {
    static const enum weft_fft_buffer buffers[WEFT_FFT_ROLE_COUNT] = {
        WEFT_FFT_INPUT, WEFT_FFT_OUTPUT, WEFT_FFT_TEMP, WEFT_FFT_TEMP};
    uint32_t role = 0;
    if (range->size == 0 || range->size == UINT32_MAX) { /* the most that a device may bind */
        fail(recorder, "a kernel's binding is empty or reaches beyond its buffer");
        return false;
    }
    *binding = (struct weft_fft_binding){.offset = range->offset, .range = range->size};
    while (role < WEFT_FFT_ROLE_COUNT && recorder->roles[role] != range->memory) {
        role++;
    }
    if (role == WEFT_FFT_ROLE_COUNT) {
        binding->buffer = WEFT_FFT_TABLE;
        return table_of(recorder, range->memory, &binding->table);
    }
    binding->buffer = buffers[role];
    binding->table = role == WEFT_FFT_ROLE_WORK;
    return true;
}

static void dispatch(struct weft_fft_recorder *recorder,
                     const struct weft_soft_dispatch_record *record) {
    const struct weft_soft_range *ranges = weft_soft_dispatch_ranges(record);
    struct weft_fft_dispatch made = {.module = (uint32_t)(uintptr_t)record->kernel->own};
    for (int i = 0; i < 3; i++) {
        made.groups[i] = record->groups[i];
        if (record->groups[i] > WEFT_FFT_MAX_GROUPS) {
            fail(recorder, "a kernel needs more workgroups than a dispatch may have");
            return;
        }
    }
    /* Only kernels that are split, or take offsets when launched, have push constants. */
    if (record->kernel->push_size > 0 || record->kernel->binding_count > WEFT_FFT_MAX_BINDINGS) {
        fail(recorder, "a kernel has push constants, or binds more than a few storage buffers");
        return;
    }
    while (made.binding_count < record->kernel->binding_count &&
           ranges[made.binding_count].memory) {
        if (!resolve(recorder, &made.binding[made.binding_count], &ranges[made.binding_count])) {
            return;
        }
        made.binding_count++;
    }
    if (grow(recorder, &recorder->dispatches, recorder->dispatch_count,
             &recorder->dispatch_capacity, sizeof *recorder->dispatches)) {
        recorder->dispatches[recorder->dispatch_count++] = made;
    }
}

static void run(const struct weft_soft_stream *stream, struct weft_watch *watch, void *state) {
    struct weft_soft_record *record = NULL;
    (void)watch;
    while ((record = weft_soft_stream_next(stream, record))) {
        if (record->command == WEFT_SOFT_DISPATCH) {
            dispatch(state, (const void *)(record + 1));
        } else if (record->command == WEFT_SOFT_COPY) {
            copy(state, (const void *)(record + 1));
        } else if (record->command != WEFT_SOFT_BARRIER) {
            fail(state, "a command is neither a dispatch nor a copy");
        }
    }
}

static const struct weft_soft_backend backend = {
    .driver = "a recorder",
    .describe = describe,
    .open = open_device,
    .close = close_device,
    .allocate = allocate,
    .free = free_memory,
    .map = map,
    .compile = compile,
    .load = load,
    .unload = unload,
    .run = run,
};

/* ---- from start to end ---- */

static weft_status make_device(struct weft_fft_recorder *recorder) {
    static const struct weft_software software = {.backend = &backend};
    const struct weft_vk_instance *instance = &recorder->instance;
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct weft_vk_device *vk = &recorder->vk;
    uint32_t count = 1;
    WEFT_TRY(
        weft_instance_create_software(&recorder->instance, &software, recorder, &recorder->own));
    if (instance->EnumeratePhysicalDevices(instance->handle, &count, &recorder->physical) !=
            VK_SUCCESS ||
        instance->CreateDevice(recorder->physical, &info, NULL, &vk->handle) != VK_SUCCESS) {
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    WEFT_TRY(weft_vk_load_device(vk, instance, &recorder->own));
    vk->GetDeviceQueue(vk->handle, 0, 0, &recorder->queue);
    return vk->CreateCommandPool(vk->handle, &pool, NULL, &recorder->pool) == VK_SUCCESS &&
                   vk->CreateFence(vk->handle, &fence, NULL, &recorder->fence) == VK_SUCCESS
               ? WEFT_OK
               : WEFT_OUT_OF_HOST_MEMORY;
}

weft_status weft_fft_recorder_init(struct weft_fft_recorder *recorder, uint32_t share,
                                   const weft_host *host) {
    *recorder =
        (struct weft_fft_recorder){.host = host,
                                   .share = share,
                                   .own = {.reallocate = reallocate, .allocator_user = recorder}};
    return make_device(recorder);
}

void weft_fft_recorder_finish(struct weft_fft_recorder *recorder) {
    const weft_host *host = recorder->host;
    recorder->escape = NULL;
    if (recorder->vk.handle && recorder->vk.DestroyDevice) {
        recorder->vk.DestroyDevice(recorder->vk.handle, NULL);
    }
    weft_instance_destroy(&recorder->instance, VK_NULL_HANDLE);
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
    *recorder = (struct weft_fft_recorder){.host = host};
}

void weft_fft_recorder_set_role(struct weft_fft_recorder *recorder, VkBuffer buffer,
                                enum weft_fft_role role) {
    recorder->roles[role] = weft_soft_buffer_of(buffer)->memory;
}

VkBuffer weft_fft_recorder_buffer(struct weft_fft_recorder *recorder, enum weft_fft_role role,
                                  uint64_t size) {
    const struct weft_vk_device *vk = &recorder->vk;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size};
    const VkMemoryAllocateInfo allocate_info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                                .allocationSize = size};
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    if (vk->CreateBuffer(vk->handle, &info, NULL, &buffer) != VK_SUCCESS ||
        vk->AllocateMemory(vk->handle, &allocate_info, NULL, &memory) != VK_SUCCESS) {
        return VK_NULL_HANDLE;
    }
    (void)vk->BindBufferMemory(vk->handle, buffer, memory, 0);
    weft_fft_recorder_set_role(recorder, buffer, role);
    return buffer;
}

VkCommandBuffer weft_fft_recorder_begin(struct weft_fft_recorder *recorder) {
    const struct weft_vk_device *vk = &recorder->vk;
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = recorder->pool,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    return vk->AllocateCommandBuffers(vk->handle, &info, &commands) == VK_SUCCESS &&
                   vk->BeginCommandBuffer(commands, &begin) == VK_SUCCESS
               ? commands
               : VK_NULL_HANDLE;
}

bool weft_fft_recorder_run(struct weft_fft_recorder *recorder, VkCommandBuffer commands) {
    const struct weft_vk_device *vk = &recorder->vk;
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    return vk->EndCommandBuffer(commands) == VK_SUCCESS &&
           vk->QueueSubmit(recorder->queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS;
}

/* ---- the program ---- */

/* VkFFT binds what a kernel reads at 0, what it writes at 1, and tables behind. */
#define READ_BINDING  0
#define WRITE_BINDING 1

static void check_dispatches(struct weft_fft_recorder *recorder) {
    if (recorder->dispatch_count == 0) {
        fail(recorder, "nothing was dispatched");
    }
    for (uint32_t i = 0; i < recorder->dispatch_count; i++) {
        const struct weft_fft_dispatch *dispatch = &recorder->dispatches[i];
        for (uint32_t b = 0; b < dispatch->binding_count; b++) {
            enum weft_fft_buffer buffer = dispatch->binding[b].buffer;
            if ((b != READ_BINDING && buffer == WEFT_FFT_INPUT) ||
                (b > WRITE_BINDING) != (buffer == WEFT_FFT_TABLE)) {
                fail(recorder, "a kernel binds a buffer in the wrong place");
            }
        }
        if (dispatch->binding_count <= WRITE_BINDING) {
            fail(recorder, "a kernel has too few bindings");
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
