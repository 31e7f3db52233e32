/* SPDX-License-Identifier: MIT */
#include "core/disk_cache.h"

#include <errno.h>
#include <string.h>

#include "core/bytes.h"
#include "core/file.h"
#include "core/system.h"

/*
 * An entry, integers little-endian: 8 bytes magic, 4 format version, 4 zero, 32 digest of the key,
 * 8 size of the payload, 32 SHA-256 of the payload, then the payload.
 */
#define MAGIC          "WEFTCACH"
#define FORMAT_VERSION 1u
#define KEY_AT         16u
#define SIZE_AT        48u
#define PAYLOAD_SHA_AT 56u
#define HEADER_SIZE    88u

#define MAX_PAYLOAD ((uint64_t)1 << 28)

/*
 * A cache that does not work slows things down but fails nothing, so what core/file.c reports as
 * errors is passed on as warnings.
 */
static void log_as_warning(void *user, weft_log_level level, const char *message) {
    const weft_host *host = user;
    host->log(host->log_user, level == WEFT_LOG_ERROR ? WEFT_LOG_WARNING : level, message);
}

/* `original` is the caller's copy and must live as long as the result. */
static weft_host forgiving_host(weft_host *original, const weft_host *host) {
    *original = host ? *host : (weft_host){0};
    weft_host result = *original;
    if (original->log) {
        result.log = log_as_warning;
        result.log_user = original;
    }
    return result;
}

char *weft_cache_default_dir(const weft_host *host) {
    return weft_system_cache_folder(host);
}

static char *entry_path(const char *dir, const char *kind, const weft_digest *key,
                        const weft_host *host) {
    char hex[WEFT_DIGEST_TEXT_SIZE];
    char *name = weft_format(host, "%s-%s", kind, weft_digest_text(key, hex));
    char *path = name ? weft_path_join(dir, name, host) : NULL;
    weft_free(host, name);
    return path;
}

/* Null when the bytes are a whole entry for `key`, else what is wrong with them. */
static const char *entry_fault(const uint8_t *entry, size_t size, const weft_digest *key) {
    if (size < HEADER_SIZE) {
        return "cut short";
    }
    if (memcmp(entry, MAGIC, 8) != 0) {
        return "not a cache entry";
    }
    if (weft_load_bytes(entry + 8, 4) != FORMAT_VERSION) {
        return "of another format version";
    }
    if (weft_load_bytes(entry + 12, 4) != 0) {
        return "damaged";
    }
    if (memcmp(entry + KEY_AT, key->bytes, sizeof key->bytes) != 0) {
        return "the entry of another key";
    }
    uint64_t payload_size = weft_load_bytes(entry + SIZE_AT, 8);
    if (payload_size != size - HEADER_SIZE) {
        return payload_size > size - HEADER_SIZE ? "cut short" : "longer than it says";
    }
    weft_digest payload = weft_digest_of(entry + HEADER_SIZE, size - HEADER_SIZE);
    if (memcmp(entry + PAYLOAD_SHA_AT, payload.bytes, sizeof payload.bytes) != 0) {
        return "damaged";
    }
    return NULL;
}

/* Whether there is anything to read: a plain miss is not worth a line in the log. */
static bool entry_exists(const char *path, const weft_host *host) {
    weft_file_facts facts;
    const int error = weft_system_facts(&facts, path);
    if (error != 0) {
        if (error != ENOENT && error != ENOTDIR) {
            weft_log(host, WEFT_LOG_WARNING, "%s: the cache cannot be read (error %d)", path,
                     error);
        }
        return false;
    }
    /* Checked before opening, because opening a FIFO would wait for its writer. */
    if (facts.kind != WEFT_FILE_REGULAR) {
        weft_log(host, WEFT_LOG_WARNING, "%s: not a regular file, taken as a cache miss", path);
        return false;
    }
    return true;
}

static weft_status read_entry(uint8_t **data, size_t *size, const char *path,
                              const weft_digest *key, const weft_host *host) {
    *data = NULL;
    *size = 0;
    weft_host original;
    weft_host forgiving = forgiving_host(&original, host);
    uint8_t *entry = NULL;
    size_t entry_size = 0;
    weft_status status =
        weft_file_read(&entry, &entry_size, (size_t)MAX_PAYLOAD + HEADER_SIZE, path, &forgiving);
    if (status == WEFT_OUT_OF_HOST_MEMORY) {
        return weft_fail_memory(host, path);
    }
    if (status != WEFT_OK) {
        return WEFT_OK;
    }
    const char *fault = entry_fault(entry, entry_size, key);
    if (fault) {
        weft_log(host, WEFT_LOG_WARNING, "%s: %s, taken as a cache miss", path, fault);
        weft_free(host, entry);
        (void)weft_system_remove(path); /* where that fails, the next write replaces it */
        return WEFT_OK;
    }
    memmove(entry, entry + HEADER_SIZE, entry_size - HEADER_SIZE);
    *data = entry;
    *size = entry_size - HEADER_SIZE;
    return WEFT_OK;
}

weft_status weft_cache_read(uint8_t **data, size_t *size, const char *dir, const char *kind,
                            const weft_digest *key, const weft_host *host) {
    if (!dir) {
        *data = NULL;
        *size = 0;
        return WEFT_OK;
    }
    char *path = entry_path(dir, kind, key, host);
    if (!path) {
        return weft_fail_memory(host, "name of a cache entry");
    }
    uint8_t *payload = NULL;
    size_t payload_size = 0;
    weft_status status = WEFT_OK;
    if (entry_exists(path, host)) {
        status = read_entry(&payload, &payload_size, path, key, host);
    }
    weft_free(host, path);
    if (status == WEFT_OK) {
        *data = payload;
        *size = payload_size;
    }
    return status;
}

static uint8_t *make_entry(const weft_digest *key, const void *data, size_t size,
                           const weft_host *host) {
    uint8_t *entry = weft_alloc_zero(host, HEADER_SIZE + size, 1);
    if (!entry) {
        return NULL;
    }
    weft_digest payload = weft_digest_of(data, size);
    memcpy(entry, MAGIC, 8); /* NOLINT(bugprone-not-null-terminated-result): bytes, not text */
    weft_store_bytes(entry + 8, FORMAT_VERSION, 4);
    memcpy(entry + KEY_AT, key->bytes, sizeof key->bytes);
    weft_store_bytes(entry + SIZE_AT, size, 8);
    memcpy(entry + PAYLOAD_SHA_AT, payload.bytes, sizeof payload.bytes);
    if (size > 0) {
        memcpy(entry + HEADER_SIZE, data, size);
    }
    return entry;
}

void weft_cache_write(const char *dir, const char *kind, const weft_digest *key, const void *data,
                      size_t size, const weft_host *host) {
    if (!dir) {
        return;
    }
    if (size > MAX_PAYLOAD) {
        weft_log(host, WEFT_LOG_WARNING, "cache entry %s: %zu bytes are too many to keep", kind,
                 size);
        return;
    }
    weft_host original;
    weft_host forgiving = forgiving_host(&original, host);
    char *path = entry_path(dir, kind, key, host);
    uint8_t *entry = make_entry(key, data, size, host);
    if (!path || !entry) {
        weft_log(host, WEFT_LOG_WARNING, "out of memory: cache entry %s is not kept", kind);
    } else if (weft_make_folders(dir, &forgiving) == WEFT_OK) {
        (void)weft_file_write(path, entry, HEADER_SIZE + size, &forgiving);
    }
    weft_free(host, entry);
    weft_free(host, path);
}
