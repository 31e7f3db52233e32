/* SPDX-License-Identifier: MIT */
/* In place of the folder llvm/, in a build without LLVM. */
#include "core/host.h"
#include "native/interpreted.h"

bool weft_native_can_compile(void) {
    return false;
}

void weft_native_try_compiler(void) {
}

const char *weft_native_compiler_fault(void) {
    return "Weft was built without LLVM";
}

const char *weft_native_compiler_remedy(void) {
    return "build Weft where LLVM's headers are, or take its wheel";
}

uint32_t weft_native_compiler_changes(void) {
    return 0;
}

bool weft_native_compiler_is_chosen(void) {
    return false;
}

uint32_t weft_native_compiler_version(void) {
    return 0;
}

const char *weft_native_compiler(void) {
    return WEFT_NATIVE_INTERPRETER;
}

weft_status weft_native_compile(struct weft_native_object *object,
                                const struct weft_ir_source *source, const weft_host *host) {
    (void)object;
    (void)source;
    return weft_fail(host, WEFT_UNSUPPORTED, "%s", weft_native_compiler_fault());
}
