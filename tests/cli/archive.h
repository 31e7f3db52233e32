/* SPDX-License-Identifier: MIT */
/* .npy files and .npz archives for tests. Includes cli/command.h. */
#ifndef WEFT_TESTS_CLI_ARCHIVE_H
#define WEFT_TESTS_CLI_ARCHIVE_H

#include <zip.h>

#include "cli/command.h"

#include "core/formats/npy.h"

/** A member of an archive: a .npy file. */
struct member {
    const char *name; /* null ends a list */
    const char *path;
};

/** Writes FOLDER/NAME, an archive; returns its path. */
static inline char *write_archive(const char *folder, const char *name,
                                  const struct member *members) {
    char *path = weft_test_path(folder, name);
    int error = 0;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &error);
    assert_non_null(archive);
    for (; members->name != NULL; members++) {
        zip_source_t *source = zip_source_file(archive, members->path, 0, -1);
        assert_non_null(source);
        char *member = weft_test_text("%s.npy", members->name);
        assert_true(zip_file_add(archive, member, source, ZIP_FL_OVERWRITE) >= 0);
    }
    assert_int_equal(zip_close(archive), 0);
    return path;
}

/** Writes FOLDER/NAME, a .npy file; returns its path. */
static inline char *write_integers(const char *folder, const char *name, const int32_t *values,
                                   weft_shape shape) {
    char *path = weft_test_path(folder, name);
    assert_ok(weft_npy_write_i32(path, values, shape, NULL));
    return path;
}

static inline char *write_reals(const char *folder, const char *name, const float *values,
                                weft_shape shape) {
    char *path = weft_test_path(folder, name);
    assert_ok(weft_npy_write_f32(path, values, shape, NULL));
    return path;
}

/** The same of uint8, which the library does not write. */
static inline char *write_bytes(const char *folder, const char *name, const uint8_t *values,
                                weft_shape shape) {
    char *axes = weft_test_text(" ");
    size_t count = 1;
    for (uint32_t axis = 0; axis < shape.rank; axis++) {
        char *longer = weft_test_text("%s%u, ", axes, shape.dim[axis]);
        axes = longer;
        count *= shape.dim[axis];
    }
    char *header =
        weft_test_text("{'descr': '|u1', 'fortran_order': False, 'shape': (%s), }", axes);
    enum { BEGIN = 10, DATA = 128 };
    assert_true(strlen(header) < DATA - BEGIN);
    uint8_t *file = malloc(DATA + count);
    assert_non_null(file);
    memset(file, ' ', DATA);
    memcpy(file, "\x93NUMPY\x01\x00\x76\x00", BEGIN);
    memcpy(file + BEGIN, header, strlen(header));
    file[DATA - 1] = '\n';
    memcpy(file + DATA, values, count);
    char *path = weft_test_write(folder, name, file, DATA + count);
    free(file);
    return path;
}

/** A .npy file's float32 values in fresh memory: free. */
static inline float *read_reals(const char *path, size_t expected_count) {
    weft_npy npy = {0};
    assert_ok(weft_npy_open(&npy, path, NULL));
    assert_int_equal(npy.elements, expected_count);
    float *values = malloc(expected_count * sizeof *values);
    assert_non_null(values);
    assert_ok(weft_npy_read_f32(&npy, values));
    weft_npy_close(&npy);
    return values;
}

#endif
