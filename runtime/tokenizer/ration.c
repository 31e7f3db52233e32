/* SPDX-License-Identifier: MIT */
#include "tokenizer/ration.h"

#include <stddef.h>

/* The size stands before each block, as far as malloc's alignment asks. */
union block {
    size_t size;
    max_align_t alignment;
};

static void *reallocate(void *user, void *pointer, size_t size) {
    struct weft_ration *ration = user;
    union block *old = pointer ? (union block *)pointer - 1 : NULL;
    const size_t old_size = old ? old->size : 0;
    if (size == 0) {
        ration->used -= old_size;
        weft_free(&ration->beneath, old);
        return NULL;
    }
    const uint64_t others = ration->used - old_size;
    if (size > SIZE_MAX - sizeof *old || others > ration->most || size > ration->most - others) {
        ration->exceeded = true;
        return NULL;
    }
    union block *block = weft_realloc(&ration->beneath, old, sizeof *old + size);
    if (!block) {
        return NULL;
    }
    block->size = size;
    ration->used = others + size;
    return block + 1;
}

void weft_ration_begin(struct weft_ration *ration, const weft_host *beneath) {
    *ration = (struct weft_ration){.beneath = beneath ? *beneath : (weft_host){0},
                                   .most = WEFT_RATION_LEAST};
}

void weft_ration_set(struct weft_ration *ration, uint64_t size, uint64_t each) {
    ration->most = WEFT_RATION_LEAST + size * each;
    ration->exceeded = false;
}

weft_host weft_ration_host(struct weft_ration *ration) {
    weft_host host = ration->beneath;
    host.reallocate = reallocate;
    host.allocator_user = ration;
    return host;
}

weft_status weft_ration_judge(const struct weft_ration *ration, weft_status status,
                              weft_status instead, const char *what) {
    return status == WEFT_OUT_OF_HOST_MEMORY && ration->exceeded
               ? weft_fail(&ration->beneath, instead,
                           "%s: expected at most %llu bytes of memory for its size, found that the "
                           "tokenizer takes more",
                           what, (unsigned long long)ration->most)
               : status;
}
