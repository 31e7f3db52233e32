/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* Status values, shapes, logging and allocation, SHA-256, Philox, division by a product, files. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/host.h"
#include "core/math/philox.h"
#include "core/system/file.h"
#include "lower/divisor.h"
#include "support.h"

/* ---- names and shapes ---- */

WEFT_TEST(names_are_distinct_and_never_null) {
    for (int a = 0; a < WEFT_STATUS_COUNT; a++) {
        assert_int_equal(strncmp(weft_status_name((weft_status)a), "WEFT_", 5), 0);
        for (int b = 0; b < a; b++) {
            assert_string_not_equal(weft_status_name((weft_status)a),
                                    weft_status_name((weft_status)b));
        }
    }
    assert_string_equal(weft_status_name(WEFT_DEVICE_LOST), "WEFT_DEVICE_LOST");
    assert_non_null(weft_status_name(WEFT_STATUS_COUNT));
    assert_non_null(weft_status_name((weft_status)1000));
    assert_string_equal(weft_dtype_name(WEFT_F32), "f32");
    assert_string_equal(weft_dtype_name(WEFT_I32), "i32");
    assert_non_null(weft_dtype_name((weft_dtype)1000));
}

WEFT_TEST(version_is_that_of_the_header) {
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR,
             WEFT_VERSION_PATCH);
    assert_string_equal(weft_version(), expected);
}

WEFT_TEST(shapes_count_compare_and_print) {
    weft_shape scalar = {0};
    weft_shape three = weft_shape_of(2, 512, 768);
    weft_shape largest = weft_shape_of(UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
    weft_shape zero = weft_shape_of(UINT32_MAX, UINT32_MAX, UINT32_MAX, 0);
    assert_int_equal(weft_shape_elements(scalar), 1);
    assert_int_equal(weft_shape_elements(three), 2 * 512 * 768);
    assert_true(weft_shape_elements(largest) == UINT64_MAX);
    assert_int_equal(weft_shape_elements(zero), 0);
    assert_true(weft_shape_elements(weft_shape_of(UINT32_MAX, UINT32_MAX)) ==
                (uint64_t)UINT32_MAX * UINT32_MAX);

    assert_true(weft_shape_equal(three, weft_shape_of(2, 512, 768)));
    assert_false(weft_shape_equal(three, weft_shape_of(2, 512)));
    assert_false(weft_shape_equal(three, weft_shape_of(2, 512, 767)));
    weft_shape scalar_with_leftovers = {.rank = 0, .dim = {7, 8, 9, 10}};
    assert_true(weft_shape_equal(scalar, scalar_with_leftovers));

    char text[WEFT_SHAPE_TEXT_SIZE];
    assert_string_equal(weft_shape_text(three, text), "[2, 512, 768]");
    assert_string_equal(weft_shape_text(scalar, text), "[]");
    assert_ptr_equal(weft_shape_text(largest, text), text);
    assert_string_equal(text, "[4294967295, 4294967295, 4294967295, 4294967295]");
}

/* ---- the host ---- */

WEFT_TEST(log_lines_are_single_and_clean) {
    struct weft_test_host test;
    weft_test_host_begin(&test);
    weft_log(&test.host, WEFT_LOG_WARNING, "one\ntwo\tthree\x1b[31m%s", "\x7f\xc3\xa9");
    assert_string_equal(weft_test_log(&test), "warning: one\\ntwo\\tthree\\x1b[31m\\x7f\xc3\xa9\n");
    weft_test_host_reset(&test);
    assert_int_equal(weft_fail(&test.host, WEFT_BAD_FILE, "a %d", 7), WEFT_BAD_FILE);
    assert_string_equal(weft_test_log(&test), "error: a 7\n");
    weft_test_host_reset(&test);
    assert_int_equal(weft_fail_memory(&test.host, "a thing"), WEFT_OUT_OF_HOST_MEMORY);
    weft_test_expect_log(&test, "out of memory", "a thing");
    weft_test_host_end(&test);

    weft_log(NULL, WEFT_LOG_ERROR, "nobody listens");
    weft_host silent = {0};
    assert_int_equal(weft_fail(&silent, WEFT_IO_ERROR, "nobody listens"), WEFT_IO_ERROR);
}

/* The line has at most 1023 bytes, is never cut inside a character, and says that it was cut. */
WEFT_TEST(long_log_lines_are_cut_between_characters) {
    static const struct {
        const char *character;
        size_t ascii;      /* letters before it */
        size_t characters; /* behind these */
        size_t kept;
    } cases[] = {
        {"x", 1022, 1, 1023},                /* fits exactly */
        {"x", 1022, 2, 1020},                /* with "…", 1023 */
        {"\xc3\xa9", 1021, 1, 1023},         /* fits */
        {"\xc3\xa9", 1019, 3, 1019},         /* the first would leave no room */
        {"\xe2\x96\x81", 1019, 5, 1019},     /* as would one of three */
        {"\xf0\x9f\xa7\xb6", 1015, 5, 1019}, /* one of four fits */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weft_test_host test;
        weft_test_host_begin(&test);
        char *text = calloc(1, 4096);
        assert_non_null(text);
        memset(text, 'a', cases[i].ascii);
        for (size_t n = 0; n < cases[i].characters; n++) {
            strcat(text, cases[i].character);
        }
        weft_log(&test.host, WEFT_LOG_ERROR, "%s", text);
        const char *line = weft_test_log(&test) + strlen("error: ");
        assert_memory_equal(line, text, cases[i].kept);
        assert_string_equal(line + cases[i].kept, strlen(text) > 1023 ? "…\n" : "\n");
        free(text);
        weft_test_host_end(&test);
    }
}

WEFT_TEST(allocation_goes_through_the_host) {
    struct weft_test_host test;
    weft_test_host_begin(&test);
    const weft_host *host = &test.host;
    assert_null(weft_alloc(host, 0));
    assert_int_equal(test.allocations, 0);
    uint8_t *block = weft_alloc(host, 3);
    assert_non_null(block);
    assert_int_equal(test.live, 1);
    block = weft_realloc(host, block, 300);
    assert_non_null(block);
    assert_int_equal(test.live, 1);
    assert_null(weft_realloc(host, block, 0));
    assert_int_equal(test.live, 0);
    weft_free(host, NULL);

    assert_null(weft_alloc_zero(host, SIZE_MAX / 2, 3));
    assert_null(weft_alloc_zero(host, 0, 8));
    uint64_t *zeros = weft_alloc_zero(host, 100, sizeof *zeros);
    for (size_t i = 0; i < 100; i++) {
        assert_true(zeros[i] == 0);
    }
    weft_free(host, zeros);

    assert_null(weft_strdup(host, NULL));
    char *copy = weft_strdup(host, "weft");
    assert_string_equal(copy, "weft");
    weft_free(host, copy);
    char *text = weft_format(host, "%0*d", 2000, 7); /* longer than any buffer on the way */
    assert_int_equal(strlen(text), 2000);
    assert_int_equal(text[1999], '7');
    weft_free(host, text);

    test.fail_at = atomic_load(&test.allocations) + 1;
    test.fail_rest = true;
    assert_null(weft_alloc(host, 1));
    assert_null(weft_alloc_zero(host, 1, 1));
    assert_null(weft_strdup(host, "weft"));
    assert_null(weft_format(host, "weft"));
    weft_test_host_end(&test);

    void *plain = weft_alloc(NULL, 8);
    assert_non_null(plain);
    weft_free(NULL, plain);
}

WEFT_TEST_ON_HOST(arrays_grow_and_survive_failure, test) {
    uint32_t *array = NULL;
    uint32_t capacity = 0;
    for (uint32_t count = 0; count < 1000; count++) {
        assert_true(weft_grow(&test->host, &array, count, &capacity, sizeof *array));
        assert_true(capacity > count);
        array[count] = count * count;
    }
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(array[i], i * i);
    }
    uint32_t *before = array;
    uint32_t capacity_before = capacity;
    test->fail_at = atomic_load(&test->allocations) + 1;
    assert_false(weft_grow(&test->host, &array, capacity, &capacity, sizeof *array));
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, capacity_before);
    uint32_t huge = UINT32_MAX - 1;
    assert_false(weft_grow(&test->host, &array, huge, &huge, sizeof *array));
    assert_int_equal(huge, UINT32_MAX - 1);
    weft_free(&test->host, array);
}

/* ---- SHA-256 ---- */

static const struct {
    const char *message;
    const char *digest;
} sha_vectors[] = {
    /* FIPS 180-4's examples (NIST, "Cryptographic Standards and Guidelines: Examples") */
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnop"
     "q"
     "rsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

WEFT_TEST(sha256_gives_the_published_digests) {
    char text[WEFT_DIGEST_TEXT_SIZE];
    for (size_t i = 0; i < sizeof sha_vectors / sizeof sha_vectors[0]; i++) {
        const char *message = sha_vectors[i].message;
        weft_digest digest = weft_digest_of(message, strlen(message));
        assert_string_equal(weft_digest_text(&digest, text), sha_vectors[i].digest);
    }
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    char block[1000];
    memset(block, 'a', sizeof block);
    for (int i = 0; i < 1000; i++) {
        weft_sha256_add(&hash, block, sizeof block);
    }
    weft_digest million = weft_sha256_end(&hash);
    assert_string_equal(weft_digest_text(&million, text),
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

WEFT_TEST(sha256_does_not_depend_on_the_pieces) {
    uint8_t data[200];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 37);
    }
    for (size_t size = 0; size <= sizeof data; size++) {
        weft_digest whole = weft_digest_of(data, size);
        for (size_t cut = 0; cut <= size; cut++) {
            weft_sha256 hash;
            weft_sha256_begin(&hash);
            weft_sha256_add(&hash, data, cut);
            weft_sha256_add(&hash, NULL, 0);
            weft_sha256_add(&hash, data + cut, size - cut);
            weft_digest pieces = weft_sha256_end(&hash);
            assert_memory_equal(whole.bytes, pieces.bytes, sizeof whole.bytes);
        }
    }
}

/* ---- Philox ---- */

/* philox4x32-10 in the file kat_vectors of Random123. */
WEFT_TEST(philox_gives_the_published_words) {
    static const struct {
        uint32_t counter[4];
        uint64_t key;
        uint32_t expected[4];
    } vectors[] = {
        {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         UINT64_MAX,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         UINT64_C(0x299f31d0a4093822),
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        uint32_t counter[4];
        memcpy(counter, vectors[i].counter, sizeof counter);
        weft_philox(counter, vectors[i].key);
        assert_memory_equal(counter, vectors[i].expected, sizeof counter);
    }
}

WEFT_TEST(philox_streams_are_made_of_blocks) {
    uint64_t seed = UINT64_C(0x0123456789abcdef);
    uint64_t stream = UINT64_C(0xfedcba9876543210);
    static const uint64_t blocks[] = {0, 1, 2, UINT64_C(0x100000000), UINT64_C(0x3fffffffffffffff)};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        uint32_t words[4] = {(uint32_t)blocks[i], (uint32_t)(blocks[i] >> 32), (uint32_t)stream,
                             (uint32_t)(stream >> 32)};
        weft_philox(words, seed);
        for (uint64_t lane = 0; lane < 4; lane++) {
            assert_int_equal(weft_philox_u32(seed, stream, blocks[i] * 4 + lane), words[lane]);
        }
    }
}

WEFT_TEST(philox_floats_have_known_bits) {
    float known[4];
    weft_philox_uniform(known, 4, 0, 0);
    assert_true(known[0] == ((float)0x6627e8 - 8388608.0f) / 8388608.0f);
    assert_true(known[1] == ((float)0xe169c5 - 8388608.0f) / 8388608.0f);

    static float values[100003];
    size_t count = sizeof values / sizeof values[0];
    weft_philox_uniform(values, count, 42, 7);
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        double scaled = (double)values[i] * 8388608.0;
        assert_true(values[i] >= -1.0f && values[i] < 1.0f);
        assert_true(scaled == (double)(int32_t)scaled);
        uint32_t word = weft_philox_u32(42, 7, i);
        assert_true((int32_t)scaled == (int32_t)(word >> 8) - 8388608);
        sum += (double)values[i];
        squares += (double)values[i] * (double)values[i];
    }
    /* Mean 0 and variance 1/3, within five standard errors. */
    assert_true(sum / (double)count < 0.0092 && sum / (double)count > -0.0092);
    assert_true(squares / (double)count < 0.3381 && squares / (double)count > 0.3286);
}

/* ---- division by a product ---- */

/* What weft_quotient of shaders/include/divide.glsl does. */
static uint32_t quotient(uint32_t n, struct weft_divisor divisor) {
    return (uint32_t)((uint64_t)(2 * n) * divisor.magic >> 32) >> divisor.shift;
}

static void assert_divides(uint32_t by) {
    static const uint32_t last = INT32_MAX;
    const struct weft_divisor divisor = weft_divisor_of(by);
    const uint32_t multiples[] = {1, 2, 3, last / by / 2, last / by};
    for (size_t i = 0; i < sizeof multiples / sizeof multiples[0]; i++) {
        for (uint32_t beside = 0; beside < 3; beside++) {
            const uint64_t n = (uint64_t)multiples[i] * by + beside - 1; /* of 0, 2^64 - 1 */
            if (n <= last) {
                assert_int_equal(quotient((uint32_t)n, divisor), n / by);
            }
        }
    }
    assert_int_equal(quotient(0, divisor), 0);
    assert_int_equal(quotient(last, divisor), last / by);
}

WEFT_TEST(products_divide_as_divisions_do) {
    for (uint32_t by = 1; by < 5000; by++) {
        assert_divides(by);
    }
    for (uint32_t bit = 12; bit < 31; bit++) {
        assert_divides((UINT32_C(1) << bit) - 1);
        assert_divides(UINT32_C(1) << bit);
        assert_divides((UINT32_C(1) << bit) + 1);
        assert_divides((UINT32_C(0x9e3779b9) >> (31 - bit)) | 1);
    }
    assert_divides(UINT32_C(1) << 31);
    assert_int_equal(quotient(7, weft_divisor_of(0)), 7); /* by which nothing is divided */
}

/* ---- files ---- */

WEFT_TEST_ON_HOST(files_are_read, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_write(folder, "file", "0123456789", 10);
    char *empty = weft_test_write(folder, "empty", "", 0);

    uint8_t *data = NULL;
    size_t size = 0;
    for (size_t limit = 10; limit < 12; limit++) {
        assert_ok(weft_file_read(&data, &size, limit, path, &test->host));
        assert_int_equal(size, 10);
        assert_string_equal((const char *)data, "0123456789");
        weft_free(&test->host, data);
        assert_ok(weft_file_read_regular(&data, &size, limit, path, &test->host));
        assert_int_equal(size, 10);
        assert_string_equal((const char *)data, "0123456789");
        weft_free(&test->host, data);
    }
    assert_ok(weft_file_read_regular(&data, &size, 0, empty, &test->host));
    assert_int_equal(size, 0);
    weft_free(&test->host, data);
    assert_ok(weft_file_read(&data, &size, 0, empty, &test->host));
    assert_int_equal(size, 0);
    assert_int_equal(data[0], 0);
    weft_free(&test->host, data);
    assert_ok(weft_file_read(&data, &size, SIZE_MAX, path, &test->host));
    weft_free(&test->host, data);

    assert_string_equal(weft_test_log(test), "");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_file_read(&data, &size, 9, path, &test->host),
                        path, "9 bytes");
    test->fail_at = atomic_load(&test->allocations) + 1;
    assert_int_equal(weft_file_read(&data, &size, 10, path, &test->host), WEFT_OUT_OF_HOST_MEMORY);
}

WEFT_TEST_ON_HOST(large_files_are_read_whole, test) {
    char *folder = weft_test_folder();
    size_t size = 300001;
    uint8_t *data = malloc(size);
    assert_non_null(data);
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)(i % 251);
    }
    char *path = weft_test_write(folder, "file", data, size);
    uint8_t *read = NULL;
    size_t read_size = 0;
    assert_ok(weft_file_read(&read, &read_size, size, path, &test->host));
    assert_int_equal(read_size, size);
    assert_memory_equal(read, data, size);
    weft_free(&test->host, read);
    assert_int_equal(weft_file_read(&read, &read_size, size - 1, path, &test->host), WEFT_BAD_FILE);

    /* A pipe has no size beforehand. */
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], data, 60000), 60000);
    close(ends[1]);
    char name[64];
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_ok(weft_file_read(&read, &read_size, size, name, &test->host));
    assert_int_equal(read_size, 60000);
    assert_memory_equal(read, data, 60000);
    weft_free(&test->host, read);
    close(ends[0]);

    free(data);
}

WEFT_TEST_ON_HOST(missing_and_odd_files_are_refused, test) {
    char *folder = weft_test_folder();
    char *missing = weft_test_path(folder, "missing");
    char *fifo = weft_test_path(folder, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    uint8_t *data = NULL;
    size_t size = 0;
    WEFT_EXPECT_REFUSED(test, WEFT_NOT_FOUND,
                        weft_file_read_regular(&data, &size, 10, missing, &test->host), missing,
                        "No such file");
    assert_int_equal(weft_file_read(&data, &size, 10, missing, &test->host), WEFT_NOT_FOUND);
    assert_int_equal(weft_file_read_regular(&data, &size, 10, folder, &test->host), WEFT_IO_ERROR);
    assert_int_equal(weft_file_read(&data, &size, 10, folder, &test->host), WEFT_IO_ERROR);
    /* Must not wait for somebody to write to it. */
    WEFT_EXPECT_REFUSED(test, WEFT_IO_ERROR,
                        weft_file_read_regular(&data, &size, 10, fifo, &test->host), fifo,
                        "not a regular file");
    assert_null(data);
}

static void expect_contents(const char *path, const char *expected) {
    size_t size = 0;
    uint8_t *data = weft_test_read(path, &size);
    assert_string_equal((const char *)data, expected);
    free(data);
}

WEFT_TEST_ON_HOST(files_are_replaced_whole, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "file");
    char *link = weft_test_path(folder, "link");
    mode_t mask = umask(027);
    assert_ok(weft_file_write(path, "one", 3, &test->host));
    umask(mask);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640); /* as any new file, not mkstemp's 0600 */
    expect_contents(path, "one");
    assert_ok(weft_file_write(path, "three", 5, &test->host));
    expect_contents(path, "three");
    assert_int_equal(symlink("file", link), 0);
    assert_ok(weft_file_write(link, "", 0, &test->host));
    expect_contents(path, "");
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(weft_test_entries(folder), 2); /* nothing temporary is left */
    assert_string_equal(weft_test_log(test), "");
}

WEFT_TEST_ON_HOST(failed_writes_leave_no_trace, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_write(folder, "file", "old", 3);
    char *inside = weft_test_path(folder, "missing/file");
    char *below_file = weft_test_path(folder, "file/file");
    WEFT_EXPECT_REFUSED(test, WEFT_NOT_FOUND, weft_file_write(inside, "new", 3, &test->host),
                        inside);
    assert_int_equal(weft_file_write(below_file, "new", 3, &test->host), WEFT_NOT_FOUND);
    assert_int_equal(weft_file_write(folder, "new", 3, &test->host), WEFT_IO_ERROR);
    test->fail_at = atomic_load(&test->allocations) + 1;
    assert_int_equal(weft_file_write(path, "new", 3, &test->host), WEFT_OUT_OF_HOST_MEMORY);

    /* The disk is full, as far as this process can tell. */
    uint8_t *data = calloc(1, 1 << 20);
    assert_non_null(data);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {1000, before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    weft_test_host_reset(test);
    weft_status status = weft_file_write(path, data, 1 << 20, &test->host);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_status(status, WEFT_IO_ERROR);
    weft_test_expect_log(test, path, "cannot write");
    free(data);

    expect_contents(path, "old");
    assert_int_equal(weft_test_entries(folder), 1);
}

WEFT_TEST_ON_HOST(devices_are_written_to_not_replaced, test) {
    assert_ok(weft_file_write("/dev/null", "x", 1, &test->host));
    struct stat about;
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    assert_int_equal(weft_file_write("/dev/full", "x", 1, &test->host), WEFT_IO_ERROR);
}

WEFT_TEST_ON_HOST(folders_are_made_with_their_parents, test) {
    char *folder = weft_test_folder();
    char *deep = weft_path_join(folder, "a/b//c/", &test->host);
    char *file = weft_test_write(folder, "file", "", 0);
    char *below_file = weft_path_join(file, "d", &test->host);
    for (int round = 0; round < 2; round++) {
        assert_ok(weft_make_folders(deep, &test->host));
        struct stat about;
        assert_int_equal(stat(deep, &about), 0);
        assert_true(S_ISDIR(about.st_mode));
    }
    assert_string_equal(weft_test_log(test), "");
    assert_int_not_equal(weft_make_folders(file, &test->host), WEFT_OK);
    assert_int_not_equal(weft_make_folders(below_file, &test->host), WEFT_OK);
    assert_status(weft_make_folders("", &test->host), WEFT_NOT_FOUND);
    weft_test_expect_log(test, file);
    test->fail_at = atomic_load(&test->allocations) + 1;
    assert_int_equal(weft_make_folders(deep, &test->host), WEFT_OUT_OF_HOST_MEMORY);
    weft_free(&test->host, deep);
    weft_free(&test->host, below_file);
}

WEFT_TEST(paths_are_joined_with_one_slash) {
    static const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"", "b", "b"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *path = weft_path_join(cases[i][0], cases[i][1], NULL);
        assert_string_equal(path, cases[i][2]);
        weft_free(NULL, path);
    }
}
