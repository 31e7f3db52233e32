/* SPDX-License-Identifier: MIT */
/* Any bytes as a safetensors file, in little memory. What opens is read to the last value, also when the file has changed meanwhile. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "graph/graph.h"
#include "model/files/safetensors.h"

/* What a file of so many bytes may take: at least 50 of them make a tensor, and one may hold two numbers. */
static size_t memory_for(size_t size) {
    return 16 * size + ((size_t)64 << 10);
}

/* Codes and scales of all rows, whose numbers are those that were read. */
static void use_blocks(const weft_safetensors *file, const weft_safetensors_tensor *tensor,
                       const float *values) {
    const struct weft_block_form *form = weft_safetensors_blocks(file, tensor);
    if (!form) {
        return;
    }
    fuzz_expect(tensor->rank == 2 && tensor->shape[1] % form->run == 0);
    int8_t *codes = malloc(tensor->elements + 1);
    float *scales = malloc(2 * tensor->elements / form->run * sizeof *scales + 1);
    float *offsets = form->offsets ? scales + tensor->elements / form->run : NULL;
    const struct weft_blocks blocks = {.codes = codes, .scales = scales, .offsets = offsets};
    if (codes && scales &&
        weft_safetensors_read_blocks(file, tensor, 0, tensor->shape[0], &blocks) == WEFT_OK) {
        for (uint64_t i = 0; i < tensor->elements; i++) {
            const float product = scales[i / form->run] * (float)codes[i];
            const float value = offsets ? product + offsets[i / form->run] : product;
            fuzz_expect(isnan(value) ? isnan(values[i]) : value == values[i]);
        }
    }
    free(codes);
    free(scales);
}

static void use(const weft_safetensors *file, const weft_safetensors_tensor *tensor) {
    fuzz_expect(weft_safetensors_find(file, tensor->name) == tensor);
    /* The data is within the input, so this is no more than eight times as long. */
    float *values = malloc(tensor->elements * sizeof *values + 1);
    if (values) {
        weft_status status = weft_safetensors_read_f32(file, tensor, 0, tensor->elements, values);
        weft_status finite = weft_safetensors_check_finite(file, tensor);
        fuzz_expect(status == WEFT_OK || finite != WEFT_OK);
        if (status == WEFT_OK) {
            use_blocks(file, tensor, values);
        }
    }
    free(values);
    const weft_safetensors_tensor *required = NULL;
    (void)weft_safetensors_require(&required, file, tensor->name, weft_shape_of(2, 3));
}

static weft_safetensors *open_in_memory(const uint8_t *data, size_t size, const weft_host *host) {
    weft_safetensors *file = NULL;
    weft_status status = weft_safetensors_open_memory(&file, data, size, "fuzz.safetensors", host);
    fuzz_expect((status == WEFT_OK) == (file != NULL) && status != WEFT_OUT_OF_HOST_MEMORY);
    return file;
}

/* One byte of the file becomes another one: what is read is what was there, or refused. */
static void change(const uint8_t *data, size_t size, const weft_host *host) {
    const char *path = fuzz_file(data, size);
    weft_safetensors *file = NULL;
    fuzz_expect(weft_safetensors_open(&file, path, host) == WEFT_OK);
    uint8_t *found = malloc(size);
    fuzz_expect(found && weft_safetensors_copy(file, found) == WEFT_OK &&
                memcmp(found, data, size) == 0);
    memcpy(found, data, size);
    found[data[0] * 257U % size] ^= 0x10;
    (void)fuzz_file(found, size); /* the same file, written anew */
    fuzz_expect(weft_safetensors_copy(file, found) == WEFT_BAD_FILE);
    for (uint32_t i = 0; i < weft_safetensors_count(file); i++) {
        use(file, weft_safetensors_at(file, i));
    }
    free(found);
    weft_safetensors_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, memory_for(size));
    weft_safetensors *file = open_in_memory(data, size, &host);
    const bool opened = file != NULL;
    for (uint32_t i = 0; file && i < weft_safetensors_count(file); i++) {
        use(file, weft_safetensors_at(file, i));
    }
    weft_safetensors_close(&file);
    if (opened) {
        change(data, size, &host);
    }
    fuzz_expect(left == memory_for(size)); /* nothing was lost on the way */
    return 0;
}
