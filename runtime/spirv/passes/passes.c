/* SPDX-License-Identifier: MIT */
#include "spirv/passes/passes.h"

#include <string.h>

#include "core/try.h"
#include "spirv/check.h"

#define NEEDS(member) offsetof(struct weft_spirv_needs, member)

/* In the order in which they run. The lint looks at what those of reproducible math left; what follows only suits compilers,
 * or computes an Fma by instructions that no shader may have. */
static const struct pass {
    const char *name;
    size_t need; /* where in weft_spirv_needs */
    weft_spirv_pass *run;
} passes[] = {
    {"plain-dots", NEEDS(plain_dots), weft_spirv_plain_dots},
    {"one-nan", NEEDS(one_nan), weft_spirv_one_nan},
    {"no-contraction", NEEDS(no_contraction), weft_spirv_no_contraction},
    {"hide-zeros", NEEDS(hidden_zeros), weft_spirv_hide_zeros},
    {"flush", NEEDS(flushes), weft_spirv_flush},
    {"float-modes", NEEDS(float_modes), weft_spirv_float_modes},
    {"lint", NEEDS(lint), weft_spirv_lint},
    {"fma-by-float64", NEEDS(fma_by_float64), weft_spirv_fma_by_float64},
    {"fma-by-integers", NEEDS(fma_by_integers), weft_spirv_fma_by_integers},
    {"cut-blocks", NEEDS(short_blocks), weft_spirv_cut_blocks},
    {"part-branches", NEEDS(unequal_branches), weft_spirv_part_branches},
    {"fma-by-extension", NEEDS(fma_by_extension), weft_spirv_fma_by_extension},
};

static weft_status run_passes(struct weft_spirv_edit *edit, const struct weft_spirv_needs *needs) {
    edit->needs = needs;
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        uint32_t need = 0;
        memcpy(&need, (const char *)needs + passes[i].need, sizeof need);
        if (need != 0) {
            edit->pass = passes[i].name;
            WEFT_TRY(passes[i].run(edit));
            WEFT_TRY(weft_spirv_apply(edit));
        }
    }
    return WEFT_OK;
}

weft_status weft_spirv_rewrite(struct weft_spirv_edit *edit, const uint32_t *source, size_t size,
                               const struct weft_spirv_needs *needs, const weft_host *host) {
    *edit = (struct weft_spirv_edit){.module.host = host};
    WEFT_TRY(weft_spirv_check(source, size, host));
    weft_status status = weft_spirv_edit_begin(edit, source, size, host);
    status = status == WEFT_OK ? run_passes(edit, needs) : status;
    edit->needs = NULL;
    if (status != WEFT_OK) {
        weft_spirv_edit_free(edit);
    }
    return status;
}
