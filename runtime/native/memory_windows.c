/* SPDX-License-Identifier: MIT */
#define WIN32_LEAN_AND_MEAN
#include "native/memory.h"

#include <malloc.h>
#include <windows.h>

#define ALIGNMENT ((size_t)64) /* a cache line, and the widest vector */

size_t weft_native_page_size(void) {
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return system.dwPageSize;
}

void *weft_native_pages_map(size_t size) {
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

int weft_native_pages_seal(void *pages, size_t text_size, size_t size, bool in_place,
                           bool *out_of_memory) {
    DWORD before = 0;
    (void)in_place; /* there is no other way */
    *out_of_memory = false;
    if ((size == text_size ||
         VirtualProtect((char *)pages + text_size, size - text_size, PAGE_READONLY, &before)) &&
        VirtualProtect(pages, text_size, PAGE_EXECUTE_READ, &before)) {
        return 0;
    }
    const DWORD error = GetLastError();
    *out_of_memory = error == ERROR_NOT_ENOUGH_MEMORY || error == ERROR_COMMITMENT_LIMIT;
    return (int)error;
}

void weft_native_pages_unmap(void *pages, size_t size) {
    (void)size;
    VirtualFree(pages, 0, MEM_RELEASE);
}

/* Large pages would need a privilege that nobody has by default. */
void *weft_native_bytes_allocate(size_t size) {
    return size > SIZE_MAX - 2 * ALIGNMENT ? NULL : _aligned_malloc(size > 0 ? size : 1, ALIGNMENT);
}

void weft_native_bytes_free(void *bytes) {
    _aligned_free(bytes);
}
