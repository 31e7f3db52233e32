/* SPDX-License-Identifier: MIT */
/* weft/inspect.h: a plan's memory and kernels, as they are. */
#include <weft/inspect.h>

#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "plan/executable.h"
#include "plan/plan.h"

weft_status weft_plan_get_storage(const weft_plan *plan, uint32_t storage,
                                  weft_storage_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, info);
    if (storage >= plan->lowering.storage_count) {
        return WEFT_NOT_FOUND;
    }
    const struct weft_storage *found = &plan->lowering.storages[storage];
    if (found->is_part) { /* which no dispatch binds by itself */
        *info = (weft_storage_info){.kind = found->kind};
        return WEFT_OK;
    }
    *info = (weft_storage_info){
        .kind = found->kind, .bytes = found->bytes, .offset = found->offset, .port = found->port};
    return WEFT_OK;
}

weft_status weft_plan_read_constant(const weft_plan *plan, uint32_t storage, void *data) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, data);
    weft_storage_info info;
    WEFT_TRY(weft_plan_get_storage(plan, storage, &info));
    if (info.kind != WEFT_STORAGE_CONSTANT) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_read_constant: storage %u is no constant", storage);
    }
    const struct weft_constant *constant = plan->lowering.storages[storage].constant;
    return weft_device_download(plan->device, constant->buffer, 0, data, constant->bytes);
}

static const struct weft_dispatch *find_dispatch(const weft_plan *plan, uint32_t dispatch) {
    return dispatch < plan->lowering.dispatch_count ? &plan->lowering.dispatches[dispatch] : NULL;
}

weft_status weft_plan_get_kernel(const weft_plan *plan, uint32_t dispatch, weft_kernel_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, info);
    const struct weft_dispatch *found = find_dispatch(plan, dispatch);
    if (!found) {
        return WEFT_NOT_FOUND;
    }
    *info = (weft_kernel_info){.specialization = found->pipeline.specialization,
                               .specialization_count = found->pipeline.specialization_count,
                               .push = found->push,
                               .push_bytes = found->push_size,
                               .operand_count = found->operand_count,
                               .subgroup = found->pipeline.subgroup};
    return WEFT_OK;
}

weft_status weft_plan_get_operand(const weft_plan *plan, uint32_t dispatch, uint32_t binding,
                                  weft_operand_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, info);
    const struct weft_dispatch *found = find_dispatch(plan, dispatch);
    if (!found || binding >= found->operand_count) {
        return WEFT_NOT_FOUND;
    }
    const struct weft_operand *operand = &found->operand[binding];
    const uint64_t whole = plan->lowering.storages[operand->storage].bytes;
    *info =
        (weft_operand_info){.storage = operand->storage,
                            .offset = operand->offset,
                            .bytes = operand->range != 0 ? operand->range : whole - operand->offset,
                            .written = operand->write};
    return WEFT_OK;
}

/* Copies the module out, as far as there is room for it. */
static weft_status give_words(uint32_t *words, size_t *size, const struct weft_spirv_module *module,
                              const weft_host *host) {
    const size_t needed = module->count * sizeof *words;
    if (words && *size < needed) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_get_module: room for %zu bytes of a module of %zu", *size,
                         needed);
    }
    if (words) {
        memcpy(words, module->words, needed);
    }
    *size = needed;
    return WEFT_OK;
}

weft_status weft_plan_get_module(const weft_plan *plan, uint32_t dispatch, weft_module_form form,
                                 uint32_t *words, size_t *size) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, size);
    if ((unsigned)form > WEFT_MODULE_PORTABLE) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_get_module: %d is no form of a module", (int)form);
    }
    const struct weft_dispatch *found = find_dispatch(plan, dispatch);
    if (!found) {
        return WEFT_NOT_FOUND;
    }
    const weft_host *host = &plan->device->host;
    const bool portable = form == WEFT_MODULE_PORTABLE;
    if (portable && plan->device->math == WEFT_MATH_FAST) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "weft_plan_get_module: fast math has no portable modules");
    }
    struct weft_spirv_edit made;
    WEFT_TRY(weft_pipeline_module(&made, plan->device, &found->pipeline, portable));
    const weft_status status = give_words(words, size, &made.module, host);
    weft_spirv_edit_free(&made);
    return status;
}

weft_status weft_plan_get_executable(weft_executable **executable, const weft_plan *plan,
                                     uint32_t dispatch) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), executable, plan);
    const struct weft_dispatch *found = find_dispatch(plan, dispatch);
    if (!found) {
        return WEFT_NOT_FOUND;
    }
    const weft_device *device = plan->device;
    if (!device->executables) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "weft_plan_get_executable: %s was opened without `executables`",
                         device->info.name);
    }
    WEFT_TRY(weft_device_alive(device));
    return weft_executable_read(executable, &device->vk, found->built->handle, &device->host);
}
