/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE /* st_mtimespec */
#endif

#include "core/system/system_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif
#include <time.h>
#include <unistd.h>

#include "core/system/file.h"
#include "core/system/write_signals.h"

#define SINGLE_IO_SIZE ((size_t)1 << 30) /* Linux moves at most 2 GiB a call */

_Static_assert(PATH_MAX <= WEFT_SYSTEM_PATH_SIZE, "realpath may write PATH_MAX bytes");

static int flags_of(weft_open_how how) {
    switch (how) {
    case WEFT_OPEN_READ:
        return O_RDONLY;
    case WEFT_OPEN_READ_AT_ONCE:
        return O_RDONLY | O_NONBLOCK;
    case WEFT_OPEN_WRITE:
        return O_WRONLY;
    case WEFT_OPEN_CREATE:
        break;
    }
    return O_WRONLY | O_CREAT | O_EXCL;
}

int weft_posix_lift(int *file) {
    if (*file >= WEFT_POSIX_FIRST) {
        return 0;
    }
    const int low = *file;
    *file = fcntl(low, F_DUPFD_CLOEXEC, WEFT_POSIX_FIRST);
    const int error = *file < 0 ? errno : 0;
    (void)close(low);
    return error;
}

int weft_system_open(int *file, const char *path, weft_open_how how) {
    do {
        *file = open(path, flags_of(how) | O_CLOEXEC | O_NOCTTY, 0666);
    } while (*file < 0 && errno == EINTR);
    return *file < 0 ? errno : weft_posix_lift(file);
}

int weft_system_close(int file) {
    return close(file) == 0 ? 0 : errno;
}

int weft_system_read(size_t *count, int file, void *data, size_t size) {
    ssize_t done;
    do {
        done = read(file, data, size < SINGLE_IO_SIZE ? size : SINGLE_IO_SIZE);
    } while (done < 0 && errno == EINTR);
    *count = done > 0 ? (size_t)done : 0;
    return done < 0 ? errno : 0;
}

int weft_system_read_at(size_t *count, int file, void *data, size_t size, uint64_t offset) {
    ssize_t done;
    do {
        done = pread(file, data, size < SINGLE_IO_SIZE ? size : SINGLE_IO_SIZE, (off_t)offset);
    } while (done < 0 && errno == EINTR);
    *count = done > 0 ? (size_t)done : 0;
    return done < 0 ? errno : 0;
}

int weft_system_write(size_t *count, int file, const void *data, size_t size) {
    struct weft_write_signals signals;
    ssize_t done;
    weft_write_signals_hold(&signals);
    do {
        done = write(file, data, size < SINGLE_IO_SIZE ? size : SINGLE_IO_SIZE);
    } while (done < 0 && errno == EINTR);
    weft_write_signals_release(&signals);
    *count = done > 0 ? (size_t)done : 0;
    return done > 0 ? 0 : done < 0 ? errno : EIO;
}

int weft_system_seek(int file, uint64_t offset) {
    return lseek(file, (off_t)offset, SEEK_SET) < 0 ? errno : 0;
}

int weft_system_resize(int file, uint64_t size) {
    int result;
    do {
        result = ftruncate(file, (off_t)size);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

int weft_system_sync(int file) {
    return fsync(file) == 0 ? 0 : errno;
}

static int64_t nanoseconds(struct timespec time) {
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#ifdef __APPLE__
#define CHANGED_AT st_mtimespec
#else
#define CHANGED_AT st_mtim
#endif

weft_file_facts weft_system_facts_from(const struct stat *information) {
    return (weft_file_facts){.kind = S_ISREG(information->st_mode)   ? WEFT_FILE_REGULAR
                                     : S_ISDIR(information->st_mode) ? WEFT_FILE_FOLDER
                                                                     : WEFT_FILE_OTHER,
                             .size = (uint64_t)information->st_size,
                             .volume = (uint64_t)information->st_dev,
                             .number = (uint64_t)information->st_ino,
                             .changed = nanoseconds(information->CHANGED_AT)};
}

int weft_system_facts_of(weft_file_facts *facts, int file) {
    struct stat information;
    if (fstat(file, &information) != 0) {
        return errno;
    }
    *facts = weft_system_facts_from(&information);
    return 0;
}

int weft_system_facts(weft_file_facts *facts, const char *path) {
    struct stat information;
    if (stat(path, &information) != 0) {
        return errno;
    }
    *facts = weft_system_facts_from(&information);
    return 0;
}

int weft_system_absolute(char absolute[WEFT_SYSTEM_PATH_SIZE], const char *path) {
    size_t used = 0;
    if (path[0] != '/') {
        if (!getcwd(absolute, WEFT_SYSTEM_PATH_SIZE - 1)) {
            return errno;
        }
        used = strlen(absolute);
        absolute[used++] = '/';
    }
    const size_t size = strlen(path) + 1;
    if (size > WEFT_SYSTEM_PATH_SIZE - used) {
        return ENAMETOOLONG;
    }
    memcpy(absolute + used, path, size);
    return 0;
}

int weft_system_resolve(char target[WEFT_SYSTEM_PATH_SIZE], const char *path) {
    return realpath(path, target) ? 0 : errno;
}

int weft_system_rename(const char *from, const char *to) {
    return rename(from, to) == 0 ? 0 : errno;
}

int weft_system_remove(const char *path) {
    return remove(path) == 0 ? 0 : errno;
}

int weft_system_make_folder(const char *path, weft_folder_for whom) {
    return mkdir(path, whom == WEFT_FOLDER_FOR_MYSELF ? S_IRWXU : 0777) == 0 ? 0 : errno;
}

int weft_system_list(const char *path, bool (*take)(void *user, const char *name), void *user) {
    const int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return file < 0 ? errno : weft_system_list_open(file, take, user);
}

int weft_system_list_open(int file, bool (*take)(void *user, const char *name), void *user) {
    const int lifted = weft_posix_lift(&file);
    if (lifted != 0) {
        return lifted;
    }
    DIR *folder = fdopendir(file);
    if (!folder) {
        const int error = errno;
        close(file);
        return error;
    }
    bool more = true;
    while (more) {
        const struct dirent *entry = readdir(folder);
        const bool real =
            entry && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        more = entry && (!real || take(user, entry->d_name));
    }
    closedir(folder);
    return 0;
}

FILE *weft_system_stream(const char *path) {
    int file = -1;
    const int error = weft_system_open(&file, path, WEFT_OPEN_READ);
    FILE *stream = error == 0 ? fdopen(file, "rb") : NULL;
    if (!stream) {
        const int reason = error != 0 ? error : errno;
        if (error == 0) {
            (void)close(file);
        }
        errno = reason;
    }
    return stream;
}

bool weft_system_is_separator(char letter) {
    return letter == '/';
}

size_t weft_system_root_length(const char *path) {
    return path[0] == '/' ? 1 : 0;
}

void weft_system_error_text(char *text, size_t size, int error) {
    if (strerror_r(error, text, size) != 0) {
        snprintf(text, size, "error %d", error);
    }
}

static atomic_ulong never_set;
static atomic_ulong *own_number = &never_set; /* 0 until it is asked for, and again in a child */

/* The kernel wipes the page, however the child is forked. An emulator that takes any advice does not follow it. */
static void map_own_number(void) {
#ifdef MADV_WIPEONFORK
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, size, -1) != 0 &&
        madvise(page, size, MADV_WIPEONFORK) == 0) {
        own_number = page;
    } else if (page != MAP_FAILED) {
        munmap(page, size);
    }
#endif
}

/* Kept, since every submission asks, and getpid is a system call. */
unsigned long weft_system_process(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, map_own_number);
    unsigned long number = atomic_load_explicit(own_number, memory_order_relaxed);
    if (number == 0) {
        number = (unsigned long)getpid();
        if (own_number != &never_set) {
            atomic_store_explicit(own_number, number, memory_order_relaxed);
        }
    }
    return number;
}

bool weft_system_process_lives(unsigned long process) {
    const pid_t id = (pid_t)process;
    return id > 0 && (unsigned long)id == process && (kill(id, 0) == 0 || errno != ESRCH);
}

/*
 * Device files of kernel drivers that compute: Mesa's and others' render nodes, NVIDIA's, AMD's, Arm's, Qualcomm's,
 * WSL's.
 */
#if defined(__linux__)
static bool note_render_node(void *user, const char *name) {
    bool *found = user;
    *found = strncmp(name, "renderD", 7) == 0;
    return !*found;
}

bool weft_system_may_have_gpu(void) {
    static const char *const files[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvhost-gpu",
                                        "/dev/kfd",       "/dev/mali0",   "/dev/kgsl-3d0",
                                        "/dev/dxg",       "/dev/pvr_sync"};
    bool found = false;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (access(files[i], F_OK) == 0) {
            return true;
        }
    }
    (void)weft_system_list("/dev/dri", note_render_node, &found);
    return found;
}
#else
bool weft_system_may_have_gpu(void) {
    return true;
}
#endif

int64_t weft_system_now(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return nanoseconds(now);
}

void weft_system_random(void *bytes, size_t size) {
    if (getentropy(bytes, size) == 0) {
        return;
    }
    /* Fallback if the kernel has none: the time, and addresses that are randomized for each process. */
    uint64_t state = (uint64_t)weft_system_now() ^ (uintptr_t)bytes << 20 ^ (uint64_t)getpid();
    for (size_t i = 0; i < size; i++) {
        state = (state ^ state >> 29) * 0xD6E8FEB86659FD93u + (uintptr_t)&weft_system_random;
        ((uint8_t *)bytes)[i] = (uint8_t)(state >> 56);
    }
}

/* The XDG Base Directory Specification: a path that is not absolute is to be ignored. */
static const char *absolute_variable(const char *name) {
    const char *value = getenv(name);
    return value && value[0] == '/' ? value : NULL;
}

char *weft_system_cache_folder(const weft_host *host) {
    const char *cache = absolute_variable("XDG_CACHE_HOME");
    if (cache) {
        return weft_path_join(cache, "weft", host);
    }
    const char *home = absolute_variable("HOME");
    return home ? weft_path_join(home, ".cache/weft", host) : NULL;
}
