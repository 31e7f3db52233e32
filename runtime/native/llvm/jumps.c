/* SPDX-License-Identifier: MIT */
#include "native/llvm/jumps.h"

#include <stdio.h>
#include <string.h>

#include "core/system/library.h"

/* ---- a jump for each function of LLVM that the sources of this folder name ---- */

#define WEFT_LLVM_FUNCTION(name) void (*weft_llvm_at_##name)(void);
#include "llvm_functions.h"
#undef WEFT_LLVM_FUNCTION

/* Without touching an argument, so that one kind of jump fits every signature. Each begins as the target of a jump may have to. */
#if defined(__x86_64__)
#define JUMP(name) "endbr64\n jmp *weft_llvm_at_" name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(name)                                   \
    "hint #34\n"                                     \
    " adrp x16, weft_llvm_at_" name "\n"             \
    " ldr x16, [x16, :lo12:weft_llvm_at_" name "]\n" \
    " br x16\n"
#else
#error "WEFT_PROCESSOR is for x86-64 and AArch64"
#endif

#ifdef _WIN32 /* COFF, which has no more to say of a function */
#define BEGIN(name) ".text\n .balign 16\n .globl weft_" name "\n"
#define END(name)
#else
#define BEGIN(name)            \
    ".pushsection .text\n"     \
    " .balign 16\n"            \
    " .globl weft_" name "\n"  \
    " .hidden weft_" name "\n" \
    " .type weft_" name ", %function\n"
#define END(name) " .size weft_" name ", . - weft_" name "\n .popsection\n"
#endif

#define WEFT_LLVM_FUNCTION(name) __asm__(BEGIN(#name) "weft_" #name ":\n " JUMP(#name) END(#name));
#include "llvm_functions.h"
#undef WEFT_LLVM_FUNCTION

/* ---- where they lead ---- */

static const struct {
    const char *name;
    void (**function)(void);
} functions[] = {
#define WEFT_LLVM_FUNCTION(name) {#name, &weft_llvm_at_##name},
#include "llvm_functions.h"
#undef WEFT_LLVM_FUNCTION
};

bool weft_llvm_lead(void *library, const char *path, char *fault, size_t size) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *address = weft_library_function(library, functions[i].name);
        if (!address) {
            (void)snprintf(fault, size, "%.300s has no %s", path, functions[i].name);
            return false;
        }
        /* ISO C knows no way from an object's address to a function. */
        memcpy(functions[i].function, &address, sizeof address);
    }
    return true;
}
