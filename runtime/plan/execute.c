/* SPDX-License-Identifier: MIT */
/* Running a plan on host memory, through buffers the plan keeps for it. */
#include <stdio.h>
#include <string.h>

#include "core/given.h"
#include "core/system/clock.h"
#include "core/try.h"
#include "device/device.h"
#include "plan/in_place.h"
#include "plan/states.h"

static weft_status check_indices(const weft_plan *plan, const struct weft_port *port,
                                 const int32_t *indices) {
    uint64_t count = port->bytes / 4;
    for (uint64_t i = 0; i < count; i++) {
        if (indices[i] < (int32_t)port->index_first || (uint32_t)indices[i] >= port->index_limit) {
            char place[64] = "";
            uint32_t length = port->shape.rank > 1 ? port->shape.dim[port->shape.rank - 1] : 1;
            if (port->shape.rank > 1) {
                snprintf(place, sizeof place, ", position %llu", (unsigned long long)(i % length));
            }
            return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                             "input '%s': sequence %llu%s is %d, outside %u to %u", port->name,
                             (unsigned long long)(i / length), place, indices[i], port->index_first,
                             port->index_limit - 1);
        }
    }
    return WEFT_OK;
}

static weft_status check_tensor(const weft_plan *plan, const struct weft_port *port,
                                const weft_host_tensor *tensor) {
    const weft_host *host = &plan->device->host;
    if (!tensor) {
        return port->is_output || port->is_state
                   ? WEFT_OK
                   : weft_fail(host, WEFT_INVALID_ARGUMENT, "input '%s' is not given", port->name);
    }
    if (!tensor->data || tensor->bytes != port->bytes) {
        char shape[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(host, WEFT_SHAPE_MISMATCH,
                         "'%s' is %s %s: %llu bytes expected, %llu given", port->name,
                         weft_dtype_name(port->dtype), weft_shape_text(port->shape, shape),
                         (unsigned long long)port->bytes,
                         (unsigned long long)(tensor->data ? tensor->bytes : 0));
    }
    return port->index_limit ? check_indices(plan, port, tensor->data) : WEFT_OK;
}

/* Per port, the first tensor of its name; *unknown is the first that is no port's, or `count`. */
static void find_tensors(const weft_host_tensor **given, uint32_t *unknown, const weft_plan *plan,
                         const weft_host_tensor *tensors, uint32_t count) {
    *unknown = count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t port =
            tensors[i].name ? weft_plan_port_of(plan, tensors[i].name) : WEFT_INDEX_NONE;
        if (port == WEFT_INDEX_NONE) {
            *unknown = *unknown < i ? *unknown : i;
        } else if (!given[port]) {
            given[port] = &tensors[i];
        }
    }
}

static weft_status check_tensors(const weft_host_tensor **given, const weft_plan *plan,
                                 const weft_host_tensor *tensors, uint32_t count) {
    uint32_t unknown = 0;
    find_tensors(given, &unknown, plan, tensors, count);
    for (uint32_t i = 0; i < plan->port_count; i++) {
        WEFT_TRY(check_tensor(plan, &plan->ports[i], given[i]));
    }
    return unknown == count ? WEFT_OK
                            : weft_fail(&plan->device->host, WEFT_NOT_FOUND,
                                        "the plan has no input or output '%s'",
                                        tensors[unknown].name ? tensors[unknown].name : "(null)");
}

/* A buffer of the plan's own, or for a state that of another plan. */
static weft_status make_buffer(weft_plan *plan, uint32_t index) {
    const struct weft_port *port = &plan->ports[index];
    const weft_plan *from = port->is_state ? plan->states_of : NULL;
    if (!from) {
        weft_buffer **buffer = &plan->execute_buffers[index];
        WEFT_TRY(weft_host_port_make(buffer, plan, index));
        return *buffer ? WEFT_OK : weft_buffer_create(buffer, plan->device, port->bytes);
    }
    const uint32_t found = weft_plan_port_of(from, port->name);
    if (found != WEFT_INDEX_NONE && from->ports[found].is_state) {
        plan->execute_buffers[index] = from->execute_buffers[found];
        return WEFT_OK;
    }
    return weft_fail(&plan->device->host, WEFT_NOT_FOUND, "the other plan has no state '%s'",
                     port->name);
}

static weft_status make_lists(weft_plan *plan) {
    const weft_host *host = &plan->device->host;
    if (!plan->execute_buffers) {
        plan->execute_buffers =
            weft_alloc_zero(host, plan->port_count, sizeof *plan->execute_buffers);
    }
    if (!plan->host_ports) {
        plan->host_ports = weft_alloc_zero(host, plan->port_count, sizeof *plan->host_ports);
    }
    return plan->execute_buffers && plan->host_ports ? WEFT_OK
                                                     : weft_fail_memory(host, "a plan's buffers");
}

static weft_status make_buffers(weft_plan *plan) {
    if (plan->execute_bindings) {
        return WEFT_OK;
    }
    WEFT_TRY(make_lists(plan));
    weft_bindings *bindings = NULL;
    weft_status status = weft_bindings_create(&bindings, plan);
    for (uint32_t i = 0; i < plan->port_count && status == WEFT_OK; i++) {
        if (!plan->execute_buffers[i]) {
            status = make_buffer(plan, i);
        }
        if (status == WEFT_OK) {
            status = weft_bindings_set(bindings, plan->ports[i].name, plan->execute_buffers[i]);
        }
    }
    if (status != WEFT_OK) {
        weft_bindings_destroy(&bindings);
        return status;
    }
    plan->execute_bindings = bindings;
    return WEFT_OK;
}

weft_status weft_plan_borrow_states(weft_plan *plan, weft_plan *from) {
    WEFT_TRY(make_buffers(from));
    plan->states_of = from;
    return make_buffers(plan);
}

uint32_t weft_plan_state_count(const weft_plan *plan) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->port_count; i++) {
        count += plan->ports[i].is_state ? 1 : 0;
    }
    return count;
}

weft_status weft_plan_get_state(struct weft_plan_state *state, weft_plan *plan, uint32_t index) {
    uint32_t port = 0;
    WEFT_TRY(make_buffers(plan));
    for (uint32_t seen = 0; port < plan->port_count; port++) {
        if (plan->ports[port].is_state && seen++ == index) {
            break;
        }
    }
    const struct weft_port *found = &plan->ports[port];
    *state = (struct weft_plan_state){.name = found->name,
                                      .buffer = plan->execute_buffers[port],
                                      .dtype = found->dtype,
                                      .elements = found->shape.dim[1],
                                      .rings = found->rings};
    return WEFT_OK;
}

static weft_status transfer(weft_plan *plan, const weft_host_tensor *const *given, bool outputs) {
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < plan->port_count && status == WEFT_OK; i++) {
        const struct weft_port *port = &plan->ports[i];
        const weft_host_tensor *tensor = given[i];
        if (!tensor || (port->is_output != outputs && !port->is_state) ||
            plan->host_ports[i].in_place) {
            continue;
        }
        status = outputs
                     ? weft_buffer_read(plan->execute_buffers[i], 0, tensor->data, port->bytes)
                     : weft_buffer_write(plan->execute_buffers[i], 0, tensor->data, port->bytes);
    }
    return status;
}

weft_status weft_plan_check_tensors(weft_plan *plan, const weft_host_tensor *tensors,
                                    uint32_t count) {
    const weft_host *host = &plan->device->host;
    if (!plan->given) { /* kept: a job system may leave the run for ever */
        plan->given =
            weft_alloc_zero(host, (size_t)plan->port_count + 1, sizeof(weft_host_tensor *));
    }
    if (!plan->given) {
        return weft_fail_memory(host, "a run's tensors");
    }
    memset((void *)plan->given, 0, plan->port_count * sizeof(weft_host_tensor *));
    return check_tensors(plan->given, plan, tensors, count);
}

/* Runs on what is in the buffers. */
static weft_status run(weft_plan *plan) {
    const double start = weft_clock_ms();
    const weft_status status = weft_plan_run(plan, plan->execute_bindings);
    if (status == WEFT_OK) {
        weft_device_note_rate(plan->device, plan->info.flops, weft_clock_ms() - start);
    } else { /* what runs on for a while has the caller's memory */
        weft_device_settle(plan->device, plan->execute_bindings->newest_run);
    }
    return status;
}

static weft_status execute(weft_plan *plan) {
    WEFT_TRY(make_buffers(plan));
    weft_host_ports_begin(plan);
    weft_status status = transfer(plan, plan->given, false);
    if (status == WEFT_OK) {
        status = run(plan);
    }
    if (status == WEFT_OK) {
        status = transfer(plan, plan->given, true);
    }
    weft_host_ports_end(plan);
    return status;
}

weft_status weft_plan_execute(weft_plan *plan, const weft_host_tensor *tensors, uint32_t count) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(plan, device->host), tensors, count);
    WEFT_TRY(weft_device_runs(plan->device));
    WEFT_TRY(weft_plan_check_tensors(plan, tensors, count));
    return execute(plan);
}
