/* SPDX-License-Identifier: MIT */
/* Any bytes as the index of two files. What opens has each tensor once, in the file that the index says. */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "model/files/shards.h"

#define MEMORY ((size_t)1 << 20)

static const char *const headers[] = {
    "{\"__metadata__\":{\"t\":\"v\"},\"v\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]"
    "},\"w\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[8,20]}}",
    "{\"x\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[0,8]}}"};
static const size_t data_sizes[] = {20, 8};

static void write_file(const char *name, const char *header, size_t data_size) {
    char path[512];
    const uint8_t length[8] = {(uint8_t)strlen(header)};
    const uint8_t zeros[32] = {0};
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    FILE *file = fopen(path, "wb");
    fuzz_expect(file && fwrite(length, sizeof length, 1, file) == 1 &&
                fwrite(header, strlen(header), 1, file) == 1 &&
                fwrite(zeros, data_size, 1, file) == 1);
    fuzz_expect(fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool written = false;
    if (!written) {
        write_file("a.safetensors", headers[0], data_sizes[0]);
        write_file("b.safetensors", headers[1], data_sizes[1]);
        written = true;
    }
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY + 2 * size);
    struct weft_shards shards = {.count = 0};
    const weft_status status =
        weft_shards_open(&shards, fuzz_folder(), fuzz_file(data, size), &host);
    if (status == WEFT_OK) {
        fuzz_expect(shards.count == 1 || shards.count == 2);
        fuzz_expect(shards.names.count == (shards.count == 2 ? 3U : shards.names.count));
        for (uint32_t i = 0; i < shards.names.count; i++) {
            const struct weft_named_tensor *tensor = &shards.names.tensors[i];
            fuzz_expect(weft_tensor_names_find(&shards.names, tensor->name) == tensor);
        }
        char *bytes = NULL;
        size_t count = 0;
        fuzz_expect(weft_shards_copy(&shards, &bytes, &count, &host) == WEFT_OK && count > 8);
        weft_free(&host, bytes);
    }
    weft_shards_close(&shards, &host);
    fuzz_expect(left == MEMORY + 2 * size); /* nothing was lost on the way */
    return 0;
}
