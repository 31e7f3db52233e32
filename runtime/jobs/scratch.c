/* SPDX-License-Identifier: MIT */
#include "jobs/scratch.h"

#include <string.h>

#define ALIGNMENT ((size_t)64)
#define LEAST     ((size_t)4096) /* so that no two threads write to neighbouring cache lines */

bool weft_scratch_create(struct weft_scratch *scratch, uint32_t slots) {
    *scratch = (struct weft_scratch){.slots = slots};
    return pthread_mutex_init(&scratch->lock, NULL) == 0;
}

void weft_scratch_destroy(struct weft_scratch *scratch, const weft_host *host) {
    while (scratch->blocks) {
        void *block = scratch->blocks;
        memcpy(&scratch->blocks, block, sizeof scratch->blocks);
        weft_free(host, block);
    }
    pthread_mutex_destroy(&scratch->lock);
}

/* Twice as large each time, so that what is kept of the old is at most as much again. */
static bool grow(struct weft_scratch *scratch, size_t size, const weft_host *host) {
    size_t stride = LEAST;
    while (stride < size && stride <= SIZE_MAX / 4) {
        stride *= 2;
    }
    if (stride < size || stride > (SIZE_MAX - 2 * ALIGNMENT) / scratch->slots) {
        return false;
    }
    uint8_t *block = weft_alloc(host, stride * scratch->slots + 2 * ALIGNMENT);
    if (!block) {
        return false;
    }
    memcpy(block, &scratch->blocks, sizeof scratch->blocks);
    scratch->blocks = block;
    const uintptr_t after = (uintptr_t)block + sizeof scratch->blocks;
    const size_t padding = (ALIGNMENT - after % ALIGNMENT) % ALIGNMENT;
    scratch->pieces = (struct weft_scratch_pieces){
        .first = block + sizeof scratch->blocks + padding, .stride = stride};
    return true;
}

bool weft_scratch_reserve(struct weft_scratch *scratch, size_t size, const weft_host *host) {
    pthread_mutex_lock(&scratch->lock);
    const bool enough = size <= scratch->pieces.stride || grow(scratch, size, host);
    pthread_mutex_unlock(&scratch->lock);
    return enough;
}

struct weft_scratch_pieces weft_scratch_pieces(struct weft_scratch *scratch) {
    pthread_mutex_lock(&scratch->lock);
    const struct weft_scratch_pieces pieces = scratch->pieces;
    pthread_mutex_unlock(&scratch->lock);
    return pieces;
}
