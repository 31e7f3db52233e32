/* SPDX-License-Identifier: MIT */
/*
 * Which LLVM is opened: the one that came with Weft, or one of the machine's. Of 15 to 22 the version of the headers that this was
 * built with comes first, since that is what it was tested with most, and then the newest, since distributions drop the oldest first.
 * Files in folders come before what the dynamic linker finds by name: which file that is it tells only by loading it, which takes 20 ms.
 *
 * WEFT_LLVM in the environment chooses: a version, or the absolute path of a library. 1 is any, and 0 none at all (llvm.c).
 *
 * A static program is linked to its LLVM, and has linked.c in place of find.c.
 */
#ifndef WEFT_NATIVE_LLVM_FIND_H
#define WEFT_NATIVE_LLVM_FIND_H

#include <stdbool.h>
#include <stddef.h>

#define WEFT_LLVM_PATH_SIZE 1024u

struct weft_llvm_file {
    char path[WEFT_LLVM_PATH_SIZE]; /* or the name by which the dynamic linker found it */
    unsigned version;               /* the major one */
    char id[80];                    /* what tells one build of LLVM from others */
};

/** What would be opened first. False: there is no file in a known folder, or no telling its version, without opening it. */
bool weft_llvm_expect(struct weft_llvm_file *file);

/** Opens the first that fits and makes its functions ready to be called. False with the reasons, of all that were there. */
bool weft_llvm_find(struct weft_llvm_file *file, char *fault, size_t size);

#endif
