/* SPDX-License-Identifier: MIT */
#include "bench/case.h"

#include <string.h>

#include "core/host.h"

#define FIRST_CAPACITY 64

static bool grow(weft_bench_list *list) {
    const uint32_t capacity = list->capacity == 0 ? FIRST_CAPACITY : 2 * list->capacity;
    weft_bench_case *cases =
        weft_realloc(list->host, list->cases, (size_t)capacity * sizeof *cases);
    if (!cases) {
        list->status = weft_fail_memory(list->host, "the list of cases");
        return false;
    }
    list->cases = cases;
    list->capacity = capacity;
    return true;
}

void weft_bench_list_add(weft_bench_list *list, const weft_bench_case *bench_case) {
    if (list->status == WEFT_OK && (list->count < list->capacity || grow(list))) {
        list->cases[list->count++] = *bench_case;
    }
}

void weft_bench_list_add_series(weft_bench_list *list, const weft_bench_scope *scope,
                                uint32_t count,
                                weft_bench_case (*make)(uint32_t index, uint32_t length)) {
    for (uint32_t index = 0; index < count; index++) {
        for (uint32_t i = 0; i < scope->length_count; i++) {
            const weft_bench_case made = make(index, scope->lengths[i]);
            weft_bench_list_add(list, &made);
        }
    }
}

void weft_bench_list_free(weft_bench_list *list) {
    weft_free(list->host, list->cases);
    *list = (weft_bench_list){.host = list->host};
}

void weft_bench_default_lengths(weft_bench_scope *scope) {
    static const struct {
        uint32_t count, lengths[6];
    } defaults[] = {[WEFT_BENCH_FULL] = {6, {512, 1024, 2048, 4096, 8192, 16384}},
                    [WEFT_BENCH_SHORT] = {2, {512, 2048}},
                    [WEFT_BENCH_SMALLEST] = {1, {64}}};
    scope->length_count = defaults[scope->size].count;
    memcpy(scope->lengths, defaults[scope->size].lengths,
           scope->length_count * sizeof *scope->lengths);
}
