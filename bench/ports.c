/* SPDX-License-Identifier: MIT */
#include "bench/ports.h"

#include <string.h>

#include "bench/graph.h"
#include "core/host.h"
#include "core/math/philox.h"
#include "core/try.h"

#define INPUT_SEED (WEFT_BENCH_SEED + 1)

static void fill_numbers(float *data, size_t count, const char *name, uint32_t stream) {
    weft_philox_uniform(data, count, INPUT_SEED, stream);
    if (strcmp(name, WEFT_BENCH_UNIT_INPUT) == 0) {
        for (size_t i = 0; i < count; i++) {
            data[i] = 0.5F * (data[i] + 1.0F);
        }
    }
}

/* Keys and values of all tokens, drawn token by token, head by head: results stay those of the other order, which states had. */
static weft_status fill_rings(float *data, size_t count, uint32_t stream,
                              const weft_bench_case *bench_case, const weft_host *host) {
    const size_t heads = bench_case->rings.heads, width = bench_case->rings.width;
    const size_t rows = count / (2 * heads * width);
    float *drawn = weft_alloc(host, count * sizeof *drawn);
    if (!drawn) {
        return weft_fail_memory(host, "a state");
    }
    weft_philox_uniform(drawn, count, INPUT_SEED, stream);
    for (size_t i = 0; i < count; i += width) {
        const size_t head = i / width % heads, row = i / (width * heads) % rows;
        const size_t ring = i / (width * heads * rows);
        memcpy(data + ((ring * heads + head) * rows + row) * width, drawn + i,
               width * sizeof *data);
    }
    weft_free(host, drawn);
    return WEFT_OK;
}

static void fill_tokens(int32_t *data, size_t count, uint32_t vocabulary, uint32_t stream) {
    for (size_t i = 0; i < count; i++) {
        data[i] = (int32_t)(weft_philox_u32(INPUT_SEED, stream, i) % vocabulary);
    }
}

weft_status weft_bench_fill_input(void *data, const weft_port_info *info, uint32_t index,
                                  const weft_bench_case *bench_case, const weft_host *host) {
    if (info->is_state && bench_case->rings.heads > 0) {
        return fill_rings(data, (size_t)info->bytes / sizeof(float), index, bench_case, host);
    }
    if (info->dtype == WEFT_F32) {
        fill_numbers(data, (size_t)info->bytes / sizeof(float), info->name, index);
        return WEFT_OK;
    }
    if (info->dtype != WEFT_I32 || bench_case->vocabulary == 0 ||
        bench_case->vocabulary > INT32_MAX) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "%s: input %s: expected f32, or int32 with a vocabulary from 1 to %d, "
                         "found %s with %u",
                         bench_case->name, info->name, INT32_MAX, weft_dtype_name(info->dtype),
                         bench_case->vocabulary);
    }
    fill_tokens(data, (size_t)info->bytes / sizeof(int32_t), bench_case->vocabulary, index);
    return WEFT_OK;
}

static weft_status fill(const weft_bench_port *port, uint32_t index,
                        const weft_bench_case *bench_case, const weft_host *host) {
    void *data = weft_alloc(host, (size_t)port->info.bytes);
    if (!data) {
        return weft_fail_memory(host, "an input");
    }
    weft_status status = WEFT_OK;
    if (port->info.is_output) {
        memset(data, 0xFF, (size_t)port->info.bytes);
    } else {
        status = weft_bench_fill_input(data, &port->info, index, bench_case, host);
    }
    if (status == WEFT_OK) {
        status = weft_buffer_write(port->buffer, 0, data, port->info.bytes);
    }
    weft_free(host, data);
    return status;
}

static uint32_t count_ports(const weft_plan *plan) {
    weft_port_info info;
    uint32_t count = 0;
    while (weft_plan_get_port(plan, count, &info) == WEFT_OK) {
        count++;
    }
    return count;
}

weft_status weft_bench_bind(weft_bench_ports *ports, weft_plan *plan, weft_device *device,
                            const weft_bench_case *bench_case, const weft_host *host) {
    const uint32_t count = count_ports(plan);
    *ports = (weft_bench_ports){.list = weft_alloc_zero(host, count + 1, sizeof *ports->list)};
    if (!ports->list) {
        return weft_fail_memory(host, "the inputs and outputs");
    }
    ports->count = count;
    WEFT_TRY(weft_bindings_create(&ports->bindings, plan));
    for (uint32_t i = 0; i < count; i++) {
        weft_bench_port *port = &ports->list[i];
        WEFT_TRY(weft_plan_get_port(plan, i, &port->info));
        WEFT_TRY(weft_buffer_create(&port->buffer, device, port->info.bytes));
        WEFT_TRY(fill(port, i, bench_case, host));
        WEFT_TRY(weft_bindings_set(ports->bindings, port->info.name, port->buffer));
    }
    return WEFT_OK;
}

void weft_bench_unbind(weft_bench_ports *ports, const weft_host *host) {
    weft_bindings_destroy(&ports->bindings);
    for (uint32_t i = 0; i < ports->count; i++) {
        weft_buffer_destroy(&ports->list[i].buffer);
    }
    weft_free(host, ports->list);
    *ports = (weft_bench_ports){0};
}

weft_status weft_bench_read_port(void **data, const weft_bench_port *port, const weft_host *host) {
    *data = weft_alloc(host, (size_t)port->info.bytes);
    if (!*data) {
        return weft_fail_memory(host, "an output");
    }
    weft_status status = weft_buffer_read(port->buffer, 0, *data, port->info.bytes);
    if (status != WEFT_OK) {
        weft_free(host, *data);
        *data = NULL;
    }
    return status;
}
