/* SPDX-License-Identifier: MIT */
/* What the device is, its context, its queue and its memory. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

pthread_mutex_t amd_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_set_to(const char *variable, const char *value) {
    const char *text = getenv(variable);
    return text && strcmp(text, value) == 0;
}

const struct amd_gpu *amd_driver_gpu(void) {
    const char *name = getenv("WEFT_AMD_GPU");
    return amd_gpu_find(name ? name : "gfx1030");
}

bool amd_driver_breaks(const char *rule) {
    return is_set_to("WEFT_AMD_BREAK", rule);
}

/* ---- platform and device ---- */

STAND_IN_PUBLIC cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count) {
    if (platforms && room > 0) {
        platforms[0] = STAND_IN_HANDLE(cl_platform_id);
    }
    if (count) {
        *count = 1;
    }
    return CL_SUCCESS;
}

STAND_IN_PUBLIC cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what,
                                         size_t room, void *out, size_t *needed) {
    (void)platform;
    return stand_in_give_text(what == CL_PLATFORM_NAME ? "Weft's tests" : "OpenCL 1.2 emulated",
                              room, out, needed);
}

STAND_IN_PUBLIC cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                                      cl_device_id *devices, cl_uint *count) {
    (void)platform;
    (void)type;
    if (!amd_driver_gpu()) {
        (void)fprintf(stderr, "WEFT_AMD_GPU names no GPU that is emulated\n");
        return CL_DEVICE_NOT_FOUND;
    }
    if (devices && room > 0) {
        devices[0] = STAND_IN_HANDLE(cl_device_id);
    }
    if (count) {
        *count = 1;
    }
    return CL_SUCCESS;
}

static cl_int give_name(size_t room, void *out, size_t *needed) {
    char name[64];
    (void)snprintf(name, sizeof name, "emulated %s (tests only)", amd_driver_gpu()->name);
    return stand_in_give_text(name, room, out, needed);
}

/* What is kept on disk is of this version: it names what changes code. */
static cl_int give_version(size_t room, void *out, size_t *needed) {
    const char *broken = getenv("WEFT_AMD_BREAK");
    char version[128];
    (void)snprintf(version, sizeof version, "%s%s%s", WEFT_AMD_VERSION, broken ? ", without " : "",
                   broken ? broken : "");
    return stand_in_give_text(version, room, out, needed);
}

STAND_IN_PUBLIC cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room,
                                       void *out, size_t *needed) {
    static const size_t sizes[3] = {1024, 1024, 1024};
    (void)device;
    switch (what) {
    case CL_DEVICE_NAME:
        return give_name(room, out, needed);
    case CL_DEVICE_VENDOR:
        return stand_in_give_text("AMD, emulated", room, out, needed);
    case CL_DEVICE_VERSION:
        return stand_in_give_text("OpenCL 1.2 emulated", room, out, needed);
    case CL_DRIVER_VERSION:
        return give_version(room, out, needed);
    case CL_DEVICE_TYPE:
        return stand_in_give_number(CL_DEVICE_TYPE_GPU, sizeof(cl_device_type), room, out, needed);
    case CL_DEVICE_VENDOR_ID:
        return stand_in_give_number(0x1002, sizeof(cl_uint), room, out, needed);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return stand_in_give(sizes, sizeof sizes, room, out, needed);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return stand_in_give_number(1024, sizeof(size_t), room, out, needed);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return stand_in_give_number(AMD_LDS_BYTES, sizeof(cl_ulong), room, out, needed);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return stand_in_give_number(UINT64_C(1) << 32, sizeof(cl_ulong), room, out, needed);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        return stand_in_give_number(3, sizeof(cl_uint), room, out, needed);
    case CL_DEVICE_LOCAL_MEM_TYPE:
        return stand_in_give_number(CL_LOCAL, sizeof(cl_uint), room, out, needed);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return stand_in_give_number(CL_FALSE, sizeof(cl_bool), room, out, needed);
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
        return stand_in_give_number(CL_TRUE, sizeof(cl_bool), room, out, needed);
    default:
        return CL_INVALID_VALUE;
    }
}

/* Of a marker, nobody knows the time any more: Weft asks when all is done, and takes its own clock. */
STAND_IN_PUBLIC cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room,
                                               void *out, size_t *needed) {
    (void)event;
    (void)what;
    (void)room;
    (void)out;
    (void)needed;
    return CL_PROFILING_INFO_NOT_AVAILABLE;
}

/* ---- memory ---- */

STAND_IN_PUBLIC cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size,
                                      void *host, cl_int *error) {
    cl_mem made = calloc(1, sizeof *made);
    (void)context;
    if (made) {
        *made = (struct _cl_mem){.references = 1, .bytes = calloc(1, size + 1), .size = size};
    }
    if (host || (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0 || size == 0) {
        *error = CL_INVALID_VALUE;
    } else {
        *error = made && made->bytes ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    if (*error != CL_SUCCESS && made) {
        free(made->bytes);
        free(made);
        made = NULL;
    }
    return made;
}

STAND_IN_PUBLIC cl_int clReleaseMemObject(cl_mem memory) {
    pthread_mutex_lock(&amd_lock);
    const bool is_last = --memory->references == 0;
    pthread_mutex_unlock(&amd_lock);
    if (is_last) {
        free(memory->bytes);
        free(memory);
    }
    return CL_SUCCESS;
}

STAND_IN_PUBLIC cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t room, void *out,
                                          size_t *needed) {
    return what == CL_MEM_SIZE
               ? stand_in_give_number(memory->size, sizeof(size_t), room, out, needed)
               : CL_INVALID_VALUE;
}

static bool has(const struct _cl_mem *memory, size_t offset, size_t size) {
    return offset <= memory->size && size <= memory->size - offset;
}

STAND_IN_PUBLIC cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                           size_t offset, size_t size, void *out, cl_uint count,
                                           const cl_event *waits, cl_event *event) {
    (void)queue;
    (void)blocks;
    (void)count;
    (void)waits;
    if (!has(memory, offset, size)) {
        return CL_INVALID_VALUE;
    }
    memcpy(out, memory->bytes + offset, size);
    return stand_in_done(event);
}

STAND_IN_PUBLIC cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                            size_t offset, size_t size, const void *data,
                                            cl_uint count, const cl_event *waits, cl_event *event) {
    (void)queue;
    (void)blocks;
    (void)count;
    (void)waits;
    if (!has(memory, offset, size)) {
        return CL_INVALID_VALUE;
    }
    memcpy(memory->bytes + offset, data, size);
    return stand_in_done(event);
}

STAND_IN_PUBLIC cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                           size_t from_at, size_t to_at, size_t size, cl_uint count,
                                           const cl_event *waits, cl_event *event) {
    (void)queue;
    (void)count;
    (void)waits;
    if (!has(from, from_at, size) || !has(to, to_at, size)) {
        return CL_INVALID_VALUE;
    }
    memmove(to->bytes + to_at, from->bytes + from_at, size);
    return stand_in_done(event);
}

STAND_IN_PUBLIC cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory,
                                           const void *pattern, size_t pattern_size, size_t offset,
                                           size_t size, cl_uint count, const cl_event *waits,
                                           cl_event *event) {
    (void)queue;
    (void)count;
    (void)waits;
    if (!has(memory, offset, size) || pattern_size == 0 || size % pattern_size != 0) {
        return CL_INVALID_VALUE;
    }
    for (size_t at = 0; at < size; at += pattern_size) {
        memcpy(memory->bytes + offset + at, pattern, pattern_size);
    }
    return stand_in_done(event);
}
