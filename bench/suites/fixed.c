/* SPDX-License-Identifier: MIT */
#include "bench/suites/fixed.h"

#include <stdio.h>
#include <string.h>

void weft_bench_list_add_fixed(weft_bench_list *list, const weft_bench_scope *scope,
                               const char *suite, const weft_bench_fixed *fixed, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (fixed[i].least < scope->size) {
            continue;
        }
        weft_bench_case made = {
            .suite = suite, .implementation = fixed[i].implementation, .define = fixed[i].define};
        memcpy(made.sizes, fixed[i].sizes, sizeof made.sizes);
        snprintf(made.name, sizeof made.name, "%s", fixed[i].name);
        weft_bench_list_add(list, &made);
    }
}
