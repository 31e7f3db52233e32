/* SPDX-License-Identifier: MIT */
#include "members.h"

#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/system/system.h"

#define MEMBER_LIMIT (UINT64_C(1) << 31)

int weft_cli_archive_open(weft_cli_archive *archive, const char *path, const weft_host *host) {
    weft_file_facts facts = {.size = 0};
    (void)weft_system_facts(&facts, path); /* what cannot be looked at cannot be opened either */
    const uint64_t most = (UINT64_MAX - WEFT_CLI_ARCHIVE_BYTES) / WEFT_CLI_ARCHIVE_TIMES;
    const uint64_t size = facts.size < most ? facts.size : most;
    *archive = (weft_cli_archive){
        .path = path, .host = host, .left = WEFT_CLI_ARCHIVE_BYTES + size * WEFT_CLI_ARCHIVE_TIMES};
    return weft_cli_exit_code_of_file(weft_npz_open(&archive->npz, path, host));
}

void weft_cli_archive_close(weft_cli_archive *archive) {
    weft_npz_close(&archive->npz);
}

/* ---- what an array must be ---- */

static bool has_type(const weft_npy *npy, weft_cli_values values) {
    switch (npy->dtype) {
    case WEFT_NPY_I32:
    case WEFT_NPY_I64:
        return values == WEFT_CLI_INTEGERS;
    case WEFT_NPY_F32:
    case WEFT_NPY_F64:
        return values != WEFT_CLI_INTEGERS;
    case WEFT_NPY_U8:
        return values == WEFT_CLI_REALS_OR_BYTES;
    default:
        return false;
    }
}

static bool has_shape(const weft_npy *npy, const weft_cli_member *expected) {
    if (npy->rank != strlen(expected->axes)) {
        return false;
    }
    for (uint32_t axis = 0; axis < npy->rank; axis++) {
        uint64_t size = npy->shape[axis];
        bool fits = expected->shape[axis] == 0 ? size >= 1 && size <= UINT32_MAX
                                               : size == expected->shape[axis];
        if (!fits) {
            return false;
        }
    }
    return true;
}

#define EXPECTED_TEXT_SIZE 96

/* Such as "int32 or int64 [N, 7]". */
static const char *expected_text(const weft_cli_member *expected, char text[EXPECTED_TEXT_SIZE]) {
    static const char *const types[] = {"int32 or int64", "float32 or float64",
                                        "float32, float64 or uint8"};
    int length = snprintf(text, EXPECTED_TEXT_SIZE, "%s [", types[expected->values]);
    for (uint32_t axis = 0; expected->axes[axis] != '\0'; axis++) {
        size_t room = EXPECTED_TEXT_SIZE - (size_t)length;
        const char *comma = axis > 0 ? ", " : "";
        length += expected->shape[axis] == 0
                      ? snprintf(text + length, room, "%s%c", comma, expected->axes[axis])
                      : snprintf(text + length, room, "%s%u", comma, expected->shape[axis]);
    }
    snprintf(text + length, EXPECTED_TEXT_SIZE - (size_t)length, "]");
    return text;
}

/* Whether an array meets the type and shape; else says so in the log. `name` names it there. */
static bool member_fits(const weft_npy *npy, const weft_cli_member *expected, const char *name,
                        const weft_host *host) {
    if (has_type(npy, expected->values) && has_shape(npy, expected)) {
        return true;
    }
    char wanted[EXPECTED_TEXT_SIZE];
    char found[WEFT_NPY_SHAPE_TEXT_SIZE];
    weft_fail(host, WEFT_BAD_FILE, "%s: expected %s, found %s %s", name,
              expected_text(expected, wanted), weft_npy_dtype_name(npy->dtype),
              weft_npy_shape_text(npy, found));
    return false;
}

/* ---- values ---- */

weft_status weft_cli_npy_reals(float **values, const weft_npy *npy, const char *name,
                               const weft_host *host) {
    float *reals = npy->elements > SIZE_MAX
                       ? NULL
                       : weft_alloc_zero(host, (size_t)npy->elements, sizeof *reals);
    if (!reals) {
        return weft_fail_memory(host, name);
    }
    weft_status status = WEFT_OK;
    if (npy->dtype == WEFT_NPY_U8) {
        for (size_t index = 0; index < (size_t)npy->elements; index++) {
            reals[index] = (float)npy->data[index] / 255.0f;
        }
    } else {
        status = weft_npy_read_f32(npy, reals);
    }
    if (status != WEFT_OK) {
        weft_free(host, reals);
        return status;
    }
    *values = reals;
    return WEFT_OK;
}

static weft_status npy_integers(int32_t **values, const weft_npy *npy, const char *name,
                                const weft_host *host) {
    int32_t *integers = npy->elements > SIZE_MAX
                            ? NULL
                            : weft_alloc_zero(host, (size_t)npy->elements, sizeof *integers);
    if (!integers) {
        return weft_fail_memory(host, name);
    }
    weft_status status = weft_npy_read_i32(npy, integers);
    if (status != WEFT_OK) {
        weft_free(host, integers);
        return status;
    }
    *values = integers;
    return WEFT_OK;
}

/* ---- members ---- */

/* Only a member that is what was expected; *npy has no data. */
static int look(weft_npy *npy, const char *name, const weft_cli_archive *archive,
                const weft_cli_member *expected) {
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(weft_npz_look(npy, archive->npz, expected->name)));
    if (member_fits(npy, expected, name, archive->host)) {
        return WEFT_CLI_FINE;
    }
    weft_npy_close(npy);
    return WEFT_CLI_BAD_FILE;
}

/* What an array takes: its bytes, and the words of 32 bits that they become. */
static int charge(weft_cli_archive *archive, const weft_npy *npy, const char *name) {
    const uint64_t word = sizeof(int32_t);
    const uint64_t needed = npy->elements > (UINT64_MAX - npy->bytes) / word
                                ? UINT64_MAX
                                : npy->bytes + npy->elements * word;
    if (needed > archive->left) {
        return weft_cli_bad_file(archive->host,
                                 "%s: expected arrays that take at most %u times the file's size "
                                 "and %llu MiB, found %llu MiB more",
                                 name, WEFT_CLI_ARCHIVE_TIMES,
                                 (unsigned long long)WEFT_CLI_ARCHIVE_BYTES >> 20,
                                 (unsigned long long)((needed - archive->left) >> 20) + 1);
    }
    archive->left -= needed;
    return WEFT_CLI_FINE;
}

/* Looks at what the archive says of it, and unpacks it if that is what is expected. */
static int get(weft_npy *npy, const char *name, weft_cli_archive *archive,
               const weft_cli_member *expected) {
    WEFT_CLI_TRY(look(npy, name, archive, expected));
    const int exit_code = charge(archive, npy, name);
    weft_npy_close(npy);
    return exit_code == WEFT_CLI_FINE ? weft_cli_exit_code_of_file(weft_npz_get(
                                            npy, archive->npz, expected->name, MEMBER_LIMIT))
                                      : exit_code;
}

static void give_shape(uint32_t shape[WEFT_CLI_MEMBER_RANK], const weft_npy *npy) {
    for (uint32_t axis = 0; axis < npy->rank; axis++) {
        shape[axis] = (uint32_t)npy->shape[axis];
    }
}

/* For messages; null when memory is out. */
static char *name_of(const weft_cli_archive *archive, const weft_cli_member *member) {
    return weft_format(archive->host, "%s: member %s", archive->path, member->name);
}

int weft_cli_member_look(uint32_t shape[WEFT_CLI_MEMBER_RANK], const weft_cli_archive *archive,
                         const weft_cli_member *expected) {
    weft_npy npy = {0};
    char *name = name_of(archive, expected);
    const int exit_code = name ? look(&npy, name, archive, expected)
                               : weft_cli_exit_code(weft_fail_memory(archive->host, archive->path));
    if (exit_code == WEFT_CLI_FINE) {
        give_shape(shape, &npy);
    }
    weft_free(archive->host, name);
    weft_npy_close(&npy);
    return exit_code;
}

/* One of the two: the other is null. */
static int read_member(int32_t **integers, float **reals, uint32_t shape[WEFT_CLI_MEMBER_RANK],
                       weft_cli_archive *archive, const weft_cli_member *expected) {
    weft_npy npy = {0};
    char *name = name_of(archive, expected);
    int exit_code = name ? get(&npy, name, archive, expected)
                         : weft_cli_exit_code(weft_fail_memory(archive->host, archive->path));
    if (exit_code == WEFT_CLI_FINE) {
        give_shape(shape, &npy);
        exit_code = weft_cli_exit_code_of_file(
            integers ? npy_integers(integers, &npy, name, archive->host)
                     : weft_cli_npy_reals(reals, &npy, name, archive->host));
    }
    weft_free(archive->host, name);
    weft_npy_close(&npy);
    return exit_code;
}

int weft_cli_member_integers(int32_t **values, uint32_t shape[WEFT_CLI_MEMBER_RANK],
                             weft_cli_archive *archive, const weft_cli_member *expected) {
    return read_member(values, NULL, shape, archive, expected);
}

int weft_cli_member_reals(float **values, uint32_t shape[WEFT_CLI_MEMBER_RANK],
                          weft_cli_archive *archive, const weft_cli_member *expected) {
    return read_member(NULL, values, shape, archive, expected);
}

/* Not weft_npy_read_f32, which would round a float64: here its digits matter. */
static double little_endian(const weft_npy *npy) {
    const uint64_t bits = weft_load_bytes(npy->data, weft_npy_dtype_size(npy->dtype));
    if (npy->dtype == WEFT_NPY_F64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return (double)value;
}

int weft_cli_member_real(double *value, const weft_cli_archive *archive, const char *member) {
    weft_npy npy = {0};
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(weft_npz_look(&npy, archive->npz, member)));
    bool fits = has_type(&npy, WEFT_CLI_REALS) && npy.rank <= 1 && npy.elements == 1;
    if (fits) {
        weft_npy_close(&npy);
        WEFT_CLI_TRY(weft_cli_exit_code_of_file(
            weft_npz_get(&npy, archive->npz, member, weft_npy_dtype_size(WEFT_NPY_F64))));
        *value = little_endian(&npy);
    } else {
        char found[WEFT_NPY_SHAPE_TEXT_SIZE];
        weft_fail(archive->host, WEFT_BAD_FILE,
                  "%s: member %s: expected float32 or float64 [] or [1], found %s %s",
                  archive->path, member, weft_npy_dtype_name(npy.dtype),
                  weft_npy_shape_text(&npy, found));
    }
    weft_npy_close(&npy);
    return fits ? WEFT_CLI_FINE : WEFT_CLI_BAD_FILE;
}
