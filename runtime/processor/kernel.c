/* SPDX-License-Identifier: MIT */
/* Kernels of the processor device: from SPIR-V to native code, and from an object to a function. */
#include "core/try.h"
#include "native/interpreted.h"
#include "processor/processor.h"
#include "processor/state.h"
#include "softvk/module.h"
#include "softvk/pipeline.h"

/* ---- compiling ---- */

weft_status weft_processor_compile(struct weft_soft_object *object,
                                   const struct weft_soft_source *source, void *state,
                                   const weft_host *host) {
    const struct weft_processor *processor = state;
    struct weft_native_object made = {0};
    struct weft_ir_source module;
    WEFT_TRY(weft_soft_module(&module, source, processor->device, host));
    /* As it was when the device was opened: objects in its cache are all of one kind. */
    const bool interprets = processor->device->physical->properties.interprets;
    const weft_status status =
        (interprets ? weft_native_interpret : weft_native_compile)(&made, &module, host);
    *object = (struct weft_soft_object){.bytes = made.bytes, .size = made.size};
    weft_soft_module_free(&module, host);
    return status;
}

/* ---- loading ---- */

/* Makes a kernel of a device; it takes `owned` over, but not where it fails. */
static weft_status wrap(struct weft_soft_kernel *kernel, struct weft_processor *processor,
                        const struct weft_native_kernel *native, struct weft_native_kernel *owned,
                        const weft_host *host) {
    const struct weft_native_interface *interface = &native->interface;
    struct weft_processor_kernel *made = weft_alloc_zero(host, 1, sizeof *made);
    if (!made || !weft_scratch_reserve(&processor->scratch, interface->scratch_size, host)) {
        weft_free(host, made);
        return weft_fail_memory(host, "a kernel");
    }
    made->native = native;
    made->owned = owned;
    *kernel = (struct weft_soft_kernel){
        .binding_count = interface->binding_count, .push_size = interface->push_size, .own = made};
    for (uint32_t i = 0; i < interface->binding_count && i < WEFT_SOFT_MAX_BINDINGS; i++) {
        kernel->bindings[i] = (struct weft_soft_binding){.set = interface->bindings[i].set,
                                                         .binding = interface->bindings[i].binding};
    }
    return WEFT_OK;
}

weft_status weft_processor_load(struct weft_soft_kernel *kernel, const uint8_t *bytes, size_t size,
                                void *state, const weft_host *host) {
    struct weft_native_kernel *native = NULL;
    WEFT_TRY(weft_native_kernel_load(&native, bytes, size, host));
    const weft_status status = wrap(kernel, state, native, native, host);
    if (status != WEFT_OK) {
        weft_native_kernel_unload(&native, host);
    }
    return status;
}

void weft_processor_unload(struct weft_soft_kernel *kernel, void *state) {
    const weft_host *host = &((struct weft_processor *)state)->device->host;
    struct weft_processor_kernel *own = kernel->own;
    if (own->owned) {
        weft_native_kernel_unload(&own->owned, host);
    }
    weft_free(host, own);
}

VkResult weft_processor_pipeline_wrap(VkPipeline *pipeline, VkDevice device,
                                      VkPipelineLayout layout,
                                      const struct weft_native_kernel *kernel) {
    struct weft_processor *processor = weft_soft_device_of(device)->state;
    struct weft_soft_kernel made;
    if (wrap(&made, processor, kernel, NULL, &processor->device->host) != WEFT_OK) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkResult result = weft_soft_pipeline_wrap(pipeline, device, layout, &made);
    if (result != VK_SUCCESS) {
        weft_processor_unload(&made, processor);
    }
    return result;
}
