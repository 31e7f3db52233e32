/* SPDX-License-Identifier: MIT */
/* Files by way of core/system/system.h. */
#include "core/system/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/system/system.h"
#include "core/try.h"

#define FIRST_READ ((size_t)1 << 16)

weft_status weft_file_fail(const weft_host *host, int error, const char *action, const char *path) {
    char reason[128];
    weft_system_error_text(reason, sizeof reason, error);
    bool missing = error == ENOENT || error == ENOTDIR;
    return weft_fail(host, missing ? WEFT_NOT_FOUND : WEFT_IO_ERROR, "%s: cannot %s: %s", path,
                     action, reason);
}

weft_status weft_file_open(int *file, uint64_t *size, const char *path, const weft_host *host) {
    int error = weft_system_open(file, path, WEFT_OPEN_READ_AT_ONCE);
    if (error != 0) {
        return weft_file_fail(host, error, "open", path);
    }
    weft_file_facts facts;
    error = weft_system_facts_of(&facts, *file);
    if (error == 0 && facts.kind == WEFT_FILE_REGULAR) {
        *size = facts.size;
        return WEFT_OK;
    }
    (void)weft_system_close(*file);
    *file = -1;
    return error != 0 ? weft_file_fail(host, error, "read the size", path)
                      : weft_fail(host, WEFT_IO_ERROR, "%s: not a regular file", path);
}

weft_status weft_file_read_some(int file, void *data, size_t size, const char *path,
                                const weft_host *host) {
    uint8_t *target = data;
    for (size_t taken = 0; taken < size;) {
        size_t count = 0;
        const int error = weft_system_read(&count, file, target + taken, size - taken);
        if (error != 0) {
            return weft_file_fail(host, error, "read", path);
        }
        if (count == 0) {
            return weft_fail(host, WEFT_BAD_FILE, "%s: the file became shorter while it was read",
                             path);
        }
        taken += count;
    }
    return WEFT_OK;
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

static weft_status fail_limit(const weft_host *host, const char *path, size_t limit) {
    return weft_fail(host, WEFT_BAD_FILE, "%s: larger than the limit of %zu bytes", path, limit);
}

static weft_status read_all(read_buffer *buffer, int file, size_t limit, const char *path,
                            const weft_host *host) {
    for (;;) {
        if (!make_room(buffer, limit, host)) {
            return weft_fail_memory(host, path);
        }
        size_t count = 0;
        const int error = weft_system_read(&count, file, buffer->data + buffer->size,
                                           buffer->capacity - 1 - buffer->size);
        if (error != 0) {
            return weft_file_fail(host, error, "read", path);
        }
        if (count == 0) {
            buffer->data[buffer->size] = 0;
            return WEFT_OK;
        }
        buffer->size += count;
        if (buffer->size > limit) {
            return fail_limit(host, path, limit);
        }
    }
}

weft_status weft_file_read_open(uint8_t **data, size_t *size, size_t limit, int file,
                                const char *path, const weft_host *host) {
    /* The size is a hint: pipes have none, and a file may grow meanwhile. */
    weft_file_facts facts;
    read_buffer buffer = {.hint = FIRST_READ};
    if (weft_system_facts_of(&facts, file) == 0 && facts.kind == WEFT_FILE_REGULAR) {
        if (facts.size > limit) {
            return fail_limit(host, path, limit);
        }
        buffer.hint = facts.size < SIZE_MAX - 2 ? (size_t)facts.size + 2 : FIRST_READ;
    }
    weft_status status = read_all(&buffer, file, limit, path, host);
    if (status != WEFT_OK) {
        weft_free(host, buffer.data);
        return status;
    }
    *data = buffer.data;
    *size = buffer.size;
    return WEFT_OK;
}

weft_status weft_file_read(uint8_t **data, size_t *size, size_t limit, const char *path,
                           const weft_host *host) {
    int file = -1;
    const int error = weft_system_open(&file, path, WEFT_OPEN_READ);
    if (error != 0) {
        return weft_file_fail(host, error, "open", path);
    }
    const weft_status status = weft_file_read_open(data, size, limit, file, path, host);
    (void)weft_system_close(file);
    return status;
}

weft_status weft_file_read_regular(uint8_t **data, size_t *size, size_t limit, const char *path,
                                   const weft_host *host) {
    int file = -1;
    uint64_t bytes = 0;
    WEFT_TRY(weft_file_open(&file, &bytes, path, host));
    const weft_status status = weft_file_read_open(data, size, limit, file, path, host);
    (void)weft_system_close(file);
    return status;
}

/* ---- folders ---- */

static int make_folder(const char *path, weft_folder_for whom) {
    const int error = weft_system_make_folder(path, whom);
    weft_file_facts facts;
    if (error != 0 && weft_system_facts(&facts, path) == 0) {
        return facts.kind == WEFT_FILE_FOLDER ? 0 : ENOTDIR;
    }
    return error;
}

static weft_status make_folders(const char *path, weft_folder_for whom, const weft_host *host) {
    char *prefix = weft_strdup(host, path);
    if (!prefix) {
        return weft_fail_memory(host, path);
    }
    int error = path[0] == '\0' ? ENOENT : 0;
    for (char *at = prefix + weft_system_root_length(prefix); error == 0 && *at != '\0'; at++) {
        if (weft_system_is_separator(*at)) {
            const char separator = *at;
            *at = '\0';
            error = make_folder(prefix, whom);
            *at = separator;
        }
    }
    if (error == 0) {
        error = make_folder(prefix, whom);
    }
    weft_free(host, prefix);
    return error == 0 ? WEFT_OK : weft_file_fail(host, error, "make the folder", path);
}

weft_status weft_make_folders(const char *path, const weft_host *host) {
    return make_folders(path, WEFT_FOLDER_FOR_ALL, host);
}

weft_status weft_make_private_folders(const char *path, const weft_host *host) {
    return make_folders(path, WEFT_FOLDER_FOR_MYSELF, host);
}

char *weft_path_join(const char *folder, const char *name, const weft_host *host) {
    size_t length = strlen(folder);
    bool separated = length == 0 || weft_system_is_separator(folder[length - 1]);
    return weft_format(host, "%s%s%s", folder, separated ? "" : "/", name);
}
