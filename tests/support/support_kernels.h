/* SPDX-License-Identifier: MIT */
/* Small kernels that have every kind of control flow, arithmetic and memory in them, and what they are given. */
#ifndef WEFT_TESTS_SUPPORT_KERNELS_H
#define WEFT_TESTS_SUPPORT_KERNELS_H

#include "support.h"

#define WEFT_TEST_KERNEL_WORDS 1024u
#define WEFT_TEST_KERNEL_BYTES (4 * WEFT_TEST_KERNEL_WORDS)

struct weft_test_kernel {
    const char *what;
    const char *size; /* of a workgroup, as layout(…) in */
    const char *body; /* functions, and main */
};

/** A workgroup of 64 in a line. */
#define WEFT_TEST_KERNEL_LINE "local_size_x = 64"

extern const struct weft_test_kernel weft_test_kernels[];
extern const size_t weft_test_kernel_count;

/** Kernel with features that neither reproducible kernels nor the evaluator's have; with lines of #extension. */
struct weft_test_other_kernel {
    struct weft_test_kernel kernel;
    const char *extensions;
};
extern const struct weft_test_other_kernel weft_test_other_kernels[];
extern const size_t weft_test_other_kernel_count;

struct weft_test_kernel_module {
    uint32_t *words; /* in malloc's memory */
    size_t size;
};

/** Compiles one, with lines of #extension in front; binding 0 is what it is given, and 2 its results, WEFT_TEST_KERNEL_BYTES each. */
struct weft_test_kernel_module weft_test_kernel_compile(const struct weft_test_kernel *kernel,
                                                        const char *extensions);

struct weft_test_kernel_given {
    uint32_t words[WEFT_TEST_KERNEL_WORDS];
    uint32_t push[4];
    uint32_t specialization[2];
};

/** By chance, with numbers at the edges among them; the same for the same seed. */
struct weft_test_kernel_given weft_test_kernel_given(uint32_t seed);

/** One that accesses buffers far outside, and writes only there; what leads it there. */
extern const struct weft_test_kernel weft_test_kernel_far;
struct weft_test_kernel_given weft_test_kernel_far_given(void);

/** One that does so with shared memory and an array of its own; and what it writes where such accesses are checked. */
extern const struct weft_test_kernel weft_test_kernel_lost;
struct weft_test_kernel_given weft_test_kernel_lost_given(void);
void weft_test_kernel_expect_found(const uint32_t *result);

/** Words that this number of workgroups writes, by the evaluator; more than two of 128 write the same words. */
void weft_test_kernel_evaluate(uint32_t *result, const struct weft_test_kernel_module *module,
                               const struct weft_test_kernel_given *given, uint32_t groups);

/** Fails the test, naming the kernel and the word, unless results are as expected. */
void weft_test_kernel_compare(const struct weft_test_kernel *kernel, const char *where,
                              uint32_t seed, const uint32_t *expected, const uint32_t *result);

#endif
