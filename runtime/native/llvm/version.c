/* SPDX-License-Identifier: MIT */
#include "native/llvm/version.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/system/library.h"
#include "native/llvm/emit.h"

/* Set once, before threads that compile begin to. */
static unsigned version = WEFT_LLVM_OLDEST;

void weft_llvm_set_version(unsigned opened) {
    version = opened;
}

/* ---- where it is ---- */

struct part {
    const char *before, *after; /* the version; none where `after` is null */
};

static bool write_part(char *text, size_t size, const struct part *parts, size_t count,
                       unsigned number, unsigned index) {
    int length = -1;
    if (index < count && parts[index].after) {
        length = snprintf(text, size, "%s%u%s", parts[index].before, number, parts[index].after);
    } else if (index < count) {
        length = snprintf(text, size, "%s", parts[index].before);
    }
    return length >= 0 && (size_t)length < size;
}

#ifdef _WIN32

bool weft_llvm_file_name(char *name, size_t size, unsigned number, unsigned index) {
    /* LLVM's own installer gives its library no version; others do. */
    static const struct part names[] = {{"LLVM-C.dll", NULL}, {"libLLVM-", ".dll"}};
    return write_part(name, size, names, sizeof names / sizeof *names, number, index);
}

bool weft_llvm_folder(char *folder, size_t size, unsigned number, unsigned index) {
    (void)folder;
    (void)size;
    (void)number;
    (void)index;
    return false;
}

#else

bool weft_llvm_file_name(char *name, size_t size, unsigned number, unsigned index) {
    static const struct part names[] = {
        {"libLLVM.so.", ".1"}, /* LLVM's own name since 18 */
        {"libLLVM-", ".so.1"}, /* Debian's before */
        {"libLLVM-", ".so"},   /* LLVM's before */
        {"libLLVM.so.", ""},   /* openSUSE's before */
    };
    return write_part(name, size, names, sizeof names / sizeof *names, number, index);
}

#ifdef __aarch64__
#define MULTIARCH "aarch64-linux-gnu"
#else
#define MULTIARCH "x86_64-linux-gnu"
#endif

/* Where a system has libraries of 32 bits they are in lib, and those of 64 in lib64. */
bool weft_llvm_folder(char *folder, size_t size, unsigned number, unsigned index) {
    static const struct part folders[] = {
        {"/usr/lib/llvm-", "/lib"},    /* Debian */
        {"/usr/lib64/llvm", "/lib64"}, /* Fedora */
        {"/usr/lib64/llvm", "/lib"},   /* Fedora before 41 */
        {"/usr/lib/llvm/", "/lib64"},  /* Gentoo */
        {"/usr/lib/llvm", "/lib"},     /* Alpine, Arch, Void */
        {"/usr/local/llvm", "/lib"},   /* FreeBSD */
        {"/usr/lib/" MULTIARCH, NULL}, {"/usr/lib64", NULL}, {"/usr/lib", NULL},
        {"/usr/local/lib", NULL},
    };
    return write_part(folder, size, folders, sizeof folders / sizeof *folders, number, index);
}

#endif

/* ---- which it is ---- */

unsigned weft_llvm_version_of(void *library, char *text, size_t size) {
    /* Of 16 and later. */
    void (*ask)(unsigned *major, unsigned *minor, unsigned *patch) = NULL;
    void *address = weft_library_function(library, "LLVMGetVersion");
    unsigned major = 0, minor = 0, patch = 0;
    memcpy(&ask, &address, sizeof address);
    text[0] = '\0';
    if (ask) {
        ask(&major, &minor, &patch);
        (void)snprintf(text, size, "%u.%u.%u", major, minor, patch);
        return major;
    }
    if (!weft_library_function(library, "LLVMPointerTypeInContext")) { /* of 15 and later */
        return 0;
    }
    (void)snprintf(text, size, "15");
    return 15;
}

/* ---- passes ---- */

/* What makes variables registers, and loops of known length straight code. That of -O2 takes 1.4 times as long for code
 * that is no shorter: half of it is for calls and loops to be vectorized, of which there are none. */
#define PASSES(combine)                                                                    \
    "function(sroa,early-cse<memssa>,simplifycfg," combine ",loop-simplify,"               \
    "loop(loop-rotate,loop-deletion),loop-mssa(licm),loop(indvars,loop-unroll-full),sroa," \
    "early-cse<memssa>,gvn," combine ",simplifycfg,loop-mssa(licm),adce)"

/* From 18 on the pass ends the process, unless it is told not to, where a second round would find something. */
const char *weft_llvm_passes(void) {
    return version < 18 ? PASSES("instcombine") : PASSES("instcombine<no-verify-fixpoint>");
}

/* ---- masked loads and stores ---- */

/* One of them: its arguments in order with the alignment where it was until 21; since then it is an attribute of the address. */
struct masked {
    const char *name;
    LLVMTypeRef value, place;
    LLVMValueRef arguments[4];
    uint32_t address, alignment; /* which of the arguments */
};

static LLVMValueRef call_masked(struct weft_emit *emit, struct masked *masked, uint32_t alignment) {
    LLVMTypeRef types[] = {masked->value, masked->place};
    if (version < 22) {
        masked->arguments[masked->alignment] = weft_emit_u32(emit, alignment);
        return weft_emit_intrinsic(emit, masked->name, types, 2, masked->arguments, 4);
    }
    for (uint32_t i = masked->alignment; i < 3; i++) {
        masked->arguments[i] = masked->arguments[i + 1];
    }
    const LLVMValueRef made =
        weft_emit_intrinsic(emit, masked->name, types, 2, masked->arguments, 3);
    static const char align[] = "align";
    const unsigned kind = LLVMGetEnumAttributeKindForName(align, sizeof align - 1);
    LLVMAddCallSiteAttribute(made, masked->address + 1, /* 0 is what it returns */
                             LLVMCreateEnumAttribute(emit->context, kind, alignment));
    return made;
}

LLVMValueRef weft_emit_masked_load(struct weft_emit *emit, LLVMTypeRef type, LLVMValueRef from,
                                   LLVMValueRef mask, uint32_t alignment) {
    struct masked masked = {.name = "llvm.masked.load",
                            .value = type,
                            .place = LLVMTypeOf(from),
                            .arguments = {from, NULL, mask, LLVMConstNull(type)},
                            .address = 0,
                            .alignment = 1};
    masked.name = weft_emit_is_vector(from) ? "llvm.masked.gather" : masked.name;
    return call_masked(emit, &masked, alignment);
}

LLVMValueRef weft_emit_masked_store(struct weft_emit *emit, LLVMValueRef value, LLVMValueRef to,
                                    LLVMValueRef mask, uint32_t alignment) {
    struct masked masked = {.name = "llvm.masked.store",
                            .value = LLVMTypeOf(value),
                            .place = LLVMTypeOf(to),
                            .arguments = {value, to, NULL, mask},
                            .address = 1,
                            .alignment = 2};
    masked.name = weft_emit_is_vector(to) ? "llvm.masked.scatter" : masked.name;
    return call_masked(emit, &masked, alignment);
}
