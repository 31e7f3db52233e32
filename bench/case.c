/* SPDX-License-Identifier: MIT */
#include "bench/case.h"

#include <string.h>

#include "core/try.h"
#include "verify/conformance.h"

static const char *const size_names[] = {
    [WEFT_BENCH_FULL] = "full", [WEFT_BENCH_SHORT] = "short", [WEFT_BENCH_SMALLEST] = "smallest"};

const char *weft_bench_size_name(weft_bench_size size) {
    return size_names[size];
}

bool weft_bench_size_from_name(weft_bench_size *size, const char *name) {
    for (size_t i = 0; i < sizeof size_names / sizeof size_names[0]; i++) {
        if (strcmp(size_names[i], name) == 0) {
            *size = (weft_bench_size)i;
            return true;
        }
    }
    return false;
}

weft_status weft_bench_build(weft_graph *graph, const weft_bench_case *bench_case,
                             const weft_host *host) {
    if (bench_case->build) {
        return bench_case->build(graph, bench_case);
    }
    weft_case c = {.ref.host = host ? *host : (weft_host){0}, .graph = graph, .only_graph = true};
    bench_case->define(&c, bench_case);
    weft_reference_end(&c.ref);
    return c.ref.status;
}

static weft_status compile_graph(weft_plan **plan, weft_device *device,
                                 const weft_bench_case *bench_case, bool timestamps,
                                 const weft_host *host) {
    weft_graph *graph = NULL;
    WEFT_TRY(weft_graph_create(&graph, host));
    weft_status status = weft_bench_build(graph, bench_case, host);
    if (status == WEFT_OK) {
        status = weft_plan_compile(plan, device, graph,
                                   weft_plan_params(.implementation = bench_case->implementation,
                                                    .timestamps = timestamps));
    }
    weft_graph_destroy(&graph);
    return status;
}

weft_status weft_bench_compile(weft_plan **plan, weft_device *device,
                               const weft_bench_case *bench_case, bool timestamps,
                               const weft_host *host) {
    return bench_case->compile ? bench_case->compile(plan, device, bench_case, timestamps, host)
                               : compile_graph(plan, device, bench_case, timestamps, host);
}

void weft_bench_list_add(weft_bench_list *list, const weft_bench_case *bench_case) {
    if (list->status != WEFT_OK) {
        return;
    }
    if (!weft_grow(list->host, &list->cases, list->count, &list->capacity, sizeof *list->cases)) {
        list->status = weft_fail_memory(list->host, "the list of cases");
        return;
    }
    list->cases[list->count++] = *bench_case;
}

void weft_bench_list_keep(weft_bench_list *list, const char *text) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (strstr(list->cases[i].name, text)) {
            list->cases[kept++] = list->cases[i];
        }
    }
    list->count = kept;
}

void weft_bench_list_free(weft_bench_list *list) {
    weft_free(list->host, list->cases);
    *list = (weft_bench_list){.host = list->host};
}

void weft_bench_default_lengths(weft_bench_scope *scope) {
    static const struct {
        uint32_t count, lengths[6];
    } defaults[] = {[WEFT_BENCH_FULL] = {6, {512, 1024, 2048, 4096, 8192, 16384}},
                    [WEFT_BENCH_SHORT] = {2, {256, 1024}},
                    [WEFT_BENCH_SMALLEST] = {1, {64}}};
    scope->length_count = defaults[scope->size].count;
    memcpy(scope->lengths, defaults[scope->size].lengths,
           scope->length_count * sizeof *scope->lengths);
}
