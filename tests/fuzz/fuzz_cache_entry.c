/* SPDX-License-Identifier: MIT */
/* Any bytes as an entry of the disk cache: a miss, or exactly the payload. */
#include <stdio.h>
#include <string.h>

#include "core/system/disk_cache.h"
#include "core/system/file.h"
#include "fuzz.h"

#define HEADER 88 /* of an entry */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char path[1024];
    const weft_digest key = weft_digest_of("key", 3);
    char hex[WEFT_DIGEST_TEXT_SIZE];
    snprintf(path, sizeof path, "%s/test-%s", fuzz_folder(), weft_digest_text(&key, hex));
    fuzz_expect(weft_file_write(path, data, size, NULL) == WEFT_OK);
    struct weft_cache *cache = NULL;
    uint8_t *payload = NULL;
    size_t payload_size = 0;
    fuzz_expect(weft_cache_create(&cache, fuzz_folder(), 0, NULL) == WEFT_OK);
    fuzz_expect(weft_cache_read(&payload, &payload_size, cache, "test", &key, NULL) == WEFT_OK);
    weft_cache_destroy(&cache, NULL);
    if (payload) {
        fuzz_expect(size == HEADER + payload_size &&
                    memcmp(payload, data + HEADER, payload_size) == 0);
    }
    weft_free(NULL, payload);
    return 0;
}
