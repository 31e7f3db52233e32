/* SPDX-License-Identifier: MIT */
#include "core/formats/npz.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <zip.h>

#include "core/system/system.h"
#include "core/try.h"

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

/* An archive without its ZIP; null when memory is out. */
static weft_npz *create(const char *path, const weft_host *host) {
    weft_npz *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        return NULL;
    }
    created->host = host ? *host : (weft_host){0};
    created->path = weft_strdup(host, path);
    if (!created->path) {
        weft_npz_close(&created);
    }
    return created;
}

weft_status weft_npz_open(weft_npz **npz, const char *path, const weft_host *host) {
    weft_npz *created = create(path, host);
    if (!created) {
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

weft_status weft_npz_open_memory(weft_npz **npz, const void *data, size_t size, const char *name,
                                 const weft_host *host) {
    weft_npz *created = create(name, host);
    if (!created) {
        return weft_fail_memory(host, name);
    }
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(data, size, 0, &error);
    created->archive = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (!created->archive) {
        zip_source_free(source);
        const int code = zip_error_code_zip(&error);
        zip_error_fini(&error);
        weft_npz_close(&created);
        return fail_open(host, code, name);
    }
    zip_error_fini(&error);
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

/* A member that is being unpacked. */
struct member {
    const weft_npz *npz;
    const char *name;
    zip_file_t *file;
};

static weft_status fail_length(const struct member *member, const char *found) {
    return weft_fail(&member->npz->host, WEFT_BAD_FILE,
                     "%s: member %s.npy: expected as many bytes as the archive says, found %s",
                     member->npz->path, member->name, found);
}

static weft_status read_member(void *user, void *out, size_t size) {
    const struct member *member = user;
    const size_t most = (size_t)1 << 16; /* between questions whether to end */
    uint8_t *target = out;
    for (size_t taken = 0; taken < size;) {
        WEFT_TRY(weft_interrupted(&member->npz->host));
        const size_t left = size - taken;
        const zip_int64_t count =
            zip_fread(member->file, target + taken, left < most ? left : most);
        if (count < 0) {
            return fail_member(member->npz, member->name, zip_file_get_error(member->file));
        }
        if (count == 0) {
            return fail_length(member, "fewer");
        }
        taken += (size_t)count;
    }
    return WEFT_OK;
}

/* Reading on past the last byte makes libzip check the checksum. */
static weft_status check_end(const struct member *member) {
    uint8_t more = 0;
    const zip_int64_t count = zip_fread(member->file, &more, 1);
    return count < 0   ? fail_member(member->npz, member->name, zip_file_get_error(member->file))
           : count > 0 ? fail_length(member, "more")
                       : WEFT_OK;
}

/* Opens a member by its archive and name. */
static weft_status open_member(struct member *member, struct weft_npy_stream *stream) {
    const weft_npz *npz = member->npz;
    const char *name = member->name;
    const int64_t index = locate(npz, name);
    if (index < 0) {
        return fail_missing(npz, name);
    }
    zip_stat_t about;
    if (zip_stat_index(npz->archive, (zip_uint64_t)index, 0, &about) != 0) {
        return fail_member(npz, name, zip_get_error(npz->archive));
    }
    if ((about.valid & ZIP_STAT_SIZE) == 0) {
        return weft_fail(&npz->host, WEFT_BAD_FILE, "%s: member %s.npy: the archive has no size",
                         npz->path, name);
    }
    member->file = zip_fopen_index(npz->archive, (zip_uint64_t)index, 0);
    *stream = (struct weft_npy_stream){.read = read_member, .user = member, .size = about.size};
    return member->file ? WEFT_OK : fail_member(npz, name, zip_get_error(npz->archive));
}

/* Unpacks at most `limit` bytes of the member's data; with `look` none. */
static weft_status get(weft_npy *npy, const weft_npz *npz, const char *name, bool look,
                       uint64_t limit) {
    struct member member = {.npz = npz, .name = name};
    struct weft_npy_stream stream = {0};
    WEFT_TRY(open_member(&member, &stream));
    char *label = weft_format(&npz->host, "%s:%s.npy", npz->path, name);
    weft_npy result = {.dtype = WEFT_NPY_U8};
    weft_status status = !label ? weft_fail_memory(&npz->host, npz->path)
                         : look ? weft_npy_look(&result, &stream, label, &npz->host)
                                : weft_npy_open_stream(&result, &stream, limit, label, &npz->host);
    if (status == WEFT_OK && !look) {
        status = check_end(&member);
    }
    if (status == WEFT_OK) {
        *npy = result;
    } else {
        weft_npy_close(&result);
    }
    zip_fclose(member.file);
    weft_free(&npz->host, label);
    return status;
}

weft_status weft_npz_look(weft_npy *npy, const weft_npz *npz, const char *name) {
    return get(npy, npz, name, true, 0);
}

weft_status weft_npz_get(weft_npy *npy, const weft_npz *npz, const char *name, uint64_t limit) {
    return get(npy, npz, name, false, limit);
}
