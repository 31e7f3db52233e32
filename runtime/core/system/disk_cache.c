/* SPDX-License-Identifier: MIT */
#include "core/system/disk_cache.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "core/bytes.h"
#include "core/system/disk_cache_clean.h"
#include "core/system/file.h"
#include "core/system/library.h"
#include "core/try.h"

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

/* A cleaning for each sixteenth of the limit that was written. */
#define CLEANINGS 16

#define TOUCH_AFTER \
    ((int64_t)3600 * 1000000000) /* ns: entries' times of use are true to the hour */

/* Warnings that are logged once. */
#define TOLD_FOLDER 1u
#define TOLD_ENTRY  2u
#define TOLD_WRITE  4u

struct weft_cache {
    char *dir;                  /* without a separator at its end */
    struct weft_cache *shipped; /* where misses are looked up, or null */
    bool read_only;             /* it is that: what is wrong there is for whoever installed it */
    uint64_t limit;
    atomic_uint told;
    atomic_uint_least64_t written; /* bytes since the last cleaning; at first, enough for one */
};

char *weft_cache_default_dir(const weft_host *host) {
    return weft_system_cache_folder(host);
}

/* The folder stays the same when the program goes to another one. */
static weft_status make_absolute(char **path, const char *dir, const weft_host *host) {
    char *absolute = weft_alloc(host, WEFT_SYSTEM_PATH_SIZE);
    if (!absolute) {
        return weft_fail_memory(host, "cache folder's name");
    }
    const int error = weft_system_absolute(absolute, dir);
    if (error != 0) {
        char reason[128];
        weft_system_error_text(reason, sizeof reason, error);
        weft_free(host, absolute);
        return weft_fail(host, WEFT_IO_ERROR, "cache_dir %s: %s", dir, reason);
    }
    *path = absolute;
    return WEFT_OK;
}

static weft_status create_at(struct weft_cache **cache, const char *dir, uint64_t limit,
                             const weft_host *host) {
    char *path = NULL;
    WEFT_TRY(make_absolute(&path, dir, host));
    struct weft_cache *made = weft_alloc_zero(host, 1, sizeof *made);
    if (!made) {
        weft_free(host, path);
        return weft_fail_memory(host, "cache");
    }
    /* A separator at the end would have a link followed. */
    size_t length = strlen(path);
    while (length > weft_system_root_length(path) && weft_system_is_separator(path[length - 1])) {
        path[--length] = '\0';
    }
    made->dir = path;
    made->limit = limit == 0 ? WEFT_CACHE_LIMIT : limit < INT64_MAX ? limit : INT64_MAX;
    atomic_init(&made->told, 0);
    atomic_init(&made->written, made->limit);
    *cache = made;
    return WEFT_OK;
}

static weft_status create_one(struct weft_cache **cache, const char *dir, uint64_t limit,
                              const weft_host *host) {
    if (dir) {
        return dir[0] == '\0' ? WEFT_OK : create_at(cache, dir, limit, host);
    }
    char *path = weft_cache_default_dir(host);
    const weft_status status = path ? create_at(cache, path, limit, host) : WEFT_OK;
    weft_free(host, path);
    return status;
}

static weft_status create_shipped(struct weft_cache **cache, const char *dir,
                                  const weft_host *host) {
    WEFT_TRY(create_at(cache, dir, 0, host));
    (*cache)->read_only = true;
    return WEFT_OK;
}

weft_status weft_cache_create(struct weft_cache **cache, const char *dir, uint64_t limit,
                              const weft_host *host) {
    char kernels[WEFT_SYSTEM_PATH_SIZE];
    *cache = NULL;
    WEFT_TRY(create_one(cache, dir, limit, host));
    if ((dir && !*cache) || !weft_library_beside(kernels, sizeof kernels, WEFT_SHIPPED_KERNELS)) {
        return WEFT_OK;
    }
    if (!*cache) { /* a service without a home */
        return create_shipped(cache, kernels, host);
    }
    const weft_status status = weft_cache_ship(*cache, kernels, host);
    if (status != WEFT_OK) {
        weft_cache_destroy(cache, host);
    }
    return status;
}

weft_status weft_cache_ship(struct weft_cache *cache, const char *dir, const weft_host *host) {
    weft_cache_destroy(&cache->shipped, host);
    return dir ? create_shipped(&cache->shipped, dir, host) : WEFT_OK;
}

void weft_cache_destroy(struct weft_cache **cache, const weft_host *host) {
    if (*cache) {
        weft_cache_destroy(&(*cache)->shipped, host);
        weft_free(host, (*cache)->dir);
        weft_free(host, *cache);
        *cache = NULL;
    }
}

/* ---- what is told ---- */

static bool first_time(struct weft_cache *cache, unsigned what) {
    return (atomic_fetch_or(&cache->told, what) & what) == 0;
}

/*
 * A cache that does not work slows things down but fails nothing, so what core/system/file.c reports as
 * errors is passed on as warnings, once.
 */
struct forgiving {
    const weft_host *host;
    struct weft_cache *cache;
    unsigned what;
};

static void log_as_warning(void *user, weft_log_level level, const char *message) {
    const struct forgiving *forgiving = user;
    if (first_time(forgiving->cache, forgiving->what)) {
        weft_log(forgiving->host, level == WEFT_LOG_ERROR ? WEFT_LOG_WARNING : level, "%s",
                 message);
    }
}

/* `forgiving` must live as long as the result. */
static weft_host forgiving_host(struct forgiving *forgiving) {
    weft_host result = forgiving->host ? *forgiving->host : (weft_host){0};
    result.log = log_as_warning;
    result.log_user = forgiving;
    return result;
}

static void tell_error(struct weft_cache *cache, unsigned what, int error, const char *action,
                       const weft_host *host) {
    if (first_time(cache, what)) {
        char reason[128];
        weft_system_error_text(reason, sizeof reason, error);
        weft_log(host, WEFT_LOG_WARNING, "%s: %s: %s", cache->dir, action, reason);
    }
}

/* `name` may be null: the folder. */
static void tell_distrust(struct weft_cache *cache, const char *name, const char *distrust,
                          const weft_host *host) {
    if (cache->read_only && first_time(cache, TOLD_FOLDER)) {
        weft_log(host, WEFT_LOG_INFO, "%s: %s. Weft compiles its kernels itself", cache->dir,
                 distrust);
    } else if (!cache->read_only && first_time(cache, name ? TOLD_ENTRY : TOLD_FOLDER)) {
        weft_log(host, WEFT_LOG_WARNING, "%s%s%s: %s. %s", cache->dir, name ? "/" : "",
                 name ? name : "", distrust,
                 name ? "This counts as a cache miss, and others do without a message"
                      : "Weft does not use this cache folder: remove it, or set another one");
    }
}

static char *entry_name(const char *kind, const weft_digest *key, const weft_host *host) {
    char hex[WEFT_DIGEST_TEXT_SIZE];
    return weft_format(host, "%s-%s", kind, weft_digest_text(key, hex));
}

/* ---- reading ---- */

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
        return payload_size > size - HEADER_SIZE ? "cut short" : "longer than its header says";
    }
    weft_digest payload = weft_digest_of(entry + HEADER_SIZE, size - HEADER_SIZE);
    if (memcmp(entry + PAYLOAD_SHA_AT, payload.bytes, sizeof payload.bytes) != 0) {
        return "damaged";
    }
    return NULL;
}

/* An open file; false for a miss. */
static bool open_entry(int *file, struct weft_cache *cache,
                       const struct weft_private_folder *folder, const char *name,
                       const weft_host *host) {
    char distrust[WEFT_DISTRUST_SIZE] = "";
    const int error = weft_private_read(file, folder, name, distrust);
    if (error == EPERM && distrust[0] != '\0') {
        tell_distrust(cache, name, distrust, host);
    } else if (error != 0 && error != ENOENT) {
        tell_error(cache, TOLD_ENTRY, error, "an entry cannot be opened", host);
    }
    return error == 0;
}

static void note_use(int file) {
    weft_file_facts facts;
    if (weft_system_facts_of(&facts, file) == 0 &&
        weft_system_now() - facts.changed > TOUCH_AFTER) {
        (void)weft_private_touch(file); /* a folder of the administrator's has other times */
    }
}

static weft_status read_open(uint8_t **data, size_t *size, struct weft_cache *cache,
                             const struct weft_private_folder *folder, int file, const char *name,
                             const weft_digest *key, const weft_host *host) {
    struct forgiving forgiving = {.host = host, .cache = cache, .what = TOLD_ENTRY};
    const weft_host quiet = forgiving_host(&forgiving);
    uint8_t *entry = NULL;
    size_t entry_size = 0;
    const weft_status status = weft_file_read_open(
        &entry, &entry_size, (size_t)MAX_PAYLOAD + HEADER_SIZE, file, name, &quiet);
    if (status == WEFT_OUT_OF_HOST_MEMORY) {
        return weft_fail_memory(host, name);
    }
    if (status != WEFT_OK) {
        return WEFT_OK;
    }
    const char *fault = entry_fault(entry, entry_size, key);
    if (fault) {
        weft_log(host, WEFT_LOG_WARNING, "%s/%s: %s; this counts as a cache miss", cache->dir, name,
                 fault);
        weft_free(host, entry);
        if (!cache->read_only) { /* where that fails, the next write replaces it */
            (void)weft_private_remove(folder, name);
        }
        return WEFT_OK;
    }
    if (!cache->read_only) {
        note_use(file);
    }
    memmove(entry, entry + HEADER_SIZE, entry_size - HEADER_SIZE);
    *data = entry;
    *size = entry_size - HEADER_SIZE;
    return WEFT_OK;
}

/* False with *error: everything is a miss. A folder that is not there is not worth a line in the log. */
static bool open_folder(struct weft_private_folder *folder, int *error, struct weft_cache *cache,
                        const weft_host *host) {
    char distrust[WEFT_DISTRUST_SIZE] = "";
    *error = (cache->read_only ? weft_private_open_shipped : weft_private_open)(folder, cache->dir,
                                                                                distrust);
    if (*error == EPERM && distrust[0] != '\0') {
        tell_distrust(cache, NULL, distrust, host);
    } else if (*error != 0 && *error != ENOENT && *error != ENOTDIR) {
        tell_error(cache, TOLD_FOLDER, *error, "the cache folder cannot be opened", host);
    }
    return *error == 0;
}

static weft_status read_named(uint8_t **data, size_t *size, struct weft_cache *cache,
                              const char *name, const weft_digest *key, const weft_host *host) {
    struct weft_private_folder folder;
    int error = 0, file = -1;
    weft_status status = WEFT_OK;
    if (open_folder(&folder, &error, cache, host)) {
        if (open_entry(&file, cache, &folder, name, host)) {
            status = read_open(data, size, cache, &folder, file, name, key, host);
            (void)weft_system_close(file);
        }
        weft_private_close(&folder);
    }
    return status;
}

weft_status weft_cache_read(uint8_t **data, size_t *size, struct weft_cache *cache,
                            const char *kind, const weft_digest *key, const weft_host *host) {
    *data = NULL;
    *size = 0;
    if (!cache) {
        return WEFT_OK;
    }
    char *name = entry_name(kind, key, host);
    if (!name) {
        return weft_fail_memory(host, "name of a cache entry");
    }
    weft_status status = read_named(data, size, cache, name, key, host);
    if (status == WEFT_OK && !*data && cache->shipped) {
        status = read_named(data, size, cache->shipped, name, key, host);
    }
    weft_free(host, name);
    return status;
}

/* ---- writing ---- */

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

/* A new file beside the entry; its name is in host memory. 0 or a value of errno.h. */
static int create_beside(int *file, char **beside, const struct weft_private_folder *folder,
                         const char *name, const weft_host *host) {
    for (int attempt = 0; attempt < WEFT_NAME_ATTEMPTS; attempt++) {
        char *candidate = weft_name_beside(name, attempt, host);
        const int error = candidate ? weft_private_create(file, folder, candidate) : ENOMEM;
        if (error == 0) {
            *beside = candidate;
            return 0;
        }
        weft_free(host, candidate);
        if (error != EEXIST) {
            return error;
        }
    }
    return EEXIST;
}

static void write_entry(struct weft_cache *cache, const struct weft_private_folder *folder,
                        const char *name, const uint8_t *entry, size_t size,
                        const weft_host *host) {
    int file = -1;
    char *beside = NULL;
    int error = create_beside(&file, &beside, folder, name, host);
    if (error == 0) {
        error = weft_file_fill(file, entry, size);
        error = error != 0 ? error : weft_private_rename(folder, beside, name);
        if (error != 0) {
            (void)weft_private_remove(folder, beside);
        }
    }
    weft_free(host, beside);
    /* ENOENT: another process has taken the folder away, or this file for one that was left. */
    if (error != 0 && error != ENOENT) {
        tell_error(cache, TOLD_WRITE, error, "an entry cannot be written", host);
    }
}

/* Makes the folder where it is missing. */
static bool open_or_make_folder(struct weft_private_folder *folder, struct weft_cache *cache,
                                const weft_host *host) {
    int error = 0;
    if (open_folder(folder, &error, cache, host)) {
        return true;
    }
    struct forgiving forgiving = {.host = host, .cache = cache, .what = TOLD_WRITE};
    const weft_host quiet = forgiving_host(&forgiving);
    return (error == ENOENT || error == ENOTDIR) &&
           weft_make_private_folders(cache->dir, &quiet) == WEFT_OK &&
           open_folder(folder, &error, cache, host);
}

static bool cleaning_is_due(struct weft_cache *cache, uint64_t size) {
    const uint64_t room = weft_cache_room(size);
    const bool due = atomic_fetch_add(&cache->written, room) + room >= cache->limit / CLEANINGS;
    if (due) {
        atomic_store(&cache->written, 0);
    }
    return due;
}

static void write_and_clean(struct weft_cache *cache, const char *name, const uint8_t *entry,
                            size_t size, const weft_host *host) {
    struct weft_private_folder folder;
    if (open_or_make_folder(&folder, cache, host)) {
        write_entry(cache, &folder, name, entry, size, host);
        if (cleaning_is_due(cache, size)) {
            weft_cache_clean(&folder, cache->limit, host);
        }
        weft_private_close(&folder);
    }
}

void weft_cache_write(struct weft_cache *cache, const char *kind, const weft_digest *key,
                      const void *data, size_t size, const weft_host *host) {
    if (!cache || cache->read_only) {
        return;
    }
    if (size > MAX_PAYLOAD || weft_cache_room(HEADER_SIZE + size) > cache->limit) {
        weft_log(host, WEFT_LOG_WARNING, "cache entry %s: %zu bytes are too many to keep", kind,
                 size);
        return;
    }
    char *name = entry_name(kind, key, host);
    uint8_t *entry = make_entry(key, data, size, host);
    if (name && entry) {
        write_and_clean(cache, name, entry, HEADER_SIZE + size, host);
    } else {
        weft_log(host, WEFT_LOG_WARNING, "out of memory: cache entry %s is not kept", kind);
    }
    weft_free(host, entry);
    weft_free(host, name);
}
