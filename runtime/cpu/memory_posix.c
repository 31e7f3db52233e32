/* SPDX-License-Identifier: MIT */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#endif
#include "cpu/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT  ((size_t)64) /* a cache line, and the widest vector */
#define LARGE_PAGE ((size_t)2 << 20)

size_t weft_cpu_page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *weft_cpu_pages_map(size_t size) {
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

int weft_cpu_pages_protect(void *pages, size_t size, bool executable, bool *out_of_memory) {
    const int error =
        mprotect(pages, size, executable ? PROT_READ | PROT_EXEC : PROT_READ) == 0 ? 0 : errno;
    *out_of_memory = error == ENOMEM;
    return error;
}

void weft_cpu_pages_unmap(void *pages, size_t size) {
    munmap(pages, size);
}

/* Kernels step through memory in ways that pages of 4 KiB make slow. */
void *weft_cpu_bytes_allocate(size_t size) {
    const size_t alignment = size >= LARGE_PAGE ? LARGE_PAGE : ALIGNMENT;
    if (size > SIZE_MAX - 2 * LARGE_PAGE) {
        return NULL;
    }
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    void *bytes = aligned_alloc(alignment, rounded);
#ifdef MADV_HUGEPAGE
    if (bytes && alignment == LARGE_PAGE) {
        (void)madvise(bytes, rounded, MADV_HUGEPAGE); /* where it is refused, pages are small */
    }
#endif
    return bytes;
}

void weft_cpu_bytes_free(void *bytes) {
    free(bytes);
}
