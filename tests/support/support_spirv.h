/* SPDX-License-Identifier: MIT */
/* Helpers of tests of SPIR-V passes: modules from GLSL, and spirv-val's opinion of them. */
#ifndef WEFT_TESTS_SUPPORT_SPIRV_H
#define WEFT_TESTS_SUPPORT_SPIRV_H

#include "spirv/passes/passes.h"
#include "support.h"

/** A module in malloc's memory. */
struct words {
    uint32_t *data;
    size_t size; /* bytes */
};

/** Goes over the instructions of a module. */
#define WEFT_TEST_EACH(word, words)                               \
    for (uint32_t *word = (words).data + WEFT_SPIRV_HEADER_WORDS; \
         word < (words).data + (words).size / 4; word += weft_spirv_length(word[0]))

/** Compiles GLSL as reproducible math does. */
struct words weft_test_compile(const char *text);

/** weft_spirv_rewrite, into words in the host's memory. */
weft_status weft_test_try_rewrite(struct words *result, struct words source,
                                  const struct weft_spirv_needs *needs, const weft_host *host);

/** Rewrites a module into malloc's memory; must not fail. */
struct words weft_test_rewrite(struct words source, struct weft_spirv_needs needs);

/** Makes arithmetic independent of contraction. */
struct words weft_test_make_reproducible(struct words source);

/** The module with another bound, in malloc's memory, and with as many OpNop behind it as such a bound asks for. */
struct words weft_test_with_bound(struct words source, uint32_t bound);

/** Fails the test unless a pass has left the module as it was. */
void weft_test_expect_same(struct words result, struct words source);

/** Puts functions in the places of the variables in the interfaces of entry points. */
void weft_test_take_interfaces(struct words words);

/** How many instructions have that opcode. */
uint32_t weft_test_count_ops(struct words words, uint32_t opcode);

/** True if spirv-val is installed; says so if not. */
bool weft_test_has_spirv_val(void);

/** Fails the test, naming the module, if spirv-val has anything against it. */
void weft_test_expect_valid(struct words words, const char *name);

/**
 * Kernels of VkFFT's for a real transform of `size`, of two axes or, where the second is 0, one: each is valid after the passes, which
 * change one at least, and fine with the lint, where that is among them.
 */
void weft_test_pass_on_transform(struct weft_test_host *test, struct weft_spirv_needs needs,
                                 const uint32_t size[2]);

/** A module that has all but used up its ids is refused. */
void weft_test_pass_without_ids(struct weft_test_host *test, struct weft_spirv_needs needs,
                                const char *text);

/** Whichever allocation fails, of which there are `least` at least, the pass fails and keeps nothing; with all of them it does not. */
void weft_test_pass_without_memory(struct weft_test_host *test, struct weft_spirv_needs needs,
                                   const char *text, long least);

/** Damage that weft_spirv_check lets pass does not lead the pass out of the words. */
void weft_test_pass_on_damage(struct weft_test_host *test, struct weft_spirv_needs needs,
                              const char *text);

#endif
