/* SPDX-License-Identifier: MIT */
#include "native/object.h"

#include <string.h>

#include "core/bytes.h"
#include "core/hash.h"
#include "core/try.h"

/*
 * An object, integers little-endian: 8 bytes magic, 4 format version, 4 size of the target's name, 8 size of the ELF object,
 * 4 count of bindings, 4 zero, 32 SHA-256 of all other bytes; then the interface: local size (x, y, z), lanes, size of
 * scratch, size of push constants, 4 bytes each; set and binding of each binding; the target's name; the ELF object. The hash
 * finds accidents; who can write a right one could write any code.
 */
#define FORMAT_VERSION 1u
#define VERSION_AT     8u
#define TARGET_SIZE_AT 12u
#define ELF_SIZE_AT    16u
#define BINDINGS_AT    24u
#define HASH_AT        32u
#define INTERFACE_AT   64u
#define LIST_AT        88u /* of bindings */

static const uint8_t magic[VERSION_AT] = {'W', 'E', 'F', 'T', 'C', 'P', 'U', '\n'};

static weft_status bad(const weft_host *host, const char *what) {
    return weft_fail(host, WEFT_BAD_FILE, "native code: the object %s", what);
}

static weft_digest hash_of(const uint8_t *bytes, size_t size) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, bytes, HASH_AT);
    weft_sha256_add(&hash, bytes + INTERFACE_AT, size - INTERFACE_AT);
    return weft_sha256_end(&hash);
}

/* ---- writing ---- */

static void store(uint8_t *bytes, size_t index, uint32_t value) {
    weft_store_bytes(bytes + 4 * index, value, 4);
}

/* These return the end. */
static uint8_t *write_bytes(uint8_t *bytes, const void *data, size_t size) {
    if (size > 0) {
        memcpy(bytes, data, size);
    }
    return bytes + size;
}

static uint8_t *write_interface(uint8_t *bytes, const struct weft_native_interface *interface) {
    for (size_t i = 0; i < 3; i++) {
        store(bytes, i, interface->local_size[i]);
    }
    store(bytes, 3, interface->lanes);
    store(bytes, 4, interface->scratch_size);
    store(bytes, 5, interface->push_size);
    bytes += LIST_AT - INTERFACE_AT;
    for (size_t i = 0; i < interface->binding_count; i++) {
        store(bytes, 2 * i, interface->bindings[i].set);
        store(bytes, 2 * i + 1, interface->bindings[i].binding);
    }
    return bytes + 8 * (size_t)interface->binding_count;
}

weft_status weft_native_object_pack(struct weft_native_object *object,
                                    const struct weft_native_interface *interface,
                                    const uint8_t *elf, size_t elf_size, const weft_host *host) {
    const char *target = weft_native_target();
    const size_t target_size = strlen(target);
    const size_t before = LIST_AT + 8 * (size_t)interface->binding_count + target_size;
    uint8_t *bytes = elf_size <= SIZE_MAX - before ? weft_alloc(host, before + elf_size) : NULL;
    if (!bytes) {
        return weft_fail_memory(host, "native code");
    }
    memset(bytes, 0, INTERFACE_AT);
    memcpy(bytes, magic, sizeof magic);
    weft_store_bytes(bytes + VERSION_AT, FORMAT_VERSION, 4);
    weft_store_bytes(bytes + TARGET_SIZE_AT, target_size, 4);
    weft_store_bytes(bytes + ELF_SIZE_AT, elf_size, 8);
    weft_store_bytes(bytes + BINDINGS_AT, interface->binding_count, 4);
    uint8_t *end = write_interface(bytes + INTERFACE_AT, interface);
    end = write_bytes(end, target, target_size);
    write_bytes(end, elf, elf_size);
    const weft_digest hash = hash_of(bytes, before + elf_size);
    memcpy(bytes + HASH_AT, hash.bytes, sizeof hash.bytes);
    *object = (struct weft_native_object){.bytes = bytes, .size = before + elf_size};
    return WEFT_OK;
}

/* ---- reading ---- */

struct parts {
    uint64_t list_size, target_size, elf_size;
};

static weft_status check_header(struct parts *parts, const uint8_t *bytes, size_t size,
                                const weft_host *host) {
    if (size < LIST_AT || memcmp(bytes, magic, sizeof magic) != 0) {
        return bad(host, "is none, or cut short");
    }
    if (weft_load_bytes(bytes + VERSION_AT, 4) != FORMAT_VERSION) {
        return bad(host, "is of another version's format");
    }
    const uint64_t bindings = weft_load_bytes(bytes + BINDINGS_AT, 4);
    *parts = (struct parts){.list_size = 8 * bindings,
                            .target_size = weft_load_bytes(bytes + TARGET_SIZE_AT, 4),
                            .elf_size = weft_load_bytes(bytes + ELF_SIZE_AT, 8)};
    const uint64_t rest = size - LIST_AT;
    if (bindings > WEFT_NATIVE_MAX_BINDINGS || parts->list_size + parts->target_size > rest ||
        parts->elf_size != rest - parts->list_size - parts->target_size) {
        return bad(host, "is cut short, or has sizes that do not fit");
    }
    const weft_digest hash = hash_of(bytes, size);
    if (memcmp(bytes + HASH_AT, hash.bytes, sizeof hash.bytes) != 0) {
        return bad(host, "is damaged");
    }
    return WEFT_OK;
}

static void read_interface(struct weft_native_interface *interface, const uint8_t *bytes) {
    uint32_t numbers[6];
    for (size_t i = 0; i < 6; i++) {
        numbers[i] = (uint32_t)weft_load_bytes(bytes + INTERFACE_AT + 4 * i, 4);
    }
    *interface = (struct weft_native_interface){
        .local_size = {numbers[0], numbers[1], numbers[2]},
        .lanes = numbers[3],
        .scratch_size = numbers[4],
        .push_size = numbers[5],
        .binding_count = (uint32_t)weft_load_bytes(bytes + BINDINGS_AT, 4),
    };
    for (size_t i = 0; i < interface->binding_count; i++) {
        const uint8_t *binding = bytes + LIST_AT + 8 * i;
        interface->bindings[i].set = (uint32_t)weft_load_bytes(binding, 4);
        interface->bindings[i].binding = (uint32_t)weft_load_bytes(binding + 4, 4);
    }
}

static weft_status check_interface(const struct weft_native_interface *interface,
                                   const weft_host *host) {
    uint64_t invocations = 1;
    for (size_t i = 0; i < 3; i++) {
        const uint32_t size = interface->local_size[i];
        invocations *= size <= WEFT_NATIVE_MAX_INVOCATIONS ? size : 0;
    }
    if (invocations == 0 || invocations > WEFT_NATIVE_MAX_INVOCATIONS) {
        return bad(host, "has a local size that is out of range");
    }
    const uint32_t lanes = interface->lanes;
    if (lanes != 4 && lanes != 8 && lanes != WEFT_NATIVE_MAX_LANES) {
        return bad(host, "has a number of lanes that is not 4, 8 or 16");
    }
    return WEFT_OK;
}

weft_status weft_native_object_open(struct weft_native_interface *interface, const uint8_t **elf,
                                    size_t *elf_size, const uint8_t *bytes, size_t size,
                                    const weft_host *host) {
    struct parts parts = {0};
    WEFT_TRY(check_header(&parts, bytes, size, host));
    const char *expected = weft_native_target();
    const char *target = (const char *)bytes + LIST_AT + parts.list_size;
    if (parts.target_size != strlen(expected) ||
        memcmp(target, expected, (size_t)parts.target_size) != 0) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "native code: the object was made for '%.*s', and this processor is '%s'",
                         parts.target_size < 100 ? (int)parts.target_size : 100, target, expected);
    }
    read_interface(interface, bytes);
    WEFT_TRY(check_interface(interface, host));
    *elf_size = (size_t)parts.elf_size;
    *elf = bytes + (size - *elf_size);
    return WEFT_OK;
}
