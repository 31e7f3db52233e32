/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise, syscall, seals */
#endif
#include "native/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __linux__
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/syscall.h>
#endif

#include "core/system/system_posix.h"

#define ALIGNMENT  ((size_t)64) /* a cache line, and the widest vector */
#define LARGE_PAGE ((size_t)2 << 20)

size_t weft_native_page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *weft_native_pages_map(size_t size) {
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* There may be no constants, and QEMU's mprotect fails for an empty range. */
static int protect(char *pages, size_t text_size, size_t size) {
    if (size > text_size && mprotect(pages + text_size, size - text_size, PROT_READ) != 0) {
        return errno;
    }
    return mprotect(pages, text_size, PROT_READ | PROT_EXEC) == 0 ? 0 : errno;
}

#if defined(__linux__) && defined(SYS_memfd_create)

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* since Linux 6.3, which may ask for it */
#endif

static int create_file(void) {
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int file = (int)syscall(SYS_memfd_create, "weft code", flags | MFD_EXEC);
    if (file < 0 && errno == EINVAL) {
        file = (int)syscall(SYS_memfd_create, "weft code", flags);
    }
    return file >= 0 && weft_posix_lift(&file) != 0 ? -1 : file;
}

static bool write_all(int file, const char *bytes, size_t size) {
    size_t count = 0;
    for (size_t done = 0; done < size; done += count) {
        const int error = weft_system_write(&count, file, bytes + done, size - done);
        if (error != 0) {
            errno = error;
            return false;
        }
    }
    return true;
}

static bool map_over(char *pages, size_t size, int how, int file, size_t offset) {
    return size == 0 ||
           mmap(pages, size, how, MAP_PRIVATE | MAP_FIXED, file, (off_t)offset) == pages;
}

/*
 * Some systems deny making writable memory executable (PR_SET_MDWE, MemoryDenyWriteExecute of systemd, execmem of
 * SELinux). A file that nobody can write to any more may still be.
 */
static int map_file(char *pages, size_t text_size, size_t size) {
    const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    const int file = create_file();
    if (file < 0) {
        return errno;
    }
    const bool mapped = write_all(file, pages, size) && fcntl(file, F_ADD_SEALS, seals) == 0 &&
                        map_over(pages, text_size, PROT_READ | PROT_EXEC, file, 0) &&
                        map_over(pages + text_size, size - text_size, PROT_READ, file, text_size);
    const int error = mapped ? 0 : errno;
    (void)close(file);
    return error;
}

#else

static int map_file(char *pages, size_t text_size, size_t size) {
    (void)pages;
    (void)text_size;
    (void)size;
    return ENOSYS;
}

#endif

int weft_native_pages_seal(void *pages, size_t text_size, size_t size, bool in_place,
                           bool *out_of_memory) {
    int error = protect(pages, text_size, size);
    if (!in_place && (error == EACCES || error == EPERM) && map_file(pages, text_size, size) == 0) {
        error = 0;
    }
    *out_of_memory = error == ENOMEM;
    return error;
}

void weft_native_pages_unmap(void *pages, size_t size) {
    munmap(pages, size);
}

/* Kernels step through memory in ways that pages of 4 KiB make slow. */
void *weft_native_bytes_allocate(size_t size) {
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

void weft_native_bytes_free(void *bytes) {
    free(bytes);
}
