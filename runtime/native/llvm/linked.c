/* SPDX-License-Identifier: MIT */
/* The LLVM that a static program is linked to, in place of find.c. */
#include <stdio.h>
#include <stdlib.h>

#include <llvm/Config/llvm-config.h>

#include "native/kernel.h"
#include "native/llvm/find.h"

/* The one that is there is the only one to choose. */
static bool is_wanted(void) {
    const char *text = getenv("WEFT_LLVM");
    if (!text || !weft_native_compiler_is_chosen()) {
        return true;
    }
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    return *end == '\0' && number == LLVM_VERSION_MAJOR;
}

bool weft_llvm_expect(struct weft_llvm_file *file) {
    *file = (struct weft_llvm_file){.version = LLVM_VERSION_MAJOR};
    (void)snprintf(file->id, sizeof file->id, "%s", WEFT_LLVM_LINKED);
    return is_wanted();
}

bool weft_llvm_find(struct weft_llvm_file *file, char *fault, size_t size) {
    fault[0] = '\0';
    if (!weft_llvm_expect(file)) {
        (void)snprintf(
            fault, size,
            "WEFT_LLVM is neither 0, 1 nor %d, the LLVM that this static program has in it",
            LLVM_VERSION_MAJOR);
        return false;
    }
    return true;
}
