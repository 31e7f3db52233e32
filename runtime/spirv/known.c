/* SPDX-License-Identifier: MIT */
#include "spirv/known.h"

#include <string.h>

#include "spirv/ir/glsl.h"
#include "spirv/ir/ir.h"

const struct weft_spirv_known *weft_spirv_find_known(const char *name) {
    static const struct weft_spirv_known functions[] = {
        {"weft_div(f1;f1;", SpvOpFDiv, 2},
        {"weft_rcp(f1;", SpvOpFDiv, 1},
        {"weft_sqrt(f1;", WEFT_IR_GLSL + WEFT_GLSL_SQRT, 1},
    };
    for (size_t i = 0; name && i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return &functions[i];
        }
    }
    return NULL;
}
