/* SPDX-License-Identifier: MIT */
#include "photos.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zip.h>

enum {
    NPY_START = 10
}; /* bytes: magic, version and the header's length; what follows is of version 1 */

/* The data of an array of the archive, *size bytes behind its header, which must name this type. Free *whole. */
static const uint8_t *read_array(zip_t *archive, const char *name, const char *type,
                                 uint8_t **whole, size_t *size) {
    zip_stat_t entry;
    zip_file_t *file = NULL;
    *whole = NULL;
    if (zip_stat(archive, name, 0, &entry) != 0 || !(file = zip_fopen(archive, name, 0))) {
        fprintf(stderr, "%s: %s\n", name, zip_strerror(archive));
        return NULL;
    }
    *whole = malloc((size_t)entry.size + 1);
    const bool read = *whole && zip_fread(file, *whole, entry.size) == (zip_int64_t)entry.size;
    zip_fclose(file);
    if (!read || entry.size < NPY_START || memcmp(*whole, "\x93NUMPY\x01", 7) != 0) {
        fprintf(stderr, "%s: no array of .npy version 1\n", name);
        return NULL;
    }
    const size_t start = NPY_START + (size_t)(*whole)[8] + ((size_t)(*whole)[9] << 8);
    (*whole)[entry.size] = 0;
    if (start > entry.size || !strstr((const char *)*whole + NPY_START, type)) {
        fprintf(stderr, "%s: not of the type %s\n", name, type);
        return NULL;
    }
    *size = (size_t)entry.size - start;
    return *whole + start;
}

static bool copy(photos *read, const uint8_t *pixels, size_t pixel_bytes, const uint8_t *labels,
                 size_t label_bytes) {
    const size_t count = pixel_bytes / PHOTO_VALUES;
    if (count == 0 || pixel_bytes % PHOTO_VALUES != 0 || label_bytes != count * sizeof(int32_t)) {
        fprintf(stderr, "%zu bytes of pixels and %zu of labels do not fit together\n", pixel_bytes,
                label_bytes);
        return false;
    }
    read->count = (uint32_t)count;
    read->pixels = malloc(pixel_bytes);
    read->labels = malloc(label_bytes);
    if (!read->pixels || !read->labels) {
        return false;
    }
    memcpy(read->pixels, pixels, pixel_bytes);
    memcpy(read->labels, labels, label_bytes);
    return true;
}

bool photos_read(photos *read, const char *path) {
    int error = 0;
    uint8_t *wholes[2] = {NULL, NULL};
    size_t pixel_bytes = 0, label_bytes = 0;
    *read = (photos){0};
    zip_t *archive = zip_open(path, ZIP_RDONLY, &error);
    if (!archive) {
        fprintf(stderr, "%s: libzip's error %d\n", path, error);
        return false;
    }
    const uint8_t *pixels = read_array(archive, "inputs.npy", "'|u1'", &wholes[0], &pixel_bytes);
    const uint8_t *labels =
        !pixels ? NULL : read_array(archive, "labels.npy", "'<i4'", &wholes[1], &label_bytes);
    const bool fine = labels && copy(read, pixels, pixel_bytes, labels, label_bytes);
    free(wholes[0]);
    free(wholes[1]);
    zip_discard(archive);
    if (!fine) {
        fprintf(stderr, "%s: no photographs\n", path);
        photos_free(read);
    }
    return fine;
}

void photos_free(photos *old) {
    free(old->pixels);
    free(old->labels);
    *old = (photos){0};
}

uint32_t photo_place(uint32_t x, uint32_t y) {
    const uint32_t across = PHOTO_SIDE / PHOTO_PATCH;
    return (y / PHOTO_PATCH * across + x / PHOTO_PATCH) * PHOTO_CHANNELS +
           y % PHOTO_PATCH * PHOTO_PATCH + x % PHOTO_PATCH;
}

float photo_value(uint8_t pixel) {
    return (float)pixel / 255.0f;
}

uint32_t photo_answer(const float *logits, uint32_t count, float *probability) {
    uint32_t best = 0;
    float sum = 0.0f;
    for (uint32_t i = 1; i < count; i++) {
        best = logits[i] > logits[best] ? i : best;
    }
    for (uint32_t i = 0; i < count; i++) {
        sum += expf(logits[i] - logits[best]);
    }
    *probability = 1.0f / sum;
    return best;
}
