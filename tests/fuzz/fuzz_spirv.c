/* SPDX-License-Identifier: MIT */
/* Any words as a SPIR-V module: through every pass, each result being a module again, and the lint. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "spirv/check.h"
#include "spirv/passes/passes.h"

/* Each pass by itself, and all together. */
static const struct weft_spirv_needs needs[] = {
    {.no_contraction = 1},
    {.hidden_zeros = 1},
    {.flushes = 1},
    {.flushes = 1, .loses_small_products = 1},
    {.flushes = 1, .only_products = 1},
    {.float_modes = WEFT_FLOAT_FLUSH | WEFT_FLOAT_SPECIAL | WEFT_FLOAT_NEAREST},
    {.lint = 1},
    {.short_blocks = 1},
    {.unequal_branches = 1},
    {.no_contraction = 1,
     .hidden_zeros = 1,
     .flushes = 1,
     .float_modes = WEFT_FLOAT_FLUSH | WEFT_FLOAT_SPECIAL | WEFT_FLOAT_NEAREST,
     .short_blocks = 1,
     .unequal_branches = 1},
};

static void ask(const struct weft_spirv_module *module) {
    const uint32_t specialization[] = {1, 64, 0xFFFFFFFF};
    uint32_t local_size[3];
    (void)weft_spirv_find_compute(module, "main");
    weft_spirv_local_size(local_size, module, NULL, 0);
    weft_spirv_local_size(local_size, module, specialization, 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t *source = malloc(size + 1); /* words are aligned */
    if (!source) {
        return 0;
    }
    memcpy(source, data, size);
    const bool is_module = weft_spirv_check(source, size, NULL) == WEFT_OK;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        struct weft_spirv_edit made;
        const weft_status status = weft_spirv_rewrite(&made, source, size, &needs[i], NULL);
        fuzz_expect((status == WEFT_OK) == (made.words != NULL));
        fuzz_expect(is_module || status == WEFT_COMPILE_ERROR);
        if (status == WEFT_OK) {
            const size_t made_size = made.module.count * sizeof *made.words;
            fuzz_expect(weft_spirv_check(made.words, made_size, NULL) == WEFT_OK);
            ask(&made.module);
            weft_spirv_edit_free(&made);
        }
    }
    free(source);
    return 0;
}
