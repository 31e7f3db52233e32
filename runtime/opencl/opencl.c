/* SPDX-License-Identifier: MIT */
#include "opencl/opencl.h"

#include "core/math/float_state.h"
#include "native/memory.h"
#include "opencl/state.h"

weft_status weft_cl_fail(const weft_host *host, const char *function, cl_int error) {
    char text[24];
    const weft_status status = error == CL_OUT_OF_HOST_MEMORY ? WEFT_OUT_OF_HOST_MEMORY
                               : error == CL_MEM_OBJECT_ALLOCATION_FAILURE
                                   ? WEFT_OUT_OF_DEVICE_MEMORY
                                   : WEFT_DEVICE_LOST;
    return weft_fail(host, status, "%s: %s", function, weft_cl_error_name(error, text));
}

/* ---- from start to end ---- */

static void release(struct weft_cl_state *state) {
    if (state->queue) {
        (void)state->cl->ReleaseCommandQueue(state->queue);
    }
    if (state->context) {
        (void)state->cl->ReleaseContext(state->context);
    }
    weft_soft_delete(state->device, state);
}

static cl_int make_queue(struct weft_cl_state *state, const struct weft_cl_device *found,
                         const char **function) {
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)found->platform, 0};
    cl_int error = CL_SUCCESS;
    *function = "clCreateContext";
    state->context = state->cl->CreateContext(properties, 1, &found->id, NULL, NULL, &error);
    if (error == CL_SUCCESS) {
        *function = "clCreateCommandQueue";
        state->queue = state->cl->CreateCommandQueue(state->context, found->id,
                                                     CL_QUEUE_PROFILING_ENABLE, &error);
    }
    return error;
}

static cl_int keep_queue(struct weft_cl_state *state, const struct weft_cl_device *found,
                         const char **function) {
    *function = "clRetainContext";
    const cl_int error = state->cl->RetainContext(found->context);
    if (error != CL_SUCCESS) {
        return error;
    }
    state->context = found->context;
    *function = "clRetainCommandQueue";
    const cl_int kept = state->cl->RetainCommandQueue(found->queue);
    state->queue = kept == CL_SUCCESS ? found->queue : NULL;
    return kept;
}

static VkResult open_device(void **state, struct weft_soft_device *device, void *user) {
    WEFT_ENTER; /* threads of drivers inherit it, and who opens a device for reproducible math flushes subnormals here */
    const struct weft_cl_device *found = user;
    const char *function = NULL;
    struct weft_cl_state *made = weft_soft_new(device, sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *made = (struct weft_cl_state){.cl = found->cl,
                                   .id = found->id,
                                   .device = device,
                                   .builds_alone = weft_cl_builds_alone(found)};
    const cl_int error =
        found->queue ? keep_queue(made, found, &function) : make_queue(made, found, &function);
    if (error != CL_SUCCESS) {
        (void)weft_cl_fail(&device->host, function, error);
        release(made);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    *state = made;
    return VK_SUCCESS;
}

static void close_device(void *state) {
    release(state);
}

/* ---- memory ---- */

static VkResult allocate(struct weft_soft_memory *memory, void *untyped) {
    const struct weft_cl_state *state = untyped;
    cl_int error = CL_SUCCESS;
    if (memory->for_host) {
        memory->bytes = weft_native_bytes_allocate((size_t)memory->size);
        return memory->bytes ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    memory->own = state->cl->CreateBuffer(state->context, CL_MEM_READ_WRITE, (size_t)memory->size,
                                          NULL, &error);
    return memory->own ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void free_memory(struct weft_soft_memory *memory, void *untyped) {
    const struct weft_cl_state *state = untyped;
    if (memory->for_host) {
        weft_native_bytes_free(memory->bytes);
    } else {
        (void)state->cl->ReleaseMemObject(memory->own);
    }
}

/* Returns null for the device's memory: the host maps only memory of the other type, which has bytes. */
static uint8_t *map(struct weft_soft_memory *memory, void *state) {
    (void)state;
    return memory->bytes;
}

const struct weft_soft_backend weft_opencl_backend = {
    .driver = WEFT_OPENCL_DRIVER_NAME,
    .describe = weft_cl_describe,
    .open = open_device,
    .close = close_device,
    .allocate = allocate,
    .free = free_memory,
    .map = map,
    .compile = weft_cl_compile,
    .load = weft_cl_load,
    .unload = weft_cl_unload,
    .run = weft_cl_run,
};
