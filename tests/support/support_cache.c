/* SPDX-License-Identifier: MIT */
#include "support_cache.h"

#include "core/bytes.h"
#include "core/system/disk_cache.h"

/*
 * Changes a pipeline cache's data (softvk/cache.c): Vulkan's header, a hash, and key, size and bytes of each object.
 */
static void change_data(uint8_t *data, size_t size, void (*change)(uint8_t *object, size_t size)) {
    enum { HASH_AT = 32, START = 64, KEY = 32 };
    size_t at = START;
    while (at < size) {
        const size_t bytes = (size_t)weft_load_bytes(data + at + KEY, 8);
        change(data + at + KEY + 8, bytes);
        at += KEY + 8 + bytes;
    }
    assert_int_equal(at, size);
    const weft_digest digest = weft_digest_of(data + START, size - START);
    memcpy(data + HASH_AT, digest.bytes, sizeof digest.bytes);
}

/* The entry's own hash is made by who writes it. */
void weft_test_change_objects(const char *folder, const weft_digest *key,
                              void (*change)(uint8_t *object, size_t size)) {
    struct weft_cache *cache = NULL;
    uint8_t *payload = NULL;
    size_t size = 0;
    assert_ok(weft_cache_create(&cache, folder, 0, NULL));
    assert_ok(weft_cache_read(&payload, &size, cache, "pipelines", key, NULL));
    assert_non_null(payload);
    const size_t list = 4 + sizeof *key * (size_t)weft_load_bytes(payload, 4);
    assert_true(size > list);
    change_data(payload + list, size - list, change);
    weft_cache_write(cache, "pipelines", key, payload, size, NULL);
    weft_free(NULL, payload);
    weft_cache_destroy(&cache, NULL);
}
