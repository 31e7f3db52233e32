/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* Files that replace others: rights, links, what ended writers have left, limits and signals, descriptors. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* flock */
#endif
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/system/beside.h"
#include "core/system/file.h"
#include "core/system/kept_file.h"
#include "support_child.h"

static void expect_contents(const char *path, const char *expected) {
    size_t size = 0;
    uint8_t *data = weft_test_read(path, &size);
    assert_string_equal((const char *)data, expected);
    free(data);
}

static unsigned mode_of(const char *path) {
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

/* ---- rights ---- */

WEFT_TEST_ON_HOST(a_replaced_file_keeps_its_mode, test) {
    static const mode_t modes[] = {0600, 0400, 0640, 0666, 0755, 0604};
    char *folder = weft_test_folder();
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char *path = weft_test_write(folder, "file", "old", 3);
        assert_int_equal(chmod(path, modes[i]), 0);
        const mode_t mask = umask(022);
        assert_ok(weft_file_write(path, "new", 3, &test->host));
        umask(mask);
        assert_int_equal(mode_of(path), modes[i]);
        expect_contents(path, "new");
        assert_int_equal(remove(path), 0);
    }
}

/* Whoever opened it early would read what comes later. */
WEFT_TEST_ON_HOST(its_rights_are_there_before_its_bytes, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_write(folder, "file", "old", 3);
    assert_int_equal(chmod(path, 0600), 0);
    struct weft_new_file made;
    const mode_t mask = umask(0);
    assert_ok(weft_new_file_create(&made, path, &test->host));
    umask(mask);
    assert_int_equal(mode_of(made.name), 0600);
    assert_ok(weft_new_file_add(&made, "new", 3, &test->host));
    assert_ok(weft_new_file_finish(&made, &test->host));
    assert_ok(weft_new_file_place(&made, &test->host));
    weft_new_file_drop(&made, &test->host);
    assert_int_equal(mode_of(path), 0600);
    expect_contents(path, "new");
}

WEFT_TEST_ON_HOST(the_administrator_keeps_owner_and_group, test) {
    if (geteuid() != 0) {
        skip();
    }
    char *path = weft_test_write(weft_test_folder(), "file", "old", 3);
    assert_int_equal(chown(path, 4321, 8765), 0);
    assert_int_equal(chmod(path, 0640), 0);
    assert_ok(weft_file_write(path, "new", 3, &test->host));
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_uid, 4321);
    assert_int_equal(about.st_gid, 8765);
    assert_int_equal(about.st_mode & 07777, 0640);
}

/* A user that may not give the group away: what the old one's group might, another would. */
static bool replace_as_another_user(void *user) {
    struct stat about;
    WEFT_CHILD_EXPECT(chdir(user) == 0 && setgid(1234) == 0 && setuid(1234) == 0);
    WEFT_CHILD_EXPECT(weft_file_write("private", "new", 3, NULL) == WEFT_OK);
    WEFT_CHILD_EXPECT(stat("private", &about) == 0 && about.st_gid == 1234);
    WEFT_CHILD_EXPECT((about.st_mode & 07777) == 0600);
    WEFT_CHILD_EXPECT(weft_file_write("public", "new", 3, NULL) == WEFT_OK);
    WEFT_CHILD_EXPECT(stat("public", &about) == 0 && (about.st_mode & 07777) == 0644);
    return true;
}

WEFT_TEST(another_group_gets_nothing_of_the_first_ones) {
    if (geteuid() != 0) {
        skip();
    }
    char *folder = weft_test_folder();
    static const char *const names[] = {"private", "public"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = weft_test_write(folder, names[i], "old", 3);
        assert_int_equal(chown(path, 4321, 8765), 0);
        assert_int_equal(chmod(path, i == 0 ? 0640 : 0664), 0);
    }
    assert_int_equal(chmod(folder, 0777), 0);
    weft_test_in_child(replace_as_another_user, folder);
}

/* ---- links and streams ---- */

WEFT_TEST_ON_HOST(a_link_stays_a_link_also_to_nothing, test) {
    char *folder = weft_test_folder();
    char *first = weft_test_path(folder, "first");
    char *second = weft_test_path(folder, "second");
    char *target = weft_test_path(folder, "below/target");
    assert_ok(weft_make_folders(weft_test_path(folder, "below"), &test->host));
    assert_int_equal(symlink("second", first), 0);
    assert_int_equal(symlink("below/target", second), 0);
    for (int round = 0; round < 2; round++) {
        assert_ok(weft_file_write(first, round ? "two" : "one", 3, &test->host));
        expect_contents(target, round ? "two" : "one");
        struct stat about;
        assert_int_equal(lstat(first, &about), 0);
        assert_true(S_ISLNK(about.st_mode));
        assert_int_equal(lstat(second, &about), 0);
        assert_true(S_ISLNK(about.st_mode));
    }
    char *circle = weft_test_path(folder, "circle");
    assert_int_equal(symlink("circle", circle), 0);
    WEFT_EXPECT_REFUSED(test, WEFT_IO_ERROR, weft_file_write(circle, "x", 1, &test->host), circle);
}

/* What the shell has opened behind "> file" or ">> file" is written into at its place, and is not replaced. */
static bool write_to_own_output(void *user) {
    const char *path = user;
    const int file = open(path, O_WRONLY | O_APPEND);
    WEFT_CHILD_EXPECT(file >= 0 && dup2(file, STDOUT_FILENO) == STDOUT_FILENO);
    WEFT_CHILD_EXPECT(weft_file_write("/dev/stdout", "one", 3, NULL) == WEFT_OK);
    WEFT_CHILD_EXPECT(weft_file_write("/dev/fd/1", "two", 3, NULL) == WEFT_OK);
    WEFT_CHILD_EXPECT(write(STDOUT_FILENO, "three", 5) == 5);
    close(STDOUT_FILENO);
    WEFT_CHILD_EXPECT(weft_file_write("/dev/stdout", "four", 4, NULL) == WEFT_IO_ERROR);
    return true;
}

WEFT_TEST(standard_output_is_written_into) {
    char *path = weft_test_write(weft_test_folder(), "file", "before ", 7);
    weft_test_in_child(write_to_own_output, path);
    expect_contents(path, "before onetwothree");
}

static bool write_to_a_pipe_that_nobody_reads(void *user) {
    int ends[2];
    char name[64];
    (void)user;
    (void)signal(SIGPIPE, SIG_DFL);
    WEFT_CHILD_EXPECT(pipe(ends) == 0);
    close(ends[0]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    WEFT_CHILD_EXPECT(weft_file_write(name, "x", 1, NULL) == WEFT_IO_ERROR);
    sigset_t pending;
    WEFT_CHILD_EXPECT(sigpending(&pending) == 0 && !sigismember(&pending, SIGPIPE));
    WEFT_CHILD_EXPECT(pthread_sigmask(SIG_BLOCK, NULL, &pending) == 0);
    WEFT_CHILD_EXPECT(!sigismember(&pending, SIGPIPE) && !sigismember(&pending, SIGXFSZ));
    return true;
}

WEFT_TEST(a_pipe_that_nobody_reads_is_an_error) {
    weft_test_in_child(write_to_a_pipe_that_nobody_reads, NULL);
}

/* ---- the limit of files ---- */

static bool write_above_the_limit(void *user) {
    const char *path = user;
    struct rlimit limit;
    static char data[1 << 20];
    WEFT_CHILD_EXPECT(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = 5000;
    (void)signal(SIGXFSZ, SIG_DFL);
    WEFT_CHILD_EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    WEFT_CHILD_EXPECT(weft_file_write(path, data, sizeof data, NULL) == WEFT_IO_ERROR);
    WEFT_CHILD_EXPECT(weft_file_write(path, data, 5000, NULL) == WEFT_OK);
    /* One that the program waits for itself stays. */
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    WEFT_CHILD_EXPECT(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 && raise(SIGXFSZ) == 0);
    WEFT_CHILD_EXPECT(weft_file_write(path, data, sizeof data, NULL) == WEFT_IO_ERROR);
    WEFT_CHILD_EXPECT(sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ));
    return true;
}

WEFT_TEST(a_file_above_the_limit_is_an_error) {
    char *folder = weft_test_folder();
    weft_test_in_child(write_above_the_limit, weft_test_path(folder, "file"));
    assert_int_equal(weft_test_entries(folder), 1);
}

/* ---- what ended writers have left ---- */

static bool end_in_the_middle(void *user) {
    struct weft_new_file made;
    WEFT_CHILD_EXPECT(weft_new_file_create(&made, user, NULL) == WEFT_OK);
    WEFT_CHILD_EXPECT(weft_new_file_add(&made, "half", 4, NULL) == WEFT_OK);
    return true; /* and nothing is dropped */
}

WEFT_TEST_ON_HOST(what_an_ended_writer_left_goes, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "file");
    for (size_t i = 0; i < 2; i++) {
        weft_test_in_child(end_in_the_middle, path);
    }
    assert_int_equal(weft_test_entries(folder), 1); /* the second has removed what the first left */
    /* Names that are no such ones, and one of another file. */
    weft_test_write(folder, "file.tmp", "", 0);
    weft_test_write(folder, "file.1-g.tmp", "", 0);
    weft_test_write(folder, "other.1-1.tmp", "", 0);
    assert_ok(weft_file_write(path, "new", 3, &test->host));
    assert_int_equal(weft_test_entries(folder), 4);
    expect_contents(path, "new");
}

WEFT_TEST_ON_HOST(what_somebody_writes_stays, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "file");
    struct weft_new_file slow;
    assert_ok(weft_new_file_create(&slow, path, &test->host));
    assert_ok(weft_new_file_add(&slow, "slow", 4, &test->host));
    assert_ok(weft_file_write(path, "fast", 4, &test->host));
    assert_ok(weft_new_file_finish(&slow, &test->host));
    assert_ok(weft_file_write(path, "fast", 4, &test->host));
    expect_contents(path, "fast");
    assert_ok(weft_new_file_place(&slow, &test->host));
    weft_new_file_drop(&slow, &test->host);
    expect_contents(path, "slow");
    assert_int_equal(weft_test_entries(folder), 1);
}

/* ---- descriptors ---- */

static bool use_files_without_standard_ones(void *user) {
    const char *path = user;
    for (int i = 0; i < 3; i++) {
        close(i);
    }
    weft_kept_file *kept = NULL;
    struct weft_new_file made;
    FILE *stream = weft_system_stream(path);
    const bool opened = weft_kept_file_open(&kept, path, NULL) == WEFT_OK &&
                        weft_new_file_create(&made, path, NULL) == WEFT_OK;
    for (int i = 0; i < 3; i++) { /* all three are as free as before */
        if (fcntl(i, F_GETFD) != -1) {
            _exit(10 + i);
        }
    }
    if (!opened || !stream || fileno(stream) < 3 || made.file < 3) {
        _exit(20);
    }
    _exit(0);
}

WEFT_TEST(no_file_is_taken_for_a_standard_one) {
    char *path = weft_test_write(weft_test_folder(), "file", "old", 3);
    weft_test_in_child(use_files_without_standard_ones, path);
}

/* ---- one writer at a time ---- */

struct counted {
    char *lock, *number;
};

static bool count_up(void *user) {
    const struct counted *counted = user;
    for (int i = 0; i < 50; i++) {
        int lock = -1;
        size_t size = 0;
        uint8_t *text = NULL;
        WEFT_CHILD_EXPECT(weft_beside_lock(&lock, counted->lock) == 0);
        WEFT_CHILD_EXPECT(weft_file_read(&text, &size, 64, counted->number, NULL) == WEFT_OK);
        char next[32];
        const int length =
            snprintf(next, sizeof next, "%ld", strtol((const char *)text, NULL, 10) + 1);
        weft_free(NULL, text);
        FILE *file = fopen(counted->number, "w");
        WEFT_CHILD_EXPECT(file && fwrite(next, 1, (size_t)length, file) == (size_t)length);
        fclose(file);
        weft_beside_unlock(lock, counted->lock);
    }
    return true;
}

WEFT_TEST(one_writer_at_a_time_has_the_lock) {
    char *folder = weft_test_folder();
    struct counted counted = {weft_test_path(folder, "lock"),
                              weft_test_write(folder, "number", "0", 1)};
    pid_t children[3];
    for (size_t i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            _exit(count_up(&counted) ? 0 : 1);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    expect_contents(counted.number, "150");
    assert_int_equal(weft_test_entries(folder), 1); /* the lock is gone */
}

/* ---- checksums of kept files ---- */

/* The sum without a key that once was: whoever knows it can choose a second word that makes good for the first. */
static uint64_t add_word(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return sum ^ sum >> 29;
}

enum { KEPT_WORDS = 5000, LANES = 4 };

static void forge(uint64_t *words, size_t at, uint64_t wanted, uint64_t start) {
    uint64_t sum = start;
    for (size_t i = at % LANES; i < at; i += LANES) {
        sum = add_word(sum, words[i]);
    }
    words[at + LANES] ^= add_word(sum, words[at]) ^ add_word(sum, wanted);
    words[at] = wanted;
}

static void change(uint64_t *words, int way) {
    uint64_t other = words[40];
    switch (way) {
    case 0:
        forge(words, 41, 7, 1);
        break;
    case 1: /* two words change places */
        words[40] = words[44];
        words[44] = other;
        break;
    case 2: /* and so do two pairs */
        memcpy(&other, &words[0], sizeof other);
        memcpy(&words[0], &words[2], 16);
        words[2] = other;
        break;
    case 3:
        words[KEPT_WORDS - 1] ^= UINT64_C(1) << 63;
        break;
    default:
        words[0] = ~words[0];
        words[1] = ~words[1];
        break;
    }
}

WEFT_TEST_ON_HOST(changes_that_are_made_for_a_checksum_are_noticed, test) {
    uint64_t words[KEPT_WORDS], changed[KEPT_WORDS], found[KEPT_WORDS];
    char *folder = weft_test_folder();
    for (uint64_t i = 0; i < KEPT_WORDS; i++) {
        words[i] = i * UINT64_C(0x123456789abcdef1);
    }
    for (int way = 0; way < 5; way++) {
        char *path = weft_test_write(folder, "kept", words, sizeof words);
        weft_kept_file *kept = NULL;
        assert_ok(weft_kept_file_open(&kept, path, &test->host));
        assert_ok(weft_kept_file_seal(kept));
        assert_ok(weft_kept_file_read(kept, 0, found, sizeof found, "all"));
        assert_memory_equal(found, words, sizeof words);
        memcpy(changed, words, sizeof words);
        change(changed, way);
        FILE *same = fopen(path, "r+b");
        assert_non_null(same);
        assert_int_equal(fwrite(changed, 1, sizeof changed, same), sizeof changed);
        assert_int_equal(fclose(same), 0);
        weft_test_host_reset(test);
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                            weft_kept_file_read(kept, 0, found, sizeof found, "all"),
                            "changed since it was loaded");
        weft_kept_file_close(&kept);
    }
}
