/* SPDX-License-Identifier: MIT */
/* Memory from the operating system: memory_posix.c, memory_windows.c. */
#ifndef WEFT_NATIVE_MEMORY_H
#define WEFT_NATIVE_MEMORY_H

#include "core/host.h"

/** Bytes of a page, a power of two. */
size_t weft_native_page_size(void);

/** Pages that can be written; null when memory is out. */
void *weft_native_pages_map(size_t size);
/**
 * Ends the writing to a mapping of `size` bytes: its first `text_size` can be executed, the rest only read. 0, or the system's number of
 * an error, for which *out_of_memory is set where that is what it means. Where what was written may not be executed, pages of a sealed file
 * take its place; `in_place`: they do not.
 */
int weft_native_pages_seal(void *pages, size_t text_size, size_t size, bool in_place,
                           bool *out_of_memory);
void weft_native_pages_unmap(void *pages, size_t size);

/** Aligned to at least 64 bytes; null when memory is out. Large blocks in large pages, where the system gives them away. */
void *weft_native_bytes_allocate(size_t size);
void weft_native_bytes_free(void *bytes);

#endif
