/* SPDX-License-Identifier: MIT */
/* .npy and .npz files, good and bad. */
#include <math.h>

#include <zip.h>

#include "core/formats/npz.h"
#include "support.h"

#define FILE_NAME "array.npy"

/* ---- making files ---- */

/* Magic, version, length, header text and `data_size` bytes, in malloc's memory. */
static uint8_t *make_array(unsigned major, const char *header, const void *data, size_t data_size,
                           size_t *size) {
    size_t length = strlen(header);
    size_t prefix = major == 1 ? 10 : 12;
    *size = prefix + length + data_size;
    uint8_t *file = calloc(1, *size);
    assert_non_null(file);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)major;
    for (size_t i = 8; i < prefix; i++) {
        file[i] = (uint8_t)(length >> (8 * (i - 8)));
    }
    memcpy(file + prefix, header, length);
    if (data && data_size > 0) {
        memcpy(file + prefix + length, data, data_size);
    }
    return file;
}

static weft_status open_made(weft_npy *npy, uint8_t **bytes, struct weft_test_host *test,
                             const char *header, const void *data, size_t data_size) {
    size_t size = 0;
    *bytes = make_array(1, header, data, data_size, &size);
    return weft_npy_open_memory(npy, *bytes, size, FILE_NAME, &test->host);
}

/* ---- good files ---- */

WEFT_TEST_ON_HOST(headers_as_numpy_writes_them_are_read, test) {
    static const struct {
        const char *header;
        size_t data_size;
        weft_npy_dtype dtype;
        const char *shape;
    } cases[] = {
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }          \n", 24,
         WEFT_NPY_I32, "[2, 3]"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }\n", 24, WEFT_NPY_I64, "[3]"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", 4, WEFT_NPY_F32, "[]"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 7), }\n", 0, WEFT_NPY_F64,
         "[0, 7]"},
        {"{\"shape\":(1,2,1,2,1,2,1,2),\"descr\":\"|u1\",\"fortran_order\":False}", 16, WEFT_NPY_U8,
         "[1, 2, 1, 2, 1, 2, 1, 2]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned major = 1; major <= 2; major++) {
            size_t size = 0;
            uint8_t *bytes = make_array(major, cases[i].header, NULL, cases[i].data_size, &size);
            weft_npy npy;
            if (weft_npy_open_memory(&npy, bytes, size, FILE_NAME, &test->host) != WEFT_OK) {
                fail_msg("%s: %s", cases[i].header, weft_test_log(test));
            }
            char text[WEFT_NPY_SHAPE_TEXT_SIZE];
            assert_string_equal(weft_npy_shape_text(&npy, text), cases[i].shape);
            assert_int_equal(npy.dtype, cases[i].dtype);
            assert_int_equal(npy.bytes, cases[i].data_size);
            assert_ptr_equal(npy.data, bytes + size - cases[i].data_size);
            weft_npy_close(&npy);
            weft_npy_close(&npy);
            free(bytes);
        }
    }
}

WEFT_TEST_ON_HOST(a_file_of_numpy_is_read, test) {
    char *tokens_path = weft_test_data("fnet/base_d24_l2_gelu_new/cases/n7_b3/tokens.npy");
    char *output_path = weft_test_data("fnet/base_d24_l2_gelu_new/cases/n7_b3/expected.npy");
    weft_npy tokens;
    weft_npy output;
    assert_ok(weft_npy_open(&tokens, tokens_path, &test->host));
    assert_ok(weft_npy_open(&output, output_path, &test->host));
    char text[WEFT_NPY_SHAPE_TEXT_SIZE];
    assert_string_equal(weft_npy_shape_text(&tokens, text), "[3, 7]");
    assert_string_equal(weft_npy_shape_text(&output, text), "[3, 7, 24]");
    int32_t ids[21];
    assert_ok(weft_npy_read_i32(&tokens, ids));
    for (size_t i = 0; i < 21; i++) {
        assert_in_range(ids[i], 0, 59);
    }
    float values[3 * 7 * 24];
    assert_ok(weft_npy_read_f32(&output, values));
    assert_memory_equal(values, output.data, sizeof values);
    weft_npy_close(&tokens);
    weft_npy_close(&output);
}

WEFT_TEST_ON_HOST(integers_are_converted_and_checked, test) {
    weft_npy npy;
    uint8_t *bytes = NULL;
    int32_t out[4];

    static const uint8_t small[4] = {0, 1, 128, 255};
    assert_ok(open_made(&npy, &bytes, test,
                        "{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}", small, 4));
    assert_ok(weft_npy_read_i32(&npy, out));
    assert_true(out[0] == 0 && out[1] == 1 && out[2] == 128 && out[3] == 255);
    weft_npy_close(&npy);
    free(bytes);

    static const uint8_t words[8] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x80};
    assert_ok(open_made(&npy, &bytes, test,
                        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}", words, 8));
    assert_ok(weft_npy_read_i32(&npy, out));
    assert_true(out[0] == -1 && out[1] == INT32_MIN);
    float floats[2];
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_npy_read_f32(&npy, floats), FILE_NAME,
                        "expected <f4 or <f8, found <i4");
    weft_npy_close(&npy);
    free(bytes);

    /* -2^31, 2^31 - 1, then 2^31 and -2^31 - 1, which do not fit */
    static const uint8_t wide[4][8] = {{0, 0, 0, 0x80, 0xff, 0xff, 0xff, 0xff},
                                       {0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0},
                                       {0, 0, 0, 0x80, 0, 0, 0, 0},
                                       {0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff}};
    static const char wide_header[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}";
    assert_ok(open_made(&npy, &bytes, test, wide_header, wide[0], 16));
    assert_ok(weft_npy_read_i32(&npy, out));
    assert_true(out[0] == INT32_MIN && out[1] == INT32_MAX);
    weft_npy_close(&npy);
    free(bytes);
    static const char *const found[2] = {"found 2147483648", "found -2147483649"};
    for (size_t i = 0; i < 2; i++) {
        uint8_t pair[16];
        memcpy(pair, wide[0], 8);
        memcpy(pair + 8, wide[2 + i], 8);
        assert_ok(open_made(&npy, &bytes, test, wide_header, pair, 16));
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_npy_read_i32(&npy, out), FILE_NAME,
                            "element 1", found[i]);
        weft_npy_close(&npy);
        free(bytes);
    }
}

WEFT_TEST_ON_HOST(floats_are_copied_and_doubles_rounded, test) {
    weft_npy npy;
    uint8_t *bytes = NULL;
    /* 1.5 and a NaN with a payload; header of an odd length, so the data is at an odd address */
    static const uint8_t singles[8] = {0, 0, 0xc0, 0x3f, 0x34, 0x12, 0xc0, 0xff};
    assert_ok(open_made(&npy, &bytes, test, "{'descr':'<f4','fortran_order':False,'shape':(2,)} ",
                        singles, 8));
    float out[2];
    assert_ok(weft_npy_read_f32(&npy, out));
    assert_memory_equal(out, singles, 8);
    int32_t integers[2];
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_npy_read_i32(&npy, integers), FILE_NAME,
                        "found <f4");
    weft_npy_close(&npy);
    free(bytes);

    static const uint8_t doubles[8] = {0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f}; /* 0.1 */
    assert_ok(open_made(&npy, &bytes, test,
                        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", doubles, 8));
    assert_ok(weft_npy_read_f32(&npy, out));
    assert_true(out[0] == 0.1f);
    weft_npy_close(&npy);
    free(bytes);
}

/* ---- bad files ---- */

static const struct {
    const char *header;
    size_t data_size;
    const char *message;
} bad_arrays[] = {
    {"{'descr': '>i4', 'fortran_order': False, 'shape': (1,)}", 4, "found >i4"},
    {"{'descr': '<i2', 'fortran_order': False, 'shape': (1,)}", 2, "descr: expected |u1"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8, "found |O"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, "expected a string"},
    {"{'descr': '<f4                                ', 'fortran_order': False, 'shape': ()}", 4,
     "found <f4 "},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", 16,
     "fortran_order: expected False, found True"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", 4, "expected True or False"},
    {"{'descr': '<f4', 'fortran_order': False}", 4, "'shape' before"},
    {"{'fortran_order': False, 'shape': (1,)}", 4, "'descr'"},
    {"{}", 0, "'descr', 'fortran_order' and 'shape' before"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, "once"},
    {"{'descr': '<f4', 'extra': 1, 'fortran_order': False, 'shape': (1,)}", 4, "'extra'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, "a non-negative integer"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}", 4, "\",\" or \")\""},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", 4, "a tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': [1]}", 4, "expected \"(\""},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", 4, "expected \"(\""},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,,)}", 4, "a non-negative integer"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4, "at most 8 axes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}", 4, "below 2^64"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 4,
     "less than 2^64 elements"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905,)}", 4,
     "expected 4611686018427387905 elements"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 23,
     "expected 6 elements of 4 bytes for shape [2, 3], found 23 bytes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 25, "found 25 bytes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 4, "found its end"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1", 4, "found its end"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape'", 4, "expected \":\", found its end"},
    {"{'descr': '<f4", 4, "a string with an end"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4, "expected padding"},
    {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", 4, "\",\" or \"}\""},
    {"", 0, "expected \"{\""},
    {"import os", 0, "expected \"{\""},
};

WEFT_TEST(bad_arrays_are_refused_with_the_reason) {
    for (size_t i = 0; i < sizeof bad_arrays / sizeof bad_arrays[0]; i++) {
        struct weft_test_host test;
        weft_test_host_begin(&test);
        weft_npy npy;
        uint8_t *bytes = NULL;
        weft_status status =
            open_made(&npy, &bytes, &test, bad_arrays[i].header, NULL, bad_arrays[i].data_size);
        if (status != WEFT_BAD_FILE) {
            fail_msg("%s: %s", bad_arrays[i].header, weft_status_name(status));
        }
        weft_test_expect_log(&test, "error: " FILE_NAME, bad_arrays[i].message);
        free(bytes);
        weft_test_host_end(&test);
    }
}

WEFT_TEST_ON_HOST(other_files_and_versions_are_refused, test) {
    weft_npy npy;
    assert_int_equal(weft_npy_open_memory(&npy, NULL, 0, FILE_NAME, &test->host), WEFT_BAD_FILE);
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_npy_open_memory(&npy, "PK\3\4 an archive", 15, FILE_NAME, &test->host),
                        FILE_NAME, "expected a .npy file");
    static const uint8_t versions[][2] = {{0, 0}, {3, 0}, {1, 1}, {2, 1}};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        size_t size = 0;
        uint8_t *bytes =
            make_array(1, "{'descr': '<f4', 'fortran_order': False, 'shape': ()}", NULL, 4, &size);
        memcpy(bytes + 6, versions[i], 2);
        weft_test_host_reset(test);
        assert_int_equal(weft_npy_open_memory(&npy, bytes, size, FILE_NAME, &test->host),
                         WEFT_BAD_FILE);
        char found[32];
        snprintf(found, sizeof found, "found %d.%d", versions[i][0], versions[i][1]);
        weft_test_expect_log(test, FILE_NAME, found);
        free(bytes);
    }
    assert_int_equal(weft_npy_open(&npy, weft_test_absent("x.npy"), &test->host), WEFT_NOT_FOUND);
}

WEFT_TEST_ON_HOST(arrays_cut_at_any_length_are_refused, test) {
    for (unsigned major = 1; major <= 2; major++) {
        size_t size = 0;
        uint8_t *bytes =
            make_array(major, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }\n", NULL,
                       16, &size);
        for (size_t cut = 0; cut < size; cut++) {
            uint8_t *exact = malloc(cut > 0 ? cut : 1);
            assert_non_null(exact);
            memcpy(exact, bytes, cut);
            weft_npy npy;
            WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                                weft_npy_open_memory(&npy, exact, cut, FILE_NAME, &test->host),
                                "error: " FILE_NAME);
            free(exact);
        }
        free(bytes);
    }
}

WEFT_TEST_ON_HOST(damaged_arrays_are_opened_or_refused, test) {
    static const uint8_t data[24] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
    size_t size = 0;
    uint8_t *bytes = make_array(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n",
                                data, sizeof data, &size);
    uint64_t opened = 0;
    uint64_t rounds = 20000;
    for (uint64_t round = 0; round < rounds; round++) {
        size_t mutated_size = 0;
        uint8_t *mutated = weft_test_mutate(bytes, size, 7, round, &mutated_size);
        weft_npy npy;
        weft_test_host_reset(test);
        weft_status status =
            weft_npy_open_memory(&npy, mutated, mutated_size, FILE_NAME, &test->host);
        if (status == WEFT_OK) {
            int32_t *out = malloc(npy.elements * sizeof *out + 1);
            float *floats = malloc(npy.elements * sizeof *floats + 1);
            (void)weft_npy_read_i32(&npy, out);
            (void)weft_npy_read_f32(&npy, floats);
            free(out);
            free(floats);
            weft_npy_close(&npy);
            opened++;
        } else {
            assert_status(status, WEFT_BAD_FILE);
            weft_test_expect_log(test, "error: " FILE_NAME);
        }
        assert_int_equal(test->live, 0);
        free(mutated);
    }
    assert_true(opened > rounds / 50 && opened < rounds / 2);
    free(bytes);
}

WEFT_TEST_ON_HOST(every_failing_allocation_is_survived, test) {
    char *path = weft_test_data("fnet/base_d24_l2_gelu_new/cases/n7_b3/tokens.npy");
    for (long k = 1; k <= 2; k++) { /* its name, its data */
        weft_npy npy;
        weft_test_host_reset(test);
        test->fail_at = k;
        assert_int_equal(weft_npy_open(&npy, path, &test->host), WEFT_OUT_OF_HOST_MEMORY);
        assert_int_equal(test->live, 0);
    }
}

/* ---- writing ---- */

WEFT_TEST_ON_HOST(written_arrays_are_read_back, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, FILE_NAME);
    static const float floats[6] = {1, -0.0f, INFINITY, 1e-45f, -3.5f, 7};
    static const int32_t integers[6] = {0, -1, INT32_MIN, INT32_MAX, 5, 6};
    static const weft_shape shapes[] = {{2, {2, 3}}, {1, {6}}, {4, {1, 2, 1, 3}}, {3, {6, 1, 1}}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        weft_npy npy;
        char expected[WEFT_SHAPE_TEXT_SIZE];
        char text[WEFT_NPY_SHAPE_TEXT_SIZE];
        float read_floats[6];
        int32_t read_integers[6];
        assert_ok(weft_npy_write_f32(path, floats, shapes[i], &test->host));
        assert_ok(weft_npy_open(&npy, path, &test->host));
        assert_int_equal(npy.dtype, WEFT_NPY_F32);
        size_t size = 0;
        free(weft_test_read(path, &size));
        assert_int_equal((size - npy.bytes) % 64, 0);
        assert_string_equal(weft_npy_shape_text(&npy, text), weft_shape_text(shapes[i], expected));
        assert_ok(weft_npy_read_f32(&npy, read_floats));
        assert_memory_equal(read_floats, floats, sizeof floats);
        weft_npy_close(&npy);
        assert_ok(weft_npy_write_i32(path, integers, shapes[i], &test->host));
        assert_ok(weft_npy_open(&npy, path, &test->host));
        assert_int_equal(npy.dtype, WEFT_NPY_I32);
        assert_ok(weft_npy_read_i32(&npy, read_integers));
        assert_memory_equal(read_integers, integers, sizeof integers);
        weft_npy_close(&npy);
    }
    assert_int_equal(weft_test_entries(folder), 1);
}

WEFT_TEST_ON_HOST(the_bytes_written_are_those_of_the_format, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, FILE_NAME);
    static const float value = 1;
    assert_ok(weft_npy_write_f32(path, &value, (weft_shape){0}, NULL));
    size_t size = 0;
    uint8_t *bytes = weft_test_read(path, &size);
    static const char expected[] =
        "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (), }"
        "                                                              \n";
    assert_int_equal(size, 132);
    assert_memory_equal(bytes, expected, 128);
    assert_memory_equal(bytes + 128, "\0\0\x80\x3f", 4);
    free(bytes);

    static const weft_shape largest = {WEFT_MAX_RANK + 1, {1, 1, 1, 1}};
    assert_int_equal(weft_npy_write_f32(path, &value, largest, NULL), WEFT_INVALID_ARGUMENT);
    for (long k = 1; k <= 2; k++) { /* the contents, the name of the file beside */
        test->fail_at = k;
        assert_int_equal(weft_npy_write_f32(path, &value, (weft_shape){0}, &test->host),
                         WEFT_OUT_OF_HOST_MEMORY);
        weft_test_host_reset(test);
    }
    assert_int_equal(weft_test_entries(folder), 1);
}

/* ---- archives ---- */

static void add_member(zip_t *archive, const char *name, const void *data, size_t size,
                       int32_t method) {
    zip_source_t *source = zip_source_buffer(archive, data, size, 0);
    assert_non_null(source);
    zip_int64_t index = zip_file_add(archive, name, source, 0);
    assert_true(index >= 0);
    assert_int_equal(zip_set_file_compression(archive, (zip_uint64_t)index, method, 0), 0);
}

static const uint8_t archive_tokens[24] = {7, 0, 0, 0, 8, 0, 0, 0, 9};

/* tokens.npy (stored), zeros.npy (1 MiB, deflated), note.txt. */
static char *make_archive(const char *folder, const char *name) {
    char *path = weft_test_path(folder, name);
    int error = 0;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_EXCL, &error);
    assert_non_null(archive);
    size_t tokens_size = 0;
    size_t zeros_size = 0;
    uint8_t *tokens = make_array(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n",
                                 archive_tokens, sizeof archive_tokens, &tokens_size);
    uint8_t *zeros = make_array(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1048576,)}",
                                NULL, 1048576, &zeros_size);
    add_member(archive, "tokens.npy", tokens, tokens_size, ZIP_CM_STORE);
    add_member(archive, "zeros.npy", zeros, zeros_size, ZIP_CM_DEFLATE);
    add_member(archive, "note.txt", "hello", 5, ZIP_CM_STORE);
    assert_int_equal(zip_close(archive), 0);
    free(tokens);
    free(zeros);
    return path;
}

WEFT_TEST_ON_HOST(archives_in_memory_are_read, test) {
    size_t size = 0;
    uint8_t *data = weft_test_read(make_archive(weft_test_folder(), "set.npz"), &size);
    weft_npz *npz = NULL;
    weft_npy tokens;
    int32_t ids[6];
    assert_ok(weft_npz_open_memory(&npz, data, size, "set", &test->host));
    assert_ok(weft_npz_get(&tokens, npz, "tokens", SIZE_MAX));
    assert_ok(weft_npy_read_i32(&tokens, ids));
    assert_true(ids[0] == 7 && ids[2] == 9);
    weft_npy_close(&tokens);
    weft_npz_close(&npz);
    assert_int_equal(weft_npz_open_memory(&npz, data, size / 2, "half", &test->host),
                     WEFT_BAD_FILE);
    free(data);
}

WEFT_TEST_ON_HOST(members_are_unpacked, test) {
    char *folder = weft_test_folder();
    char *path = make_archive(folder, "set.npz");
    weft_npz *npz = NULL;
    assert_ok(weft_npz_open(&npz, path, &test->host));
    assert_true(weft_npz_has(npz, "tokens"));
    assert_true(weft_npz_has(npz, "zeros"));
    assert_false(weft_npz_has(npz, "note"));
    assert_false(weft_npz_has(npz, "token"));
    assert_false(weft_npz_has(npz, "tokens.npy"));
    weft_npy tokens;
    weft_npy zeros;
    assert_ok(weft_npz_get(&tokens, npz, "tokens", SIZE_MAX));
    assert_ok(weft_npz_get(&zeros, npz, "zeros", 2 << 20));
    weft_npz_close(&npz);
    assert_null(npz);
    weft_npz_close(&npz);
    int32_t ids[6];
    assert_ok(weft_npy_read_i32(&tokens, ids));
    assert_true(ids[0] == 7 && ids[1] == 8 && ids[2] == 9 && ids[5] == 0);
    assert_int_equal(zeros.elements, 1048576);
    for (size_t i = 0; i < zeros.bytes; i++) {
        assert_true(zeros.data[i] == 0);
    }
    float floats[6];
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_npy_read_f32(&tokens, floats), path,
                        ":tokens.npy", "found <i4");
    weft_npy_close(&tokens);
    weft_npy_close(&zeros);
}

/* ---- ends that the host wants ---- */

struct counter {
    uint32_t asked, end_at;
};

static bool count(void *user) {
    struct counter *counter = user;
    return ++counter->asked == counter->end_at;
}

/* Whoever unpacks much is asked all the time, and nothing is left of what was unpacked. */
WEFT_TEST_ON_HOST(unpacking_ends_where_the_host_wants_it, test) {
    struct counter counter = {0};
    weft_host host = test->host;
    host.interrupted = count;
    host.interrupted_user = &counter;
    weft_npz *npz = NULL;
    weft_npy zeros = {0};
    assert_ok(weft_npz_open(&npz, make_archive(weft_test_folder(), "set.npz"), &host));
    const long before = atomic_load(&test->live);
    assert_ok(weft_npz_get(&zeros, npz, "zeros", SIZE_MAX));
    weft_npy_close(&zeros);
    const uint32_t all = counter.asked;
    assert_true(all >= 16); /* of 1 MiB */
    for (uint32_t at = 1; at <= all; at++) {
        counter = (struct counter){.end_at = at};
        WEFT_EXPECT_REFUSED(test, WEFT_CANCELLED, weft_npz_get(&zeros, npz, "zeros", SIZE_MAX),
                            "cancelled");
        assert_int_equal(counter.asked, at);
        assert_int_equal(atomic_load(&test->live), before);
    }
    weft_npz_close(&npz);
}

WEFT_TEST_ON_HOST(bombs_and_missing_members_are_refused, test) {
    char *folder = weft_test_folder();
    char *path = make_archive(folder, "set.npz");
    weft_npz *npz = NULL;
    weft_npy npy;
    assert_ok(weft_npz_open(&npz, path, &test->host));
    long before = atomic_load(&test->live);
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_npz_get(&npy, npz, "zeros", 1048575), path,
                        "zeros.npy", "expected at most 1048575 bytes of data, found 1048576");
    WEFT_EXPECT_REFUSED(test, WEFT_NOT_FOUND, weft_npz_get(&npy, npz, "labels", SIZE_MAX), path,
                        "labels.npy", "tokens.npy, zeros.npy, note.txt");
    long allocations = atomic_load(&test->allocations);
    assert_ok(weft_npz_get(&npy, npz, "tokens", SIZE_MAX));
    weft_npy_close(&npy);
    long needed = atomic_load(&test->allocations) - allocations;
    assert_true(needed >= 3);
    for (long k = 1; k <= needed; k++) {
        weft_test_host_reset(test);
        test->fail_at = k;
        assert_int_equal(weft_npz_get(&npy, npz, "tokens", SIZE_MAX), WEFT_OUT_OF_HOST_MEMORY);
    }
    assert_int_equal(test->live, before);
    weft_npz_close(&npz);
    for (long k = 1; k <= 2; k++) {
        weft_test_host_reset(test);
        test->fail_at = k;
        assert_int_equal(weft_npz_open(&npz, path, &test->host), WEFT_OUT_OF_HOST_MEMORY);
    }
}

WEFT_TEST_ON_HOST(damaged_archives_are_refused, test) {
    char *folder = weft_test_folder();
    char *path = make_archive(folder, "set.npz");
    size_t size = 0;
    uint8_t *bytes = weft_test_read(path, &size);
    weft_npz *npz = NULL;
    weft_npy npy;
    const char *absent = weft_test_absent("x.npz");
    WEFT_EXPECT_REFUSED(test, WEFT_NOT_FOUND, weft_npz_open(&npz, absent, &test->host), absent);

    /* One bit of the data of tokens.npy, which is stored as it is: the checksum tells. */
    size_t at = 0;
    while (memcmp(bytes + at, archive_tokens, sizeof archive_tokens) != 0) {
        at++;
    }
    bytes[at] ^= 1;
    char *damaged = weft_test_write(folder, "damaged.npz", bytes, size);
    bytes[at] ^= 1;
    assert_ok(weft_npz_open(&npz, damaged, &test->host));
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_npz_get(&npy, npz, "tokens", SIZE_MAX), damaged,
                        "tokens.npy", "CRC");
    weft_npz_close(&npz);

    for (size_t cut = 0; cut < size; cut += 7) {
        char *short_path = weft_test_write(folder, "short.npz", bytes, cut);
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_npz_open(&npz, short_path, &test->host),
                            short_path);
    }
    free(bytes);
}

WEFT_TEST_ON_HOST(archives_damaged_at_random_are_survived, test) {
    char *folder = weft_test_folder();
    char *path = make_archive(folder, "set.npz");
    size_t size = 0;
    uint8_t *bytes = weft_test_read(path, &size);
    unsigned good = 0;
    unsigned bad = 0;
    for (uint64_t round = 0; round < 1000; round++) {
        size_t mutated_size = 0;
        uint8_t *mutated = weft_test_mutate(bytes, size, 11, round, &mutated_size);
        char *name = weft_test_write(folder, "mutated.npz", mutated, mutated_size);
        weft_npz *npz = NULL;
        weft_npy npy;
        weft_status status = weft_npz_open(&npz, name, &test->host);
        if (status == WEFT_OK) {
            status = weft_npz_get(&npy, npz, "tokens", 1 << 20);
        }
        if (status == WEFT_OK) {
            assert_true(npy.elements == 6);
            weft_npy_close(&npy);
            good++;
        } else {
            assert_true(weft_test_log_has(test, "error: "));
            bad++;
        }
        weft_npz_close(&npz);
        weft_test_host_reset(test);
        assert_int_equal(test->live, 0);
        free(mutated);
    }
    assert_true(good > 0 && bad > 100);
    free(bytes);
}
