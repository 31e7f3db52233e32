/* SPDX-License-Identifier: MIT */
#include "native/target.h"

#include <stdatomic.h>

#include "native/elf.h"
#include "native/kernel.h"

#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCHITECTURE "x86_64"
#define ELF_MACHINE  WEFT_ELF_X86_64
#include <cpuid.h>
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#define ARCHITECTURE "aarch64"
#define ELF_MACHINE  WEFT_ELF_AARCH64
#endif

#define WINDOWS_STACK false
#if defined(__linux__)
#define SYSTEM "linux"
#define TRIPLE ARCHITECTURE "-unknown-linux-gnu"
#elif defined(__FreeBSD__)
#define SYSTEM "freebsd"
#define TRIPLE ARCHITECTURE "-unknown-freebsd"
#elif defined(_WIN32) && defined(__x86_64__)
/* ELF objects in the convention of WEFT_CPU_ABI are all that LLVM has to make. */
#define SYSTEM "windows"
#define TRIPLE ARCHITECTURE "-unknown-linux-gnu"
#undef WINDOWS_STACK
#define WINDOWS_STACK true
#endif

#if defined(ARCHITECTURE) && defined(SYSTEM)

#define MACHINE(name, more, width)                                                                 \
    {                                                                                              \
        .triple = TRIPLE, .cpu = (name), .features = (more), .lanes = (width), .elf = ELF_MACHINE, \
        .target = ARCHITECTURE "-" SYSTEM " " name more, .windows_stack = WINDOWS_STACK            \
    }

#ifdef __x86_64__

/*
 * The levels of the x86-64 psABI, section 3.1.1, and not the processor's own name: objects then fit on all processors of a
 * level, and instructions beyond them do nothing for arithmetic on vectors of 32-bit values.
 */
static const struct weft_cpu_machine levels[] = {
    MACHINE("x86-64", "", 4),
    MACHINE("x86-64-v2", "", 4),
    MACHINE("x86-64-v3", "", 8),
    MACHINE("x86-64-v4", "", 16),
};

#define STATE_AVX    0x06u /* of XCR0: the system saves the registers' lower and middle parts, */
#define STATE_AVX512 0xE0u /* mask registers and the rest */

struct leaf {
    unsigned a, b, c, d;
};

/* Zeros where the processor has no such leaf. */
static struct leaf read_leaf(unsigned number, unsigned part) {
    struct leaf leaf = {0};
    if (!__get_cpuid_count(number, part, &leaf.a, &leaf.b, &leaf.c, &leaf.d)) {
        leaf = (struct leaf){0};
    }
    return leaf;
}

/* XCR0, for which the compiler's own function wants the whole file compiled for such processors. */
static unsigned saved_state(void) {
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool has(unsigned word, unsigned bits) {
    return (word & bits) == bits;
}

static int find_level(void) {
    const struct leaf basic = read_leaf(1, 0), more = read_leaf(7, 0),
                      extended = read_leaf(0x80000001, 0);
    const unsigned lahf = 1u << 0, lzcnt = 1u << 5;
    if (!has(basic.c,
             bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B) ||
        !has(extended.c, lahf)) {
        return 0;
    }
    if (!has(basic.c, bit_OSXSAVE | bit_AVX | bit_F16C | bit_FMA | bit_MOVBE) ||
        !has(extended.c, lzcnt) || !has(more.b, bit_AVX2 | bit_BMI | bit_BMI2) ||
        !has(saved_state(), STATE_AVX)) {
        return 1;
    }
    if (!has(more.b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL) ||
        !has(saved_state(), STATE_AVX | STATE_AVX512)) {
        return 2;
    }
    return 3;
}

#else

static const struct weft_cpu_machine levels[] = {MACHINE("generic", "+neon", 4)};

static int find_level(void) {
    return 0;
}

#endif

const struct weft_cpu_machine *weft_cpu_machine(void) {
    /* Asking takes microseconds on a virtual machine. Threads that ask at once find the same. */
    static atomic_int known;
    int level = atomic_load_explicit(&known, memory_order_relaxed) - 1;
    if (level < 0) {
        level = find_level();
        atomic_store_explicit(&known, level + 1, memory_order_relaxed);
    }
    return &levels[level];
}

#else

const struct weft_cpu_machine *weft_cpu_machine(void) {
    static const struct weft_cpu_machine unknown = {
        .triple = "unknown", .cpu = "", .features = "", .lanes = 4, .target = "unknown"};
    return &unknown;
}

#endif

uint32_t weft_cpu_native_lanes(void) {
    return weft_cpu_machine()->lanes;
}

const char *weft_cpu_target(void) {
    return weft_cpu_machine()->target;
}
