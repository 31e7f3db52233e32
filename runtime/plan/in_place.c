/* SPDX-License-Identifier: MIT */
#include "plan/in_place.h"

#include "core/try.h"
#include "device/host_memory.h"

/* What is checked before a run is read by the run as it was checked, though another thread writes it meanwhile: indices and
 * lengths are copied. States are, too: callers get them when all has gone well. */
static bool may_be_in_place(const weft_plan *plan, const struct weft_port *port) {
    return weft_device_moves_buffers(plan->device) && port->dtype == WEFT_F32 && !port->is_state &&
           port->index_limit == 0;
}

static bool is_aligned(const weft_plan *plan, const void *memory) {
    return (uintptr_t)memory % plan->device->info.host_memory_alignment == 0;
}

weft_status weft_host_port_make(weft_buffer **buffer, weft_plan *plan, uint32_t port) {
    const weft_host *host = &plan->device->host;
    struct weft_host_port *own = &plan->host_ports[port];
    if (!may_be_in_place(plan, &plan->ports[port])) {
        return WEFT_OK;
    }
    void *room = weft_alloc(host, (size_t)plan->ports[port].bytes);
    weft_status status = WEFT_OK;
    if (room && is_aligned(plan, room)) { /* an allocator of the program's may align by less */
        status = weft_buffer_wrap_host(buffer, plan->device, room, plan->ports[port].bytes);
    }
    if (*buffer) {
        own->room = room;
    } else {
        weft_free(host, room);
    }
    return status;
}

static bool overlap(const weft_host_tensor *a, const weft_host_tensor *b) {
    const uintptr_t first = (uintptr_t)a->data;
    const uintptr_t second = (uintptr_t)b->data;
    return first < second ? second - first < a->bytes : first - second < b->bytes;
}

/* An output that shares bytes with anything else that is given is written when all is read. */
static bool is_apart(const weft_plan *plan, uint32_t port) {
    for (uint32_t i = 0; i < plan->port_count; i++) {
        if (i != port && plan->given[i] && overlap(plan->given[port], plan->given[i])) {
            return false;
        }
    }
    return true;
}

void weft_host_ports_begin(weft_plan *plan) {
    for (uint32_t i = 0; i < plan->port_count; i++) {
        struct weft_host_port *own = &plan->host_ports[i];
        const weft_host_tensor *tensor = plan->given[i];
        own->in_place = own->room && tensor && is_aligned(plan, tensor->data) &&
                        (!plan->ports[i].is_output || is_apart(plan, i));
        if (own->in_place) {
            weft_buffer_move(plan->execute_buffers[i], tensor->data);
        }
    }
}

void weft_host_ports_end(weft_plan *plan) {
    for (uint32_t i = 0; i < plan->port_count; i++) {
        struct weft_host_port *own = &plan->host_ports[i];
        if (own->in_place) {
            weft_buffer_move(plan->execute_buffers[i], own->room);
            own->in_place = false;
        }
    }
}

void weft_host_ports_free(weft_plan *plan) {
    const weft_host *host = &plan->device->host;
    for (uint32_t i = 0; plan->host_ports && i < plan->port_count; i++) {
        weft_free(host, plan->host_ports[i].room);
    }
    weft_free(host, plan->host_ports);
}
