/* SPDX-License-Identifier: MIT */
/* The photographs of ../data/fashion.npz, as the fashion models of ../models read them. */
#ifndef HOSTS_PHOTOS_H
#define HOSTS_PHOTOS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PHOTO_SIDE = 28, /* pixels */
    PHOTO_PATCH = 4, /* pixels: one token is 4 by 4 of them */
    PHOTO_TOKENS = 49,
    PHOTO_CHANNELS = 16,
    PHOTO_VALUES = PHOTO_TOKENS * PHOTO_CHANNELS
};

typedef struct photos {
    uint32_t count;
    uint8_t *pixels;  /* [count, 49, 16]: patches row by row, and the pixels of each row by row */
    uint32_t *labels; /* [count] */
} photos;

/* Reads the archive; says on stderr what is wrong with it. */
bool photos_read(photos *read, const char *path);
void photos_free(photos *old);

/* Where the pixel (x, y) of a photograph is among its values. */
uint32_t photo_place(uint32_t x, uint32_t y);

/* What a network reads of a pixel. */
float photo_value(uint8_t pixel);

/* The label of the largest of `count` logits, and its probability. */
uint32_t photo_answer(const float *logits, uint32_t count, float *probability);

#endif
