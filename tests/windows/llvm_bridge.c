/* SPDX-License-Identifier: MIT */
/*
 * What llvm_bridge.cmake says. Each function takes up to eight arguments, of which none or the second is a double: those of
 * LLVM's C interface that Weft calls. Windows passes the first four in rcx, rdx, r8, r9 (or xmm0 … xmm3, by place) and others
 * above 32 bytes of the stack, and wants rdi, rsi and xmm6 … xmm15 kept; the System V psABI passes six in rdi, rsi, rdx, rcx,
 * r8, r9, doubles by their own count, and keeps none of those.
 */
#include <stdlib.h>

#define BRIDGE(name)                                                                               \
    __asm__(".text\n"                                                                              \
            ".globl bridge_" #name "\n"                                                            \
            ".type bridge_" #name ", @function\n"                                                  \
            "bridge_" #name ":\n"                                                                  \
            "push %rbp\n mov %rsp, %rbp\n push %rdi\n push %rsi\n"                                 \
            "sub $0xb0, %rsp\n"                                                                    \
            "movups %xmm6, 0x10(%rsp)\n movups %xmm7, 0x20(%rsp)\n movups %xmm8, 0x30(%rsp)\n"     \
            "movups %xmm9, 0x40(%rsp)\n movups %xmm10, 0x50(%rsp)\n movups %xmm11, 0x60(%rsp)\n"   \
            "movups %xmm12, 0x70(%rsp)\n movups %xmm13, 0x80(%rsp)\n movups %xmm14, 0x90(%rsp)\n"  \
            "movups %xmm15, 0xa0(%rsp)\n"                                                          \
            "mov %rcx, %rdi\n mov %rdx, %rsi\n mov %r8, %rdx\n mov %r9, %rcx\n"                    \
            "mov 0x30(%rbp), %r8\n mov 0x38(%rbp), %r9\n"                                          \
            "mov 0x40(%rbp), %rax\n mov %rax, (%rsp)\n mov 0x48(%rbp), %rax\n mov %rax, 8(%rsp)\n" \
            "movaps %xmm1, %xmm0\n"                                                                \
            "xor %eax, %eax\n"                                                                     \
            "call " #name "@PLT\n"                                                                 \
            "movups 0x10(%rsp), %xmm6\n movups 0x20(%rsp), %xmm7\n movups 0x30(%rsp), %xmm8\n"     \
            "movups 0x40(%rsp), %xmm9\n movups 0x50(%rsp), %xmm10\n movups 0x60(%rsp), %xmm11\n"   \
            "movups 0x70(%rsp), %xmm12\n movups 0x80(%rsp), %xmm13\n movups 0x90(%rsp), %xmm14\n"  \
            "movups 0xa0(%rsp), %xmm15\n"                                                          \
            "add $0xb0, %rsp\n pop %rsi\n pop %rdi\n pop %rbp\n ret\n"                             \
            ".size bridge_" #name ", . - bridge_" #name "\n");

#include "llvm_bridge_functions.h"

/* ---- what LLVM calls back ---- */

/*
 * Every function that is made machine code of has LLVM tell how many instructions it has: a handler of Windows' convention would find
 * the diagnostic in rcx and its user in rdx, where the System V psABI has no arguments, or others.
 */
#define WINDOWS __attribute__((ms_abi))

typedef void WINDOWS handler(void *told, void *user);

struct listener {
    handler *handler;
    void *user;
};

void LLVMContextSetDiagnosticHandler(void *context, void (*handler)(void *, void *), void *user);
void *LLVMContextGetDiagnosticContext(void *context);
void LLVMContextDispose(void *context);

static void hear(void *told, void *user) {
    const struct listener *listener = user;
    listener->handler(told, listener->user);
}

/* Without memory for it nobody could be told: LLVM would print, and end the process at an error. */
WINDOWS void bridge_LLVMContextSetDiagnosticHandler(void *context, handler *to, void *user) {
    struct listener *listener = to ? malloc(sizeof *listener) : NULL;
    if (to && !listener) {
        abort();
    }
    free(LLVMContextGetDiagnosticContext(context));
    if (listener) {
        *listener = (struct listener){.handler = to, .user = user};
    }
    LLVMContextSetDiagnosticHandler(context, listener ? hear : NULL, listener);
}

WINDOWS void bridge_LLVMContextDispose(void *context) {
    void *listener = LLVMContextGetDiagnosticContext(context);
    LLVMContextDispose(context);
    free(listener);
}
