/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/*
 * Whom the cache folder trusts, and how large it grows: entries that somebody else could have written are misses, however
 * right their hashes, and nothing is written where others may write.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/system/disk_cache.h"
#include "core/system/disk_cache_clean.h"
#include "core/system/file.h"
#include "support.h"

#define SOMEBODY 65534u /* a user who is neither root nor runs this */
#define ANOTHER  65533u

static weft_digest key_numbered(uint32_t number) {
    return weft_digest_of(&number, sizeof number);
}

static char *path_of(const char *folder, uint32_t number) {
    char hex[WEFT_DIGEST_TEXT_SIZE];
    const weft_digest key = key_numbered(number);
    return weft_test_text("%s/test-%s", folder, weft_digest_text(&key, hex));
}

static struct weft_cache *open_with_limit(const char *folder, uint64_t limit) {
    struct weft_cache *cache = NULL;
    assert_ok(weft_cache_create(&cache, folder, limit, NULL));
    assert_non_null(cache);
    return cache;
}

static void put(struct weft_cache *cache, uint32_t number, size_t size, const weft_host *host) {
    uint8_t *data = calloc(1, size + 1);
    assert_non_null(data);
    memset(data, (int)(number & 0xff), size);
    const weft_digest key = key_numbered(number);
    weft_cache_write(cache, "test", &key, data, size, host);
    free(data);
}

/* Whether it is there; what is there must be what `put` has put. */
static bool get(struct weft_cache *cache, uint32_t number, const weft_host *host) {
    uint8_t *data = NULL;
    size_t size = 0;
    const weft_digest key = key_numbered(number);
    assert_ok(weft_cache_read(&data, &size, cache, "test", &key, host));
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(data[i], number & 0xff);
    }
    const bool found = data != NULL;
    weft_free(host, data);
    return found;
}

static mode_t mode_of(const char *path) {
    struct stat facts;
    assert_int_equal(lstat(path, &facts), 0);
    return facts.st_mode & 07777;
}

static void set_age(const char *path, long seconds) {
    struct timespec now, times[2];
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    times[0] = times[1] = (struct timespec){.tv_sec = now.tv_sec - seconds};
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* ---- trust ---- */

/* Entry 1 is in the folder. Asks for it more than once, and writes another: a hit and silence, or one warning and nothing. */
static void expect_trust(struct weft_test_place *test, const char *folder, bool trusted,
                         const char *found) {
    const weft_host *host = &test->host.host;
    struct weft_cache *cache = open_with_limit(folder, 0);
    weft_test_host_reset(&test->host);
    assert_int_equal(get(cache, 1, host), trusted);
    assert_int_equal(get(cache, 1, host), trusted);
    put(cache, 2, 10, host);
    assert_int_equal(get(cache, 2, host), trusted);
    assert_int_equal(access(path_of(folder, 2), F_OK) == 0, trusted);
    assert_int_equal(weft_test_log_count(&test->host, "warning"), trusted ? 0 : 1);
    assert_int_equal(weft_test_log_count(&test->host, "error"), 0);
    if (!trusted) {
        weft_test_expect_log(&test->host, "warning: ", folder, found);
    }
    weft_cache_destroy(&cache, NULL);
    (void)unlink(path_of(folder, 2));
}

/* The same for an entry in a folder that is trusted: others there are as good as ever, and the entry can be replaced. */
static void expect_entry_trust(struct weft_test_place *test, bool trusted, const char *found) {
    const weft_host *host = &test->host.host;
    struct weft_cache *cache = open_with_limit(test->folder, 0);
    weft_test_host_reset(&test->host);
    assert_int_equal(get(cache, 1, host), trusted);
    assert_int_equal(get(cache, 1, host), trusted);
    put(cache, 2, 10, host);
    assert_true(get(cache, 2, host));
    assert_int_equal(weft_test_log_count(&test->host, "warning"), trusted ? 0 : 1);
    assert_int_equal(weft_test_log_count(&test->host, "error"), 0);
    if (!trusted) {
        weft_test_expect_log(&test->host, "warning: ", path_of(test->folder, 1), found);
    }
    weft_cache_destroy(&cache, NULL);
}

static void put_first(struct weft_test_place *test) {
    struct weft_cache *cache = open_with_limit(test->folder, 0);
    put(cache, 1, 100, NULL);
    weft_cache_destroy(&cache, NULL);
    assert_int_equal(access(path_of(test->folder, 1), F_OK), 0);
}

/* All modes that a folder or a file may have beside its owner's rights: neither the group nor others may write. */
WEFT_TEST_IN_PLACE(modes, test) {
    static const mode_t special[] = {0, S_ISVTX};
    put_first(test);
    for (mode_t bits = 0; bits < 0100; bits++) {
        for (size_t i = 0; i < 2; i++) {
            const mode_t mode = 0700 | bits | special[i];
            char text[32];
            snprintf(text, sizeof text, "mode is %04o", (unsigned)mode);
            assert_int_equal(chmod(test->folder, mode), 0);
            expect_trust(test, test->folder, (bits & 022) == 0, text);
        }
    }
    assert_int_equal(chmod(test->folder, 0700), 0);
    for (mode_t bits = 0; bits < 0100; bits++) {
        char text[32];
        snprintf(text, sizeof text, "mode is %04o", (unsigned)(0600 | bits));
        assert_int_equal(chmod(path_of(test->folder, 1), 0600 | bits), 0);
        expect_entry_trust(test, (bits & 022) == 0, text);
    }
}

static void skip_unless_root(void) {
    if (geteuid() != 0) {
        print_message("skipped: only root can give files to another user\n");
        skip();
    }
}

/* Whoever asks: its own files and root's, nobody else's. For root that leaves root's. */
WEFT_TEST_IN_PLACE(owners, test) {
    static const uid_t askers[] = {0, SOMEBODY};
    static const uid_t owners[] = {0, SOMEBODY, ANOTHER};
    skip_unless_root();
    put_first(test);
    char *entry = path_of(test->folder, 1);
    assert_int_equal(chmod(entry, 0644), 0);
    for (size_t a = 0; a < 2; a++) {
        for (size_t o = 0; o < 3; o++) {
            const bool trusted = owners[o] == 0 || owners[o] == askers[a];
            char text[64];
            snprintf(text, sizeof text, "belongs to user %u; expected %u", (unsigned)owners[o],
                     (unsigned)askers[a]);
            /* The folder; where it is root's, another may read it and not write to it. */
            assert_int_equal(chown(test->folder, owners[o], (gid_t)-1), 0);
            assert_int_equal(chmod(test->folder, 0755), 0);
            struct weft_cache *cache = open_with_limit(test->folder, 0);
            weft_test_host_reset(&test->host);
            assert_int_equal(seteuid(askers[a]), 0);
            const bool found = get(cache, 1, &test->host.host);
            assert_int_equal(seteuid(0), 0);
            weft_cache_destroy(&cache, NULL);
            assert_int_equal(found, trusted);
            assert_int_equal(weft_test_log_count(&test->host, "warning"), trusted ? 0 : 1);
            if (!trusted) {
                weft_test_expect_log(&test->host, test->folder, text);
            }
            /* The entry, in the asker's folder. */
            assert_int_equal(chown(test->folder, askers[a], (gid_t)-1), 0);
            assert_int_equal(chown(entry, owners[o], (gid_t)-1), 0);
            assert_int_equal(seteuid(askers[a]), 0);
            expect_entry_trust(test, trusted, text);
            assert_int_equal(seteuid(0), 0);
            assert_int_equal(chown(entry, 0, (gid_t)-1), 0);
            (void)unlink(path_of(test->folder, 2));
        }
    }
}

/* What somebody made is not touched by whoever does not trust it, and not even opened for writing as root. */
WEFT_TEST_IN_PLACE(nothing_is_written_to_anothers_folder, test) {
    skip_unless_root();
    put_first(test);
    assert_int_equal(chown(test->folder, SOMEBODY, (gid_t)-1), 0);
    expect_trust(test, test->folder, false, "belongs to user 65534; expected 0");
    assert_int_equal(weft_test_entries(test->folder), 1);
}

/* ---- things that are not what they seem ---- */

static void replace_entry(struct weft_test_place *test, const char *kind) {
    char *path = path_of(test->folder, 1);
    char *aside = weft_test_path(test->folder, "aside");
    assert_int_equal(rename(path, aside), 0);
    if (strcmp(kind, "link") == 0) {
        assert_int_equal(symlink(aside, path), 0);
    } else if (strcmp(kind, "dangling link") == 0) {
        assert_int_equal(symlink("nowhere", path), 0);
    } else if (strcmp(kind, "FIFO") == 0) {
        assert_int_equal(mkfifo(path, 0600), 0);
    } else if (strcmp(kind, "folder") == 0) {
        assert_int_equal(mkdir(path, 0700), 0);
    } else {
        assert_string_equal(kind, "device");
        skip_unless_root();
        if (mknod(path, S_IFCHR | 0600, 0x0105) != 0) { /* /dev/zero */
            print_message("skipped: no device can be made here\n");
            skip();
        }
    }
}

static void check_kind(struct weft_test_place *test, const char *kind, const char *found) {
    put_first(test);
    replace_entry(test, kind);
    expect_entry_trust(test, false, found);
}

WEFT_TEST_IN_PLACE(an_entry_that_is_a_link, test) {
    check_kind(test, "link", "symbolic link");
}

WEFT_TEST_IN_PLACE(an_entry_that_is_a_dangling_link, test) {
    check_kind(test, "dangling link", "symbolic link");
    /* What is written takes the link's place, and not that of what it leads to. */
    struct weft_cache *cache = open_with_limit(test->folder, 0);
    put(cache, 1, 100, NULL);
    assert_true(get(cache, 1, NULL));
    assert_int_not_equal(access(weft_test_path(test->folder, "nowhere"), F_OK), 0);
    weft_cache_destroy(&cache, NULL);
}

WEFT_TEST_IN_PLACE(an_entry_that_is_a_fifo, test) {
    check_kind(test, "FIFO", "not a regular file");
}

WEFT_TEST_IN_PLACE(an_entry_that_is_a_folder, test) {
    check_kind(test, "folder", "not a regular file");
}

WEFT_TEST_IN_PLACE(an_entry_that_is_a_device, test) {
    check_kind(test, "device", "not a regular file");
}

/* A second name in a folder of one's own can only have been given by oneself, as programs for backups do. */
WEFT_TEST_IN_PLACE(an_entry_with_two_names, test) {
    put_first(test);
    assert_int_equal(link(path_of(test->folder, 1), weft_test_path(test->folder, "other")), 0);
    expect_entry_trust(test, true, "");
}

WEFT_TEST_IN_PLACE(a_folder_by_a_link, test) {
    char *real = weft_test_path(test->folder, "real");
    char *inner = weft_test_path(real, "inner");
    assert_ok(weft_make_private_folders(inner, NULL));
    char *link = weft_test_path(test->folder, "link");
    assert_int_equal(symlink("real", link), 0);
    struct weft_cache *cache = open_with_limit(inner, 0);
    put(cache, 1, 100, NULL);
    weft_cache_destroy(&cache, NULL);
    /* On the way to the folder, links are followed. */
    expect_trust(test, weft_test_path(link, "inner"), true, "");
    /* The folder itself may be none, however it is written. */
    char *last = weft_test_path(test->folder, "last");
    assert_int_equal(symlink("real/inner", last), 0);
    expect_trust(test, last, false, "symbolic link");
    struct weft_cache *slashed = open_with_limit(weft_test_text("%s//", last), 0);
    assert_false(get(slashed, 1, NULL));
    weft_cache_destroy(&slashed, NULL);
}

/* ---- what is made ---- */

WEFT_TEST_IN_PLACE(what_is_made_is_private, test) {
    static const mode_t masks[] = {0, 022, 077, 0277};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        char *outer = weft_test_text("%s/outer-%zu", test->folder, i);
        char *inner = weft_test_path(outer, "inner");
        char *output = weft_test_text("%s/output-%zu", test->folder, i);
        char *outputs = weft_test_text("%s/outputs-%zu", test->folder, i);
        struct weft_cache *cache = open_with_limit(inner, 0);
        if (masks[i] == 0277) { /* takes the owner's right to write: folders have to be there */
            assert_ok(weft_make_private_folders(inner, NULL));
        }
        const mode_t before = umask(masks[i]);
        put(cache, 1, 100, NULL);
        assert_ok(weft_file_write(output, "x", 1, NULL));
        assert_ok(weft_make_folders(outputs, NULL));
        umask(before);
        assert_true(get(cache, 1, NULL));
        weft_cache_destroy(&cache, NULL);
        assert_int_equal(mode_of(outer), 0700);
        assert_int_equal(mode_of(inner), 0700);
        assert_int_equal(mode_of(path_of(inner, 1)), 0600);
        /* What users ask for is as they have set it. */
        assert_int_equal(mode_of(output), 0666 & ~masks[i]);
        assert_int_equal(mode_of(outputs), 0777 & ~masks[i]);
    }
}

/* Folders and files of earlier versions, made with the usual umask, are read on. */
WEFT_TEST_IN_PLACE(an_older_cache_is_good, test) {
    put_first(test);
    assert_int_equal(chmod(test->folder, 0755), 0);
    assert_int_equal(chmod(path_of(test->folder, 1), 0644), 0);
    expect_trust(test, test->folder, true, "");
}

/* ---- the limit ---- */

#define BLOCKS(count) ((uint64_t)(count)*WEFT_CACHE_BLOCK)

static uint64_t room_taken(const char *folder, uint32_t numbers) {
    uint64_t room = 0;
    for (uint32_t i = 0; i < numbers; i++) {
        struct stat facts;
        if (stat(path_of(folder, i), &facts) == 0) {
            room += weft_cache_room((uint64_t)facts.st_size);
        }
    }
    return room;
}

WEFT_TEST(room_is_in_blocks) {
    assert_int_equal(weft_cache_room(0), 0);
    assert_int_equal(weft_cache_room(1), 4096);
    assert_int_equal(weft_cache_room(4096), 4096);
    assert_int_equal(weft_cache_room(4097), 8192);
}

/* Never more than the limit and a sixteenth, whatever is written; the newest stay. */
WEFT_TEST_IN_PLACE(a_limit_is_held, test) {
    const uint64_t limit = BLOCKS(64);
    struct weft_cache *cache = open_with_limit(test->folder, limit);
    for (uint32_t i = 0; i < 400; i++) {
        put(cache, i, 100 + (size_t)(i % 3) * 5000, &test->host.host); /* 1, 2 or 3 blocks */
        assert_true(room_taken(test->folder, i + 1) <= limit + limit / 16 + BLOCKS(3));
        assert_true(get(cache, i, &test->host.host));
    }
    assert_true(room_taken(test->folder, 400) > limit / 2);
    for (uint32_t i = 380; i < 400; i++) {
        assert_true(get(cache, i, &test->host.host));
    }
    assert_string_equal(weft_test_log(&test->host), "");
    weft_cache_destroy(&cache, NULL);
}

/* In the order of their last use: reading makes an entry young again. Nothing but entries goes. */
WEFT_TEST_IN_PLACE(the_oldest_go_first, test) {
    struct weft_cache *cache = open_with_limit(test->folder, BLOCKS(1000));
    for (uint32_t i = 0; i < 32; i++) {
        put(cache, i, 100, NULL);
        set_age(path_of(test->folder, i),
                100000 - (long)i * 10); /* a day and more: 0 is the oldest */
    }
    assert_true(get(cache, 3, NULL));
    weft_cache_destroy(&cache, NULL);
    static const char *const others[] = {"notes.txt", "test-", "test-0123", "weights.safetensors",
                                         "x-notes.1-2.tmp"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        set_age(weft_test_write(test->folder, others[i], "mine", 4), 1000000);
    }
    char *folder_like_entry = weft_test_text(
        "%s/test-%064d", test->folder, 7); /* a folder of such a name is none of the cache's */
    assert_int_equal(mkdir(folder_like_entry, 0700), 0);
    set_age(folder_like_entry, 1000000);
    /* 33 entries where 16 may be, and an eighth is to be free: 14 stay. */
    cache = open_with_limit(test->folder, BLOCKS(16));
    put(cache, 32, 100, &test->host.host);
    for (uint32_t i = 0; i <= 32; i++) {
        const bool stays = i == 3 || i >= 20; /* of 3, 20 … 32 */
        assert_int_equal(access(path_of(test->folder, i), F_OK) == 0, stays);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(access(weft_test_path(test->folder, others[i]), F_OK), 0);
    }
    assert_int_equal(access(folder_like_entry, F_OK), 0);
    assert_string_equal(weft_test_log(&test->host), "");
    weft_cache_destroy(&cache, NULL);
}

WEFT_TEST_IN_PLACE(what_is_larger_than_the_limit_is_not_kept, test) {
    struct weft_cache *cache = open_with_limit(test->folder, BLOCKS(4));
    put(cache, 1, 100, &test->host.host);
    put(cache, 2, (size_t)BLOCKS(4), &test->host.host);
    assert_true(get(cache, 1, &test->host.host));
    assert_false(get(cache, 2, &test->host.host));
    weft_test_expect_log(&test->host, "warning: ", "test", "too many to keep");
    weft_cache_destroy(&cache, NULL);
}

/* ---- what ended processes leave ---- */

static unsigned long process_that_ended(void) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return (unsigned long)child;
}

WEFT_TEST_IN_PLACE(left_over_files_go, test) {
    const unsigned long dead = process_that_ended(), alive = (unsigned long)getpid();
    const struct {
        unsigned long process;
        long age; /* s */
        bool stays;
    } cases[] = {
        {dead, 0, true}, /* perhaps of another container, which is writing it */
        {dead, 3600, false},
        {alive, 0, true},
        {alive, 3600, true},
        {alive, 2L * 24 * 3600, false}, /* another process has this number by now */
    };
    char *paths[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = weft_test_text("%s.%lx-%zx.tmp", path_of("", 1) + 1, cases[i].process, i);
        paths[i] = weft_test_write(test->folder, name, "half", 4);
        set_age(paths[i], cases[i].age);
    }
    struct weft_cache *cache = open_with_limit(test->folder, 0);
    put(cache, 1, 100, &test->host.host);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(access(paths[i], F_OK) == 0, cases[i].stays);
    }
    assert_true(get(cache, 1, &test->host.host));
    assert_string_equal(weft_test_log(&test->host), "");
    weft_cache_destroy(&cache, NULL);
}

/* A process that is killed in the middle of it leaves a file that is named as those above. */
WEFT_TEST_IN_PLACE(names_beside_are_recognised, test) {
    char *name = weft_name_beside(path_of("", 1) + 1, 5, NULL);
    char *path = weft_test_write(test->folder, name, "half", 4);
    weft_free(NULL, name);
    set_age(path, 2L * 24 * 3600);
    struct weft_cache *cache = open_with_limit(test->folder, 0);
    put(cache, 1, 100, NULL);
    assert_int_not_equal(access(path, F_OK), 0);
    weft_cache_destroy(&cache, NULL);
}

/* ---- many processes ---- */

#define KEYS 40

static void count_line(void *user, weft_log_level level, const char *message) {
    uint32_t *lines = user;
    if (level <= WEFT_LOG_WARNING) {
        fprintf(stderr, "%s\n", message);
        ++*lines;
    }
}

/* Reads, writes and, by the small limit, cleans all the time; 0 when nothing went wrong. */
static int hammer(const char *folder, uint32_t seed) {
    uint32_t lines = 0;
    const weft_host host = {.log = count_line, .log_user = &lines};
    for (uint32_t round = 0; round < 20; round++) {
        struct weft_cache *cache = open_with_limit(folder, BLOCKS(24));
        for (uint32_t i = 0; i < KEYS; i++) {
            const uint32_t number = (i * 7 + seed * 13 + round) % KEYS;
            if (!get(cache, number, &host)) {
                put(cache, number, 200 + (size_t)number * 300, &host);
            }
        }
        weft_cache_destroy(&cache, NULL);
    }
    return lines == 0 ? 0 : 1;
}

WEFT_TEST_IN_PLACE(processes_share_a_folder, test) {
    pid_t children[3];
    for (uint32_t i = 0; i < 3; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            _exit(hammer(test->folder, i + 1));
        }
    }
    const int mine = hammer(test->folder, 0);
    for (uint32_t i = 0; i < 3; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(mine, 0);
    assert_true(room_taken(test->folder, KEYS) <= BLOCKS(24) * 2);
    /* Nothing half-written is left: the entries that are there are all. */
    uint32_t entries = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        entries += access(path_of(test->folder, i), F_OK) == 0;
    }
    assert_int_equal(weft_test_entries(test->folder), entries);
}
