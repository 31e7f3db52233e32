/* SPDX-License-Identifier: MIT */
/*
 * What glibc has had since after 2.28, for code that was compiled for a newer one and is linked for an older: see
 * link_libraries.py. Nothing of it is seen outside of what it is linked into.
 */
#include <malloc.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* ---- 2.33: before, functions of these names were compiled into each program, and said which form of the structure they knew ---- */

#ifdef __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

int __xstat(int version, const char *path, struct stat *found);
int __fxstat(int version, int file, struct stat *found);
int __lxstat(int version, const char *path, struct stat *found);
int __fxstatat(int version, int folder, const char *path, struct stat *found, int flags);

HIDDEN int stat(const char *path, struct stat *found) {
    return __xstat(STAT_VERSION, path, found);
}

HIDDEN int fstat(int file, struct stat *found) {
    return __fxstat(STAT_VERSION, file, found);
}

HIDDEN int lstat(const char *path, struct stat *found) {
    return __lxstat(STAT_VERSION, path, found);
}

HIDDEN int fstatat(int folder, const char *path, struct stat *found, int flags) {
    return __fxstatat(STAT_VERSION, folder, path, found, flags);
}

struct stat64;
HIDDEN int stat64(const char *path, struct stat64 *found) __attribute__((alias("stat")));
HIDDEN int fstat64(int file, struct stat64 *found) __attribute__((alias("fstat")));
HIDDEN int lstat64(const char *path, struct stat64 *found) __attribute__((alias("lstat")));
HIDDEN int fstatat64(int folder, const char *path, struct stat64 *found, int flags)
    __attribute__((alias("fstatat")));

/* The same with numbers that do not go beyond two thousand million; LLVM would print them. */
HIDDEN struct mallinfo2 mallinfo2(void) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    const struct mallinfo info = mallinfo();
#pragma GCC diagnostic pop
    return (struct mallinfo2){.arena = (unsigned)info.arena,
                              .ordblks = (unsigned)info.ordblks,
                              .hblks = (unsigned)info.hblks,
                              .hblkhd = (unsigned)info.hblkhd,
                              .uordblks = (unsigned)info.uordblks,
                              .fordblks = (unsigned)info.fordblks,
                              .keepcost = (unsigned)info.keepcost};
}

/* ---- 2.32: whether no other thread was ever started; a "no" is always right ---- */

HIDDEN char __libc_single_threaded = 0;

/* ---- 2.36: for the C++ library's std::random_device; LLVM names temporary files by it, of which Weft has it write none ---- */

HIDDEN uint32_t arc4random(void) {
    uint32_t number = 0;
    struct timespec now = {0};
    if (getentropy(&number, sizeof number) != 0) { /* a system without that call */
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (uint32_t)now.tv_nsec * 2654435761u;
    }
    return number;
}
