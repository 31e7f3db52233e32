/* SPDX-License-Identifier: MIT */
/* Files that are written beside the one that they will replace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/system/beside.h"
#include "core/system/file.h"
#include "core/try.h"

/* ---- bytes ---- */

/* 0 or an errno. */
static int write_all(int file, const uint8_t *data, size_t size) {
    while (size > 0) {
        size_t count = 0;
        const int error = weft_system_write(&count, file, data, size);
        if (error != 0) {
            return error;
        }
        data += count;
        size -= count;
    }
    return 0;
}

/* The earlier of two errors. */
static int first_error(int first, int second) {
    return first != 0 ? first : second;
}

int weft_file_fill(int file, const void *data, size_t size) {
    int error = write_all(file, data, size);
    error = error != 0 ? error : weft_system_sync(file);
    return first_error(error, weft_system_close(file));
}

/* ---- names ---- */

char *weft_name_beside(const char *name, int attempt, const weft_host *host) {
    const unsigned long salt = (unsigned long)weft_system_now() + (unsigned long)attempt;
    return weft_format(host, "%s.%lx-%lx.tmp", name, weft_system_process(), salt);
}

bool weft_is_name_beside(unsigned long *process, const char *end) {
    static const char digits[] = "0123456789abcdef";
    const size_t number = *end == '.' ? strspn(end + 1, digits) : 0;
    if (number == 0 || number > 16 || end[1 + number] != '-') {
        return false;
    }
    const char *salt = end + 1 + number + 1;
    *process = strtoul(end + 1, NULL, 16);
    return strcmp(salt + strspn(salt, digits), ".tmp") == 0;
}

/* ---- what was left ---- */

struct search {
    const char *folder, *name;
    const weft_host *host;
};

static bool take(void *user, const char *found) {
    const struct search *search = user;
    const size_t length = strlen(search->name);
    unsigned long process = 0;
    if (strncmp(found, search->name, length) == 0 &&
        weft_is_name_beside(&process, found + length)) {
        char *path = weft_path_join(search->folder, found, search->host);
        if (path) {
            weft_beside_remove_left(path);
        }
        weft_free(search->host, path);
    }
    return true;
}

/* A folder that cannot be listed keeps what was left in it. */
static void remove_left(const char *path, const weft_host *host) {
    char *folder = weft_strdup(host, path);
    if (!folder) {
        return;
    }
    size_t at = strlen(folder);
    while (at > 0 && !weft_system_is_separator(folder[at - 1])) {
        at--;
    }
    const size_t root = weft_system_root_length(folder);
    folder[at > root ? at - 1 : at] = '\0';
    const struct search search = {
        .folder = at == 0 ? "." : folder, .name = path + at, .host = host};
    (void)weft_system_list(search.folder, take, (void *)(uintptr_t)&search);
    weft_free(host, folder);
}

/* ---- piece by piece ---- */

static weft_status create_beside(struct weft_new_file *made, const weft_host *host) {
    for (int attempt = 0; attempt < WEFT_NAME_ATTEMPTS; attempt++) {
        char *candidate = weft_name_beside(made->target, attempt, host);
        if (!candidate) {
            return weft_fail_memory(host, made->target);
        }
        const int error = weft_beside_create(&made->file, candidate, made->target);
        if (error == 0) {
            made->name = candidate;
            return WEFT_OK;
        }
        made->file = -1;
        weft_free(host, candidate);
        if (error != EEXIST) {
            return weft_file_fail(host, error, "create a file beside it", made->target);
        }
    }
    return weft_fail(host, WEFT_IO_ERROR, "%s: no free name for a file beside it", made->target);
}

static weft_status create_for(struct weft_new_file *made, const char *target,
                              const weft_host *host) {
    *made = (struct weft_new_file){.file = -1, .target = weft_strdup(host, target)};
    if (!made->target) {
        return weft_fail_memory(host, target);
    }
    remove_left(made->target, host);
    return create_beside(made, host);
}

/* Resolves the path: a file to replace or to create, or else a stream to write into. */
static weft_status find_target(char target[WEFT_SYSTEM_PATH_SIZE], bool *is_stream,
                               const char *path, const weft_host *host) {
    weft_file_facts facts = {.kind = WEFT_FILE_REGULAR};
    int error = weft_beside_target(target, path);
    *is_stream = error == 0 && weft_beside_own_descriptor(target) >= 0;
    if (error == 0 && !*is_stream && weft_system_facts(&facts, target) == 0) {
        *is_stream = facts.kind == WEFT_FILE_OTHER;
        error = facts.kind == WEFT_FILE_FOLDER ? EISDIR : 0;
    }
    return error == 0 ? WEFT_OK : weft_file_fail(host, error, "write", path);
}

weft_status weft_new_file_create(struct weft_new_file *made, const char *path,
                                 const weft_host *host) {
    char target[WEFT_SYSTEM_PATH_SIZE];
    bool is_stream = false;
    *made = (struct weft_new_file){.file = -1};
    WEFT_TRY(find_target(target, &is_stream, path, host));
    return is_stream ? weft_file_fail(host, EINVAL, "write", path) : create_for(made, target, host);
}

weft_status weft_new_file_add(struct weft_new_file *made, const void *data, size_t size,
                              const weft_host *host) {
    const int error = write_all(made->file, data, size);
    return error == 0 ? WEFT_OK : weft_file_fail(host, error, "write", made->target);
}

weft_status weft_new_file_finish(struct weft_new_file *made, const weft_host *host) {
    const int error = weft_system_sync(made->file);
    return error == 0 ? WEFT_OK : weft_file_fail(host, error, "write", made->target);
}

weft_status weft_new_file_place(struct weft_new_file *made, const weft_host *host) {
    const int error = weft_system_rename(made->name, made->target);
    if (error != 0) {
        return weft_file_fail(host, error, "write", made->target);
    }
    weft_free(host, made->name);
    made->name = NULL;
    (void)weft_system_close(made->file); /* the device has all of it */
    made->file = -1;
    return WEFT_OK;
}

/* First the name, as nobody else's while it is open. */
void weft_new_file_drop(struct weft_new_file *made, const weft_host *host) {
    if (made->name) {
        (void)weft_system_remove(made->name);
    }
    if (made->file >= 0) {
        (void)weft_system_close(made->file);
    }
    weft_free(host, made->name);
    weft_free(host, made->target);
    *made = (struct weft_new_file){.file = -1};
}

/* ---- at once ---- */

/* Devices and pipes, such as /dev/null or /dev/stdout, are written to and must not be replaced. */
static weft_status write_stream(const char *path, const void *data, size_t size,
                                const weft_host *host) {
    int file = -1;
    const int own = weft_beside_own_descriptor(path);
    int error = own >= 0 ? weft_beside_duplicate(&file, own)
                         : weft_system_open(&file, path, WEFT_OPEN_WRITE);
    if (error != 0) {
        return weft_file_fail(host, error, "open for writing", path);
    }
    error = write_all(file, data, size);
    error = first_error(error, weft_system_close(file));
    return error == 0 ? WEFT_OK : weft_file_fail(host, error, "write", path);
}

static weft_status replace(const char *target, const void *data, size_t size,
                           const weft_host *host) {
    struct weft_new_file made;
    weft_status status = create_for(&made, target, host);
    if (status == WEFT_OK) {
        status = weft_new_file_add(&made, data, size, host);
    }
    if (status == WEFT_OK) {
        status = weft_new_file_finish(&made, host);
    }
    if (status == WEFT_OK) {
        status = weft_new_file_place(&made, host);
    }
    weft_new_file_drop(&made, host);
    return status;
}

weft_status weft_file_write(const char *path, const void *data, size_t size,
                            const weft_host *host) {
    char target[WEFT_SYSTEM_PATH_SIZE];
    bool is_stream = false;
    WEFT_TRY(find_target(target, &is_stream, path, host));
    return is_stream ? write_stream(target, data, size, host) : replace(target, data, size, host);
}
