/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <string.h>

#include "core/try.h"
#include "multiply_adds.h"
#include "spirv/passes/passes.h"

static weft_status write_text(struct weft_cl_text *text, const struct weft_spirv_edit *module,
                              const struct weft_source *source, const weft_host *host) {
    struct weft_ir_specialization constants[WEFT_SOURCE_CONSTANTS];
    char error[WEFT_IR_TEXT] = "";
    for (uint32_t i = 0; i < source->constant_count; i++) {
        constants[i] = (struct weft_ir_specialization){
            .id = i, .size = sizeof source->constants[i], .value = &source->constants[i]};
    }
    const struct weft_ir_source words = {.words = module->module.words,
                                         .size = module->module.count * sizeof(uint32_t),
                                         .entry_point = "main",
                                         .constants = constants,
                                         .constant_count = source->constant_count,
                                         .lanes = 8};
    const weft_status status = weft_cl_emit(text, &words, error, host);
    return status ? weft_fail(host, status, "%s", error) : WEFT_OK;
}

weft_status weft_source_text(struct weft_cl_text *text, const struct weft_source *source,
                             const struct weft_text_form *form, const weft_host *host) {
    const struct weft_spirv_needs needs = {.fused = form->math == WEFT_MATH_FUSED,
                                           .flushes = form->flushes,
                                           .only_products = form->flushes};
    static const char off[] = "FP_CONTRACT OFF", on[] = "FP_CONTRACT ON ";
    struct weft_spirv_edit made;
    WEFT_TRY(weft_spirv_rewrite(&made, source->words, source->size, &needs, host));
    weft_status status = form->apart ? weft_spirv_part_products(&made) : WEFT_OK;
    status = status ? status : write_text(text, &made, source, host);
    weft_spirv_edit_free(&made);
    char *rule = status == WEFT_OK && form->contracted ? strstr(text->text, off) : NULL;
    if (rule) {
        memcpy(rule, on, sizeof on - 1);
    }
    return status;
}
