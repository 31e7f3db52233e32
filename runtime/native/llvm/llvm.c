/* SPDX-License-Identifier: MIT */
#include "native/llvm/llvm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>

#include "core/library.h"
#include "core/system.h"
#include "llvm_identity.h"
#include "native/interpreted.h"

/* ---- a jump for each function of LLVM that the sources of this folder name ---- */

#define WEFT_LLVM_FUNCTION(name) void (*weft_llvm_at_##name)(void);
#include "llvm_functions.h"
#undef WEFT_LLVM_FUNCTION

/* Without touching an argument, so that one kind of jump fits every signature. Each begins as the target of a jump may have to. */
#if defined(__x86_64__)
#define JUMP(name)       "endbr64\n jmp *weft_llvm_at_" name "(%rip)\n"
#define INITIALIZE(part) LLVMInitializeX86##part()
#elif defined(__aarch64__)
#define JUMP(name)                                   \
    "hint #34\n"                                     \
    " adrp x16, weft_llvm_at_" name "\n"             \
    " ldr x16, [x16, :lo12:weft_llvm_at_" name "]\n" \
    " br x16\n"
#define INITIALIZE(part) LLVMInitializeAArch64##part()
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

/* Of the process, as the library is. */
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static char fault[512]; /* empty: it is open */
static atomic_bool tried;

static void find_functions(void *library) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *address = weft_library_function(library, functions[i].name);
        if (!address) {
            snprintf(fault, sizeof fault, "%s has no %s", WEFT_LLVM_NAME, functions[i].name);
            return;
        }
        /* ISO C knows no way from an object's address to a function. */
        memcpy(functions[i].function, &address, sizeof address);
    }
}

/* A name alone may lead to another version than that of the headers. Before LLVM 16 it is not told. */
static void check_version(void *library) {
    void *address = weft_library_function(library, "LLVMGetVersion");
    void (*ask)(unsigned *major, unsigned *minor, unsigned *patch) = NULL;
    unsigned major = 15, minor = 0, patch = 0;
    memcpy(&ask, &address, sizeof address);
    if (ask) {
        ask(&major, &minor, &patch);
    }
    if (major != LLVM_VERSION_MAJOR) {
        snprintf(fault, sizeof fault, "%s is of version %u, expected %d", WEFT_LLVM_NAME, major,
                 LLVM_VERSION_MAJOR);
    }
}

/* Null with the fault of what should have been there. What came with us goes before what the system has. */
static void *find_library(void) {
    char path[WEFT_SYSTEM_PATH_SIZE], reason[sizeof fault];
    void *library = NULL;
    if (weft_library_beside(path, sizeof path, WEFT_LLVM_BESIDE)) {
        library = weft_library_open(path, fault, sizeof fault);
    }
    if (!library) {
        library =
            weft_library_open(WEFT_LLVM_NAME, fault[0] == '\0' ? fault : reason, sizeof fault);
    }
    library = library ? library : weft_library_open(WEFT_LLVM_PATH, reason, sizeof reason);
    if (!library && weft_library_installed(path, sizeof path, "LLVM", WEFT_LLVM_NAME)) {
        library = weft_library_open(path, reason, sizeof reason);
    }
    return library;
}

/* The library stays for good: LLVM does not survive being closed. */
static void find_all(void) {
    void *library = find_library();
    if (!library) {
        return;
    }
    fault[0] = '\0';
    check_version(library);
    if (fault[0] == '\0') {
        find_functions(library);
    }
    if (fault[0] == '\0') {
        /* What LLVM calls native is what its headers were made for, which a cross compiler's need not be. */
        INITIALIZE(TargetInfo);
        INITIALIZE(Target);
        INITIALIZE(TargetMC);
        INITIALIZE(AsmPrinter);
    }
}

static void open_library(void) {
    find_all();
    atomic_store(&tried, true);
}

weft_status weft_llvm_open(const weft_host *host) {
    pthread_once(&opened, open_library);
    return fault[0] == '\0' ? WEFT_OK
                            : weft_fail(host, WEFT_UNSUPPORTED,
                                        "the processor's compiler needs LLVM: %s", fault);
}

static bool is_turned_off(void) {
    const char *wanted = getenv("WEFT_LLVM");
    return wanted && strcmp(wanted, "0") == 0;
}

/* Where LLVM is as it was when this was built, or came with us, it need not be opened to know. */
static bool is_there(void) {
    char path[WEFT_SYSTEM_PATH_SIZE];
    return weft_library_is_there(WEFT_LLVM_PATH) ||
           weft_library_beside(path, sizeof path, WEFT_LLVM_BESIDE);
}

bool weft_cpu_can_compile(void) {
    if (is_turned_off()) {
        return false;
    }
    return (!atomic_load(&tried) && is_there()) || weft_llvm_open(NULL) == WEFT_OK;
}

void weft_cpu_try_compiler(void) {
    if (!is_turned_off()) {
        (void)weft_llvm_open(NULL);
    }
}

const char *weft_cpu_compiler_fault(void) {
    if (is_turned_off()) {
        return "the environment has WEFT_LLVM=0";
    }
    return atomic_load(&tried) && fault[0] != '\0' ? fault : NULL;
}

const char *weft_cpu_compiler_remedy(void) {
    return is_turned_off()             ? "remove WEFT_LLVM from the environment"
           : weft_cpu_compiler_fault() ? "install the library " WEFT_LLVM_NAME " of LLVM"
                                       : NULL;
}

const char *weft_cpu_compiler(void) {
    return weft_cpu_can_compile() ? WEFT_COMPILER_IDENTITY : WEFT_CPU_INTERPRETER;
}
