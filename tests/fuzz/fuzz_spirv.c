/* SPDX-License-Identifier: MIT */
/* Any words as a SPIR-V module: through every pass, each result being a module again, and the lint. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "shader/spirv_cut_blocks.h"
#include "shader/spirv_float_modes.h"
#include "shader/spirv_flush.h"
#include "shader/spirv_hide_zeros.h"
#include "shader/spirv_lint.h"
#include "shader/spirv_part_branches.h"
#include "shader/spirv_pass.h"
#include "spirv/module.h"

/* Takes over what a pass made, where it made anything, in place of what it was given. */
static void replace(uint32_t **words, size_t *size, weft_status status, uint32_t *made,
                    size_t made_size) {
    if (status != WEFT_OK) {
        return;
    }
    fuzz_expect(weft_spirv_check(made, made_size, NULL) == WEFT_OK);
    weft_free(NULL, *words);
    *words = made;
    *size = made_size;
}

static void run_passes(uint32_t **words, size_t *size) {
    uint32_t *made = NULL;
    size_t made_size = 0;
    weft_status status = weft_spirv_hide_zeros(&made, &made_size, *words, *size, NULL);
    replace(words, size, status, made, made_size);
    status = weft_spirv_flush_subnormals(&made, &made_size, *words, *size, *size % 8 == 0, NULL);
    replace(words, size, status, made, made_size);
    const uint32_t modes = WEFT_FLOAT_FLUSH | WEFT_FLOAT_SPECIAL | WEFT_FLOAT_NEAREST;
    status = weft_spirv_add_float_modes(&made, &made_size, *words, *size, modes, NULL);
    replace(words, size, status, made, made_size);
    status = weft_spirv_cut_blocks(&made, &made_size, *words, *size, NULL);
    replace(words, size, status, made, made_size);
    status = weft_spirv_part_branches(&made, &made_size, *words, *size, NULL);
    replace(words, size, status, made, made_size);
    (void)weft_spirv_lint(*words, *size, NULL);
}

static void ask(const uint32_t *words, size_t size) {
    const uint32_t specialization[] = {1, 64, 0xFFFFFFFF};
    uint32_t local_size[3];
    (void)weft_spirv_has_compute_main(words, size);
    weft_spirv_local_size(local_size, words, size);
    weft_spirv_specialized_local_size(local_size, words, size, specialization, 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t *source = malloc(size + 1); /* words are aligned */
    uint32_t *words = NULL;
    size_t words_size = 0;
    if (!source) {
        return 0;
    }
    memcpy(source, data, size);
    weft_status status = weft_spirv_make_reproducible(&words, &words_size, source, size, NULL);
    fuzz_expect((status == WEFT_OK) == (words != NULL));
    if (status == WEFT_OK) {
        fuzz_expect(weft_spirv_check(source, size, NULL) == WEFT_OK);
        ask(source, size);
        run_passes(&words, &words_size);
    }
    weft_free(NULL, words);
    free(source);
    return 0;
}
