/* SPDX-License-Identifier: MIT */
/* The scratch memory of kernels: a piece for each slot of a device's job system. */
#ifndef WEFT_JOBS_SCRATCH_H
#define WEFT_JOBS_SCRATCH_H

#include <pthread.h>

#include "core/host.h"

/** Pieces of one size; see weft_scratch_piece. */
struct weft_scratch_pieces {
    uint8_t *first;
    size_t stride;
};

struct weft_scratch {
    pthread_mutex_t lock;
    struct weft_scratch_pieces pieces; /* the largest so far */
    void *
        blocks; /* all there were: a dispatch may still use older ones. Each begins with the next's address */
    uint32_t slots;
};

bool weft_scratch_create(struct weft_scratch *scratch, uint32_t slots);
void weft_scratch_destroy(struct weft_scratch *scratch, const weft_host *host);

/** From now on pieces have at least `size` bytes; false when memory is out. Thread safe. */
bool weft_scratch_reserve(struct weft_scratch *scratch, size_t size, const weft_host *host);

/** Pieces that exist now; they live until the end. Thread safe. */
struct weft_scratch_pieces weft_scratch_pieces(struct weft_scratch *scratch);

/** Aligned to 64 bytes; null where nothing was reserved. */
static inline void *weft_scratch_piece(const struct weft_scratch_pieces *pieces, uint32_t slot) {
    return pieces->first ? pieces->first + slot * pieces->stride : NULL;
}

#endif
