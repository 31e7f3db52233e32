/* SPDX-License-Identifier: MIT */
#include "core/npz.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <zip.h>

#include "core/system.h"

struct weft_npz {
    weft_host host;
    char *path;
    zip_t *archive;
};

static weft_status fail_open(const weft_host *host, int code, const char *path) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    /* libzip for Windows knows a missing file, but not a missing folder. */
    weft_file_facts facts;
    const bool missing = code == ZIP_ER_NOENT || ((code == ZIP_ER_OPEN || code == ZIP_ER_READ) &&
                                                  weft_system_facts(&facts, path) == ENOENT);
    weft_status status = missing                 ? WEFT_NOT_FOUND
                         : code == ZIP_ER_MEMORY ? WEFT_OUT_OF_HOST_MEMORY
                         : code == ZIP_ER_OPEN || code == ZIP_ER_READ || code == ZIP_ER_SEEK
                             ? WEFT_IO_ERROR
                             : WEFT_BAD_FILE;
    weft_fail(host, status, "%s: cannot open as a .npz archive: %s", path,
              zip_error_strerror(&error));
    zip_error_fini(&error);
    return status;
}

weft_status weft_npz_open(weft_npz **npz, const char *path, const weft_host *host) {
    weft_npz *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        return weft_fail_memory(host, path);
    }
    created->host = host ? *host : (weft_host){0};
    created->path = weft_strdup(host, path);
    if (!created->path) {
        weft_npz_close(&created);
        return weft_fail_memory(host, path);
    }
    int code = 0;
    created->archive = zip_open(path, ZIP_RDONLY, &code);
    if (!created->archive) {
        weft_npz_close(&created);
        return fail_open(host, code, path);
    }
    *npz = created;
    return WEFT_OK;
}

void weft_npz_close(weft_npz **npz) {
    weft_npz *closed = *npz;
    if (!closed) {
        return;
    }
    *npz = NULL;
    weft_host host = closed->host;
    if (closed->archive) {
        zip_discard(closed->archive);
    }
    weft_free(&host, closed->path);
    weft_free(&host, closed);
}

/* Index of NAME.npy, or -1. */
static int64_t locate(const weft_npz *npz, const char *name) {
    size_t length = strlen(name);
    zip_int64_t count = zip_get_num_entries(npz->archive, 0);
    for (zip_int64_t i = 0; i < count; i++) {
        const char *member = zip_get_name(npz->archive, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        if (member && strncmp(member, name, length) == 0 && strcmp(member + length, ".npy") == 0) {
            return i;
        }
    }
    return -1;
}

bool weft_npz_has(const weft_npz *npz, const char *name) {
    return locate(npz, name) >= 0;
}

static weft_status fail_missing(const weft_npz *npz, const char *name) {
    char list[256] = "";
    size_t used = 0;
    zip_int64_t count = zip_get_num_entries(npz->archive, 0);
    for (zip_int64_t i = 0; i < count; i++) {
        const char *member = zip_get_name(npz->archive, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        size_t length = member ? strlen(member) : 0;
        if (used + length + 3 > sizeof list) {
            break;
        }
        if (used > 0) {
            memcpy(list + used, ", ", 2);
            used += 2;
        }
        if (length > 0) {
            memcpy(list + used, member, length);
        }
        used += length;
        list[used] = '\0';
    }
    return weft_fail(&npz->host, WEFT_NOT_FOUND,
                     "%s: expected a member %s.npy, found %" PRId64 " members: %s", npz->path, name,
                     (int64_t)count, list);
}

static weft_status fail_member(const weft_npz *npz, const char *name, zip_error_t *error) {
    return weft_fail(&npz->host, WEFT_BAD_FILE, "%s: member %s.npy: %s", npz->path, name,
                     zip_error_strerror(error));
}

/* All of a member's bytes; reading on past the last one makes libzip check the checksum. */
static weft_status read_member(uint8_t *data, size_t size, const weft_npz *npz, const char *name,
                               zip_uint64_t index) {
    zip_file_t *member = zip_fopen_index(npz->archive, index, 0);
    if (!member) {
        return fail_member(npz, name, zip_get_error(npz->archive));
    }
    size_t taken = 0;
    zip_int64_t count = 0;
    do {
        count = zip_fread(member, data + taken, size - taken);
        taken += count > 0 ? (size_t)count : 0;
    } while (count > 0 && taken < size);
    uint8_t more = 0;
    if (count >= 0 && taken == size) {
        count = zip_fread(member, &more, 1);
    }
    weft_status status = WEFT_OK;
    if (count < 0) {
        status = fail_member(npz, name, zip_file_get_error(member));
    } else if (taken != size || count > 0) {
        status =
            weft_fail(&npz->host, WEFT_BAD_FILE, "%s: member %s.npy: expected %zu bytes, found %s",
                      npz->path, name, size, count > 0 ? "more" : "fewer");
    }
    zip_fclose(member);
    return status;
}

static weft_status unpack(uint8_t **data, size_t *size, const weft_npz *npz, const char *name,
                          zip_uint64_t index, size_t limit) {
    zip_stat_t about;
    if (zip_stat_index(npz->archive, index, 0, &about) != 0) {
        return fail_member(npz, name, zip_get_error(npz->archive));
    }
    if ((about.valid & ZIP_STAT_SIZE) == 0 || about.size > limit) {
        return weft_fail(&npz->host, WEFT_BAD_FILE,
                         "%s: member %s.npy: expected at most %zu bytes, found %" PRIu64, npz->path,
                         name, limit,
                         (about.valid & ZIP_STAT_SIZE) != 0 ? (uint64_t)about.size : UINT64_MAX);
    }
    size_t bytes = (size_t)about.size;
    uint8_t *memory =
        weft_alloc(&npz->host, bytes + 1); /* so that an empty member has memory too */
    if (!memory) {
        return weft_fail_memory(&npz->host, npz->path);
    }
    weft_status status = read_member(memory, bytes, npz, name, index);
    if (status != WEFT_OK) {
        weft_free(&npz->host, memory);
        return status;
    }
    *data = memory;
    *size = bytes;
    return WEFT_OK;
}

weft_status weft_npz_get(weft_npy *npy, weft_npz *npz, const char *name, size_t limit) {
    int64_t index = locate(npz, name);
    if (index < 0) {
        return fail_missing(npz, name);
    }
    if (limit > SIZE_MAX - 1) {
        limit = SIZE_MAX - 1;
    }
    char *label = weft_format(&npz->host, "%s:%s.npy", npz->path, name);
    if (!label) {
        return weft_fail_memory(&npz->host, npz->path);
    }
    uint8_t *data = NULL;
    size_t size = 0;
    weft_status status = unpack(&data, &size, npz, name, (zip_uint64_t)index, limit);
    if (status == WEFT_OK) {
        status = weft_npy_take(npy, data, size, label, &npz->host);
    }
    weft_free(&npz->host, label);
    return status;
}
