/* SPDX-License-Identifier: MIT */
/* A plan that was compiled: its end, and what it tells about itself. */
#include "plan/plan.h"

#include "core/given.h"
#include "device/fork.h"

static void destroy_execute_buffers(weft_plan *plan) {
    weft_bindings_destroy(&plan->execute_bindings);
    for (uint32_t i = 0; plan->execute_buffers && i < plan->port_count; i++) {
        if (!plan->states_of || !plan->ports[i].is_state) {
            weft_buffer_destroy(&plan->execute_buffers[i]);
        }
    }
    weft_host_ports_free(plan);
    weft_free(&plan->device->host, plan->execute_buffers);
}

static void destroy_lowering(struct weft_lowering *lowering) {
    const weft_host *host = &lowering->device->host;
    for (uint32_t i = 0; i < lowering->storage_count; i++) {
        weft_constant_release(&lowering->storages[i].constant);
    }
    weft_free(host, lowering->storages);
    weft_digest_map_free(&lowering->constants, host);
    weft_free(host, lowering->dispatches);
    weft_free(host, lowering->storage_of);
    weft_free(host, lowering->stored);
}

void weft_plan_destroy(weft_plan **address) {
    WEFT_ENTER;
    weft_plan *plan = address ? *address : NULL;
    if (!plan) {
        return;
    }
    *address = NULL;
    const weft_host host = plan->device->host;
    weft_device_inherit(plan->device);
    destroy_execute_buffers(plan);
    weft_workspace_end(&plan->workspace, plan);
    destroy_lowering(&plan->lowering);
    weft_graph_destroy(&plan->opens);
    for (uint32_t i = 0; i < plan->port_count; i++) {
        weft_free(&host, plan->ports[i].name);
    }
    for (uint32_t i = 0; i < WEFT_PLAN_PASS_COUNT; i++) {
        weft_free(&host, plan->text[i]);
    }
    weft_free(&host, (void *)plan->given);
    weft_free(&host, plan->ports);
    weft_digest_map_free(&plan->port_names, &host);
    weft_free(&host, plan->steps.at);
    weft_free(&host, (void *)plan->dispatch_ms);
    weft_free(&host, plan);
}

weft_status weft_plan_get_info(const weft_plan *plan, weft_plan_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, info);
    *info = plan->info;
    return WEFT_OK;
}

weft_status weft_plan_get_port(const weft_plan *plan, uint32_t index, weft_port_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, info);
    if (index >= plan->port_count) {
        return WEFT_NOT_FOUND;
    }
    const struct weft_port *port = &plan->ports[index];
    *info = (weft_port_info){.name = port->name,
                             .dtype = port->dtype,
                             .shape = port->shape,
                             .bytes = port->bytes,
                             .is_output = port->is_output,
                             .is_state = port->is_state};
    return WEFT_OK;
}
