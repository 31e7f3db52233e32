/* SPDX-License-Identifier: MIT */
/* The cache folder: what is stored comes back, and whatever else lies there is a miss. */
#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/disk_cache.h"
#include "core/file.h"
#include "support.h"

struct fixture {
    char folder[64];
    uint32_t errors;
    uint32_t warnings;
    char last[1024];
    weft_host host;
};

static void count_lines(void *user, weft_log_level level, const char *message) {
    struct fixture *fixture = user;
    fixture->errors += level == WEFT_LOG_ERROR;
    fixture->warnings += level == WEFT_LOG_WARNING;
    snprintf(fixture->last, sizeof fixture->last, "%s", message);
}

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    strcpy(fixture->folder, "/tmp/weft-cache-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    fixture->host = (weft_host){.log = count_lines, .log_user = fixture};
    *state = fixture;
    return 0;
}

static int remove_one(const char *path, const struct stat *information, int kind,
                      struct FTW *walk) {
    (void)information;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    assert_int_equal(nftw(fixture->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    free(fixture);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

static weft_digest key_named(const char *name) {
    return weft_digest_of(name, strlen(name));
}

static char *path_of(const struct fixture *fixture, const char *kind, const weft_digest *key) {
    char hex[WEFT_DIGEST_TEXT_SIZE];
    char *path = weft_format(NULL, "%s/%s-%s", fixture->folder, kind, weft_digest_text(key, hex));
    assert_non_null(path);
    return path;
}

static void assert_hit(struct fixture *fixture, const weft_digest *key, const void *expected,
                       size_t expected_size) {
    uint8_t *data = NULL;
    size_t size = 0;
    assert_ok(weft_cache_read(&data, &size, fixture->folder, "test", key, &fixture->host));
    assert_non_null(data);
    assert_int_equal(size, expected_size);
    assert_memory_equal(data, expected, expected_size);
    weft_free(&fixture->host, data);
}

static void assert_miss(struct fixture *fixture, const weft_digest *key, uint32_t warnings) {
    uint8_t *data = (uint8_t *)fixture;
    size_t size = 77;
    uint32_t before = fixture->warnings;
    assert_ok(weft_cache_read(&data, &size, fixture->folder, "test", key, &fixture->host));
    assert_null(data);
    assert_int_equal(size, 0);
    assert_int_equal(fixture->warnings - before, warnings);
    assert_int_equal(fixture->errors, 0);
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

TEST(test_round_trip, fixture) {
    weft_digest a = key_named("a");
    weft_digest b = key_named("b");
    assert_miss(fixture, &a, 0);
    uint8_t large[100000];
    for (size_t i = 0; i < sizeof large; i++) {
        large[i] = (uint8_t)(i * 7 + i / 251);
    }
    weft_cache_write(fixture->folder, "test", &a, large, sizeof large, &fixture->host);
    weft_cache_write(fixture->folder, "test", &b, NULL, 0, &fixture->host);
    assert_hit(fixture, &a, large, sizeof large);
    assert_hit(fixture, &b, "", 0);
    weft_cache_write(fixture->folder, "test", &a, "new", 3, &fixture->host);
    assert_hit(fixture, &a, "new", 3);
    uint8_t *other_kind = NULL;
    size_t size = 0;
    assert_ok(weft_cache_read(&other_kind, &size, fixture->folder, "other", &a, &fixture->host));
    assert_null(other_kind);
    assert_int_equal(fixture->warnings + fixture->errors, 0);
}

TEST(test_no_folder, fixture) {
    weft_digest key = key_named("a");
    uint8_t *data = (uint8_t *)fixture;
    size_t size = 1;
    weft_cache_write(NULL, "test", &key, "x", 1, &fixture->host);
    assert_ok(weft_cache_read(&data, &size, NULL, "test", &key, &fixture->host));
    assert_null(data);
    assert_int_equal(fixture->warnings + fixture->errors, 0);
}

TEST(test_folder_on_demand, fixture) {
    weft_digest key = key_named("a");
    char deep[128];
    snprintf(deep, sizeof deep, "%s/one/two", fixture->folder);
    weft_cache_write(deep, "test", &key, "x", 1, &fixture->host);
    uint8_t *data = NULL;
    size_t size = 0;
    assert_ok(weft_cache_read(&data, &size, deep, "test", &key, &fixture->host));
    assert_int_equal(size, 1);
    weft_free(&fixture->host, data);
}

TEST(test_unwritable_folder, fixture) {
    weft_digest key = key_named("a");
    char file[80];
    char below[96];
    snprintf(file, sizeof file, "%s/file", fixture->folder);
    snprintf(below, sizeof below, "%s/cache", file);
    assert_ok(weft_file_write(file, "x", 1, NULL));
    weft_cache_write(below, "test", &key, "x", 1, &fixture->host);
    assert_int_equal(fixture->warnings, 1);
    assert_int_equal(fixture->errors, 0);
    assert_non_null(strstr(fixture->last, below));
}

/* Every way to cut the file, or to change one byte of it, is a miss that the next write repairs. */
TEST(test_damage, fixture) {
    weft_digest key = key_named("damaged");
    static const char payload[] = "the payload of this entry";
    char *path = path_of(fixture, "test", &key);
    weft_cache_write(fixture->folder, "test", &key, payload, sizeof payload, &fixture->host);
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
    weft_cache_write(fixture->folder, "test", &key, payload, sizeof payload, &fixture->host);
    assert_hit(fixture, &key, payload, sizeof payload);
    free(longer);
    weft_free(NULL, whole);
    weft_free(NULL, path);
}

TEST(test_foreign_entry, fixture) {
    weft_digest mine = key_named("mine");
    weft_digest other = key_named("other");
    char *path = path_of(fixture, "test", &mine);
    char *other_path = path_of(fixture, "test", &other);
    weft_cache_write(fixture->folder, "test", &other, "x", 1, &fixture->host);
    assert_int_equal(rename(other_path, path), 0);
    assert_miss(fixture, &mine, 1);
    assert_non_null(strstr(fixture->last, "another key"));
    /* A folder in the entry's place: no hit, no crash, and it stays. */
    assert_int_equal(mkdir(path, 0777), 0);
    assert_miss(fixture, &mine, 1);
    assert_int_equal(rmdir(path), 0);
    /* A FIFO would block whoever opens it. */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_miss(fixture, &mine, 1);
    weft_free(NULL, path);
    weft_free(NULL, other_path);
}

static void *refuse(void *user, void *pointer, size_t size) {
    uint32_t *left = user;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    if (*left == 0) {
        return NULL;
    }
    (*left)--;
    return realloc(pointer, size);
}

TEST(test_out_of_memory, fixture) {
    weft_digest key = key_named("a");
    weft_cache_write(fixture->folder, "test", &key, "payload", 7, &fixture->host);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    uint32_t allowed = 0;
    for (; status != WEFT_OK; allowed++) {
        assert_in_range(allowed, 0, 100);
        uint32_t left = allowed;
        weft_host host = fixture->host;
        host.reallocate = refuse;
        host.allocator_user = &left;
        uint8_t *data = NULL;
        size_t size = 0;
        status = weft_cache_read(&data, &size, fixture->folder, "test", &key, &host);
        assert_true(status == WEFT_OK || status == WEFT_OUT_OF_HOST_MEMORY);
        assert_int_equal(data != NULL, status == WEFT_OK);
        weft_free(&host, data);
        left = allowed;
        weft_cache_write(fixture->folder, "test", &key, "payload", 7, &host);
    }
    assert_in_range(allowed, 2, 100);
    assert_hit(fixture, &key, "payload", 7);
}

#define ROUNDS     200
#define BLOCK_SIZE 5000

struct writer {
    const char *folder;
    uint8_t fill;
};

static void *write_many(void *user) {
    const struct writer *writer = user;
    weft_digest key = key_named("shared");
    uint8_t block[BLOCK_SIZE];
    memset(block, writer->fill, sizeof block);
    for (int i = 0; i < ROUNDS; i++) {
        weft_cache_write(writer->folder, "test", &key, block, sizeof block, NULL);
    }
    return NULL;
}

/* While two write, a reader sees one block or the other, never a mixture and never a miss. */
TEST(test_concurrent_writers, fixture) {
    weft_digest key = key_named("shared");
    struct writer writers[2] = {{fixture->folder, 'a'}, {fixture->folder, 'b'}};
    uint8_t block[BLOCK_SIZE];
    memset(block, 'a', sizeof block);
    weft_cache_write(fixture->folder, "test", &key, block, sizeof block, &fixture->host);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t *data = NULL;
        size_t size = 0;
        assert_ok(weft_cache_read(&data, &size, fixture->folder, "test", &key, &fixture->host));
        assert_non_null(data);
        assert_int_equal(size, BLOCK_SIZE);
        memset(block, data[0], sizeof block);
        assert_memory_equal(data, block, BLOCK_SIZE);
        weft_free(&fixture->host, data);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(fixture->warnings + fixture->errors, 0);
    /* Nothing is left of the files that were written beside. */
    DIR *folder = opendir(fixture->folder);
    assert_non_null(folder);
    int files = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        files += entry->d_name[0] != '.';
    }
    closedir(folder);
    assert_int_equal(files, 1);
}
