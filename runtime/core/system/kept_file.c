/* SPDX-License-Identifier: MIT */
#include "core/system/kept_file.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"

/* Each has a checksum: 1/1024 of the file in memory. */
#define BLOCK          ((size_t)16 << 10)
#define WORDS          (BLOCK / sizeof(uint64_t))
#define BLOCKS_AT_ONCE 1024 /* between two looks whether to go on: some milliseconds */

struct sum {
    uint64_t low, high;
};

struct weft_kept_file {
    weft_host host;
    char *name;
    uint64_t size;
    const uint8_t *memory; /* in place of a descriptor */
    int descriptor;        /* or -1 */
    struct sum *sums;      /* of the blocks; null before the file is sealed, and of memory */
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

/*
 * NH of J. Black, S. Halevi, H. Krawczyk, T. Krovetz and P. Rogaway, "UMAC: Fast and Secure Message Authentication", CRYPTO 1999,
 * section 3, with words of 64 bits and sums of 128: two blocks of one size have one sum for about 2^-64 of all keys. Nobody who
 * writes into the file knows the key, which each process draws, and neither it nor a sum is ever shown.
 */

static struct {
    atomic_bool is_drawn;
    _Atomic uint64_t words[WORDS]; /* 0: not yet */
} key;

#define AT_ONCE 32u /* words: so much weft_system_random gives */

/* Threads that come together draw at once, and the first word for each place stays: nobody waits, also not for one that a fork left. */
static void draw_key(void) {
    uint64_t drawn[AT_ONCE];
    for (size_t i = 0; i < WORDS && !atomic_load(&key.is_drawn); i++) {
        if (i % AT_ONCE == 0) {
            weft_system_random(drawn, sizeof drawn);
        }
        uint64_t none = 0;
        (void)atomic_compare_exchange_strong(&key.words[i], &none,
                                             drawn[i % AT_ONCE] + !drawn[i % AT_ONCE]);
    }
    atomic_store(&key.is_drawn, true);
}

static uint64_t key_at(size_t index) {
    return atomic_load_explicit(&key.words[index], memory_order_relaxed);
}

#ifdef __SIZEOF_INT128__
static struct sum add_product(struct sum sum, uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 wide;
    const wide total = ((wide)sum.high << 64 | sum.low) + (wide)a * b;
    return (struct sum){(uint64_t)total, (uint64_t)(total >> 64)};
}
#else
static struct sum add_product(struct sum sum, uint64_t a, uint64_t b) {
    const uint64_t half = UINT32_MAX, a1 = a >> 32, b1 = b >> 32;
    const uint64_t low = (a & half) * (b & half);
    const uint64_t middle = a1 * (b & half) + (low >> 32); /* at most 2^64 - 2^32 */
    const uint64_t other = (a & half) * b1 + (middle & half);
    const uint64_t product = other << 32 | (low & half);
    sum.low += product;
    sum.high += a1 * b1 + (middle >> 32) + (other >> 32) + (sum.low < product);
    return sum;
}
#endif

static struct sum sum_of(const uint8_t *bytes, size_t size) {
    struct sum sum = {0, 0};
    uint64_t words[2];
    size_t at = 0;
    for (; size - at * sizeof *words >= sizeof words; at += 2) {
        memcpy(words, bytes + at * sizeof *words, sizeof words);
        sum = add_product(sum, words[0] + key_at(at), words[1] + key_at(at + 1));
    }
    const size_t done = at * sizeof *words;
    if (size > done) {
        memset(words, 0, sizeof words);
        memcpy(words, bytes + done, size - done);
        sum = add_product(sum, words[0] + key_at(at), words[1] + key_at(at + 1));
    }
    return sum;
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
    const struct sum found = sum_of(out, size), sealed = file->sums[block];
    return found.low == sealed.low && found.high == sealed.high
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
    draw_key();
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
