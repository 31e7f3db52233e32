/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* Entries that come with the library: they are found where the user's cache has none, and stay as they are. */
#include <sys/stat.h>
#include <unistd.h>

#include "core/system/disk_cache.h"
#include "core/system/library.h"
#include "core/system/system.h"
#include "support.h"

struct folders {
    struct weft_test_place *place;
    char *own, *shipped;
    weft_digest key;
};

static struct folders begin(struct weft_test_place *place) {
    struct folders folders = {.place = place,
                              .own = weft_test_path(place->folder, "own"),
                              .shipped = weft_test_path(place->folder, "shipped"),
                              .key = weft_digest_of("key", 3)};
    return folders;
}

static void store(const struct folders *folders, const char *folder, const char *text) {
    struct weft_cache *cache = NULL;
    assert_ok(weft_cache_create(&cache, folder, 0, NULL));
    weft_cache_write(cache, "test", &folders->key, text, strlen(text), &folders->place->host.host);
    weft_cache_destroy(&cache, NULL);
}

static char *entry_of(const struct folders *folders, const char *folder) {
    char hex[WEFT_DIGEST_TEXT_SIZE];
    return weft_test_text("%s/test-%s", folder, weft_digest_text(&folders->key, hex));
}

/* What is read, with the shipped folder behind the user's; null: a miss. */
static void expect(const struct folders *folders, const char *expected, uint32_t warnings) {
    const weft_host *host = &folders->place->host.host;
    struct weft_cache *cache = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    weft_test_host_reset(&folders->place->host);
    assert_ok(weft_cache_create(&cache, folders->own, 0, host));
    assert_ok(weft_cache_ship(cache, folders->shipped, host));
    assert_ok(weft_cache_read(&data, &size, cache, "test", &folders->key, host));
    weft_cache_destroy(&cache, host);
    assert_int_equal(data != NULL, expected != NULL);
    assert_int_equal(size, expected ? strlen(expected) : 0);
    if (expected) {
        assert_memory_equal(data, expected, size);
    }
    weft_free(host, data);
    assert_int_equal(weft_test_log_count(&folders->place->host, "warning"), warnings);
}

WEFT_TEST_IN_PLACE(what_is_not_in_the_users_folder_is_taken_from_the_librarys, place) {
    const struct folders folders = begin(place);
    expect(&folders, NULL, 0);
    store(&folders, folders.shipped, "shipped");
    expect(&folders, "shipped", 0);
    assert_int_equal(access(folders.own, F_OK), -1); /* reading makes nothing */
    store(&folders, folders.own, "own");
    expect(&folders, "own", 0);
}

WEFT_TEST_IN_PLACE(a_damaged_entry_is_a_miss_and_stays, place) {
    const struct folders folders = begin(place);
    store(&folders, folders.shipped, "shipped");
    FILE *file = fopen(entry_of(&folders, folders.shipped), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -1, SEEK_END), 0);
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fclose(file), 0);
    expect(&folders, NULL, 1);
    assert_int_equal(access(entry_of(&folders, folders.shipped), F_OK), 0);
}

/* It is machine code. Nobody is bothered with a warning: the kernels are compiled, as without such a folder. */
WEFT_TEST_IN_PLACE(a_folder_that_others_may_write_to_is_not_read, place) {
    const struct folders folders = begin(place);
    store(&folders, folders.shipped, "shipped");
    assert_int_equal(chmod(folders.shipped, 0777), 0);
    expect(&folders, NULL, 0);
    weft_test_expect_log(&place->host, "info", "Weft compiles its kernels itself");
    assert_int_equal(chmod(folders.shipped, 0755), 0);
    expect(&folders, "shipped", 0);
    assert_int_equal(chmod(entry_of(&folders, folders.shipped), 0666), 0);
    expect(&folders, NULL, 0);
}

/* As pip leaves them where a user's group may write to new files: so it may to the library. */
WEFT_TEST_IN_PLACE(a_folder_is_as_trusted_as_the_one_that_it_is_in, place) {
    const struct folders folders = begin(place);
    store(&folders, folders.shipped, "shipped");
    assert_int_equal(chmod(entry_of(&folders, folders.shipped), 0664), 0);
    assert_int_equal(chmod(folders.shipped, 0775), 0);
    expect(&folders, NULL, 0);
    assert_int_equal(chmod(place->folder, 0775), 0);
    expect(&folders, "shipped", 0);
    assert_int_equal(chmod(entry_of(&folders, folders.shipped), 0666), 0);
    expect(&folders, NULL, 0);
    assert_int_equal(chmod(folders.shipped, 0777), 0);
    assert_int_equal(chmod(place->folder, 01777), 0);
    expect(&folders, NULL, 0);
    assert_int_equal(chmod(place->folder, 0700), 0);
}

WEFT_TEST(it_is_beside_the_program) {
    char path[WEFT_SYSTEM_PATH_SIZE];
    assert_true(weft_library_beside(path, sizeof path, "unit-tests")); /* this program */
    assert_int_equal(access(path, X_OK), 0);
    assert_false(weft_library_beside(path, sizeof path, "nothing of that name"));
    assert_false(weft_library_beside(path, 4, "unit-tests"));
}
