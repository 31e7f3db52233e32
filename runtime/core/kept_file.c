/* SPDX-License-Identifier: MIT */
#include "core/kept_file.h"

#include <inttypes.h>
#include <string.h>

#include "core/file.h"
#include "core/system.h"
#include "core/try.h"

/* Each has a checksum: 1/2048 of the file in memory. */
#define BLOCK          ((size_t)16 << 10)
#define BLOCKS_AT_ONCE 1024 /* between two looks whether to go on: some milliseconds */

struct weft_kept_file {
    weft_host host;
    char *name;
    uint64_t size;
    const uint8_t *memory; /* in place of a descriptor */
    int descriptor;        /* or -1 */
    uint64_t *sums;        /* of the blocks; null before the file is sealed, and of memory */
};

/* ---- opening ---- */

static weft_status create(weft_kept_file **file, const char *name, const weft_host *host) {
    weft_kept_file *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        return weft_fail_memory(host, name);
    }
    created->host = host ? *host : (weft_host){0};
    created->descriptor = -1;
    created->name = weft_strdup(host, name);
    if (!created->name) {
        weft_kept_file_close(&created);
        return weft_fail_memory(host, name);
    }
    *file = created;
    return WEFT_OK;
}

weft_status weft_kept_file_open(weft_kept_file **file, const char *path, const weft_host *host) {
    weft_kept_file *created = NULL;
    WEFT_TRY(create(&created, path, host));
    weft_status status = weft_file_open(&created->descriptor, &created->size, path, host);
    if (status != WEFT_OK) {
        weft_kept_file_close(&created);
        return status;
    }
    *file = created;
    return WEFT_OK;
}

weft_status weft_kept_file_of_memory(weft_kept_file **file, const void *data, uint64_t size,
                                     const char *name, const weft_host *host) {
    WEFT_TRY(create(file, name, host));
    (*file)->memory = data;
    (*file)->size = size;
    return WEFT_OK;
}

void weft_kept_file_close(weft_kept_file **file) {
    weft_kept_file *closed = *file;
    if (!closed) {
        return;
    }
    *file = NULL;
    weft_host host = closed->host;
    if (closed->descriptor >= 0) {
        (void)weft_system_close(closed->descriptor);
    }
    weft_free(&host, closed->sums);
    weft_free(&host, closed->name);
    weft_free(&host, closed);
}

uint64_t weft_kept_file_size(const weft_kept_file *file) {
    return file->size;
}

const char *weft_kept_file_name(const weft_kept_file *file) {
    return file->name;
}

const weft_host *weft_kept_file_host(const weft_kept_file *file) {
    return &file->host;
}

/* ---- checksums ---- */

/* Each step is a bijection of the sum, and of the word: a change of one word always shows. */
static uint64_t add_word(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return sum ^ sum >> 29;
}

#define LANES 4 /* sums that a processor can make side by side */

static uint64_t sum_of(const uint8_t *bytes, size_t size) {
    uint64_t sum[LANES] = {size, 1, 2, 3};
    uint64_t words[LANES];
    for (; size >= sizeof words; bytes += sizeof words, size -= sizeof words) {
        memcpy(words, bytes, sizeof words);
        for (int lane = 0; lane < LANES; lane++) {
            sum[lane] = add_word(sum[lane], words[lane]);
        }
    }
    memset(words, 0, sizeof words);
    memcpy(words, bytes, size);
    uint64_t all = 0;
    for (int lane = 0; lane < LANES; lane++) {
        all = add_word(all, add_word(sum[lane], words[lane]));
    }
    return all;
}

/* ---- reading ---- */

static weft_status read_range(const weft_kept_file *file, uint64_t offset, uint8_t *out,
                              size_t size, const char *what) {
    for (size_t taken = 0; taken < size;) {
        size_t count = 0;
        const int error = weft_system_read_at(&count, file->descriptor, out + taken, size - taken,
                                              offset + taken);
        if (error != 0) {
            char reason[128];
            weft_system_error_text(reason, sizeof reason, error);
            return weft_fail(&file->host, WEFT_IO_ERROR, "%s: %s: cannot read: %s", file->name,
                             what, reason);
        }
        if (count == 0) {
            return weft_fail(&file->host, WEFT_BAD_FILE,
                             "%s: %s: changed since it was loaded: expected %" PRIu64
                             " bytes, found the end after %" PRIu64,
                             file->name, what, file->size, offset + taken);
        }
        taken += count;
    }
    return WEFT_OK;
}

static size_t block_size(const weft_kept_file *file, uint64_t block) {
    const uint64_t left = file->size - block * BLOCK;
    return left < BLOCK ? (size_t)left : BLOCK;
}

static weft_status read_block(const weft_kept_file *file, uint64_t block, uint8_t *out,
                              const char *what) {
    const size_t size = block_size(file, block);
    WEFT_TRY(read_range(file, block * BLOCK, out, size, what));
    return sum_of(out, size) == file->sums[block]
               ? WEFT_OK
               : weft_fail(&file->host, WEFT_BAD_FILE,
                           "%s: %s: changed since it was loaded: other bytes at %" PRIu64
                           " to %" PRIu64,
                           file->name, what, block * BLOCK, block * BLOCK + size - 1);
}

weft_status weft_kept_file_seal(weft_kept_file *file) {
    if (file->memory || file->size == 0) {
        return WEFT_OK;
    }
    const uint64_t blocks = (file->size - 1) / BLOCK + 1;
    file->sums = blocks <= SIZE_MAX
                     ? weft_alloc_zero(&file->host, (size_t)blocks, sizeof *file->sums)
                     : NULL;
    if (!file->sums) {
        return weft_fail_memory(&file->host, file->name);
    }
    uint8_t bytes[BLOCK];
    for (uint64_t block = 0; block < blocks; block++) {
        const size_t size = block_size(file, block);
        if (block % BLOCKS_AT_ONCE == 0) {
            WEFT_TRY(weft_interrupted(&file->host));
        }
        WEFT_TRY(read_range(file, block * BLOCK, bytes, size, "the file"));
        file->sums[block] = sum_of(bytes, size);
    }
    return WEFT_OK;
}

weft_status weft_kept_file_read(const weft_kept_file *file, uint64_t offset, void *out, size_t size,
                                const char *what) {
    uint8_t *target = out;
    if (file->memory && size > 0) {
        memcpy(target, file->memory + offset, size);
        return WEFT_OK;
    }
    if (!file->sums) {
        return read_range(file, offset, target, size, what);
    }
    uint8_t bytes[BLOCK];
    while (size > 0) {
        const uint64_t block = offset / BLOCK;
        const size_t skipped = (size_t)(offset % BLOCK);
        const size_t whole = block_size(file, block);
        const size_t count = whole - skipped < size ? whole - skipped : size;
        const bool direct = count == whole; /* without a copy */
        WEFT_TRY(read_block(file, block, direct ? target : bytes, what));
        if (!direct) {
            memcpy(target, bytes + skipped, count);
        }
        target += count;
        offset += count;
        size -= count;
    }
    return WEFT_OK;
}
