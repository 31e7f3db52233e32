/* SPDX-License-Identifier: MIT */
/*
 * Compute kernels as native code of this processor: from SPIR-V to an object (the folder llvm/, the only part that needs
 * LLVM), and from an object to a function (load.c, object.c). Objects can be kept on disk.
 *
 * A kernel runs whole workgroups. The invocations of a workgroup, in the order of gl_LocalInvocationIndex, are cut into
 * subgroups of `lanes`; those of one subgroup are the lanes of vectors, and what lies between two barriers runs for one
 * subgroup after the other.
 */
#ifndef WEFT_NATIVE_KERNEL_H
#define WEFT_NATIVE_KERNEL_H

#include <stdatomic.h>

#include "spirv/ir/source.h"

#define WEFT_NATIVE_MAX_BINDINGS    WEFT_IR_MAX_BINDINGS
#define WEFT_NATIVE_MAX_INVOCATIONS WEFT_IR_MAX_INVOCATIONS
#define WEFT_NATIVE_SHARED_MEMORY   WEFT_IR_SHARED_MEMORY
#define WEFT_NATIVE_MAX_LANES       16u
/* Bytes on the stack for the arrays that a subgroup's invocations index. */
#define WEFT_NATIVE_LOCAL_MEMORY (256u << 10)
/* Bytes that a binding begins at a multiple of. */
#define WEFT_NATIVE_RANGE_ALIGNMENT 16u
/* Bytes of a binding: offsets are signed and of 32 bits. */
#define WEFT_NATIVE_MAX_RANGE ((UINT32_C(1) << 31) - 64u)

/** The bytes of one storage buffer as it is bound. Compiled code knows this layout. */
struct weft_native_range {
    void *data; /* aligned to WEFT_NATIVE_RANGE_ALIGNMENT */
    uint64_t size;
};

/** Arguments of a kernel. Compiled code knows this layout. */
struct weft_native_call {
    const struct weft_native_range *ranges; /* one for each of weft_native_interface::bindings */
    const void *push; /* push constants, as many bytes as the module declares */
    /* weft_native_interface::scratch_size bytes, aligned to 64: shared memory, and what lives across barriers. One for each
     * thread; its contents mean nothing between calls. */
    void *scratch;
    uint32_t groups[3]; /* of the dispatch: gl_NumWorkGroups */
    /* Kernels that were compiled as `checked` look at it in each turn of a loop, and return where it is not 0. */
    const atomic_uint_least32_t *halt;
    const struct weft_interpreted *interpreted; /* weft_native_kernel::interpreted */
};

/*
 * How kernels call and are called: as the System V psABI has it, on Windows, too, where C has another convention, so that one
 * loader of ELF objects is enough. The compiler turns one into the other at each call.
 */
#if defined(_WIN32) && defined(__x86_64__)
#define WEFT_NATIVE_ABI __attribute__((sysv_abi))
#else
#define WEFT_NATIVE_ABI
#endif

/**
 * Runs the workgroups (x, y, z), (x + 1, y, z) … (x + count - 1, y, z). The calling thread's float state must round to
 * nearest and, for reproducible math, flush subnormal operands and results (core/math/float_state.h). Thread safe as far as
 * the workgroups are: each thread has its own call and scratch.
 */
typedef void(WEFT_NATIVE_ABI *weft_native_entry)(const struct weft_native_call *call, uint32_t x,
                                                 uint32_t y, uint32_t z, uint32_t count);

/** Interface of a kernel for its callers. */
struct weft_native_interface {
    uint32_t local_size[3];
    uint32_t lanes;
    uint32_t scratch_size; /* bytes */
    uint32_t push_size;    /* bytes of push constants that are read */
    uint32_t binding_count;
    struct weft_ir_binding bindings[WEFT_NATIVE_MAX_BINDINGS];
};

/** An object: an interface and machine code, in host memory; position-independent bytes without pointers. */
struct weft_native_object {
    uint8_t *bytes;
    size_t size;
};

struct weft_native_kernel {
    struct weft_native_interface interface;
    weft_native_entry entry;
    struct weft_interpreted *interpreted; /* what runs in place of native code; or null */
    void *code;                           /* the mapping */
    size_t code_size;
};

/** True if the system lets this process execute code that it has made; `in_place`: in the memory where it was written, as drivers do. */
bool weft_native_can_execute(bool in_place);

/**
 * True if there is a compiler: this library was built with LLVM, LLVM is there, and the environment does not have WEFT_LLVM=0.
 * Without, kernels are interpreted (native/interpreted.h).
 */
bool weft_native_can_compile(void);

/**
 * Loads LLVM, which takes 20 ms, so that weft_native_can_compile is certain: until it is loaded, a library that is there counts as one that can be
 * loaded.
 */
void weft_native_try_compiler(void);

/**
 * Why there is no compiler, and what would bring one, as sentences without a period in static memory; null while nobody has tried to load LLVM,
 * or where there is one.
 */
const char *weft_native_compiler_fault(void);
const char *weft_native_compiler_remedy(void);

/**
 * How often it has turned out that the compiler is another than weft_native_compiler has told, or none: 0 or 1. The library that was
 * there could not be loaded.
 */
uint32_t weft_native_compiler_changes(void);

/** True if WEFT_LLVM in the environment chooses one: nothing else takes its place. */
bool weft_native_compiler_is_chosen(void);

/** The build of LLVM and a hash of the compiler's sources, or that kernels are interpreted, in static memory: what a cache of
 * objects is keyed by, beside the target. */
const char *weft_native_compiler(void);

/** LLVM's major version, or 0 where kernels are interpreted. */
uint32_t weft_native_compiler_version(void);

/**
 * Compiles a module for this processor; the caller frees object->bytes with weft_free. Thread safe.
 * Errors: WEFT_UNSUPPORTED naming an instruction, type, storage class or built-in that is not compiled, or a limit
 * above that is passed, or that there is no compiler (nothing is interpreted instead: a device does that with all of its kernels or with none); WEFT_COMPILE_ERROR for a module that does not hold together;
 * WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_native_compile(struct weft_native_object *object,
                                const struct weft_ir_source *source, const weft_host *host);

/**
 * Makes an object callable. The bytes may be freed afterwards. Bytes that are no object, are cut short or were made for
 * another processor are WEFT_BAD_FILE (nothing is trusted that was not checked: sizes, offsets, relocations).
 */
weft_status weft_native_kernel_load(struct weft_native_kernel **kernel, const uint8_t *bytes,
                                    size_t size, const weft_host *host);
void weft_native_kernel_unload(struct weft_native_kernel **kernel, const weft_host *host);

/**
 * Puts an interface and an ELF relocatable object that defines the function WEFT_NATIVE_ENTRY together.
 * Errors: WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_native_object_pack(struct weft_native_object *object,
                                    const struct weft_native_interface *interface,
                                    const uint8_t *elf, size_t elf_size, const weft_host *host);

/** The name stands in objects on disks, which a new one would make useless. */
#define WEFT_NATIVE_ENTRY "weft_cpu_entry"

/** The vector width this processor runs best with, as lanes of 32 bits: 4, 8 or 16. */
uint32_t weft_native_lanes(void);

/**
 * Target of machine code: architecture, the processor's name and features. Objects fit only an equal target. In
 * static memory.
 */
const char *weft_native_target(void);

#endif
