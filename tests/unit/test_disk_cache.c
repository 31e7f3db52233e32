/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* The cache folder: what is stored comes back, and whatever else lies there is a miss. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/system/disk_cache.h"
#include "core/system/file.h"
#include "support.h"

static weft_digest key_named(const char *name) {
    return weft_digest_of(name, strlen(name));
}

static char *path_of(const struct weft_test_place *fixture, const char *kind,
                     const weft_digest *key) {
    char hex[WEFT_DIGEST_TEXT_SIZE];
    return weft_test_text("%s/%s-%s", fixture->folder, kind, weft_digest_text(key, hex));
}

static struct weft_cache *open_at(const char *folder) {
    struct weft_cache *cache = NULL;
    assert_ok(weft_cache_create(&cache, folder, 0, NULL));
    assert_non_null(cache);
    return cache;
}

static void store(struct weft_test_place *fixture, const weft_digest *key, const void *data,
                  size_t size) {
    struct weft_cache *cache = open_at(fixture->folder);
    weft_cache_write(cache, "test", key, data, size, &fixture->host.host);
    weft_cache_destroy(&cache, NULL);
}

static weft_status look_up(uint8_t **data, size_t *size, struct weft_test_place *fixture,
                           const char *folder, const char *kind, const weft_digest *key) {
    struct weft_cache *cache = open_at(folder);
    const weft_status status = weft_cache_read(data, size, cache, kind, key, &fixture->host.host);
    weft_cache_destroy(&cache, NULL);
    return status;
}

static void assert_silence(struct weft_test_place *fixture) {
    assert_int_equal(weft_test_log_count(&fixture->host, "warning"), 0);
    assert_int_equal(weft_test_log_count(&fixture->host, "error"), 0);
}

static void assert_hit(struct weft_test_place *fixture, const weft_digest *key,
                       const void *expected, size_t expected_size) {
    uint8_t *data = NULL;
    size_t size = 0;
    assert_ok(look_up(&data, &size, fixture, fixture->folder, "test", key));
    assert_non_null(data);
    assert_int_equal(size, expected_size);
    assert_memory_equal(data, expected, expected_size);
    weft_free(&fixture->host.host, data);
}

static void assert_miss(struct weft_test_place *fixture, const weft_digest *key,
                        uint32_t warnings) {
    uint8_t *data = (uint8_t *)fixture;
    size_t size = 77;
    weft_test_host_reset(&fixture->host);
    assert_ok(look_up(&data, &size, fixture, fixture->folder, "test", key));
    assert_null(data);
    assert_int_equal(size, 0);
    assert_int_equal(weft_test_log_count(&fixture->host, "warning"), warnings);
    assert_int_equal(weft_test_log_count(&fixture->host, "error"), 0);
}

WEFT_TEST(test_default_folder) {
    static const struct {
        const char *cache, *home, *expected;
    } cases[] = {
        {"/x/cache", "/home/u", "/x/cache/weft"},
        {NULL, "/home/u", "/home/u/.cache/weft"},
        {"", "/home/u", "/home/u/.cache/weft"},
        {"relative", "/home/u", "/home/u/.cache/weft"},
        {"/x/", NULL, "/x/weft"},
        {NULL, NULL, NULL},
        {"relative", "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cases[i].cache ? setenv("XDG_CACHE_HOME", cases[i].cache, 1) : unsetenv("XDG_CACHE_HOME");
        cases[i].home ? setenv("HOME", cases[i].home, 1) : unsetenv("HOME");
        char *folder = weft_cache_default_dir(NULL);
        if (!cases[i].expected) {
            assert_null(folder);
        } else {
            assert_string_equal(folder, cases[i].expected);
        }
        weft_free(NULL, folder);
    }
}

WEFT_TEST_IN_PLACE(test_round_trip, fixture) {
    weft_digest a = key_named("a");
    weft_digest b = key_named("b");
    assert_miss(fixture, &a, 0);
    uint8_t large[100000];
    for (size_t i = 0; i < sizeof large; i++) {
        large[i] = (uint8_t)(i * 7 + i / 251);
    }
    store(fixture, &a, large, sizeof large);
    store(fixture, &b, NULL, 0);
    assert_hit(fixture, &a, large, sizeof large);
    assert_hit(fixture, &b, "", 0);
    store(fixture, &a, "new", 3);
    assert_hit(fixture, &a, "new", 3);
    uint8_t *other_kind = NULL;
    size_t size = 0;
    assert_ok(look_up(&other_kind, &size, fixture, fixture->folder, "other", &a));
    assert_null(other_kind);
    assert_silence(fixture);
}

WEFT_TEST_IN_PLACE(test_no_folder, fixture) {
    weft_digest key = key_named("a");
    uint8_t *data = (uint8_t *)fixture;
    size_t size = 1;
    weft_cache_write(NULL, "test", &key, "x", 1, &fixture->host.host);
    assert_ok(weft_cache_read(&data, &size, NULL, "test", &key, &fixture->host.host));
    assert_null(data);
    assert_silence(fixture);
}

WEFT_TEST_IN_PLACE(test_folder_on_demand, fixture) {
    weft_digest key = key_named("a");
    char *deep = weft_test_path(fixture->folder, "one/two");
    struct weft_cache *cache = open_at(deep);
    weft_cache_write(cache, "test", &key, "x", 1, &fixture->host.host);
    weft_cache_destroy(&cache, NULL);
    uint8_t *data = NULL;
    size_t size = 0;
    assert_ok(look_up(&data, &size, fixture, deep, "test", &key));
    assert_int_equal(size, 1);
    assert_silence(fixture);
    weft_free(&fixture->host.host, data);
}

WEFT_TEST_IN_PLACE(test_unwritable_folder, fixture) {
    weft_digest key = key_named("a");
    char *file = weft_test_write(fixture->folder, "file", "x", 1);
    char *below = weft_test_path(file, "cache");
    struct weft_cache *cache = open_at(below);
    for (int i = 0; i < 3; i++) {
        weft_cache_write(cache, "test", &key, "x", 1, &fixture->host.host);
    }
    weft_cache_destroy(&cache, NULL);
    assert_int_equal(weft_test_log_count(&fixture->host, "warning"), 1);
    assert_int_equal(weft_test_log_count(&fixture->host, "error"), 0);
    weft_test_expect_log(&fixture->host, "warning: ", below);
}

/* Every way to cut the file, or to change one byte of it, is a miss that the next write repairs. */
WEFT_TEST_IN_PLACE(test_damage, fixture) {
    weft_digest key = key_named("damaged");
    static const char payload[] = "the payload of this entry";
    char *path = path_of(fixture, "test", &key);
    store(fixture, &key, payload, sizeof payload);
    uint8_t *whole = NULL;
    size_t size = 0;
    assert_ok(weft_file_read(&whole, &size, 4096, path, NULL));
    for (size_t cut = 0; cut < size; cut++) {
        assert_ok(weft_file_write(path, whole, cut, NULL));
        assert_miss(fixture, &key, 1);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    for (size_t at = 0; at < size; at++) {
        whole[at] ^= 0x40;
        assert_ok(weft_file_write(path, whole, size, NULL));
        whole[at] ^= 0x40;
        assert_miss(fixture, &key, 1);
    }
    uint8_t *longer = calloc(1, size + 1);
    assert_non_null(longer);
    memcpy(longer, whole, size);
    assert_ok(weft_file_write(path, longer, size + 1, NULL));
    assert_miss(fixture, &key, 1);
    store(fixture, &key, payload, sizeof payload);
    assert_hit(fixture, &key, payload, sizeof payload);
    free(longer);
    weft_free(NULL, whole);
}

WEFT_TEST_IN_PLACE(test_foreign_entry, fixture) {
    weft_digest mine = key_named("mine");
    weft_digest other = key_named("other");
    char *path = path_of(fixture, "test", &mine);
    char *other_path = path_of(fixture, "test", &other);
    store(fixture, &other, "x", 1);
    assert_int_equal(rename(other_path, path), 0);
    assert_miss(fixture, &mine, 1);
    weft_test_expect_log(&fixture->host, "another key");
    /* A folder in the entry's place: no hit, no crash, and it stays. */
    assert_int_equal(mkdir(path, 0777), 0);
    assert_miss(fixture, &mine, 1);
    assert_int_equal(rmdir(path), 0);
    /* A FIFO would block whoever opens it. */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_miss(fixture, &mine, 1);
}

WEFT_TEST_IN_PLACE(test_out_of_memory, fixture) {
    weft_digest key = key_named("a");
    weft_host *host = &fixture->host.host;
    store(fixture, &key, "payload", 7);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    fixture->host.fail_rest = true;
    while (weft_test_next_failure(&fixture->host, status)) {
        struct weft_cache *cache = NULL;
        uint8_t *data = NULL;
        size_t size = 0;
        status = weft_cache_create(&cache, fixture->folder, 0, host);
        status = status ? status : weft_cache_read(&data, &size, cache, "test", &key, host);
        assert_int_equal(data != NULL, status == WEFT_OK);
        weft_free(host, data);
        fixture->host.allocations = 0; /* writing has as many */
        weft_cache_write(cache, "test", &key, "payload", 7, host);
        weft_cache_destroy(&cache, host);
    }
    assert_in_range(fixture->host.failures, 1, 99);
    assert_hit(fixture, &key, "payload", 7);
}

#define ROUNDS     200
#define BLOCK_SIZE 5000

struct writer {
    struct weft_cache *cache;
    uint8_t fill;
};

static void *write_many(void *user) {
    const struct writer *writer = user;
    weft_digest key = key_named("shared");
    uint8_t block[BLOCK_SIZE];
    memset(block, writer->fill, sizeof block);
    for (int i = 0; i < ROUNDS; i++) {
        weft_cache_write(writer->cache, "test", &key, block, sizeof block, NULL);
    }
    return NULL;
}

/* While two write, a reader sees one block or the other, never a mixture and never a miss. */
WEFT_TEST_IN_PLACE(test_concurrent_writers, fixture) {
    weft_digest key = key_named("shared");
    struct weft_cache *cache = open_at(fixture->folder);
    struct writer writers[2] = {{cache, 'a'}, {cache, 'b'}};
    uint8_t block[BLOCK_SIZE];
    memset(block, 'a', sizeof block);
    store(fixture, &key, block, sizeof block);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t *data = NULL;
        size_t size = 0;
        assert_ok(weft_cache_read(&data, &size, cache, "test", &key, &fixture->host.host));
        assert_non_null(data);
        assert_int_equal(size, BLOCK_SIZE);
        memset(block, data[0], sizeof block);
        assert_memory_equal(data, block, BLOCK_SIZE);
        weft_free(&fixture->host.host, data);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    weft_cache_destroy(&cache, NULL);
    assert_silence(fixture);
    /* Nothing is left of the files that were written beside. */
    assert_int_equal(weft_test_entries(fixture->folder), 1);
}
