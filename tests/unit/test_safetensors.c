/* SPDX-License-Identifier: MIT */
/* Opening safetensors files, good and bad, and the values in them. */
#include <math.h>

#include "model/files/safetensors.h"
#include "support.h"

#define FILE_NAME "model.safetensors"

/* ---- making files ---- */

/* Length, header and `data_size` bytes of data (zeros when data is null), in malloc's memory. */
static uint8_t *make_file(const char *header, const void *data, size_t data_size, size_t *size) {
    size_t header_size = strlen(header);
    *size = 8 + header_size + data_size;
    uint8_t *file = calloc(1, *size);
    assert_non_null(file);
    for (size_t i = 0; i < 8; i++) {
        file[i] = (uint8_t)((uint64_t)header_size >> (8 * i));
    }
    memcpy(file + 8, header, header_size);
    if (data && data_size > 0) {
        memcpy(file + 8 + header_size, data, data_size);
    }
    return file;
}

static weft_status open_made(weft_safetensors **file, struct weft_test_host *test,
                             const char *header, size_t data_size) {
    size_t size = 0;
    uint8_t *bytes = make_file(header, NULL, data_size, &size);
    weft_status status = weft_safetensors_open_memory(file, bytes, size, FILE_NAME, &test->host);
    if (status == WEFT_OK) {
        weft_safetensors_close(file); /* before the bytes go */
    }
    free(bytes);
    return status;
}

/* Two tensors, one of 2 x 3 floats, one of 4 half floats. */
static const char small_header[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                                   "\"b.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],"
                                   "\"data_offsets\":[0,24]},"
                                   "\"a.bias\":{\"dtype\":\"F16\",\"shape\":[4],"
                                   "\"data_offsets\":[24,32]}}";
static const uint8_t small_data[32] = {
    0, 0,  128, 63, 0, 0, 0,   64,  0, 0, 64,  64,
    0, 0,  128, 64, 0, 0, 160, 64,  0, 0, 192, 192, /* f32 */
    0, 60, 0,   64, 1, 0, 0,   188,                 /* 1, 2, 2^-24, -1 as f16 */
};

/* ---- good files ---- */

WEFT_TEST_ON_HOST(tensors_are_found_with_shape_type_and_values, test) {
    size_t size = 0;
    uint8_t *bytes = make_file(small_header, small_data, sizeof small_data, &size);
    char *folder = weft_test_folder();
    char *path = weft_test_write(folder, FILE_NAME, bytes, size);
    weft_safetensors *file = NULL;
    assert_ok(weft_safetensors_open(&file, path, &test->host));
    assert_string_equal(weft_safetensors_path(file), path);
    assert_int_equal(weft_safetensors_count(file), 2);
    assert_string_equal(weft_safetensors_at(file, 0)->name, "a.bias");
    assert_string_equal(weft_safetensors_at(file, 1)->name, "b.weight");
    assert_null(weft_safetensors_at(file, 2));
    assert_null(weft_safetensors_find(file, "b"));
    assert_null(weft_safetensors_find(file, "__metadata__"));

    const weft_safetensors_tensor *weight = weft_safetensors_find(file, "b.weight");
    assert_ptr_equal(weight, weft_safetensors_at(file, 1));
    assert_int_equal(weight->dtype, WEFT_SAFETENSORS_F32);
    assert_int_equal(weight->rank, 2);
    assert_int_equal(weight->shape[0], 2);
    assert_int_equal(weight->shape[1], 3);
    assert_int_equal(weight->elements, 6);
    assert_int_equal(weight->bytes, 24);
    static const float expected[6] = {1, 2, 3, 4, 5, -6};
    float values[6];
    assert_ok(weft_safetensors_read_f32(file, weight, 0, weight->elements, values));
    assert_memory_equal(values, expected, sizeof expected);
    assert_ok(weft_safetensors_read_f32(file, weight, 4, 2, values)); /* the last two alone */
    assert_memory_equal(values, expected + 4, 2 * sizeof expected[0]);

    const weft_safetensors_tensor *bias = weft_safetensors_find(file, "a.bias");
    float halves[4];
    assert_ok(weft_safetensors_read_f32(file, bias, 0, bias->elements, halves));
    assert_true(halves[0] == 1 && halves[1] == 2 && halves[2] == 0x1p-24f && halves[3] == -1);

    const weft_safetensors_tensor *required = NULL;
    assert_ok(weft_safetensors_require(&required, file, "b.weight", weft_shape_of(2, 3)));
    assert_ptr_equal(required, weight);
    assert_ok(weft_safetensors_check_finite(file, weight));
    assert_ok(weft_safetensors_check_finite(file, bias));
    assert_string_equal(weft_test_log(test), "");
    weft_safetensors_close(&file);
    assert_null(file);
    weft_safetensors_close(&file);
    free(bytes);
}

WEFT_TEST_ON_HOST(odd_but_valid_headers_are_accepted, test) {
    static const struct {
        const char *header;
        size_t data_size;
    } cases[] = {
        {"{}", 0},
        {"{}          ", 0}, /* padding */
        {"{\"__metadata__\":{}}", 0},
        {"{\"s\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]}}", 8}, /* a scalar */
        {"{\"e\":{\"dtype\":\"F32\",\"shape\":[0,5],\"data_offsets\":[0,0]}}", 0},
        {"{\"a\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
         "\"e\":{\"dtype\":\"F32\",\"shape\":[3,0],\"data_offsets\":[8,8]},"
         "\"b\":{\"dtype\":\"BOOL\",\"shape\":[1,1,1,1,1,1,1,3],\"data_offsets\":[8,11]}}",
         11},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"note\":\"x\"}}", 2},
        {"{\"\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weft_safetensors *file = NULL;
        weft_status status = open_made(&file, test, cases[i].header, cases[i].data_size);
        if (status != WEFT_OK) {
            fail_msg("%s: %s", cases[i].header, weft_test_log(test));
        }
    }
}

WEFT_TEST_ON_HOST(a_file_of_transformers_is_read, test) {
    char *path = weft_test_data("fnet/base_d24_l2_gelu_new/model.safetensors");
    weft_safetensors *file = NULL;
    assert_ok(weft_safetensors_open(&file, path, &test->host));
    const weft_safetensors_tensor *words = NULL;
    assert_ok(weft_safetensors_require(&words, file, "embeddings.word_embeddings.weight",
                                       weft_shape_of(60, 24)));
    float *values = malloc(words->elements * sizeof *values);
    assert_non_null(values);
    assert_ok(weft_safetensors_read_f32(file, words, 0, words->elements, values));
    uint8_t *whole = malloc(weft_safetensors_size(file));
    assert_non_null(whole);
    assert_ok(weft_safetensors_copy(file, whole));
    assert_memory_equal(values, whole + words->offset, words->bytes);
    free(whole);
    free(values);
    for (uint32_t i = 0; i < weft_safetensors_count(file); i++) {
        const weft_safetensors_tensor *tensor = weft_safetensors_at(file, i);
        assert_ptr_equal(weft_safetensors_find(file, tensor->name), tensor);
        assert_ok(weft_safetensors_check_finite(file, tensor));
    }
    weft_safetensors_close(&file);
}

WEFT_TEST_ON_HOST(data_at_odd_addresses_is_copied, test) {
    static const float numbers[2] = {1.5f, -2.5f};
    static const char header[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    for (size_t shift = 0; shift < 4; shift++) {
        size_t size = 0;
        uint8_t *bytes = make_file(header, numbers, sizeof numbers, &size);
        uint8_t *moved = malloc(size + 4);
        assert_non_null(moved);
        memcpy(moved + shift, bytes, size);
        weft_safetensors *file = NULL;
        assert_ok(weft_safetensors_open_memory(&file, moved + shift, size, FILE_NAME, &test->host));
        const weft_safetensors_tensor *tensor = weft_safetensors_find(file, "w");
        float values[2];
        assert_ok(weft_safetensors_read_f32(file, tensor, 0, tensor->elements, values));
        assert_memory_equal(values, numbers, sizeof numbers);
        assert_ok(weft_safetensors_check_finite(file, tensor));
        weft_safetensors_close(&file);
        free(moved);
        free(bytes);
    }
}

/* The format does not align: a byte tensor before them, or a header of any length, moves numbers to odd places. */
WEFT_TEST_ON_HOST(tensors_at_any_offset_are_read, test) {
    static const char header[] =
        "{\"flag\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
        "\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[3,11]},"
        "\"h\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[11,13]},"
        "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[13,21]}}";
    static const float numbers[2] = {1.5f, -2.5f};
    static const double number = 0.75;
    uint8_t data[21] = {1, 0, 1, [11] = 0, 60}; /* 1 as f16 */
    memcpy(data + 3, numbers, sizeof numbers);
    memcpy(data + 13, &number, sizeof number);
    size_t size = 0;
    uint8_t *bytes = make_file(header, data, sizeof data, &size);
    char *path = weft_test_write(weft_test_folder(), FILE_NAME, bytes, size);
    weft_safetensors *file = NULL;
    assert_ok(weft_safetensors_open(&file, path, &test->host));
    float found[4];
    assert_ok(weft_safetensors_read_f32(file, weft_safetensors_find(file, "w"), 0, 2, found));
    assert_ok(weft_safetensors_read_f32(file, weft_safetensors_find(file, "h"), 0, 1, found + 2));
    assert_ok(weft_safetensors_read_f32(file, weft_safetensors_find(file, "d"), 0, 1, found + 3));
    assert_true(found[0] == 1.5f && found[1] == -2.5f && found[2] == 1 && found[3] == 0.75f);
    weft_safetensors_close(&file);
    free(bytes);
}

/* Longer than the blocks that have checksums: every range is what it is in memory, and so is a part of a changed file or it is refused. */
WEFT_TEST_ON_HOST(parts_of_long_tensors_are_read, test) {
    enum { COUNT = 50001 }; /* four blocks of 16 KiB have 16384 numbers */
    static float numbers[COUNT], found[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        numbers[i] = (float)i;
    }
    char header[128];
    snprintf(header, sizeof header,
             "{\"w\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[0,%zu]}} ", COUNT,
             sizeof numbers);
    size_t size = 0;
    uint8_t *bytes = make_file(header, numbers, sizeof numbers, &size);
    char *path = weft_test_write(weft_test_folder(), FILE_NAME, bytes, size);
    weft_safetensors *file = NULL;
    assert_ok(weft_safetensors_open(&file, path, &test->host));
    const weft_safetensors_tensor *tensor = weft_safetensors_find(file, "w");
    static const uint64_t ranges[][2] = {{0, COUNT}, {0, 1},       {COUNT - 1, 1}, {4000, 200},
                                         {1, 49999}, {4096, 4096}, {7, 0}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        memset(found, 0, sizeof found);
        assert_ok(weft_safetensors_read_f32(file, tensor, ranges[i][0], ranges[i][1], found));
        assert_memory_equal(found, numbers + ranges[i][0], ranges[i][1] * sizeof(float));
    }
    /* The last number changes. Its block is 16 KiB at most: what is before that is still what it was. */
    bytes[size - 1] ^= 1;
    FILE *same = fopen(path, "r+b");
    assert_non_null(same);
    assert_int_equal(fwrite(bytes, 1, size, same), size);
    assert_int_equal(fclose(same), 0);
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_safetensors_read_f32(file, tensor, COUNT - 1, 1, found), FILE_NAME,
                        "tensor \"w\": changed since it was loaded");
    assert_ok(weft_safetensors_read_f32(file, tensor, 0, COUNT - 4200, found));
    assert_memory_equal(found, numbers, (COUNT - 4200) * sizeof(float));
    assert_status(weft_safetensors_check_finite(file, tensor), WEFT_BAD_FILE);
    weft_safetensors_close(&file);
    free(bytes);
}

/* ---- values ---- */

/* The value of a half float by its definition; sign, infinity and NaN are the caller's. */
static double half_by_definition(uint32_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023) / 1024;
    return exponent == 0 ? ldexp(fraction, -14) : ldexp(1 + fraction, exponent - 15);
}

WEFT_TEST_ON_HOST(every_half_float_is_exact, test) {
    static uint8_t data[65536 * 2];
    static float values[65536];
    for (size_t i = 0; i < 65536; i++) {
        data[2 * i] = (uint8_t)i;
        data[2 * i + 1] = (uint8_t)(i >> 8);
    }
    size_t size = 0;
    uint8_t *bytes = make_file("{\"h\":{\"dtype\":\"F16\",\"shape\":[65536],"
                               "\"data_offsets\":[0,131072]}}",
                               data, sizeof data, &size);
    weft_safetensors *file = NULL;
    assert_ok(weft_safetensors_open_memory(&file, bytes, size, FILE_NAME, &test->host));
    const weft_safetensors_tensor *tensor = weft_safetensors_at(file, 0);
    assert_ok(weft_safetensors_read_f32(file, tensor, 0, tensor->elements, values));
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        assert_int_equal(bits >> 31, i >> 15);
        if ((i >> 10 & 31) == 31) {
            assert_int_equal(bits & 0x7FFFFFFF, 0x7F800000 | (i & 1023) << 13);
        } else {
            assert_true(fabs((double)values[i]) == half_by_definition(i & 0x7FFF));
        }
    }
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_safetensors_check_finite(file, tensor), FILE_NAME,
                        "\"h\"", "infinity at index 31744");
    weft_safetensors_close(&file);
    free(bytes);
}

static void put_double(uint8_t *bytes, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
}

WEFT_TEST_ON_HOST(doubles_are_rounded_and_bfloat16_extended, test) {
    uint8_t data[46];
    put_double(data, 0.1);
    put_double(data + 8, 1 + 0x1p-24);             /* a tie: to even, 1 */
    put_double(data + 16, 1 + 0x3p-24);            /* a tie: to even, 1 + 2^-22 */
    put_double(data + 24, 0x1p-149 * 0.75);        /* to the smallest subnormal */
    put_double(data + 32, -0x1.fffffefffffffp127); /* just below the tie: to -FLT_MAX */
    static const uint8_t brains[6] = {0x80, 0x3f, 0x01, 0x00, 0x49, 0xc0};
    memcpy(data + 40, brains, sizeof brains);
    size_t size = 0;
    uint8_t *bytes = make_file("{\"d\":{\"dtype\":\"F64\",\"shape\":[5],\"data_offsets\":[0,40]},"
                               "\"b\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[40,46]}}",
                               data, sizeof data, &size);
    weft_safetensors *file = NULL;
    assert_ok(weft_safetensors_open_memory(&file, bytes, size, FILE_NAME, &test->host));
    float doubles[5];
    float brain_floats[3];
    const weft_safetensors_tensor *d = weft_safetensors_find(file, "d");
    const weft_safetensors_tensor *b = weft_safetensors_find(file, "b");
    assert_ok(weft_safetensors_read_f32(file, d, 0, d->elements, doubles));
    assert_ok(weft_safetensors_read_f32(file, b, 0, b->elements, brain_floats));
    assert_true(doubles[0] == 0.1f && doubles[1] == 1 && doubles[2] == 1 + 0x1p-22f);
    assert_true(doubles[3] == 0x1p-149f && doubles[4] == -0x1.fffffep127f);
    assert_true(brain_floats[0] == 1 && brain_floats[1] == 0x1p-133f &&
                brain_floats[2] == -3.140625f);
    assert_ok(weft_safetensors_check_finite(file, d));
    assert_ok(weft_safetensors_check_finite(file, b));
    weft_safetensors_close(&file);

    put_double(bytes + size - sizeof data + 16, 1e39); /* finite, but no float */
    assert_ok(weft_safetensors_open_memory(&file, bytes, size, FILE_NAME, &test->host));
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_safetensors_check_finite(file, weft_safetensors_find(file, "d")),
                        FILE_NAME, "\"d\"", "infinity at index 2");
    weft_safetensors_close(&file);
    free(bytes);
}

WEFT_TEST_ON_HOST(nan_weights_are_named, test) {
    static float weights[1000];
    static const char header[] =
        "{\"encoder.weight\":{\"dtype\":\"F32\",\"shape\":[10,100],\"data_offsets\":[0,4000]}}";
    static const size_t places[] = {0, 255, 256, 777, 999};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        weights[places[i]] = NAN;
        size_t size = 0;
        uint8_t *bytes = make_file(header, weights, sizeof weights, &size);
        weights[places[i]] = 0;
        weft_safetensors *file = NULL;
        assert_ok(weft_safetensors_open_memory(&file, bytes, size, FILE_NAME, &test->host));
        weft_test_host_reset(test);
        assert_int_equal(weft_safetensors_check_finite(file, weft_safetensors_at(file, 0)),
                         WEFT_BAD_FILE);
        char index[32];
        snprintf(index, sizeof index, "found NaN at index %zu\n", places[i]);
        assert_true(weft_test_log_has(test, index));
        weft_test_expect_log(test, FILE_NAME, "\"encoder.weight\"");
        weft_safetensors_close(&file);
        free(bytes);
    }
}

WEFT_TEST_ON_HOST(wrong_tensors_are_named_with_both_shapes, test) {
    size_t size = 0;
    uint8_t *bytes =
        make_file("{\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                  "\"ids\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[24,40]}}",
                  NULL, 40, &size);
    weft_safetensors *file = NULL;
    assert_ok(weft_safetensors_open_memory(&file, bytes, size, FILE_NAME, &test->host));
    const weft_safetensors_tensor *tensor = NULL;
    static const weft_shape wrong[] = {
        {2, {3, 2}}, {1, {6}}, {3, {2, 3, 1}}, {0, {0}}, {4, {2, 3, 1, 1}}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                            weft_safetensors_require(&tensor, file, "w", wrong[i]), FILE_NAME,
                            "\"w\"", "found [2, 3]", weft_shape_text(wrong[i], text));
    }
    WEFT_EXPECT_REFUSED(test, WEFT_NOT_FOUND,
                        weft_safetensors_require(&tensor, file, "missing", weft_shape_of(7)),
                        FILE_NAME, "\"missing\"", "[7]", "found none");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_safetensors_require(&tensor, file, "ids", weft_shape_of(2)), FILE_NAME,
                        "\"ids\"", "F32", "found I64");
    assert_null(tensor);
    float values[2];
    weft_test_host_reset(test);
    const weft_safetensors_tensor *ids = weft_safetensors_find(file, "ids");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_safetensors_read_f32(file, ids, 0, ids->elements, values), FILE_NAME,
                        "\"ids\"", "found I64");
    assert_int_equal(weft_safetensors_check_finite(file, ids), WEFT_BAD_FILE);
    weft_safetensors_close(&file);
    free(bytes);
}

/* ---- bad files ---- */

#define TENSOR(name, dtype, shape, offsets) \
    "\"" name "\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define F32 "\"F32\""
/* The header of a file with one tensor. */
#define TENSOR_A(shape, offsets) "{" TENSOR("a", F32, shape, offsets) "}"

struct bad_file {
    const char *header;
    size_t data_size;
    const char *name;    /* what the message names besides the file */
    const char *message; /* and says */
};

static const struct bad_file unsupported_file = {"{" TENSOR("a", "\"F4\"", "[8]", "[0,4]") "}", 4,
                                                 "tensor \"a\"", "found \"F4\""};

static const struct bad_file bad_files[] = {
    /* overlap and holes */
    {"{" TENSOR("a", F32, "[2]", "[0,8]") "," TENSOR("b", F32, "[2]", "[4,12]") "}", 12,
     "tensor \"b\"", "overlap those of tensor \"a\""},
    {"{" TENSOR("a", F32, "[2]", "[0,8]") "," TENSOR("b", F32, "[2]", "[0,8]") "}", 8, "tensor \"",
     "overlap"},
    {"{" TENSOR("outer", F32, "[4]", "[0,16]") "," TENSOR("inner", F32, "[1]", "[4,8]") "}", 16,
     "tensor \"inner\"", "overlap those of tensor \"outer\""},
    {"{" TENSOR("a", F32, "[1]", "[0,4]") "," TENSOR("b", F32, "[1]", "[8,12]") "}", 12,
     "tensor \"b\"", "expected to begin at 4"},
    {TENSOR_A("[1]", "[4,8]"), 8, "tensor \"a\"", "expected to begin at 0"},
    {TENSOR_A("[1]", "[0,4]"), 5, "expected 4 bytes of data", "found 5"},
    {"{}", 1, "expected 0 bytes of data", "found 1"},
    /* out of range */
    {TENSOR_A("[2]", "[0,8]"), 7, "tensor \"a\"", "7 bytes of data, found [0, 8]"},
    {TENSOR_A("[1]", "[8,4]"), 8, "tensor \"a\"", "found [8, 4]"},
    {TENSOR_A("[1]", "[9223372036854775803,9223372036854775807]"), 4, "tensor \"a\"",
     "9223372036854775807"},
    {TENSOR_A("[1]", "[-4,0]"), 4, "tensor \"a\"",
     "data_offsets: expected non-negative integers, found -4"},
    {TENSOR_A("[1]", "[0,99999999999999999999]"), 4, FILE_NAME ":1:", "integer"},
    {TENSOR_A("[1]", "[0.0,4]"), 4, "tensor \"a\"", "data_offsets"},
    {TENSOR_A("[1]", "[0]"), 4, "tensor \"a\"",
     "data_offsets: expected an array of 2 integers, found an array of 1"},
    {TENSOR_A("[1]", "\"0,4\""), 4, "tensor \"a\"", "data_offsets"},
    /* sizes that do not fit */
    {TENSOR_A("[3]", "[0,8]"), 8, "tensor \"a\"",
     "expected 3 elements of 4 bytes (F32), found 8 bytes"},
    {TENSOR_A("[1]", "[0,5]"), 5, "tensor \"a\"", "found 5 bytes"},
    {TENSOR_A("[4294967296,4294967296]", "[0,4]"), 4, "tensor \"a\"",
     "shape: expected less than 2^64 elements"},
    {TENSOR_A("[4611686018427387904]", "[0,0]"), 0, "tensor \"a\"",
     "expected 4611686018427387904 elements"},
    {TENSOR_A("[4611686018427387905]", "[0,4]"), 4, "tensor \"a\"",
     "expected 4611686018427387905 elements"},
    {TENSOR_A("[-1]", "[0,4]"), 4, "tensor \"a\"",
     "shape: expected non-negative integers, found -1"},
    {TENSOR_A("[1.0]", "[0,4]"), 4, "tensor \"a\"", "shape"},
    {TENSOR_A("1", "[0,4]"), 4, "tensor \"a\"",
     "shape: expected an array of at most 8 integers, found 1"},
    {TENSOR_A("[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "tensor \"a\"", "found an array of 9"},
    /* wrong dtype */
    {"{" TENSOR("a", "\"F33\"", "[1]", "[0,4]") "}", 4, "tensor \"a\"", "dtype: expected one of"},
    {"{" TENSOR("a", "\"f32\"", "[1]", "[0,4]") "}", 4, "tensor \"a\"", "found \"f32\""},
    {"{" TENSOR("a", "32", "[1]", "[0,4]") "}", 4, "tensor \"a\"", "found 32"},
    /* missing fields and wrong structure */
    {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "tensor \"a\"", "dtype: expected one of"},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "tensor \"a\"",
     "shape: expected an array of at most 8 integers, found nothing"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "tensor \"a\"",
     "data_offsets: expected an array of 2 integers, found nothing"},
    {"{\"a\":7}", 0, "tensor \"a\"", "expected an object, found 7"},
    {"{\"a\":null}", 0, "tensor \"a\"", "found null"},
    {"{\"__metadata__\":[]}", 0, "__metadata__", "expected an object of strings"},
    {"{\"__metadata__\":{\"step\":3}}", 0, "\"step\"", "expected a string, found 3"},
    /* duplicate names */
    {"{" TENSOR("twice", F32, "[1]", "[0,4]") "," TENSOR("twice", F32, "[1]", "[4,8]") "}", 8,
     "duplicate", "\"twice\""},
    {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "duplicate", "\"dtype\""},
    /* not the JSON it should be */
    {"[]", 0, "header", "expected a JSON object"},
    {" {}", 0, "header", "expected a JSON object"},
    {"", 0, "header", "expected a JSON object"},
    {"{\"a\":", 0, FILE_NAME ":1:", "end of file"},
    {"{} x", 0, FILE_NAME ":1:", "x"},
    {"{\"a\\u0000b\":{}}", 0, FILE_NAME ":1:", "NUL"},
    {"{\"a\xff\":{}}", 0, FILE_NAME ":1:", "0xff"},
};

static void expect_refused(struct weft_test_host *test, const struct bad_file *bad,
                           weft_status expected) {
    weft_safetensors *file = NULL;
    weft_test_host_reset(test);
    weft_status status = open_made(&file, test, bad->header, bad->data_size);
    if (status != expected) {
        fail_msg("%s: %s: %s", bad->header, weft_status_name(status), weft_test_log(test));
    }
    assert_null(file);
    assert_int_equal(test->live, 0);
    weft_test_expect_log(test, "error: " FILE_NAME, bad->name, bad->message);
}

WEFT_TEST_ON_HOST(bad_headers_are_refused_with_the_reason, test) {
    expect_refused(test, &unsupported_file, WEFT_UNSUPPORTED);
    for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++) {
        expect_refused(test, &bad_files[i], WEFT_BAD_FILE);
    }
}

WEFT_TEST_ON_HOST(header_lengths_are_checked_first, test) {
    static const struct {
        uint64_t length;
        const char *message;
    } cases[] = {
        {UINT64_MAX, "found 18446744073709551615"},
        {UINT64_C(1) << 63, "expected at most 16777216"},
        {WEFT_SAFETENSORS_MAX_HEADER + UINT64_C(1), "found 16777217"},
        {WEFT_SAFETENSORS_MAX_HEADER, "the bytes that follow, found 16777216"},
        {3, "expected at most 2, the bytes that follow, found 3"},
        {0, "expected a JSON object"},
        {1, ":1:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size = 0;
        uint8_t *bytes = make_file("{}", NULL, 0, &size);
        for (size_t byte = 0; byte < 8; byte++) {
            bytes[byte] = (uint8_t)(cases[i].length >> (8 * byte));
        }
        weft_safetensors *file = NULL;
        WEFT_EXPECT_REFUSED(
            test, WEFT_BAD_FILE,
            weft_safetensors_open_memory(&file, bytes, size, FILE_NAME, &test->host), FILE_NAME,
            cases[i].message);
        free(bytes);
    }
}

WEFT_TEST_ON_HOST(files_cut_at_any_length_are_refused, test) {
    size_t size = 0;
    uint8_t *bytes = make_file(small_header, small_data, sizeof small_data, &size);
    char *folder = weft_test_folder();
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *exact = malloc(cut + 1);
        assert_non_null(exact);
        memcpy(exact, bytes, cut);
        exact = realloc(exact, cut > 0 ? cut : 1); /* so that a read past the end is seen */
        weft_safetensors *file = NULL;
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                            weft_safetensors_open_memory(&file, exact, cut, FILE_NAME, &test->host),
                            "error: " FILE_NAME);
        free(exact);

        char *path = weft_test_write(folder, "cut.safetensors", bytes, cut);
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_safetensors_open(&file, path, &test->host),
                            path);
        assert_null(file);
    }
    free(bytes);
}

WEFT_TEST_ON_HOST(missing_files_are_not_found, test) {
    weft_safetensors *file = NULL;
    const char *absent = weft_test_absent("x.safetensors");
    WEFT_EXPECT_REFUSED(test, WEFT_NOT_FOUND, weft_safetensors_open(&file, absent, &test->host),
                        absent);
}

WEFT_TEST_ON_HOST(long_names_leave_room_for_the_reason, test) {
    static char header[6000];
    static char name[5001];
    memset(name, 'n', sizeof name - 1);
    snprintf(header, sizeof header,
             "{\"%s\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,4]}}", name);
    weft_safetensors *file = NULL;
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, open_made(&file, test, header, 4), FILE_NAME, "nnnn",
                        "expected 3 elements", "found 4 bytes");
}

/* ---- no memory ---- */

WEFT_TEST_ON_HOST(every_failing_allocation_is_survived, test) {
    size_t size = 0;
    uint8_t *bytes = make_file(small_header, small_data, sizeof small_data, &size);
    char *folder = weft_test_folder();
    char *path = weft_test_write(folder, FILE_NAME, bytes, size);
    for (int rest = 0; rest < 2; rest++) {
        weft_status status = WEFT_OUT_OF_HOST_MEMORY;
        test->fail_rest = rest == 1;
        while (weft_test_next_failure(test, status)) {
            weft_safetensors *file = NULL;
            status = weft_safetensors_open(&file, path, &test->host);
            if (status != WEFT_OK) {
                assert_null(file);
                weft_test_expect_log(test, "out of memory", path);
            }
            weft_safetensors_close(&file);
            assert_int_equal(test->live, 0);
        }
        /* The file, its name, the handle, the header, notes, their text, tensors, names, the layout check, checksums. */
        assert_int_equal(test->failures, 10);
    }
    free(bytes);
}

/* ---- damage at random ---- */

static void use_everything(const weft_safetensors *file) {
    for (uint32_t i = 0; i < weft_safetensors_count(file); i++) {
        const weft_safetensors_tensor *tensor = weft_safetensors_at(file, i);
        assert_ptr_equal(weft_safetensors_find(file, tensor->name), tensor);
        float *values = malloc(tensor->elements * sizeof *values + 1);
        assert_non_null(values);
        weft_status status = weft_safetensors_read_f32(file, tensor, 0, tensor->elements, values);
        weft_status finite = weft_safetensors_check_finite(file, tensor);
        assert_true(status == WEFT_OK || finite == WEFT_BAD_FILE);
        free(values);
    }
}

WEFT_TEST_ON_HOST(damaged_files_are_opened_or_refused, test) {
    size_t size = 0;
    uint8_t *bytes = make_file(small_header, small_data, sizeof small_data, &size);
    uint64_t opened = 0;
    uint64_t rounds = 20000;
    for (uint64_t round = 0; round < rounds; round++) {
        size_t mutated_size = 0;
        /* Half of the rounds keep the header's length right, to get past it. */
        size_t kept = round % 2 == 0 ? 0 : 8;
        uint8_t *mutated = weft_test_mutate(bytes + kept, size - kept, 2024, round, &mutated_size);
        uint8_t *whole = malloc(mutated_size + kept + 1);
        assert_non_null(whole);
        memcpy(whole, bytes, kept);
        if (mutated_size > 0) {
            memcpy(whole + kept, mutated, mutated_size);
        }
        free(mutated);
        whole = realloc(whole, mutated_size + kept > 0 ? mutated_size + kept : 1);
        if (kept > 0 && mutated_size >= sizeof small_data) {
            uint64_t length = mutated_size - sizeof small_data;
            for (size_t i = 0; i < 8; i++) {
                whole[i] = (uint8_t)(length >> (8 * i));
            }
        }
        weft_test_host_reset(test);
        weft_safetensors *file = NULL;
        weft_status status =
            weft_safetensors_open_memory(&file, whole, mutated_size + kept, FILE_NAME, &test->host);
        if (status == WEFT_OK) {
            use_everything(file);
            opened++;
        } else {
            assert_true(status == WEFT_BAD_FILE || status == WEFT_UNSUPPORTED);
            weft_test_expect_log(test, "error: " FILE_NAME);
        }
        weft_safetensors_close(&file);
        assert_int_equal(test->live, 0);
        free(whole);
    }
    /* Both ways are taken often enough to mean something. */
    assert_true(opened > rounds / 50 && opened < rounds / 2);
    free(bytes);
}
