/* SPDX-License-Identifier: MIT */
/* Programs (docs/programs.md) made of bytes by a table of nodes, so that what a fuzzer changes is a program again. */
#ifndef WEFT_FUZZ_PROGRAM_GRAMMAR_H
#define WEFT_FUZZ_PROGRAM_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_PROGRAM_NODES 8

/** Bytes that decide; behind the last they are zeros. */
struct fuzz_choices {
    const uint8_t *data;
    size_t size, at;
};

/** A number below `count`, which is 1 to 256. */
uint32_t fuzz_choose(struct fuzz_choices *choices, uint32_t count);

/** Whether a config is one that can be loaded; the grammar keeps a node only if it is. */
typedef bool (*fuzz_accepts)(void *user, const char *config);

/**
 * A config in memory to be freed; null when memory is out. A node that makes the program invalid is left out, so that most
 * programs have several.
 */
char *fuzz_program_make(struct fuzz_choices *choices, fuzz_accepts accepts, void *user);

/** A file of the tensors that programs name, in memory to be freed. */
uint8_t *fuzz_program_weights(size_t *size);

#endif
