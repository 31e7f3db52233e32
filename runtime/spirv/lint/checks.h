/* SPDX-License-Identifier: MIT */
/* Checks of the lint on one instruction. */
#ifndef WEFT_SPIRV_LINT_CHECKS_H
#define WEFT_SPIRV_LINT_CHECKS_H

#include "spirv/index.h"
#include "spirv/lint/rules.h"

/** An instruction of a module. */
struct weft_lint_place {
    const struct weft_spirv_module *module;
    const uint32_t *words;
};

/** Fails with the message that "Op… NAME" is refused; the name may be empty, and `instead` null. */
weft_status weft_lint_refuse(const struct weft_lint_place *at, const char *name, const char *reason,
                             const char *instead);

/** Judges a number by a list. kind: noun for a number that is not on the list. */
weft_status weft_lint_judge(const struct weft_lint_place *at, enum weft_lint_list list,
                            uint32_t number, const char *kind);

/** The check of a rule that is CHECKED. */
weft_status weft_lint_check(const struct weft_lint_place *at, enum weft_lint_check check);

#endif
