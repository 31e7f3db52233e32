/* SPDX-License-Identifier: MIT */
/* The container of GGUF files, good and bad, and their blocks of numbers. */
#include <stdlib.h>

#include "core/hash.h"
#include "gguf_writer.h"
#include "model/files/ggml_encode.h"
#include "model/gguf/gguf.h"
#include "support.h"

#define NAME "made.gguf"

/* ---- good files ---- */

/* A key of each type, and arrays. */
static void put_keys(struct gguf_writer *writer) {
    static const char *const words[] = {"one", "", "three"};
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 0, 0, 0, 0, 8, 8};
    gguf_u32(writer, "general.alignment", 64);
    for (unsigned type = 0; type <= WEFT_GGUF_I64; type++) {
        if (sizes[type] > 0) {
            gguf_key(writer, weft_test_text("integer.%u", type), (enum weft_gguf_type)type);
            gguf_put(&writer->keys, UINT64_MAX, sizes[type]);
        }
    }
    gguf_f32(writer, "real", 0.1F);
    gguf_key(writer, "double", WEFT_GGUF_F64);
    gguf_put(&writer->keys, 0x3fb999999999999aULL, 8);
    gguf_bool(writer, "bool", true);
    gguf_string(writer, "text", "\xC3\xA9t\xC3\xA9");
    gguf_strings(writer, "words", words, 3);
    gguf_array(writer, "numbers", WEFT_GGUF_I16, 2);
    gguf_put(&writer->keys, 0xfffe, 2);
    gguf_put(&writer->keys, 7, 2);
    gguf_array(writer, "nested", WEFT_GGUF_ARRAY, 1);
    gguf_put(&writer->keys, WEFT_GGUF_U8, 4);
    gguf_put(&writer->keys, 3, 8);
    gguf_put(&writer->keys, 0x030201, 3);
}

static weft_status open_made(weft_gguf **file, struct weft_text *bytes, struct gguf_writer *writer,
                             const weft_host *host) {
    *bytes = gguf_finish(writer);
    assert_non_null(bytes->data);
    return weft_gguf_open_memory(file, bytes->data, bytes->length, NAME, host);
}

WEFT_TEST_ON_HOST(values_of_each_type_are_read, test) {
    static const struct {
        unsigned type;
        int64_t value;
    } rows[] = {{0, 255},        {1, -1}, {2, 65535},      {3, -1},
                {4, 4294967295}, {5, -1}, {10, INT64_MAX}, {11, -1}};
    struct gguf_writer writer = {.alignment = 64, .version = 2};
    struct weft_text bytes;
    weft_gguf *file = NULL;
    put_keys(&writer);
    assert_ok(open_made(&file, &bytes, &writer, &test->host));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t value = 0;
        assert_ok(weft_gguf_integer(&value, file, weft_test_text("integer.%u", rows[i].type),
                                    INT64_MIN, INT64_MAX));
        assert_true(value == rows[i].value);
    }
    double real = 0, other = 0, missing = 5;
    bool choice = false;
    struct weft_text text = {.data = NULL};
    assert_ok(weft_gguf_real(&real, file, "real"));
    assert_ok(weft_gguf_real(&other, file, "double"));
    assert_ok(weft_gguf_real(&missing, file, "missing"));
    assert_true(real == (double)0.1F && other == 0.1 && missing == 5);
    assert_ok(weft_gguf_bool(&choice, file, "bool"));
    assert_true(choice);
    assert_ok(weft_gguf_string(&text, file, "text", 5));
    assert_string_equal(text.data, "\xC3\xA9t\xC3\xA9");
    int32_t *numbers = NULL;
    float *reals = NULL;
    assert_ok(weft_gguf_integers(&numbers, file, "numbers", 2));
    assert_ok(weft_gguf_reals(&reals, file, "numbers", 2));
    assert_true(numbers[0] == -2 && numbers[1] == 7 && reals[0] == -2.0F && reals[1] == 7.0F);
    assert_string_equal(weft_test_log(test), "");
    weft_free(&test->host, numbers);
    weft_free(&test->host, reals);
    weft_free(NULL, text.data);
    weft_gguf_close(&file);
    assert_null(file);
    weft_free(NULL, bytes.data);
}

WEFT_TEST_ON_HOST(values_of_other_types_are_refused_by_key, test) {
    struct gguf_writer writer = {.alignment = 64};
    struct weft_text bytes, text = {.data = NULL};
    weft_gguf *file = NULL;
    int64_t integer = 3;
    double real = 3;
    bool choice = false;
    int32_t *numbers = NULL;
    put_keys(&writer);
    assert_ok(open_made(&file, &bytes, &writer, &test->host));
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_gguf_integer(&integer, file, "real", 0, 9), NAME,
                        "key \"real\"", "expected an integer from 0 to 9", "found f32");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_gguf_integer(&integer, file, "integer.0", 0, 9),
                        "key \"integer.0\"", "found 255");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_gguf_real(&real, file, "words"), "an array");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_gguf_bool(&choice, file, "integer.0"), "u8");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_gguf_string(&text, file, "bool", 9), "bool");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_gguf_string(&text, file, "text", 4), "4 bytes");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_gguf_integers(&numbers, file, "numbers", 3),
                        "an array of 3", "one of 2");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_gguf_integers(&numbers, file, "words", 3),
                        "an array of numbers", "3 times a text");
    assert_true(integer == 3 && real == 3 && !numbers);
    weft_free(NULL, text.data);
    weft_gguf_close(&file);
    weft_free(NULL, bytes.data);
}

WEFT_TEST_ON_HOST(tensors_are_found_with_shape_format_and_bytes, test) {
    static const float values[6] = {1, 2, 3, 4, 5, 6};
    static const uint8_t block[34] = {0, 0x3c, 1, 2, 255}; /* 1 times 1, 2, -1, 0 … */
    struct gguf_writer writer = {.key_count = 0};
    struct weft_text bytes;
    weft_gguf *file = NULL;
    gguf_tensor(&writer, "b", 2, (uint64_t[]){3, 2}, 0, values, sizeof values);
    gguf_tensor(&writer, "a", 1, (uint64_t[]){32}, 8, block, sizeof block);
    assert_ok(open_made(&file, &bytes, &writer, &test->host));
    assert_int_equal(weft_gguf_tensor_count(file), 2);
    assert_string_equal(weft_gguf_tensor_at(file, 0)->name, "a");
    const struct weft_gguf_tensor *tensor = weft_gguf_find_tensor(file, "b");
    assert_true(tensor->rank == 2 && tensor->shape[0] == 2 && tensor->shape[1] == 3);
    float read[2];
    assert_ok(weft_gguf_read(file, tensor, 16, read, sizeof read));
    assert_true(read[0] == 5 && read[1] == 6);
    tensor = weft_gguf_find_tensor(file, "a");
    uint8_t stored[34];
    float decoded[32];
    assert_ok(weft_gguf_read(file, tensor, 0, stored, sizeof stored));
    assert_string_equal(tensor->format->name, "Q8_0");
    weft_ggml_decode(tensor->format, decoded, stored);
    assert_true(decoded[0] == 1 && decoded[1] == 2 && decoded[2] == -1 && decoded[3] == 0);
    assert_null(weft_gguf_find_tensor(file, "c"));
    weft_gguf_close(&file);
    weft_free(NULL, bytes.data);
}

/* ---- blocks ---- */

/* Digests of three blocks' numbers by dequantize of the package gguf 0.19, f32 little-endian. */
static const struct {
    uint32_t format;
    const char *name;
    uint32_t upper[2]; /* bytes of a block's scales of 16 bits; or 0 */
    const char *digest;
} formats[] = {
    {2, "Q4_0", {1}, "93b6f65b141745232933494b3a67e2c74d7bfdf0eaaefb6e1142d17a03f8271e"},
    {3, "Q4_1", {1, 3}, "e6cc083802a62061945857e96e6af210009728d2b5414d202529cadf77657a6f"},
    {6, "Q5_0", {1}, "2a620210db5080ad8afe03bd0894c6fed26f1689fa4336ed40063ee2a59c45a1"},
    {7, "Q5_1", {1, 3}, "6d8094818cc66d56be36ba605f822afa4570ff9ec90a8bae94ef2b5ef588d11f"},
    {8, "Q8_0", {1}, "06763bf851c79b131a0c575258ccc51c94ede7d629f1683f98e52a1d55e0d526"},
    {10, "Q2_K", {81, 83}, "44793c5f228330bf943b86c632fa07394abee45544919bf3a190616049f16669"},
    {11, "Q3_K", {109}, "aa3c616b5b02541688f452dedd0f97a15e82f2b377e2340a28618f5e50434420"},
    {12, "Q4_K", {1, 3}, "7da0eceda6def8cb63a59629ae3fa0a8bf7b954c25e73524706e22a0c5494f9b"},
    {13, "Q5_K", {1, 3}, "c0fad989dc6a40628bce3ee78f76a8490755ff32d454ebfb17c5c696d90b861c"},
    {14, "Q6_K", {209}, "49f6ac6b97cd36e1b48887d9a2d7a523442fca8b9eb39ee41bf4f921e9eb672c"},
    {20, "IQ4_NL", {1}, "f6096a6c3ccb1414387167158d28bee6072aa1c9f8578b2857ec989b243bf33a"},
    {23, "IQ4_XS", {1}, "575ae4075b87624ca6654d706570141995c008a3789c58b232f9af41f89fdd7d"},
    {34, "TQ1_0", {53}, "32118af2dc95c3fb320ebfbc1d649e8a864dc13f13a9adfecde359c21892cf85"},
    {35, "TQ2_0", {65}, "6adcdb7225114e12d3ff150a3f6cc724e55452f82f28f324c1bce37934011cbe"},
    {39, "MXFP4", {0}, "a9e814c03f79d3b976ba116a589e5429ad7b4e89807921f53b901f2681593651"},
    {40, "NVFP4", {0}, "b28c07ea067f31e0c023471eb2370df83b17bf449c6f7c084bfa9684d18ccdde"},
};

/* Bytes without a pattern; no scale is infinite, or subnormal. */
static void fill(uint8_t *bytes, size_t i) {
    const struct weft_ggml_format *format = weft_ggml_format_of(formats[i].format);
    for (size_t k = 0; k < (size_t)3 * format->bytes; k++) {
        bytes[k] = (uint8_t)(k * k * 7 + k * 37 + 11);
    }
    for (size_t block = 0; block < 3; block++) {
        uint8_t *first = bytes + block * format->bytes;
        for (size_t k = 0; k < 2 && formats[i].upper[k] > 0; k++) {
            first[formats[i].upper[k]] &= 0xBB;
        }
        first[0] |= strcmp(formats[i].name, "MXFP4") == 0 ? 2 : 0;
    }
}

WEFT_TEST(blocks_have_the_bits_of_the_package_gguf) {
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const struct weft_ggml_format *format = weft_ggml_format_of(formats[i].format);
        uint8_t bytes[3 * WEFT_GGML_MOST_BYTES];
        float values[3 * WEFT_GGML_MOST_ELEMENTS];
        char text[WEFT_DIGEST_TEXT_SIZE];
        assert_string_equal(format->name, formats[i].name);
        fill(bytes, i);
        for (size_t block = 0; block < 3; block++) {
            weft_ggml_decode(format, values + block * format->elements,
                             bytes + block * format->bytes);
        }
        uint8_t stored[sizeof values];
        for (size_t j = 0; j < (size_t)3 * format->elements; j++) {
            uint32_t bits;
            memcpy(&bits, &values[j], sizeof bits);
            weft_store_bytes(stored + j * sizeof bits, bits, sizeof bits);
        }
        const weft_digest digest = weft_digest_of(stored, (size_t)12 * format->elements);
        assert_string_equal(weft_digest_text(&digest, text), formats[i].digest);
    }
}

/* Numbers without a pattern, between -4/3 and 4/3. */
static weft_status draw(void *source, uint64_t first, uint64_t count, float *out) {
    (void)source;
    for (uint64_t i = first; i < first + count; i++) {
        out[i - first] = ((float)((i * i * 7 + i * 37 + 11) & 255U) - 128.0F) / 96.0F;
    }
    return WEFT_OK;
}

static weft_status append(void *target, const uint8_t *blocks, size_t size) {
    weft_text_put(target, (const char *)blocks, size);
    return WEFT_OK;
}

/* Q8_0 and Q4_0 as quantize of the package gguf 0.19 makes them. It has none for Q4_K, whose numbers are within 6 % here. */
WEFT_TEST(numbers_become_blocks) {
    static const struct {
        const char *name, *digest;
    } made[] = {
        {"q8_0", "46443dfae07cc48ad15733ea61f459c305858fe687d37c7d4e0f2bdde3013dc7"},
        {"q4_0", "0c6b514f77deabe6e4147b85403aa63023f3fdb40d29abaeb59adad456bdedde"},
        {"q4_k", "329d173caf7bd8253517782a1637407e0717790908571eb5658dfc0163d366d2"},
    };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        struct weft_text blocks = {.data = NULL};
        char text[WEFT_DIGEST_TEXT_SIZE];
        assert_ok(weft_ggml_encode(
            &(struct weft_ggml_encoding){.format = weft_ggml_format_called(made[i].name),
                                         .path = NAME,
                                         .name = "drawn",
                                         .elements = 1024,
                                         .read = draw,
                                         .add = append,
                                         .target = &blocks}));
        const weft_digest digest = weft_digest_of(blocks.data, blocks.length);
        assert_string_equal(weft_digest_text(&digest, text), made[i].digest);
        weft_free(NULL, blocks.data);
    }
}

/* ---- bad files ---- */

static void expect_bad(struct weft_test_host *test, weft_status expected,
                       struct gguf_writer *writer, const char *said) {
    struct weft_text bytes = gguf_finish(writer);
    weft_gguf *file = NULL;
    WEFT_EXPECT_REFUSED(test, expected,
                        weft_gguf_open_memory(&file, bytes.data, bytes.length, NAME, &test->host),
                        NAME, said);
    assert_null(file);
    weft_free(NULL, bytes.data);
}

static void put_floats(struct gguf_writer *writer, const char *name) {
    static const uint8_t zeros[64] = {0};
    gguf_tensor(writer, name, 1, (uint64_t[]){16}, 0, zeros, sizeof zeros);
}

WEFT_TEST_ON_HOST(bad_keys_are_refused, test) {
    struct gguf_writer w = {.version = 1};
    expect_bad(test, WEFT_UNSUPPORTED, &w, "version: expected 2 or 3, found 1");
    w.version = 0x03000000;
    expect_bad(test, WEFT_UNSUPPORTED, &w, "big-endian");
    w.key_count = 1;
    expect_bad(test, WEFT_BAD_FILE, &w, "the number of keys");
    w.tensor_count = UINT64_MAX;
    expect_bad(test, WEFT_BAD_FILE, &w, "the number of tensors");
    gguf_u32(&w, "twice", 1);
    gguf_u32(&w, "twice", 1);
    expect_bad(test, WEFT_BAD_FILE, &w, "key \"twice\": expected one value, found two");
    gguf_u32(&w, "", 1);
    expect_bad(test, WEFT_BAD_FILE, &w, "a key: expected 1 to 256 bytes");
    gguf_key(&w, "other", (enum weft_gguf_type)13);
    gguf_put(&w.keys, 0, 8);
    expect_bad(test, WEFT_BAD_FILE, &w, "key \"other\": expected a type from 0 to 12, found 13");
    gguf_array(&w, "long", WEFT_GGUF_U64, UINT64_MAX / 4);
    expect_bad(test, WEFT_BAD_FILE, &w, "no more elements than the file has room for");
    gguf_array(&w, "cut", WEFT_GGUF_STRING, 1);
    gguf_put(&w.keys, 1U << 30, 8);
    expect_bad(test, WEFT_BAD_FILE, &w, "until the file's end");
    gguf_key(&w, "zero", WEFT_GGUF_STRING);
    gguf_put(&w.keys, 3, 8);
    weft_text_put(&w.keys, "a\0b", 3);
    expect_bad(test, WEFT_BAD_FILE, &w, "found a zero byte");
    gguf_array(&w, "deep", WEFT_GGUF_ARRAY, 1);
    for (unsigned i = 0; i < 8; i++) {
        gguf_put(&w.keys, WEFT_GGUF_ARRAY, 4);
        gguf_put(&w.keys, 1, 8);
    }
    expect_bad(test, WEFT_BAD_FILE, &w, "at most 4 arrays in one another");
    gguf_u32(&w, "split.count", 3);
    expect_bad(test, WEFT_UNSUPPORTED, &w, "llama-gguf-split --merge");
    gguf_u32(&w, "general.alignment", 24);
    expect_bad(test, WEFT_BAD_FILE, &w, "a power of two");
}

WEFT_TEST_ON_HOST(bad_tensors_are_refused, test) {
    struct gguf_writer w = {.key_count = 0};
    put_floats(&w, "twice");
    put_floats(&w, "twice");
    expect_bad(test, WEFT_BAD_FILE, &w, "duplicate tensor name \"twice\"");
    put_floats(&w, "a name of more than sixty-four bytes, which the format does not allow");
    expect_bad(test, WEFT_BAD_FILE, &w, "at most 64 bytes");
    put_floats(&w, "a");
    gguf_entry(&w, "b", 1, (uint64_t[]){8}, 0, 32);
    expect_bad(test, WEFT_BAD_FILE, &w, "overlap those of tensor \"a\"");
    put_floats(&w, "a");
    gguf_entry(&w, "b", 1, (uint64_t[]){8}, 0, 33);
    expect_bad(test, WEFT_BAD_FILE, &w, "an offset by general.alignment, found 33");
    put_floats(&w, "a");
    gguf_entry(&w, "b", 1, (uint64_t[]){1}, 0, 64);
    expect_bad(test, WEFT_BAD_FILE, &w, "expected 4 bytes at 64");
    put_floats(&w, "a");
    gguf_entry(&w, "b", 1, (uint64_t[]){1}, 0, UINT64_MAX - 31);
    expect_bad(test, WEFT_BAD_FILE, &w, "tensor \"b\"");
    gguf_entry(&w, "b", 2, (uint64_t[]){1ULL << 62, 8}, 0, 0);
    expect_bad(test, WEFT_BAD_FILE, &w, "less than 2^63 elements");
    gguf_entry(&w, "b", 2, (uint64_t[]){32, 1ULL << 55}, 8, 0);
    expect_bad(test, WEFT_BAD_FILE, &w, "no more elements than the file has room for");
    gguf_entry(&w, "b", 1, (uint64_t[]){0}, 0, 0);
    expect_bad(test, WEFT_BAD_FILE, &w, "axes of at least 1");
    gguf_entry(&w, "b", 0, NULL, 0, 0);
    gguf_put(&w.tensors, 0, 8);
    expect_bad(test, WEFT_BAD_FILE, &w, "1 to 4 axes, found 0");
    gguf_entry(&w, "b", 1, (uint64_t[]){33}, 8, 0);
    expect_bad(test, WEFT_BAD_FILE, &w, "rows of whole blocks of 32 (Q8_0), found rows of 33");
    gguf_entry(&w, "b", 1, (uint64_t[]){256}, 16, 0);
    expect_bad(test, WEFT_UNSUPPORTED, &w, "TQ1_0 or TQ2_0, found IQ2_XXS");
    gguf_entry(&w, "b", 1, (uint64_t[]){256}, 4, 0);
    expect_bad(test, WEFT_BAD_FILE, &w, "the number of a format, found 4");
}

/* However it is cut, it is refused, and nothing is read behind it. */
WEFT_TEST_ON_HOST(cut_files_are_refused, test) {
    struct gguf_writer writer = {.alignment = 64};
    put_keys(&writer);
    put_floats(&writer, "tensor");
    struct weft_text bytes = gguf_finish(&writer);
    for (size_t size = 0; size < bytes.length; size++) {
        weft_gguf *file = NULL;
        uint8_t *cut = malloc(size > 0 ? size : 1); /* of its own size, for sanitizers */
        assert_non_null(cut);
        memcpy(cut, bytes.data, size);
        assert_status(weft_gguf_open_memory(&file, cut, size, NAME, &test->host), WEFT_BAD_FILE);
        free(cut);
    }
    weft_free(NULL, bytes.data);
}

WEFT_TEST_ON_HOST(memory_may_end_anywhere, test) {
    struct gguf_writer writer = {.alignment = 64};
    put_keys(&writer);
    put_floats(&writer, "a");
    put_floats(&writer, "b");
    struct weft_text bytes = gguf_finish(&writer);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(test, status)) {
        weft_gguf *file = NULL;
        status = weft_gguf_open_memory(&file, bytes.data, bytes.length, NAME, &test->host);
        weft_gguf_close(&file);
    }
    weft_free(NULL, bytes.data);
}
