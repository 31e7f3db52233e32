/* SPDX-License-Identifier: MIT */
/* Bindings: which buffers the ports of a plan are, with the descriptor sets and commands that follow from it. */
#include <string.h>

#include "plan/plan.h"

#include "core/given.h"
#include "core/try.h"
#include "device/fork.h"

static weft_status make_bindings(weft_bindings *bindings) {
    const weft_plan *plan = bindings->plan;
    const weft_host *host = &plan->device->host;
    bindings->buffers = weft_alloc_zero(host, plan->port_count, sizeof *bindings->buffers);
    bindings->offsets = weft_alloc_zero(host, plan->port_count, sizeof *bindings->offsets);
    bindings->sets =
        weft_alloc_zero(host, plan->lowering.dispatch_count + 1, sizeof *bindings->sets);
    if (!bindings->buffers || !bindings->offsets || !bindings->sets) {
        return weft_fail_memory(host, "bindings");
    }
    return weft_descriptors_create(&bindings->descriptor_pool, bindings->sets, plan, true);
}

static weft_status create(weft_bindings **out, weft_plan *plan, bool concurrent) {
    WEFT_TRY(weft_device_runs(plan->device));
    weft_bindings *bindings = weft_alloc_zero(&plan->device->host, 1, sizeof *bindings);
    if (!bindings) {
        return weft_fail_memory(&plan->device->host, "bindings");
    }
    bindings->plan = plan;
    bindings->workspace = concurrent ? &bindings->own : &plan->workspace;
    weft_status status = make_bindings(bindings);
    if (status == WEFT_OK && concurrent) {
        status =
            weft_workspace_begin(&bindings->own, plan, plan->workspace.queries != VK_NULL_HANDLE);
    }
    if (status != WEFT_OK) {
        weft_bindings_destroy(&bindings);
        return status;
    }
    bindings->next = plan->bindings;
    if (bindings->next) {
        bindings->next->previous = bindings;
    }
    plan->bindings = bindings;
    *out = bindings;
    return WEFT_OK;
}

weft_status weft_bindings_create(weft_bindings **out, weft_plan *plan) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(WEFT_HOST_OF(plan, device->host), "bindings, plan", out, plan);
    return create(out, plan, false);
}

weft_status weft_bindings_create_concurrent(weft_bindings **out, weft_plan *plan) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(WEFT_HOST_OF(plan, device->host), "bindings, plan", out, plan);
    return create(out, plan, true);
}

static void forget_bindings(const weft_bindings *bindings) {
    if (bindings->next) {
        bindings->next->previous = bindings->previous;
    }
    if (bindings->previous) {
        bindings->previous->next = bindings->next;
    } else if (bindings->plan->bindings == bindings) { /* else they were never complete */
        bindings->plan->bindings = bindings->next;
    }
}

void weft_bindings_destroy(weft_bindings **address) {
    WEFT_ENTER;
    weft_bindings *bindings = address ? *address : NULL;
    if (!bindings) {
        return;
    }
    *address = NULL;
    forget_bindings(bindings);
    weft_device *device = bindings->plan->device;
    const weft_host *host = &device->host;
    weft_device_inherit(device);
    weft_device_settle(device, bindings->newest_run);
    if (bindings->command_pool) {
        device->vk.DestroyCommandPool(device->vk.handle, bindings->command_pool, NULL);
    }
    if (bindings->descriptor_pool) {
        device->vk.DestroyDescriptorPool(device->vk.handle, bindings->descriptor_pool, NULL);
    }
    weft_workspace_end(&bindings->own, bindings->plan);
    weft_images_end(bindings);
    weft_free(host, bindings->buffers);
    weft_free(host, bindings->offsets);
    weft_free(host, bindings->sets);
    weft_free(host, bindings->commands);
    weft_free(host, bindings);
}

static weft_status unknown_port(const weft_plan *plan, const char *name) {
    char names[512] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < plan->port_count; i++) {
        size_t add = strlen(plan->ports[i].name);
        if (length + add + 3 < sizeof names) {
            names[length++] = ' ';
            memcpy(names + length, plan->ports[i].name, add + 1);
            length += add;
        }
    }
    return weft_fail(&plan->device->host, WEFT_NOT_FOUND,
                     "the plan has no input or output '%s'; it has:%s", name, names);
}

uint32_t weft_plan_port_of(const weft_plan *plan, const char *name) {
    return weft_index_find(&plan->port_names, name, strlen(name));
}

weft_status weft_plan_find_port(uint32_t *index, const weft_plan *plan, const char *name) {
    *index = weft_plan_port_of(plan, name);
    return *index != WEFT_INDEX_NONE ? WEFT_OK : unknown_port(plan, name);
}

void weft_bindings_point(weft_bindings *bindings, uint32_t port, VkBuffer buffer, uint64_t offset) {
    if (bindings->buffers[port] != buffer || bindings->offsets[port] != offset) {
        bindings->buffers[port] = buffer;
        bindings->offsets[port] = offset;
        bindings->sets_current = false;
        bindings->commands_current = false;
    }
}

static uint64_t whole_words(uint64_t bytes) {
    return (bytes + 3) / 4 * 4;
}

/* Plans access whole words, which a buffer of Weft's own has behind its last byte. */
static bool holds(const weft_buffer *buffer, const struct weft_port *port) {
    const uint64_t size = buffer->allocation ? whole_words(buffer->size) : buffer->size;
    return size >= whole_words(port->bytes);
}

weft_status weft_bindings_set(weft_bindings *bindings, const char *name, weft_buffer *buffer) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(bindings, plan->device->host), bindings, name, buffer);
    const weft_plan *plan = bindings->plan;
    if (buffer->device != plan->device) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "'%s': the buffer belongs to another device", name);
    }
    uint32_t index = 0;
    WEFT_TRY(weft_plan_find_port(&index, plan, name));
    const struct weft_port *port = &plan->ports[index];
    if (!holds(buffer, port)) {
        char shape[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&plan->device->host, WEFT_SHAPE_MISMATCH,
                         "'%s' of shape %s needs %llu bytes, the buffer has %llu", name,
                         weft_shape_text(port->shape, shape),
                         (unsigned long long)whole_words(port->bytes),
                         (unsigned long long)buffer->size);
    }
    if (bindings->images) {
        bindings->images[index].is_set = false;
    }
    bindings->has_host = bindings->has_host || buffer->is_host;
    weft_bindings_point(bindings, index, buffer->handle, buffer->offset);
    return WEFT_OK;
}

weft_status weft_bindings_prepare(weft_bindings *bindings) {
    const weft_plan *plan = bindings->plan;
    if (bindings->sets_current) {
        return WEFT_OK;
    }
    if (plan->opening == WEFT_OPENING_ONLY) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "the plan was compiled for its parts only (WEFT_OPENING_ONLY)");
    }
    for (uint32_t i = 0; i < plan->port_count; i++) {
        if (!bindings->buffers[i]) {
            return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT, "%s '%s' is not set",
                             plan->ports[i].is_output ? "output" : "input", plan->ports[i].name);
        }
    }
    for (uint32_t i = 0; i < plan->lowering.dispatch_count; i++) {
        if (bindings->sets[i]) {
            weft_descriptors_write(plan, bindings->workspace->arena, i, bindings->sets[i],
                                   bindings->buffers, bindings->offsets);
        }
    }
    bindings->sets_current = true;
    return WEFT_OK;
}
