/* SPDX-License-Identifier: MIT */
/* The one file that talks to the operating system about files. POSIX. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif

#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_READ     ((size_t)1 << 16)
#define NAME_ATTEMPTS  100
#define SINGLE_IO_SIZE ((size_t)1 << 30) /* Linux moves at most 2 GiB a call */

static weft_status fail_errno(const weft_host *host, int error, const char *action,
                              const char *path) {
    char reason[128];
    if (strerror_r(error, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", error);
    }
    bool missing = error == ENOENT || error == ENOTDIR;
    return weft_fail(host, missing ? WEFT_NOT_FOUND : WEFT_IO_ERROR, "%s: cannot %s: %s", path,
                     action, reason);
}

static int open_retrying(const char *path, int flags, mode_t mode) {
    int descriptor;
    do {
        descriptor = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

weft_status weft_file_map(weft_mapping *mapping, const char *path, const weft_host *host) {
    /* Not blocking, because opening a FIFO would wait for its writer; regular files do not care. */
    int descriptor = open_retrying(path, O_RDONLY | O_NONBLOCK, 0);
    if (descriptor < 0) {
        return fail_errno(host, errno, "open", path);
    }
    struct stat information;
    if (fstat(descriptor, &information) != 0) {
        int error = errno;
        close(descriptor);
        return fail_errno(host, error, "read the size", path);
    }
    if (!S_ISREG(information.st_mode)) {
        close(descriptor);
        return weft_fail(host, WEFT_IO_ERROR, "%s: not a regular file", path);
    }
    uint64_t size = (uint64_t)information.st_size;
    if (size > SIZE_MAX) {
        close(descriptor);
        return weft_fail(host, WEFT_IO_ERROR, "%s: too large for this machine's address space",
                         path);
    }
    void *data = NULL;
    int error = 0;
    if (size > 0) {
        data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        error = data == MAP_FAILED ? errno : 0;
    }
    close(descriptor); /* the mapping holds the file by itself */
    if (error != 0) {
        return fail_errno(host, error, "map", path);
    }
    *mapping = (weft_mapping){.data = data, .size = (size_t)size};
    return WEFT_OK;
}

void weft_file_unmap(weft_mapping *mapping) {
    if (mapping->data) {
        /* munmap takes a pointer to non-const but does not write through it. */
        munmap((void *)(uintptr_t)mapping->data, mapping->size);
    }
    *mapping = (weft_mapping){0};
}

/* Bytes read, 0 at the end, -1 with errno. */
static ssize_t read_retrying(int descriptor, uint8_t *data, size_t size) {
    ssize_t count;
    do {
        count = read(descriptor, data, size < SINGLE_IO_SIZE ? size : SINGLE_IO_SIZE);
    } while (count < 0 && errno == EINTR);
    return count;
}

/* A growing buffer: `limit` bytes at most, always with room for one byte more. */
typedef struct read_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    size_t hint; /* first capacity */
} read_buffer;

static bool make_room(read_buffer *buffer, size_t limit, const weft_host *host) {
    if (buffer->size + 1 < buffer->capacity) {
        return true;
    }
    size_t largest =
        limit > SIZE_MAX - 2 ? SIZE_MAX : limit + 2; /* one to see that there is more */
    size_t wanted = buffer->capacity > largest / 2 ? largest : buffer->capacity * 2;
    if (!buffer->data) {
        wanted = buffer->hint < largest ? buffer->hint : largest;
    }
    uint8_t *data = weft_realloc(host, buffer->data, wanted);
    if (!data) {
        return false;
    }
    buffer->data = data;
    buffer->capacity = wanted;
    return true;
}

static weft_status read_all(read_buffer *buffer, int descriptor, size_t limit, const char *path,
                            const weft_host *host) {
    for (;;) {
        if (!make_room(buffer, limit, host)) {
            return weft_fail_memory(host, path);
        }
        ssize_t count = read_retrying(descriptor, buffer->data + buffer->size,
                                      buffer->capacity - 1 - buffer->size);
        if (count < 0) {
            return fail_errno(host, errno, "read", path);
        }
        if (count == 0) {
            buffer->data[buffer->size] = 0;
            return WEFT_OK;
        }
        buffer->size += (size_t)count;
        if (buffer->size > limit) {
            return weft_fail(host, WEFT_BAD_FILE, "%s: larger than the limit of %zu bytes", path,
                             limit);
        }
    }
}

weft_status weft_file_read(uint8_t **data, size_t *size, size_t limit, const char *path,
                           const weft_host *host) {
    int descriptor = open_retrying(path, O_RDONLY, 0);
    if (descriptor < 0) {
        return fail_errno(host, errno, "open", path);
    }
    /* The size from fstat is a hint: pipes have none, and a file may grow meanwhile. */
    struct stat information;
    read_buffer buffer = {.hint = FIRST_READ};
    if (fstat(descriptor, &information) == 0 && S_ISREG(information.st_mode) &&
        (uint64_t)information.st_size < SIZE_MAX - 2) {
        buffer.hint = (size_t)information.st_size + 2;
    }
    weft_status status = read_all(&buffer, descriptor, limit, path, host);
    close(descriptor);
    if (status != WEFT_OK) {
        weft_free(host, buffer.data);
        return status;
    }
    *data = buffer.data;
    *size = buffer.size;
    return WEFT_OK;
}

/* 0 or an errno. */
static int write_all(int descriptor, const uint8_t *data, size_t size) {
    while (size > 0) {
        ssize_t count = write(descriptor, data, size < SINGLE_IO_SIZE ? size : SINGLE_IO_SIZE);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return count < 0 ? errno : EIO;
        }
        data += count;
        size -= (size_t)count;
    }
    return 0;
}

/* Devices and pipes, such as /dev/null or /dev/stdout, are written to and must not be replaced. */
static weft_status write_stream(const char *path, const void *data, size_t size,
                                const weft_host *host) {
    int descriptor = open_retrying(path, O_WRONLY, 0);
    if (descriptor < 0) {
        return fail_errno(host, errno, "open for writing", path);
    }
    int error = write_all(descriptor, data, size);
    if (close(descriptor) != 0 && error == 0) {
        error = errno;
    }
    return error == 0 ? WEFT_OK : fail_errno(host, error, "write", path);
}

/*
 * Creates a new file beside `path` and gives its name, in host memory. mkstemp would make it
 * private to its owner whatever the umask says, and the umask cannot be read without changing it.
 */
static weft_status create_beside(int *descriptor, char **name, const char *path,
                                 const weft_host *host) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned long salt = (unsigned long)now.tv_nsec;
    for (unsigned long attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        char *candidate =
            weft_format(host, "%s.%lx-%lx.tmp", path, (unsigned long)getpid(), salt + attempt);
        if (!candidate) {
            return weft_fail_memory(host, path);
        }
        int opened = open_retrying(candidate, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (opened >= 0) {
            *descriptor = opened;
            *name = candidate;
            return WEFT_OK;
        }
        int error = errno;
        weft_free(host, candidate);
        if (error != EEXIST) {
            return fail_errno(host, error, "create a file beside it", path);
        }
    }
    return weft_fail(host, WEFT_IO_ERROR, "%s: no free name for a file beside it", path);
}

static weft_status write_and_rename(const char *path, const void *data, size_t size,
                                    const weft_host *host) {
    int descriptor = -1;
    char *name = NULL;
    weft_status status = create_beside(&descriptor, &name, path, host);
    if (!name) {
        return status;
    }
    int error = write_all(descriptor, data, size);
    if (error == 0 && fsync(descriptor) != 0) {
        error = errno;
    }
    if (close(descriptor) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && rename(name, path) != 0) {
        error = errno;
    }
    if (error != 0) {
        unlink(name);
        status = fail_errno(host, error, "write", path);
    }
    weft_free(host, name);
    return status;
}

weft_status weft_file_write(const char *path, const void *data, size_t size,
                            const weft_host *host) {
    struct stat information;
    if (stat(path, &information) != 0) {
        return write_and_rename(path, data, size, host);
    }
    if (S_ISDIR(information.st_mode)) {
        return fail_errno(host, EISDIR, "write", path);
    }
    if (!S_ISREG(information.st_mode)) {
        return write_stream(path, data, size, host);
    }
    /* Renaming over a symbolic link would replace the link; the target is what it leads to. */
    char target[PATH_MAX];
    if (!realpath(path, target)) {
        return fail_errno(host, errno, "resolve", path);
    }
    return write_and_rename(target, data, size, host);
}

static int make_folder(const char *path) {
    if (mkdir(path, 0777) == 0) {
        return 0;
    }
    int error = errno;
    struct stat information;
    if (stat(path, &information) == 0) {
        return S_ISDIR(information.st_mode) ? 0 : ENOTDIR;
    }
    return error;
}

weft_status weft_make_folders(const char *path, const weft_host *host) {
    char *prefix = weft_strdup(host, path);
    if (!prefix) {
        return weft_fail_memory(host, path);
    }
    int error = path[0] == '\0' ? ENOENT : 0;
    for (char *at = prefix + 1; error == 0 && prefix[0] != '\0' && *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            error = make_folder(prefix);
            *at = '/';
        }
    }
    if (error == 0) {
        error = make_folder(prefix);
    }
    weft_free(host, prefix);
    return error == 0 ? WEFT_OK : fail_errno(host, error, "make the folder", path);
}

char *weft_path_join(const char *folder, const char *name, const weft_host *host) {
    size_t length = strlen(folder);
    bool separated = length == 0 || folder[length - 1] == '/';
    return weft_format(host, "%s%s%s", folder, separated ? "" : "/", name);
}
