/* SPDX-License-Identifier: MIT */
/* The ops by their names. */
#include <string.h>

#include "model/program/program.h"

#define OP_ROW(name) &weft_op_##name,
static const struct weft_op *const ops[] = {WEFT_OPS(OP_ROW)};

const struct weft_op *weft_op_named(const char *name) {
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (strcmp(ops[i]->name, name) == 0) {
            return ops[i];
        }
    }
    return NULL;
}
