/* SPDX-License-Identifier: MIT */
/* In place of the folder compile/, in a build without LLVM. */
#include "native/kernel.h"

bool weft_cpu_can_compile(void) {
    return false;
}

const char *weft_cpu_compiler(void) {
    return "none";
}

weft_status weft_cpu_compile(struct weft_cpu_object *object, const struct weft_ir_source *source,
                             const weft_host *host) {
    (void)source;
    *object = (struct weft_cpu_object){0};
    return weft_fail(
        host, WEFT_UNSUPPORTED,
        "this Weft was built without the processor's compiler, which needs LLVM 15 or later "
        "(CMake's WEFT_PROCESSOR)");
}
