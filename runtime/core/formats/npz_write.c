/* SPDX-License-Identifier: MIT */
/* ZIP archives of stored files, by PKWARE's APPNOTE 6.3.3: local headers with data, the central directory, its end. */
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/formats/npz.h"
#include "core/system/file.h"
#include "core/text.h"
#include "core/try.h"

#define LOCAL_HEADER   0x04034b50U
#define CENTRAL_HEADER 0x02014b50U
#define END            0x06054b50U
#define VERSION        20U
#define NO_DATE        0x21U /* 1 January 1980, the first there is */
#define MOST_MEMBERS   16U
#define MOST_BYTES     UINT32_MAX

struct entry {
    uint32_t offset, size, crc; /* of header and data together */
    char name[64];
};

static void put_number(struct weft_text *out, uint64_t value, size_t bytes) {
    uint8_t stored[8];
    weft_store_bytes(stored, value, bytes);
    weft_text_put(out, stored, bytes);
}

/* CRC-32 of ISO 3309, four bits at a time; `crc` is that of what came before, 0 at first. */
static uint32_t add_crc(uint32_t crc, const void *data, size_t size) {
    static const uint32_t table[16] = {0x00000000U, 0x1db71064U, 0x3b6e20c8U, 0x26d930acU,
                                       0x76dc4190U, 0x6b6b51f4U, 0x4db26158U, 0x5005713cU,
                                       0xedb88320U, 0xf00f9344U, 0xd6d6a3e8U, 0xcb61b38cU,
                                       0x9b64c2b0U, 0x86d3d2d4U, 0xa00ae278U, 0xbdbdf21cU};
    const uint8_t *bytes = data;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4U) ^ table[crc & 15U];
        crc = (crc >> 4U) ^ table[crc & 15U];
    }
    return ~crc;
}

/* What local and central headers share, from the version on. */
static void put_facts(struct weft_text *out, const struct entry *entry) {
    put_number(out, VERSION, 2);
    put_number(out, 0, 2); /* no flags */
    put_number(out, 0, 2); /* stored */
    put_number(out, 0, 2); /* midnight */
    put_number(out, NO_DATE, 2);
    put_number(out, entry->crc, 4);
    put_number(out, entry->size, 4);
    put_number(out, entry->size, 4);
    put_number(out, strlen(entry->name), 2);
    put_number(out, 0, 2); /* no extra field */
}

static void put_member(struct weft_text *out, struct entry *entry,
                       const struct weft_npz_member *member) {
    uint8_t header[WEFT_NPY_HEADER_CAPACITY];
    const size_t size = weft_npy_header_write(header, member->descr, member->shape);
    *entry = (struct entry){.offset = (uint32_t)out->length,
                            .size = (uint32_t)(size + member->size),
                            .crc = add_crc(add_crc(0, header, size), member->data, member->size)};
    snprintf(entry->name, sizeof entry->name, "%s.npy", member->name);
    put_number(out, LOCAL_HEADER, 4);
    put_facts(out, entry);
    weft_text_put(out, entry->name, strlen(entry->name));
    weft_text_put(out, header, size);
    weft_text_put(out, member->size > 0 ? member->data : "", member->size);
}

static void put_central(struct weft_text *out, const struct entry *entry) {
    put_number(out, CENTRAL_HEADER, 4);
    put_number(out, VERSION, 2); /* made by */
    put_facts(out, entry);
    put_number(out, 0, 2); /* no comment */
    put_number(out, 0, 2); /* the first disk */
    put_number(out, 0, 2); /* no attributes, inside … */
    put_number(out, 0, 4); /* … and outside */
    put_number(out, entry->offset, 4);
    weft_text_put(out, entry->name, strlen(entry->name));
}

static void put_archive(struct weft_text *out, const struct weft_npz_member *members,
                        uint32_t count) {
    struct entry entries[MOST_MEMBERS];
    for (uint32_t i = 0; i < count; i++) {
        put_member(out, &entries[i], &members[i]);
    }
    const size_t begin = out->length;
    for (uint32_t i = 0; i < count; i++) {
        put_central(out, &entries[i]);
    }
    const size_t size = out->length - begin;
    put_number(out, END, 4);
    put_number(out, 0, 4); /* disks */
    put_number(out, count, 2);
    put_number(out, count, 2);
    put_number(out, size, 4);
    put_number(out, begin, 4);
    put_number(out, 0, 2); /* no comment */
}

weft_status weft_npz_write(const char *path, const struct weft_npz_member *members, uint32_t count,
                           const weft_host *host) {
    struct weft_text archive = {.host = host ? *host : (weft_host){0}};
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += members[i].size + 1024; /* with its headers */
    }
    if (count > MOST_MEMBERS || total > MOST_BYTES) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "%s: expected at most 4 GiB in at most %u arrays, found %llu bytes", path,
                         MOST_MEMBERS, (unsigned long long)total);
    }
    put_archive(&archive, members, count);
    const weft_status status = archive.failed
                                   ? weft_fail_memory(host, path)
                                   : weft_file_write(path, archive.data, archive.length, host);
    weft_free(&archive.host, archive.data);
    return status;
}
