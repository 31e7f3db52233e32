/* SPDX-License-Identifier: MIT */
#include "bench/reference.h"

#include <string.h>

#include "bench/graph.h"
#include "bench/ports.h"
#include "core/philox.h"

/* Memory of one sequence's reference, in a list. */
struct weft_bench_block {
    struct weft_bench_block *next;
    double data[];
};

bool weft_bench_reference_spend(weft_bench_reference *ref, double operations) {
    ref->operations += operations;
    return ref->status == WEFT_OK && ref->operations <= ref->limit;
}

void *weft_bench_reference_block(weft_bench_reference *ref, size_t size) {
    if (ref->status != WEFT_OK) {
        return NULL;
    }
    struct weft_bench_block *block = weft_alloc_zero(&ref->host, 1, sizeof *block + size);
    if (!block) {
        ref->status = weft_fail_memory(&ref->host, "a float64 reference");
        return NULL;
    }
    block->next = ref->blocks;
    ref->blocks = block;
    return block->data;
}

double *weft_bench_reference_array(weft_bench_reference *ref, uint64_t count) {
    return weft_bench_reference_block(ref, (size_t)count * sizeof(double));
}

void weft_bench_reference_end(weft_bench_reference *ref) {
    while (ref->blocks) {
        struct weft_bench_block *next = ref->blocks->next;
        weft_free(&ref->host, ref->blocks);
        ref->blocks = next;
    }
}

const double *weft_bench_reference_weight_of(weft_bench_reference *ref, const float *data,
                                             uint64_t count) {
    double *value = weft_bench_reference_array(ref, count);
    for (uint64_t i = 0; value && i < count; i++) {
        value[i] = (double)data[i];
    }
    return value;
}

/** Memory to be freed with weft_free; null after noting the failure. */
static void *temporary(weft_bench_reference *ref, uint64_t size) {
    void *memory = ref->status == WEFT_OK ? weft_alloc(&ref->host, (size_t)size) : NULL;
    if (!memory && ref->status == WEFT_OK) {
        ref->status = weft_fail_memory(&ref->host, "a float64 reference");
    }
    return memory;
}

const double *weft_bench_reference_weight(weft_bench_reference *ref, uint64_t count,
                                          uint64_t stream) {
    float *data = temporary(ref, count * sizeof *data);
    if (!data) {
        return NULL;
    }
    weft_philox_uniform(data, (size_t)count, WEFT_BENCH_SEED, stream);
    const double *value = weft_bench_reference_weight_of(ref, data, count);
    weft_free(&ref->host, data);
    return value;
}

const double *weft_bench_reference_matrix(weft_bench_reference *ref,
                                          const weft_features_params *params) {
    const uint64_t count = (uint64_t)params->rows * params->columns;
    float *data = temporary(ref, (count + params->rows) * sizeof *data);
    if (!data) {
        return NULL;
    }
    ref->status = weft_features_fill(data, data + count, params, &ref->host);
    const double *value = weft_bench_reference_weight_of(ref, data, count);
    weft_free(&ref->host, data);
    return value;
}

/* ---- inputs ---- */

static const weft_bench_view *find_input(weft_bench_reference *ref, const char *name) {
    for (uint32_t i = 0; i < ref->port_count; i++) {
        if (!ref->ports[i].info.is_output && strcmp(ref->ports[i].info.name, name) == 0) {
            return &ref->ports[i];
        }
    }
    if (ref->status == WEFT_OK) {
        ref->status = weft_fail(&ref->host, WEFT_NOT_FOUND,
                                "%s: its reference reads input '%s', which it has not",
                                ref->bench_case->name, name);
    }
    return NULL;
}

/** Elements first … first + count - 1 of a port. */
static const double *elements_of(weft_bench_reference *ref, const weft_port_info *info,
                                 const void *data, uint64_t first, uint64_t count) {
    double *value = weft_bench_reference_array(ref, count);
    for (uint64_t i = 0; value && i < count; i++) {
        value[i] = info->dtype == WEFT_I32 ? (double)((const int32_t *)data)[first + i]
                                           : (double)((const float *)data)[first + i];
    }
    return value;
}

const double *weft_bench_reference_input(weft_bench_reference *ref, const char *name) {
    const weft_bench_view *port = find_input(ref, name);
    if (!port) {
        return NULL;
    }
    const weft_port_info *info = &port->info;
    const uint64_t total = weft_shape_elements(info->shape);
    const bool batched = info->shape.rank > 1 && info->shape.dim[0] == ref->sequences;
    const uint64_t count = batched ? total / ref->sequences : total;
    const uint64_t first = batched ? ref->sequence * count : 0;
    if (port->data) {
        return elements_of(ref, info, port->data, first, count);
    }
    void *data = temporary(ref, info->bytes);
    if (!data) {
        return NULL;
    }
    ref->status = weft_bench_fill_input(data, info, (uint32_t)(port - ref->ports), ref->bench_case,
                                        &ref->host);
    const double *value = elements_of(ref, info, data, first, count);
    weft_free(&ref->host, data);
    return value;
}

weft_bench_rows weft_bench_reference_all(weft_bench_reference *ref, uint32_t n) {
    uint32_t *at = weft_bench_reference_block(ref, (size_t)n * sizeof *at);
    for (uint32_t i = 0; at && i < n; i++) {
        at[i] = i;
    }
    return (weft_bench_rows){.at = at, .count = at ? n : 0};
}
