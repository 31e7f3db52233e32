/* SPDX-License-Identifier: MIT */
/* In place of the folder llvm/, in a build without LLVM. */
#include "native/interpreted.h"

bool weft_cpu_can_compile(void) {
    return false;
}

void weft_cpu_try_compiler(void) {
}

const char *weft_cpu_compiler_fault(void) {
    return NULL;
}

const char *weft_cpu_compiler(void) {
    return WEFT_CPU_INTERPRETER;
}

weft_status weft_cpu_compile(struct weft_cpu_object *object, const struct weft_ir_source *source,
                             const weft_host *host) {
    return weft_cpu_interpret(object, source, host);
}
