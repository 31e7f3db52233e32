/* SPDX-License-Identifier: MIT */
#include "native/target.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "native/elf.h"
#include "native/kernel.h"

#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCHITECTURE "x86_64"
#define ELF_MACHINE  WEFT_ELF_X86_64
#include <cpuid.h>
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#define ARCHITECTURE "aarch64"
#define ELF_MACHINE  WEFT_ELF_AARCH64
#ifdef __linux__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#endif

#define WINDOWS_STACK false
#if defined(__linux__)
#define SYSTEM "linux"
#define TRIPLE ARCHITECTURE "-unknown-linux-gnu"
#elif defined(__FreeBSD__)
#define SYSTEM "freebsd"
#define TRIPLE ARCHITECTURE "-unknown-freebsd"
#elif defined(_WIN32) && defined(__x86_64__)
/* ELF objects in the convention of WEFT_NATIVE_ABI are all that LLVM has to make. */
#define SYSTEM "windows"
#define TRIPLE ARCHITECTURE "-unknown-linux-gnu"
#undef WINDOWS_STACK
#define WINDOWS_STACK true
#endif

#if defined(ARCHITECTURE) && defined(SYSTEM)

#define TARGET ARCHITECTURE "-" SYSTEM " "
#define MACHINE(name, more, width, form)                                               \
    {                                                                                  \
        .triple = TRIPLE, .cpu = (name), .features = (more), .lanes = (width),         \
        .dot = WEFT_NATIVE_DOT_##form, .elf = ELF_MACHINE, .target = TARGET name more, \
        .windows_stack = WINDOWS_STACK                                                 \
    }

#ifdef __x86_64__

/*
 * The levels of the x86-64 psABI, section 3.1.1, and not the processor's own name: objects then fit on all processors of a
 * level, and instructions beyond them do nothing for arithmetic on vectors of 32-bit values; but for VNNI's, on bytes.
 */
static const struct weft_native_machine machines[] = {
    MACHINE("x86-64", "", 4, PAIRS),     MACHINE("x86-64-v2", "", 4, PAIRS),
    MACHINE("x86-64-v3", "", 8, PAIRS),  MACHINE("x86-64-v3", "+avxvnni", 8, VNNI),
    MACHINE("x86-64-v4", "", 16, PAIRS), MACHINE("x86-64-v4", "+avx512vnni", 16, VNNI),
};

enum { V2 = 1, V3, V3_VNNI, V4, V4_VNNI };

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

/* Which of the machines this processor can be, as bits. */
static unsigned find_machines(void) {
    const struct leaf basic = read_leaf(1, 0), more = read_leaf(7, 0), last = read_leaf(7, 1),
                      extended = read_leaf(0x80000001, 0);
    const unsigned lahf = 1u << 0, lzcnt = 1u << 5, avx_vnni = 1u << 4, avx512_vnni = 1u << 11;
    unsigned found = 1u;
    if (!has(basic.c,
             bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B) ||
        !has(extended.c, lahf)) {
        return found;
    }
    found |= 1u << V2;
    if (!has(basic.c, bit_OSXSAVE | bit_AVX | bit_F16C | bit_FMA | bit_MOVBE) ||
        !has(extended.c, lzcnt) || !has(more.b, bit_AVX2 | bit_BMI | bit_BMI2) ||
        !has(saved_state(), STATE_AVX)) {
        return found;
    }
    found |= 1u << V3 | (has(last.a, avx_vnni) ? 1u << V3_VNNI : 0);
    if (!has(more.b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL) ||
        !has(saved_state(), STATE_AVX | STATE_AVX512)) {
        return found;
    }
    return found | 1u << V4 | (has(more.c, avx512_vnni) ? 1u << V4_VNNI : 0);
}

#else

static const struct weft_native_machine machines[] = {
    MACHINE("generic", "+neon", 4, PLAIN),
    MACHINE("generic", "+neon,+dotprod", 4, NEON),
};

static unsigned find_machines(void) {
#ifdef __linux__
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0 ? 3u : 1u;
#else
    return 1u;
#endif
}

#endif

enum { MACHINES = sizeof machines / sizeof machines[0], IS_WRONG = 1u << 16, IS_KNOWN = 1u << 17 };

/* The index of what is wanted, or of the last one found. */
static unsigned choose_machine(void) {
    const unsigned found = find_machines();
    const char *wanted = getenv("WEFT_PROCESSOR_TARGET");
    unsigned chosen = 0;
    for (unsigned i = 0; i < MACHINES; i++) {
        const bool is_there = (found >> i & 1u) != 0;
        if (is_there && wanted && strcmp(machines[i].target + sizeof TARGET - 1, wanted) == 0) {
            return i;
        }
        chosen = is_there ? i : chosen;
    }
    return chosen | (wanted && wanted[0] != '\0' ? IS_WRONG : 0u);
}

/* Asking takes microseconds on a virtual machine. Threads that ask at once find the same. */
static unsigned find_machine(void) {
    static atomic_uint known;
    unsigned machine = atomic_load_explicit(&known, memory_order_relaxed);
    if (machine == 0) {
        machine = choose_machine() | IS_KNOWN;
        atomic_store_explicit(&known, machine, memory_order_relaxed);
    }
    return machine;
}

const struct weft_native_machine *weft_native_machine(void) {
    return &machines[find_machine() & (IS_WRONG - 1u)];
}

bool weft_native_machine_is_wrong(void) {
    return (find_machine() & IS_WRONG) != 0;
}

#else

const struct weft_native_machine *weft_native_machine(void) {
    static const struct weft_native_machine unknown = {
        .triple = "unknown", .cpu = "", .features = "", .lanes = 4, .target = "unknown"};
    return &unknown;
}

bool weft_native_machine_is_wrong(void) {
    return false;
}

#endif

uint32_t weft_native_lanes(void) {
    return weft_native_machine()->lanes;
}

const char *weft_native_target(void) {
    return weft_native_machine()->target;
}
