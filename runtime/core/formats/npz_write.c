/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <zip.h>

#include "core/formats/npz.h"
#include "core/system/file.h"
#include "core/try.h"

#define NO_DATE 0x21U /* 1 January 1980, the first there is */

/* A member's header, which lives as long as the archive is made. */
struct member {
    uint8_t header[WEFT_NPY_HEADER_CAPACITY];
    zip_buffer_fragment_t parts[2];
};

static weft_status fail(const weft_host *host, const char *path, const char *reason) {
    return weft_fail(host, WEFT_IO_ERROR, "%s: cannot make a .npz archive: %s", path, reason);
}

/* Takes the source, which may be null. */
static bool add_source(zip_t *archive, const char *name, zip_source_t *source) {
    const zip_int64_t index = source ? zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
        zip_source_free(source);
        return false;
    }
    const zip_uint64_t at = (zip_uint64_t)index;
    return zip_set_file_compression(archive, at, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_dostime(archive, at, 0, NO_DATE, 0) == 0;
}

static bool add_member(zip_t *archive, struct member *made, const struct weft_npz_member *member) {
    char name[64];
    snprintf(name, sizeof name, "%s.npy", member->name);
    if (member->file) {
        return add_source(archive, name, zip_source_file_create(member->file, 0, -1, NULL));
    }
    made->parts[0] = (zip_buffer_fragment_t){
        .data = made->header,
        .length = weft_npy_header_write(made->header, member->descr, member->shape)};
    /* libzip does not write what it is given. */
    made->parts[1] =
        (zip_buffer_fragment_t){.data = (zip_uint8_t *)member->data, .length = member->size};
    return add_source(
        archive, name,
        zip_source_buffer_fragment(archive, made->parts, member->size > 0 ? 2 : 1, 0));
}

/* Closes the archive, with all members. */
static weft_status finish(zip_t *archive, const char *path, const struct weft_npz_member *members,
                          struct member *made, uint32_t count, const weft_host *host) {
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) {
        good = add_member(archive, &made[i], &members[i]);
    }
    if (good && zip_close(archive) == 0) {
        return WEFT_OK;
    }
    const weft_status status = fail(host, path, zip_strerror(archive));
    zip_discard(archive);
    return status;
}

/* Into the memory behind `buffer`, which outlives the archive. */
static weft_status make_archive(zip_source_t *buffer, const char *path,
                                const struct weft_npz_member *members, struct member *made,
                                uint32_t count, const weft_host *host) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_keep(buffer);
    zip_t *archive = zip_open_from_source(buffer, ZIP_TRUNCATE, &error);
    if (!archive) {
        zip_source_free(buffer);
        const weft_status status = fail(host, path, zip_error_strerror(&error));
        zip_error_fini(&error);
        return status;
    }
    return finish(archive, path, members, made, count, host);
}

static weft_status write_archive(zip_source_t *buffer, const char *path, const weft_host *host) {
    zip_stat_t facts;
    if (zip_source_stat(buffer, &facts) < 0 || zip_source_open(buffer) < 0) {
        return fail(host, path, zip_error_strerror(zip_source_error(buffer)));
    }
    uint8_t *bytes = weft_alloc(host, (size_t)facts.size);
    weft_status status = bytes ? WEFT_OK : weft_fail_memory(host, path);
    if (bytes && zip_source_read(buffer, bytes, facts.size) != (zip_int64_t)facts.size) {
        status = fail(host, path, "its bytes are lost");
    }
    status = status ? status : weft_file_write(path, bytes, (size_t)facts.size, host);
    weft_free(host, bytes);
    zip_source_close(buffer);
    return status;
}

weft_status weft_npz_write(const char *path, const struct weft_npz_member *members, uint32_t count,
                           const weft_host *host) {
    zip_error_t error;
    zip_error_init(&error);
    struct member *made = weft_alloc_zero(host, (size_t)count + 1, sizeof *made);
    zip_source_t *buffer = made ? zip_source_buffer_create(NULL, 0, 0, &error) : NULL;
    weft_status status = buffer ? make_archive(buffer, path, members, made, count, host)
                                : weft_fail_memory(host, path);
    status = status ? status : write_archive(buffer, path, host);
    zip_source_free(buffer);
    weft_free(host, made);
    zip_error_fini(&error);
    return status;
}

weft_status weft_npz_write_pieces(const char *path, const struct weft_npz_member *members,
                                  uint32_t count, const weft_host *host) {
    int number = 0;
    struct member *made = weft_alloc_zero(host, (size_t)count + 1, sizeof *made);
    zip_t *archive = made ? zip_open(path, ZIP_TRUNCATE, &number) : NULL;
    zip_error_t error;
    zip_error_init_with_code(&error, number);
    const weft_status status = archive ? finish(archive, path, members, made, count, host)
                               : made  ? fail(host, path, zip_error_strerror(&error))
                                       : weft_fail_memory(host, path);
    zip_error_fini(&error);
    weft_free(host, made);
    return status;
}
