/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as native code: as an object, as one whose hash is right, and as an ELF object. Nothing is called: what it would
 * do cannot be known.
 */
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "fuzz.h"
#include "native/kernel.h"
#include "native/link.h"

#define PAGE    4096
#define HASH_AT 32 /* in an object */
#define HEADER  64

static void load(const uint8_t *data, size_t size) {
    struct weft_native_kernel *kernel = NULL;
    const weft_status status = weft_native_kernel_load(&kernel, data, size, NULL);
    fuzz_expect((status == WEFT_OK) == (kernel != NULL));
    if (kernel && !kernel->interpreted) {
        const uintptr_t entry = (uintptr_t)kernel->entry, code = (uintptr_t)kernel->code;
        fuzz_expect(entry >= code && entry < code + kernel->code_size);
    }
    weft_native_kernel_unload(&kernel, NULL);
}

static void load_with_hash(const uint8_t *data, size_t size) {
    if (size < HEADER) {
        return;
    }
    uint8_t *copy = malloc(size);
    fuzz_expect(copy != NULL);
    memcpy(copy, data, size);
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, copy, HASH_AT);
    weft_sha256_add(&hash, copy + HEADER, size - HEADER);
    const weft_digest digest = weft_sha256_end(&hash);
    memcpy(copy + HASH_AT, digest.bytes, sizeof digest.bytes);
    load(copy, size);
    free(copy);
}

static void load_elf(const uint8_t *data, size_t size) {
    const struct weft_native_interface interface = {.local_size = {64, 1, 1}, .lanes = 4};
    struct weft_native_object object = {0};
    fuzz_expect(weft_native_object_pack(&object, &interface, data, size, NULL) == WEFT_OK);
    load(object.bytes, object.size);
    weft_free(NULL, object.bytes);
}

/* For other processors than this one, too. */
static void link_elf(const uint8_t *data, size_t size) {
    struct weft_elf elf;
    struct weft_native_layout layout;
    if (weft_elf_open(&elf, data, size, NULL) != WEFT_OK ||
        weft_native_layout_make(&layout, &elf, PAGE, NULL) != WEFT_OK) {
        return;
    }
    uint8_t *image = aligned_alloc(PAGE, layout.size);
    fuzz_expect(image != NULL);
    memset(image, 0, layout.size);
    (void)weft_native_link(image, &layout, NULL);
    free(image);
    weft_native_layout_free(&layout, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    load(data, size);
    load_with_hash(data, size);
    load_elf(data, size);
    link_elf(data, size);
    return 0;
}
