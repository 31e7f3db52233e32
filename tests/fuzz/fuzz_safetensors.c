/* SPDX-License-Identifier: MIT */
/* Any bytes as a safetensors file. What opens is read to the last value. */
#include <stdlib.h>

#include "fuzz.h"
#include "model/safetensors.h"

static void use(const weft_safetensors *file, const weft_safetensors_tensor *tensor) {
    fuzz_expect(weft_safetensors_find(file, tensor->name) == tensor);
    /* The data is within the input, so this is no more than four times as long. */
    float *values = malloc(tensor->elements * sizeof *values + 1);
    if (values) {
        weft_status status = weft_safetensors_read_f32(file, tensor, values);
        weft_status finite = weft_safetensors_check_finite(file, tensor);
        fuzz_expect(status == WEFT_OK || finite != WEFT_OK);
    }
    free(values);
    const weft_safetensors_tensor *required = NULL;
    (void)weft_safetensors_require(&required, file, tensor->name, weft_shape_of(2, 3));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    weft_safetensors *file = NULL;
    weft_status status = weft_safetensors_open_memory(&file, data, size, "fuzz.safetensors", NULL);
    fuzz_expect((status == WEFT_OK) == (file != NULL));
    for (uint32_t i = 0; file && i < weft_safetensors_count(file); i++) {
        use(file, weft_safetensors_at(file, i));
    }
    weft_safetensors_close(&file);
    return 0;
}
