/* SPDX-License-Identifier: MIT */
/*
 * From an ELF object to code in memory: where its sections lie, and their bytes with relocations applied. The image is
 * code, from a multiple of the page size on what is only read, and nothing that is written. Works for code of any processor
 * that relocate.h knows; making an image executable is load.c's part.
 */
#ifndef WEFT_NATIVE_LINK_H
#define WEFT_NATIVE_LINK_H

#include "native/elf.h"

struct weft_native_layout {
    const struct weft_elf *elf;
    size_t text_size; /* code, whole pages */
    size_t size;      /* of the image, whole pages */
    size_t entry;     /* of WEFT_NATIVE_ENTRY, from the image's start */
    size_t stubs;     /* where jumps to the host's functions begin, behind the code */
    size_t slots; /* where addresses of symbols begin, one for each symbol; 0: none are wanted */
    size_t *sections; /* where each section begins; SIZE_MAX: it is left out */
};

/**
 * `page` is a power of two, at least 4096. The ELF object outlives the layout, which the caller frees.
 * Errors: WEFT_BAD_FILE for what is not position-independent code with constants, without variables, that needs no more
 * than memcpy, memmove and memset and defines WEFT_NATIVE_ENTRY; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_native_layout_make(struct weft_native_layout *layout, const struct weft_elf *elf,
                                    size_t page, const weft_host *host);
void weft_native_layout_free(struct weft_native_layout *layout, const weft_host *host);

/** Fills layout->size bytes of zeros that begin at a page, where the code is to run. Errors: WEFT_BAD_FILE. */
weft_status weft_native_link(uint8_t *image, const struct weft_native_layout *layout,
                             const weft_host *host);

#endif
