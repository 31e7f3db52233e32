/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer entry: any bytes as a safetensors file. What opens is read to the last value.
 * Build: clang -fsanitize=fuzzer,address,undefined with runtime/core, runtime/model/safetensors*.c
 * and runtime/core/json.c.
 */
#include <stdlib.h>

#include "model/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const weft_safetensors *file, const weft_safetensors_tensor *tensor) {
    if (weft_safetensors_find(file, tensor->name) != tensor) {
        abort();
    }
    /* The data is within the input, so this is no more than four times as long. */
    float *values = malloc(tensor->elements * sizeof *values + 1);
    if (values != NULL) {
        weft_status status = weft_safetensors_read_f32(file, tensor, values);
        weft_status finite = weft_safetensors_check_finite(file, tensor);
        if (status != WEFT_OK && finite == WEFT_OK) {
            abort();
        }
    }
    free(values);
    const weft_safetensors_tensor *required = NULL;
    (void)weft_safetensors_require(&required, file, tensor->name, weft_shape_of(2, 3));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    weft_safetensors *file = NULL;
    weft_status status = weft_safetensors_open_memory(&file, data, size, "fuzz.safetensors", NULL);
    if ((status == WEFT_OK) != (file != NULL)) {
        abort();
    }
    for (uint32_t i = 0; file != NULL && i < weft_safetensors_count(file); i++) {
        use(file, weft_safetensors_at(file, i));
    }
    weft_safetensors_close(&file);
    return 0;
}
