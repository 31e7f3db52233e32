/* SPDX-License-Identifier: MIT */
/* Adopting a cl_context and a queue that the caller made, and wrapping a cl_mem. */
#include <weft/opencl.h>

#include <inttypes.h>

#include "core/given.h"
#include "core/try.h"
#include "device/debug_label.h"
#include "device/device.h"
#include "device/instance.h"
#include "device/setup.h"
#include "device/software.h"
#include "opencl/opencl.h"
#include "opencl/state.h"

/* ---- adopting ---- */

static weft_status check_queue(const struct weft_cl_functions *cl,
                               const weft_device_adopt_opencl_params *params) {
    cl_context of = NULL;
    cl_command_queue_properties properties = 0;
    const bool is_of_context =
        cl->GetCommandQueueInfo(params->queue, CL_QUEUE_CONTEXT, sizeof of, &of, NULL) ==
            CL_SUCCESS &&
        cl->GetCommandQueueInfo(params->queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                                NULL) == CL_SUCCESS &&
        of == params->context;
    const bool is_in_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
    return is_of_context && is_in_order
               ? WEFT_OK
               : weft_fail(&params->host, WEFT_INVALID_ARGUMENT,
                           "weft_device_adopt_opencl: queue %s",
                           is_of_context ? "runs commands out of order" : "is not of context");
}

/* The device that the queue is of. */
static weft_status find(struct weft_cl_device *found,
                        const weft_device_adopt_opencl_params *params) {
    char reason[WEFT_CL_REASON_SIZE];
    const struct weft_cl_functions *cl = weft_cl_open(reason);
    if (!cl) {
        return weft_fail(&params->host, WEFT_NO_DEVICE, "weft_device_adopt_opencl: %s",
                         reason[0] == '\0' ? "there is no OpenCL library, or it is turned off"
                                           : reason);
    }
    WEFT_TRY(check_queue(cl, params));
    *found = (struct weft_cl_device){.cl = cl, .context = params->context, .queue = params->queue};
    const cl_int error =
        cl->GetCommandQueueInfo(params->queue, CL_QUEUE_DEVICE, sizeof found->id, &found->id, NULL);
    if (error != CL_SUCCESS) {
        return weft_cl_fail(&params->host, "clGetCommandQueueInfo", error);
    }
    const cl_int asked = cl->GetDeviceInfo(found->id, CL_DEVICE_PLATFORM, sizeof found->platform,
                                           &found->platform, NULL);
    return asked == CL_SUCCESS ? WEFT_OK : weft_cl_fail(&params->host, "clGetDeviceInfo", asked);
}

static weft_status fill_device(weft_device *device, const void *untyped) {
    const weft_host *host = &device->host;
    struct weft_cl_device found;
    struct weft_physical *list = NULL;
    uint32_t count = 0;
    device->owns_handles = device->in_process = true;
    WEFT_TRY(find(&found, untyped));
    WEFT_TRY(weft_instance_create_software(
        &device->instance, weft_software_of_driver(WEFT_OPENCL_DRIVER_NAME), &found, host));
    weft_status status = weft_physical_list(&list, &count, &device->instance, host);
    if (status == WEFT_OK && !list[0].info.usable) {
        status = weft_fail(host, WEFT_UNSUPPORTED, "weft_device_adopt_opencl: %s %s",
                           list[0].info.name, list[0].info.reason);
    }
    if (status == WEFT_OK) {
        status = weft_device_create(device, &list[0], NULL);
    }
    weft_free(host, list);
    return status;
}

weft_status weft_device_adopt_opencl_with(weft_device **device,
                                          const weft_device_adopt_opencl_params *params,
                                          const struct weft_device_part *parts) {
    if (!params) {
        return WEFT_INVALID_ARGUMENT;
    }
    if (!device || !params->context || !params->queue) {
        return weft_fail(&params->host, WEFT_INVALID_ARGUMENT,
                         "weft_device_adopt_opencl: %s is null",
                         !device            ? "device"
                         : !params->context ? "context"
                                            : "queue");
    }
    const struct weft_setup setup = WEFT_SETUP(params, parts);
    return weft_setup_device(device, &setup, fill_device, params);
}

/* ---- wrapping ---- */

static bool is_opencl(const weft_device *device) {
    return device->instance.software && device->instance.software->backend == &weft_opencl_backend;
}

weft_status weft_device_records(const weft_device *device) {
    if (is_opencl(device)) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "%s is an OpenCL device: a plan is not recorded into a Vulkan command "
                         "buffer there; wrap a cl_mem (weft/opencl.h) and run it",
                         device->info.name);
    }
    return weft_device_runs(device);
}

static weft_status check_range(const weft_device *device, size_t bytes, uint64_t offset,
                               uint64_t size) {
    if (offset % WEFT_CL_OFFSET_UNIT != 0) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_buffer_wrap_opencl: offset %" PRIu64 " is not a multiple of %u",
                         offset, WEFT_CL_OFFSET_UNIT);
    }
    return offset <= bytes && size <= bytes - offset
               ? WEFT_OK
               : weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                           "weft_buffer_wrap_opencl: %" PRIu64 " bytes at %" PRIu64
                           " do not fit a cl_mem of %zu",
                           size, offset, bytes);
}

static weft_status check_memory(const weft_device *device, cl_mem memory, uint64_t offset,
                                uint64_t size) {
    const struct weft_cl_state *state = weft_soft_device_of(device->vk.handle)->state;
    cl_context of = NULL;
    size_t bytes = 0;
    if (state->cl->GetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof of, &of, NULL) != CL_SUCCESS ||
        state->cl->GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) !=
            CL_SUCCESS ||
        of != state->context) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_buffer_wrap_opencl: the cl_mem is not of the device's context");
    }
    return check_range(device, bytes, offset, size);
}

/* A VkBuffer over the cl_mem's bytes from `offset` on. */
static weft_status fill_buffer(weft_buffer *buffer, cl_mem memory, uint64_t offset) {
    weft_device *device = buffer->device;
    const struct weft_soft_import_info import = {.sType = WEFT_SOFT_IMPORT_INFO, .own = memory};
    const VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                             .pNext = &import,
                                             .allocationSize = offset + buffer->size};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = buffer->size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                     .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    WEFT_TRY(WEFT_VK_MAKE(device, CreateBuffer, &info, &buffer->handle));
    weft_debug_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer->handle, "weft buffer");
    WEFT_TRY(WEFT_VK_MAKE(device, AllocateMemory, &allocation, &buffer->imported));
    return WEFT_VK(device, BindBufferMemory, buffer->handle, buffer->imported, offset);
}

static weft_status check_wrap(weft_buffer *const *buffer, const weft_device *device, cl_mem memory,
                              uint64_t size) {
    if (!buffer || !memory || size == 0) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT, "weft_buffer_wrap_opencl: %s",
                         !buffer   ? "buffer is null"
                         : !memory ? "the cl_mem is null"
                                   : "size is 0");
    }
    WEFT_TRY(weft_device_runs(device));
    if (!is_opencl(device)) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "weft_buffer_wrap_opencl: %s is no OpenCL device", device->info.name);
    }
    return WEFT_OK;
}

weft_status weft_buffer_wrap_opencl(weft_buffer **buffer, weft_device *device, cl_mem memory,
                                    uint64_t offset, uint64_t size) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), buffer, device, memory);
    WEFT_TRY(check_wrap(buffer, device, memory, size));
    WEFT_TRY(check_memory(device, memory, offset, size));
    weft_buffer *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "buffer");
    }
    *made = (weft_buffer){.device = device, .size = size, .is_opencl = true};
    const weft_status status = fill_buffer(made, memory, offset);
    if (status != WEFT_OK) {
        weft_buffer_destroy(&made);
        return status;
    }
    *buffer = made;
    return WEFT_OK;
}
