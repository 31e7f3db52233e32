/* SPDX-License-Identifier: MIT */
/* What Windows has otherwise than POSIX: names, paths, what is in use, the cache's folder, waiting. */
#include <windows.h>

#include "core/system/disk_cache.h"
#include "core/system/file.h"
#include "core/system/library.h"
#include "core/system/system.h"
#include "jobs/machine.h"
#include "jobs/thread.h"
#include "support.h"

static void expect_contents(const char *path, const char *expected) {
    uint8_t *data = NULL;
    size_t size = 0;
    assert_ok(weft_file_read(&data, &size, 1000, path, NULL));
    assert_string_equal((const char *)data, expected);
    weft_free(NULL, data);
}

static bool is_there(const char *path) {
    weft_file_facts facts;
    return weft_system_facts(&facts, path) == 0;
}

static bool take_name(void *user, const char *name) {
    char **found = user;
    assert_null(*found);
    *found = weft_test_text("%s", name);
    return true;
}

WEFT_TEST(names_are_utf8) {
    static const char name[] =
        "\xCE\x95\xCE\xBB \xE6\x97\xA5 \xC3\xB6 \xF0\x9F\x98\x80"; /* no code page has all these */
    char *folder = weft_test_folder();
    char *inner = weft_test_path(folder, name);
    char *path = weft_test_path(inner, name);
    assert_ok(weft_make_folders(inner, NULL));
    assert_ok(weft_file_write(path, "text", 4, NULL));
    assert_ok(weft_file_write(path, "other", 5, NULL));
    expect_contents(path, "other");
    char *found = NULL;
    assert_int_equal(weft_system_list(inner, take_name, &found), 0);
    assert_non_null(found);
    assert_string_equal(found, name);
    int file = -1;
    uint64_t size = 0;
    assert_ok(weft_file_open(&file, &size, path, NULL));
    assert_int_equal(size, 5);
    char text[4] = "";
    size_t count = 0;
    assert_int_equal(weft_system_read_at(&count, file, text, 3, 2), 0);
    assert_int_equal(count, 3);
    assert_memory_equal(text, "her", 3);
    assert_int_equal(weft_system_read_at(&count, file, text, 3, 5), 0);
    assert_int_equal(count, 0);
    assert_int_equal(weft_system_close(file), 0);
    assert_int_equal(weft_system_remove(path), 0);
    assert_false(is_there(path));
}

WEFT_TEST_ON_HOST(a_name_that_is_no_utf8_is_refused, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "\xFF\xFE");
    assert_status(weft_file_write(path, "x", 1, &test->host), WEFT_IO_ERROR);
    assert_int_equal(weft_test_entries(folder), 0);
}

/* Longer than MAX_PATH, which is 260. */
WEFT_TEST_ON_HOST(paths_may_be_long, test) {
    char *path = weft_test_folder();
    for (int i = 0; i < 6; i++) {
        path = weft_test_text("%s/%060d", path, i);
    }
    assert_in_range(strlen(path), 300, 1000);
    assert_ok(weft_make_folders(path, NULL));
    char *file = weft_test_path(path, "file");
    assert_ok(weft_file_write(file, "far", 3, NULL));
    assert_ok(weft_file_write(file, "away", 4, &test->host));
    expect_contents(file, "away");
    assert_int_equal(weft_system_remove(file), 0);
}

static void *close_later(void *file) {
    Sleep(30);
    assert_int_equal(weft_system_close(*(const int *)file), 0);
    return NULL;
}

/* Windows replaces no open file, but who reads one is soon done. */
WEFT_TEST(a_file_that_is_read_is_replaced_when_it_is_closed) {
    char *folder = weft_test_folder();
    char *path = weft_test_write(folder, "file", "old", 3);
    int file = -1;
    pthread_t thread;
    assert_int_equal(weft_system_open(&file, path, WEFT_OPEN_READ), 0);
    assert_int_equal(pthread_create(&thread, NULL, close_later, &file), 0);
    assert_ok(weft_file_write(path, "new", 3, NULL));
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_contents(path, "new");
    assert_int_equal(weft_test_entries(folder), 1);
}

WEFT_TEST_ON_HOST(what_cannot_be_written_is_as_it_was, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_write(folder, "file", "old", 3);
    WEFT_EXPECT_REFUSED(
        test, WEFT_NOT_FOUND,
        weft_file_write(weft_test_path(folder, "missing/file"), "new", 3, &test->host),
        "missing/file", "No such file");
    assert_status(weft_file_write(weft_test_path(path, "file"), "new", 3, &test->host),
                  WEFT_NOT_FOUND);
    assert_status(weft_file_write(folder, "new", 3, &test->host), WEFT_IO_ERROR);
    /* Somebody has it open who does not share it. */
    HANDLE taken = CreateFileA(path, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    assert_true(taken != INVALID_HANDLE_VALUE);
    WEFT_EXPECT_REFUSED(test, WEFT_IO_ERROR, weft_file_write(path, "new", 3, &test->host), path,
                        "Permission denied");
    assert_true(CloseHandle(taken));
    expect_contents(path, "old");
    assert_int_equal(weft_test_entries(folder), 1);
}

WEFT_TEST_ON_HOST(missing_and_odd_files_are_refused, test) {
    char *folder = weft_test_folder();
    uint8_t *data = NULL;
    size_t size = 0;
    char *missing = weft_test_path(folder, "missing");
    WEFT_EXPECT_REFUSED(test, WEFT_NOT_FOUND,
                        weft_file_read_regular(&data, &size, 10, missing, &test->host), missing,
                        "No such file");
    assert_status(weft_file_read(&data, &size, 10, missing, &test->host), WEFT_NOT_FOUND);
    WEFT_EXPECT_REFUSED(test, WEFT_IO_ERROR,
                        weft_file_read_regular(&data, &size, 10, folder, &test->host), folder,
                        "not a regular file");
    WEFT_EXPECT_REFUSED(test, WEFT_IO_ERROR, weft_file_read(&data, &size, 10, folder, &test->host),
                        folder, "Is a directory");
    assert_ok(weft_file_write("NUL", "x", 1, &test->host));
    assert_null(data);
}

WEFT_TEST(folders_are_made_with_either_separator) {
    char *folder = weft_test_folder();
    char *deep = weft_test_text("%s\\a/b\\\\c/", folder);
    assert_ok(weft_make_folders(deep, NULL));
    assert_ok(weft_make_folders(deep, NULL));
    assert_true(is_there(weft_test_path(folder, "a/b/c")));
    assert_ok(weft_make_folders("C:\\", NULL));
    char *joined = weft_path_join("C:\\a\\", "b", NULL);
    assert_string_equal(joined, "C:\\a\\b");
    weft_free(NULL, joined);
}

WEFT_TEST(roots_are_no_folders_to_make) {
    static const struct {
        const char *path;
        size_t length;
    } cases[] = {
        {"a/b", 0},   {"/a", 1},   {"\\a", 1},           {"C:a", 2},
        {"c:\\a", 3}, {"C:/", 3},  {"//host/share", 12}, {"\\\\host\\share\\a\\b", 13},
        {"", 0},      {"1:/a", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(weft_system_root_length(cases[i].path), cases[i].length);
    }
}

WEFT_TEST(the_cache_is_in_the_users_folder) {
    static const struct {
        const char *cache, *local, *expected;
    } cases[] = {
        {"D:\\x", "C:\\Users\\u\\AppData\\Local", "D:\\x/weft"},
        {NULL, "C:\\Users\\u\\AppData\\Local", "C:\\Users\\u\\AppData\\Local/weft/cache"},
        {"relative", "C:/l", "C:/l/weft/cache"},
        {"/x", "C:/l", "C:/l/weft/cache"}, /* of whatever drive is the current one */
        {"C:x", NULL, NULL},
        {"//host/share", NULL, "//host/share/weft"},
        {NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SetEnvironmentVariableA("XDG_CACHE_HOME", cases[i].cache);
        SetEnvironmentVariableA("LOCALAPPDATA", cases[i].local);
        char *folder = weft_cache_default_dir(NULL);
        if (cases[i].expected) {
            assert_non_null(folder);
            assert_string_equal(folder, cases[i].expected);
        } else {
            assert_null(folder);
        }
        weft_free(NULL, folder);
    }
}

/* Folders and files that the cache makes are trusted by it; a junction or a link in its place would not be. */
WEFT_TEST_ON_HOST(the_cache_trusts_what_it_makes, test) {
    char *folder = weft_test_path(weft_test_folder(), "one/two");
    const weft_digest key = weft_digest_of("key", 3);
    struct weft_cache *cache = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    assert_ok(weft_cache_create(&cache, folder, 0, &test->host));
    weft_cache_write(cache, "test", &key, "payload", 7, &test->host);
    assert_ok(weft_cache_read(&data, &size, cache, "test", &key, &test->host));
    assert_string_equal(weft_test_log(test), "");
    assert_non_null(data);
    assert_int_equal(size, 7);
    assert_memory_equal(data, "payload", 7);
    weft_free(&test->host, data);
    weft_cache_destroy(&cache, &test->host);
    assert_int_equal(weft_test_entries(folder), 1);
}

/* Whoever can put a file where a program is started, or below a folder in PATH, is not to have it executed. */
WEFT_TEST(libraries_are_not_looked_for_in_the_current_folder) {
    static const char name[] = "weft-test-none.dll";
    char *folder = weft_test_folder();
    char reason[256], before[MAX_PATH], missing[64];
    weft_test_write(folder, name, "no library", 10);
    assert_true(GetCurrentDirectoryA(sizeof before, before) > 0);
    assert_true(SetCurrentDirectoryA(folder));
    void *library = weft_library_open(name, reason, sizeof reason);
    assert_true(SetCurrentDirectoryA(before));
    assert_null(library);
    /* One that is found there is ERROR_BAD_EXE_FORMAT. */
    snprintf(missing, sizeof missing, "error %d", ERROR_MOD_NOT_FOUND);
    assert_non_null(strstr(reason, missing));
    static const char *const relative[] = {"./x.dll", "x\\y.dll", "C:x.dll", "\\x.dll"};
    for (size_t i = 0; i < sizeof relative / sizeof *relative; i++) {
        assert_null(weft_library_open(relative[i], reason, sizeof reason));
        assert_non_null(strstr(reason, "neither a name nor an absolute path"));
    }
    assert_false(weft_library_is_there(name));
}

/* A wait that nobody ends lasts until its time, by a clock that nobody sets, and not for ever. */
WEFT_TEST(waits_end_at_their_time) {
    const uint64_t wanted = UINT64_C(30000000);
    pthread_mutex_t lock;
    pthread_cond_t condition;
    assert_int_equal(pthread_mutex_init(&lock, NULL), 0);
    assert_true(weft_condition_create(&condition));
    assert_int_equal(pthread_mutex_lock(&lock), 0);
    const uint64_t start = weft_clock_ns();
    weft_condition_wait(&condition, &lock, start + wanted);
    const uint64_t took = weft_clock_ns() - start;
    weft_condition_wait(&condition, &lock, start); /* long over */
    pthread_mutex_unlock(&lock);
    assert_in_range(took, wanted, UINT64_C(20000000000));
    pthread_cond_destroy(&condition);
    pthread_mutex_destroy(&lock);
}
