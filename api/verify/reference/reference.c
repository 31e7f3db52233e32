/* SPDX-License-Identifier: MIT */
#include "verify/reference/reference.h"

#include <string.h>

/* A piece of memory, in a list. */
struct weft_reference_block {
    struct weft_reference_block *next;
    double data[];
};

void weft_reference_end(weft_reference *ref) {
    while (ref->blocks) {
        struct weft_reference_block *next = ref->blocks->next;
        weft_free(&ref->host, ref->blocks);
        ref->blocks = next;
    }
}

bool weft_reference_check(weft_reference *ref, weft_status status) {
    if (ref->status == WEFT_OK) {
        ref->status = status;
    }
    return ref->status == WEFT_OK;
}

bool weft_reference_spend(weft_reference *ref, double operations) {
    ref->operations += operations;
    return ref->status == WEFT_OK && (ref->limit <= 0.0 || ref->operations <= ref->limit);
}

void *weft_reference_memory(weft_reference *ref, uint64_t count, size_t size) {
    if (ref->status != WEFT_OK) {
        return NULL;
    }
    struct weft_reference_block *block =
        weft_alloc_zero(&ref->host, 1, sizeof *block + (size_t)count * size);
    if (!block) {
        ref->status = weft_fail_memory(&ref->host, "a float64 reference");
        return NULL;
    }
    block->next = ref->blocks;
    ref->blocks = block;
    return block->data;
}

double *weft_reference_array(weft_reference *ref, uint64_t count) {
    return weft_reference_memory(ref, count, sizeof(double));
}

const double *weft_reference_of(weft_reference *ref, const float *data, uint64_t count) {
    double *value = weft_reference_array(ref, count);
    for (uint64_t i = 0; value && i < count; i++) {
        value[i] = (double)data[i];
    }
    return value;
}

weft_rows weft_reference_all(weft_reference *ref, uint32_t n) {
    uint32_t *at = weft_reference_memory(ref, n, sizeof *at);
    for (uint32_t i = 0; at && i < n; i++) {
        at[i] = i;
    }
    return (weft_rows){.at = at, .count = at ? n : 0};
}

void weft_reference_take(double *out, weft_rows rows, const double *x, uint32_t channels) {
    for (uint64_t r = 0; r < rows.count; r++) {
        memmove(out + r * channels, x + (uint64_t)rows.at[r] * channels, channels * sizeof *out);
    }
}
