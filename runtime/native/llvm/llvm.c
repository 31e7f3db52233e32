/* SPDX-License-Identifier: MIT */
#include "native/llvm/llvm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Target.h>

#include "llvm_identity.h"
#include "native/interpreted.h"
#include "native/llvm/find.h"
#include "native/llvm/version.h"

#ifdef __x86_64__
#define INITIALIZE(part) LLVMInitializeX86##part()
#else
#define INITIALIZE(part) LLVMInitializeAArch64##part()
#endif

/* ---- of the process, as the library is ---- */

#define IDENTITY_SIZE 256

/* Without opening it. */
static pthread_once_t looked = PTHREAD_ONCE_INIT;
static struct weft_llvm_file expected; /* its version is 0 where there is no telling */
static char expected_identity[IDENTITY_SIZE];
/* Of what is open. */
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static struct weft_llvm_file found;
static char identity[IDENTITY_SIZE];
static char fault[512]; /* empty: it is open */
static atomic_bool tried;
static atomic_uint changes;

static void write_identity(char *text, const struct weft_llvm_file *file) {
    (void)snprintf(text, IDENTITY_SIZE, "LLVM %u, %s, %s", file->version, file->id,
                   WEFT_COMPILER_SOURCES);
}

static void look(void) {
    if (weft_llvm_expect(&expected)) {
        write_identity(expected_identity, &expected);
    } else {
        expected.version = 0;
    }
}

static bool is_expected(void) {
    pthread_once(&looked, look);
    return expected.version != 0;
}

/* The library stays for good: LLVM does not survive being closed. */
static void find_all(void) {
    char others[sizeof fault];
    const bool is_there = weft_llvm_find(&found, others, sizeof others);
    (void)snprintf(identity, sizeof identity, "%s", WEFT_NATIVE_INTERPRETER);
    if (!is_there) {
        memcpy(fault, others, sizeof fault);
    } else {
        weft_llvm_set_version(found.version);
        write_identity(identity, &found);
        /* What LLVM calls native is what its headers were made for, which a cross compiler's need not be. */
        INITIALIZE(TargetInfo);
        INITIALIZE(Target);
        INITIALIZE(TargetMC);
        INITIALIZE(AsmPrinter);
    }
}

static void open_library(void) {
    const bool was_expected = is_expected();
    find_all();
    if (was_expected && strcmp(identity, expected_identity) != 0) {
        atomic_store(&changes, 1);
    }
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

bool weft_native_compiler_is_chosen(void) {
    const char *wanted = getenv("WEFT_LLVM");
    return wanted && wanted[0] != '\0' && strcmp(wanted, "0") != 0 && strcmp(wanted, "1") != 0;
}

/* A library that is there need not be opened to know. */
bool weft_native_can_compile(void) {
    if (is_turned_off()) {
        return false;
    }
    return (!atomic_load(&tried) && is_expected()) || weft_llvm_open(NULL) == WEFT_OK;
}

void weft_native_try_compiler(void) {
    if (!is_turned_off()) {
        (void)weft_llvm_open(NULL);
    }
}

const char *weft_native_compiler_fault(void) {
    if (is_turned_off()) {
        return "the environment has WEFT_LLVM=0";
    }
    return atomic_load(&tried) && fault[0] != '\0' ? fault : NULL;
}

const char *weft_native_compiler_remedy(void) {
    return is_turned_off()                    ? "remove WEFT_LLVM from the environment"
           : !weft_native_compiler_fault()    ? NULL
           : weft_native_compiler_is_chosen() ? "change WEFT_LLVM in the environment"
                                              : "install LLVM, a version from 15 to 22";
}

uint32_t weft_native_compiler_changes(void) {
    return atomic_load(&changes);
}

const char *weft_native_compiler(void) {
    return !weft_native_can_compile() ? WEFT_NATIVE_INTERPRETER
           : atomic_load(&tried)      ? identity
                                      : expected_identity;
}

uint32_t weft_native_compiler_version(void) {
    return !weft_native_can_compile() ? 0 : atomic_load(&tried) ? found.version : expected.version;
}
