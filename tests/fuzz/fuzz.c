/* SPDX-License-Identifier: MIT */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "fuzz.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "null/null_device.h"

#define PATH_SIZE 512

void fuzz_expect(bool holds) {
    if (!holds) {
        abort();
    }
}

static char folder[PATH_SIZE];

static int remove_one(const char *path, const struct stat *information, int kind,
                      struct FTW *walk) {
    (void)information;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void remove_folder(void) {
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void) {
    if (folder[0] == '\0') {
        const char *parent = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/weft-fuzz-XXXXXX", parent ? parent : "/tmp");
        fuzz_expect(mkdtemp(folder) && atexit(remove_folder) == 0);
    }
    return folder;
}

const char *fuzz_write(const char *name, const void *data, size_t size) {
    static char path[2 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    FILE *file = fopen(path, "wb");
    fuzz_expect(file && (size == 0 || fwrite(data, size, 1, file) == 1));
    fuzz_expect(fclose(file) == 0);
    return path;
}

const char *fuzz_file(const uint8_t *data, size_t size) {
    return fuzz_write("input", data, size);
}

/* The size stands before each block, as far as malloc's alignment asks. */
union block {
    size_t size;
    max_align_t alignment;
};

static void *reallocate(void *user, void *pointer, size_t size) {
    size_t *left = user;
    union block *old = pointer ? (union block *)pointer - 1 : NULL;
    const size_t old_size = old ? old->size : 0;
    if (size == 0) {
        *left += old_size;
        free(old);
        return NULL;
    }
    if (size > *left + old_size) {
        return NULL;
    }
    union block *block = realloc(old, sizeof *block + size);
    if (!block) {
        return NULL;
    }
    *left = *left + old_size - size;
    block->size = size;
    return block + 1;
}

weft_host fuzz_small_host(size_t *left, size_t bytes) {
    *left = bytes;
    return (weft_host){.reallocate = reallocate, .allocator_user = left};
}

weft_device *fuzz_device(bool processor, uint64_t memory_limit) {
    static weft_device *devices[2];
    if (!devices[processor]) {
        fuzz_expect(setenv("WEFT_NULL_DEVICE", "1", 1) == 0);
        fuzz_expect(
            weft_device_open(
                &devices[processor],
                weft_device_params(.select = processor ? "processor" : weft_null_backend.driver,
                                   .math = processor ? WEFT_MATH_REPRODUCIBLE : WEFT_MATH_FAST,
                                   .cache_dir = "", .threads = 1, .memory_limit = memory_limit)) ==
            WEFT_OK);
    }
    return devices[processor];
}
