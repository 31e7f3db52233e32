/* SPDX-License-Identifier: MIT */
/* SentencePiece models: the library's answers, every field wrong in turn, damaged files, and limits. */
#include <math.h>

#include "core/bytes.h"
#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/text.h"
#include "support.h"
#include "tokenizer/spm/model.h"
#include "tokenizer/tokenizer.h"

/* ---- the library's answers ---- */

static uint8_t *bytes_of_hex(const char *hex, size_t *size) {
    *size = strlen(hex) / 2;
    uint8_t *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < *size; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bytes[i] = (uint8_t)byte;
    }
    return bytes;
}

static void expect_ids(const weft_tokenizer *tokenizer, const weft_host *host, const char *name,
                       const json_t *entry) {
    const char *hex = json_string_value(json_array_get(entry, 0));
    const json_t *expected = json_array_get(entry, 1);
    size_t size = 0;
    uint8_t *text = bytes_of_hex(hex, &size);
    int32_t *ids = NULL;
    uint32_t count = 0;
    assert_ok(weft_tokenizer_encode_ids(tokenizer, (const char *)text, size, false, UINT32_MAX,
                                        &ids, &count));
    for (size_t i = 0; i < count && i < json_array_size(expected); i++) {
        if (ids[i] != json_integer_value(json_array_get(expected, i))) {
            fail_msg("%s: text %s: id %zu is %d, not %d", name, hex, i, (int)ids[i],
                     (int)json_integer_value(json_array_get(expected, i)));
        }
    }
    assert_int_equal(count, json_array_size(expected));
    weft_free(host, ids);
    free(text);
}

static void expect_text(const weft_tokenizer *tokenizer, const weft_host *host, const char *name,
                        const json_t *entry) {
    const json_t *list = json_array_get(entry, 0);
    const char *expected = json_string_value(json_array_get(entry, 1));
    const size_t length = json_string_length(json_array_get(entry, 1));
    const uint32_t count = (uint32_t)json_array_size(list);
    int32_t *ids = calloc(count + 1, sizeof *ids);
    assert_non_null(ids);
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = (int32_t)json_integer_value(json_array_get(list, i));
    }
    char *text = NULL;
    size_t size = 0;
    assert_ok(weft_tokenizer_decode(tokenizer, ids, count, &text, &size));
    if (size != length || memcmp(text, expected, size) != 0) {
        fail_msg("%s: \"%s\", not \"%s\"", name, text, expected);
    }
    assert_int_equal(text[size], '\0');
    weft_free(host, text);
    free(ids);
}

static json_t *load_json(const char *name) {
    char *path = weft_test_data(weft_test_text("tokenizer/models/%s.json", name));
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, NULL);
    assert_non_null(root);
    return root;
}

static void replay(const char *name, struct weft_test_host *test) {
    json_t *root = load_json(name);
    weft_tokenizer *tokenizer = NULL;
    char *path = weft_test_data(weft_test_text("tokenizer/models/%s.model", name));
    assert_ok(weft_tokenizer_open_pieces(&tokenizer, path, 1000, &test->host));
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(root, "encode"), index, entry) {
        expect_ids(tokenizer, &test->host, name, entry);
    }
    json_array_foreach(json_object_get(root, "decode"), index, entry) {
        expect_text(tokenizer, &test->host, name, entry);
    }
    weft_tokenizer_destroy(&tokenizer);
    json_decref(root);
}

WEFT_TEST_ON_HOST(models_of_all_kinds_give_what_the_library_gives, test) {
    json_t *root = load_json("index");
    const json_t *names = json_object_get(root, "models");
    assert_true(json_array_size(names) > 30);
    for (size_t i = 0; i < json_array_size(names); i++) {
        replay(json_string_value(json_array_get(names, i)), test);
    }
    assert_string_equal(weft_test_log(test), "");
    json_decref(root);
}

/* ---- writing models ---- */

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, GROUP = 3, FIXED32 = 5 };
enum { PIECES = 1, TRAINER = 2, NORMALIZER = 3, DENORMALIZER = 5 };

static void put_varint(struct weft_text *message, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        weft_text_put(message, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    }
    weft_text_put(message, &(uint8_t){(uint8_t)value}, 1);
}

static void put_tag(struct weft_text *message, uint32_t number, unsigned wire) {
    put_varint(message, (uint64_t)number << 3 | wire);
}

static void put_number(struct weft_text *message, uint32_t number, uint64_t value) {
    put_tag(message, number, VARINT);
    put_varint(message, value);
}

static void put_float(struct weft_text *message, uint32_t number, float value) {
    uint8_t bytes[4];
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    weft_store_bytes(bytes, bits, 4);
    put_tag(message, number, FIXED32);
    weft_text_put(message, bytes, 4);
}

static void put_bytes(struct weft_text *message, uint32_t number, const void *bytes, size_t size) {
    put_tag(message, number, BYTES);
    put_varint(message, size);
    weft_text_put(message, bytes, size);
}

/* A message within a message; clears it. */
static void put_message(struct weft_text *message, uint32_t number, struct weft_text *inner) {
    put_bytes(message, number, inner->data ? inner->data : "", inner->length);
    weft_free(NULL, inner->data);
    *inner = (struct weft_text){0};
}

static void put_piece_of(struct weft_text *model, const char *text, size_t size, float score,
                         uint64_t type) {
    struct weft_text piece = {0};
    put_bytes(&piece, 1, text, size);
    put_float(&piece, 2, score);
    put_number(&piece, 3, type);
    put_message(model, PIECES, &piece);
}

static void put_piece(struct weft_text *model, const char *text, float score, uint64_t type) {
    put_piece_of(model, text, strlen(text), score, type);
}

static void put_base(struct weft_text *model) {
    put_piece(model, "<unk>", 0, WEFT_PIECE_UNKNOWN);
    put_piece(model, "a", -1, WEFT_PIECE_NORMAL);
    put_piece(model, "\xE2\x96\x81", -2, WEFT_PIECE_NORMAL);
    put_piece(model, "ab", -1.5f, WEFT_PIECE_NORMAL);
}

static void put_byte_pieces(struct weft_text *model) {
    for (unsigned byte = 0; byte < 256; byte++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", byte);
        put_piece(model, name, 0, WEFT_PIECE_BYTE);
    }
}

/* Opens the model, which is cleared. */
static weft_status open_model(struct weft_spm_model **model, struct weft_text *bytes,
                              const weft_host *host) {
    uint8_t *copy = weft_alloc(host, bytes->length + 1);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    if (copy) {
        if (bytes->length > 0) {
            memcpy(copy, bytes->data, bytes->length);
        }
        status = weft_spm_model_create(model, copy, bytes->length, "made.model", 1000, host);
    }
    weft_free(NULL, bytes->data);
    *bytes = (struct weft_text){0};
    return status;
}

static void expect_refused(struct weft_test_host *test, struct weft_text *bytes,
                           const char *reason) {
    struct weft_spm_model *model = NULL;
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, open_model(&model, bytes, &test->host), "made.model",
                        reason);
    assert_null(model);
    assert_int_equal(test->live, 0);
}

static struct weft_spm_model *expect_opened(struct weft_test_host *test, struct weft_text *bytes) {
    struct weft_spm_model *model = NULL;
    weft_test_host_reset(test);
    if (open_model(&model, bytes, &test->host) != WEFT_OK) {
        fail_msg("%s", weft_test_log(test));
    }
    return model;
}

struct listed {
    int32_t ids[64];
    uint32_t count;
};

static bool list_piece(void *user, const struct weft_spm_piece *piece) {
    struct listed *listed = user;
    assert_non_null(piece->text);
    assert_true(piece->size > 0);
    assert_true(listed->count < 64);
    listed->ids[listed->count++] = piece->id;
    return true;
}

/* ---- pieces ---- */

static weft_status encode(const struct weft_spm_model *model, const char *text, size_t size,
                          weft_spm_take take, void *user) {
    struct weft_budget budget;
    weft_budget_begin(&budget, WEFT_TEXT_STEPS(size), NULL, &model->host);
    return weft_spm_encode(model, &budget, text, size, false, take, user);
}

WEFT_TEST_ON_HOST(pieces_are_checked_by_number, test) {
    static char large[200001];
    memset(large, 'x', sizeof large - 1);
    const struct {
        const char *text;
        size_t size;
        float score;
        uint64_t type;
        const char *reason;
    } cases[] = {
        {"", 0, 0, 1, "piece 4: expected at least 1 bytes, found 0"},
        {large, 4097, 0, 1, "piece 4: expected at most 4096 bytes, found 4097"},
        {large, 200000, 0, 1, "piece 4: expected at most 4096 bytes, found 200000"},
        {"a", 1, 0, 1, "piece 4: expected a text of its own, found that of piece 1"},
        {"a", 1, 0, 3, "piece 4: expected a text of its own, found that of piece 1"},
        {"\xFF", 1, 0, 1, "piece 4: expected UTF-8 without a zero byte"},
        {"\xE2\x96", 2, 0, 1, "piece 4: expected UTF-8 without a zero byte"},
        {"x\0y", 3, 0, 1, "piece 4: expected UTF-8 without a zero byte"},
        {"x", 1, NAN, 1, "piece 4: score: expected a finite number"},
        {"x", 1, INFINITY, 1, "piece 4: score: expected a finite number"},
        {"x", 1, -INFINITY, 1, "piece 4: score: expected a finite number"},
        {"x", 1, 0, 0, "piece 4: type: expected 1 to 6, found 0"},
        {"x", 1, 0, 7, "piece 4: type: expected 1 to 6, found 7"},
        {"x", 1, 0, UINT64_MAX, "piece 4: type: expected 1 to 6"},
        {"x", 1, 0, 2, "piece 4: type: expected one unknown piece, found another, 0"},
        {"<0x41>", 6, 0, 6, "piece 4: expected no byte piece without trainer_spec.byte_fallback"},
        {"<0x4g>", 6, 0, 6, "piece 4: expected a byte, <0x00> to <0xFF>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weft_text bytes = {0};
        put_base(&bytes);
        put_piece_of(&bytes, cases[i].text, cases[i].size, cases[i].score, cases[i].type);
        expect_refused(test, &bytes, cases[i].reason);
    }
    struct weft_text bytes = {0};
    put_piece(&bytes, "a", -1, WEFT_PIECE_NORMAL);
    expect_refused(test, &bytes, "expected one unknown piece, found none");
    expect_refused(test, &bytes, "expected a SentencePiece model with pieces, found none");
    put_base(&bytes);
    put_piece_of(&bytes, large, 4096, -1, WEFT_PIECE_NORMAL);
    weft_spm_model_destroy(expect_opened(test, &bytes));
}

WEFT_TEST_ON_HOST(byte_pieces_are_all_there_or_none, test) {
    struct weft_text bytes = {0};
    struct weft_text trainer = {0};
    put_base(&bytes);
    put_byte_pieces(&bytes);
    put_number(&trainer, 35, 1);
    put_message(&bytes, TRAINER, &trainer);
    struct weft_spm_model *model = expect_opened(test, &bytes);
    struct listed listed = {0};
    assert_ok(encode(model, "a\xC3\xA9", 3, list_piece, &listed));
    static const int32_t expected[] = {2, 1, 4 + 0xC3, 4 + 0xA9};
    assert_int_equal(listed.count, 4);
    assert_memory_equal(listed.ids, expected, sizeof expected);
    weft_spm_model_destroy(model);

    put_base(&bytes);
    put_piece(&bytes, "<0x00>", 0, WEFT_PIECE_BYTE);
    put_number(&trainer, 35, 1);
    put_message(&bytes, TRAINER, &trainer);
    expect_refused(test, &bytes, "byte_fallback: expected 256 byte pieces, found no <0x01>");
}

/* ---- fields ---- */

/* A field of a message in another wire type than its own. */
static void put_wrong(struct weft_text *message, uint32_t number, unsigned own_wire) {
    if (own_wire == BYTES) {
        put_number(message, number, 1);
    } else {
        put_bytes(message, number, "\1", 1);
    }
}

WEFT_TEST_ON_HOST(fields_of_another_type_are_refused_by_name, test) {
    static const struct {
        uint32_t message; /* 0: of the model itself */
        uint32_t number;
        unsigned wire;
        const char *name;
    } cases[] = {
        {0, PIECES, BYTES, ": pieces: expected wire type 2, found 0"},
        {0, TRAINER, BYTES, ": trainer_spec: "},
        {0, NORMALIZER, BYTES, ": normalizer_spec: "},
        {0, DENORMALIZER, BYTES, ": denormalizer_spec: "},
        {PIECES, 1, BYTES, "piece 4: piece: "},
        {PIECES, 2, FIXED32, "piece 4: score: expected wire type 5, found 2"},
        {PIECES, 3, VARINT, "piece 4: type: expected wire type 0, found 2"},
        {TRAINER, 3, VARINT, "trainer_spec.model_type: "},
        {TRAINER, 24, VARINT, "trainer_spec.treat_whitespace_as_suffix: "},
        {TRAINER, 35, VARINT, "trainer_spec.byte_fallback: "},
        {TRAINER, 44, BYTES, "trainer_spec.unk_surface: "},
        {NORMALIZER, 2, BYTES, " normalizer_spec.precompiled_charsmap: "},
        {NORMALIZER, 3, VARINT, " normalizer_spec.add_dummy_prefix: "},
        {NORMALIZER, 4, VARINT, " normalizer_spec.remove_extra_whitespaces: "},
        {NORMALIZER, 5, VARINT, " normalizer_spec.escape_whitespaces: "},
        {DENORMALIZER, 2, BYTES, " denormalizer_spec.precompiled_charsmap: "},
        {DENORMALIZER, 3, VARINT, " denormalizer_spec.add_dummy_prefix: "},
        {DENORMALIZER, 4, VARINT, " denormalizer_spec.remove_extra_whitespaces: "},
        {DENORMALIZER, 5, VARINT, " denormalizer_spec.escape_whitespaces: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weft_text bytes = {0};
        put_base(&bytes);
        if (cases[i].message == 0) {
            put_wrong(&bytes, cases[i].number, cases[i].wire);
        } else {
            struct weft_text message = {0};
            put_wrong(&message, cases[i].number, cases[i].wire);
            put_message(&bytes, cases[i].message, &message);
        }
        expect_refused(test, &bytes, cases[i].name);
    }
}

WEFT_TEST_ON_HOST(values_of_the_trainer_are_checked, test) {
    static const uint64_t types[] = {0, 5, UINT64_MAX};
    struct weft_text bytes = {0};
    struct weft_text trainer = {0};
    for (size_t i = 0; i < 3; i++) {
        put_base(&bytes);
        put_number(&trainer, 3, types[i]);
        put_message(&bytes, TRAINER, &trainer);
        expect_refused(test, &bytes, "trainer_spec.model_type: expected 1 to 4, found");
    }
    static const char *const surfaces[] = {"\xFF", "x\0y"};
    for (size_t i = 0; i < 2; i++) {
        put_base(&bytes);
        put_bytes(&trainer, 44, surfaces[i], i == 0 ? 1 : 3);
        put_message(&bytes, TRAINER, &trainer);
        expect_refused(test, &bytes, "trainer_spec.unk_surface: expected at most 4096 bytes");
    }
}

/* Fields that no version has are skipped, a field that comes twice counts as it was last. */
WEFT_TEST_ON_HOST(unknown_fields_are_skipped, test) {
    struct weft_text bytes = {0};
    struct weft_text trainer = {0};
    put_base(&bytes);
    put_number(&bytes, 200, UINT64_MAX);
    put_bytes(&bytes, 0x1FFFFFFF, "anything", 8);
    put_tag(&bytes, 7, FIXED64);
    weft_text_put(&bytes, "12345678", 8);
    put_float(&bytes, 4, 1);
    put_bytes(&trainer, 44, "one", 3);
    put_message(&bytes, TRAINER, &trainer);
    put_bytes(&trainer, 44, "two", 3);
    put_number(&trainer, 777, 1);
    put_message(&bytes, TRAINER, &trainer);
    struct weft_spm_model *model = expect_opened(test, &bytes);
    struct weft_text text = {.host = test->host};
    assert_ok(weft_spm_decode(model, (const int32_t[]){1, 0, 3}, 3, &text));
    assert_string_equal(text.data, "atwoab");
    weft_free(&test->host, text.data);
    weft_spm_model_destroy(model);
}

WEFT_TEST_ON_HOST(other_contents_are_no_model, test) {
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {"\x80", 1},                   /* a cut tag */
        {"\x0B", 1},                   /* a group begins */
        {"\x0C", 1},                   /* a group ends */
        {"\x0E\1", 2},                 /* wire type 6 */
        {"\x02\0", 2},                 /* field 0 */
        {"\xF8\xFF\xFF\xFF\x7F\1", 6}, /* a field number of 32 bits */
        {"\x0A\x05"
         "abc",
         5},                                                        /* a piece that is cut */
        {"\x0A\x02\x0A\x05", 4},                                    /* a text in it */
        {"\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11},       /* a piece of 2^64 - 1 bytes */
        {"\xC0\x0C\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1", 13}, /* a number of 11 bytes */
        {"\x25"
         "abc",
         4}, /* four bytes that are three */
        {"\x21"
         "abcdefg",
         8},                 /* eight bytes that are seven */
        {"\x12\x01\x80", 3}, /* within the trainer */
        {"\x1A\x01\x80", 3}, /* within the normalizer */
        {"\x2A\x01\x80", 3}, /* within the denormalizer */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weft_text bytes = {0};
        put_base(&bytes);
        weft_text_put(&bytes, cases[i].bytes, cases[i].size);
        expect_refused(test, &bytes, "expected a SentencePiece model, found other contents");
    }
}

/* ---- rules ---- */

#define HAS_VALUE 0x100u
#define IS_VALUE  0x80000000u

/* A trie of units, each node at a multiple of 256. */
struct trie {
    uint32_t *units;
    size_t count;
};

static struct trie make_trie(size_t nodes) {
    struct trie trie = {.count = 256 * (nodes + 1)};
    trie.units = calloc(trie.count, sizeof *trie.units);
    assert_non_null(trie.units);
    trie.units[0] = 256u << 10; /* the root is node 1 */
    return trie;
}

static void link_nodes(struct trie *trie, size_t from, uint8_t byte, size_t to, int64_t value) {
    const uint32_t place = (uint32_t)(256 * from) ^ byte;
    const uint32_t offset = place ^ (uint32_t)(256 * to);
    trie->units[place] = byte | offset << 10 | (value >= 0 ? HAS_VALUE : 0);
    if (value >= 0) {
        trie->units[256 * to] = IS_VALUE | (uint32_t)value;
    }
}

/* Puts the model's rules into that spec; the trie is freed. */
static void put_rules(struct weft_text *model, uint32_t spec, struct trie trie, const char *texts,
                      size_t texts_size) {
    struct weft_text rules = {0};
    uint8_t bytes[4];
    weft_store_bytes(bytes, 4 * trie.count, 4);
    weft_text_put(&rules, bytes, 4);
    for (size_t i = 0; i < trie.count; i++) {
        weft_store_bytes(bytes, trie.units[i], 4);
        weft_text_put(&rules, bytes, 4);
    }
    weft_text_put(&rules, texts, texts_size);
    free(trie.units);
    struct weft_text message = {0};
    put_message(&message, 2, &rules);
    put_message(model, spec, &message);
}

/* z, zz, zzz and so on, each of which becomes the text at 0. */
static struct trie make_chain(size_t depth, size_t values) {
    struct trie trie = make_trie(depth + 1);
    for (size_t i = 0; i < depth; i++) {
        link_nodes(&trie, i + 1, 'z', i + 2, i < values ? 0 : -1);
    }
    return trie;
}

static void expect_rules_refused(struct weft_test_host *test, struct trie trie, const char *texts,
                                 size_t texts_size, const char *reason) {
    static const char *const names[] = {
        [NORMALIZER] = " normalizer_spec", [DENORMALIZER] = " denormalizer_spec"};
    for (uint32_t spec = NORMALIZER; spec <= DENORMALIZER; spec += DENORMALIZER - NORMALIZER) {
        struct weft_text bytes = {0};
        struct trie copy = {malloc(4 * trie.count + 1), trie.count};
        assert_non_null(copy.units);
        memcpy(copy.units, trie.units, 4 * trie.count);
        put_base(&bytes);
        put_rules(&bytes, spec, copy, texts, texts_size);
        expect_refused(test, &bytes,
                       weft_test_text("%s.precompiled_charsmap: expected %s", names[spec], reason));
    }
    free(trie.units);
}

WEFT_TEST_ON_HOST(at_most_32_rules_begin_a_text, test) {
    expect_rules_refused(test, make_chain(60, 60), "q", 2, "at most 32 values on one path");
    expect_rules_refused(test, make_chain(33, 33), "q", 2, "at most 32 values on one path");
    expect_rules_refused(test, make_chain(1025, 0), "q", 2,
                         "rules that replace at most 1024 bytes");
    struct weft_text bytes = {0};
    put_base(&bytes);
    put_rules(&bytes, NORMALIZER, make_chain(60, 32), "q", 2);
    struct weft_spm_model *model = expect_opened(test, &bytes);
    model->normalizer.add_dummy_prefix = false;
    static const char text[] = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz-z"; /* 40, and one */
    struct weft_text normal = {.host = test->host};
    assert_ok(weft_spm_normalize(&normal, NULL, &model->normalizer, text, strlen(text), 100, NULL));
    assert_string_equal(normal.data, "qq-q");
    weft_free(&test->host, normal.data);
    weft_spm_model_destroy(model);
}

/* Nodes may be shared, as those of the library's tries are: the longest way counts, by which one is there first or last. */
WEFT_TEST_ON_HOST(shared_nodes_count_for_every_way_to_them, test) {
    for (int round = 0; round < 2; round++) {
        const uint8_t byte = round == 0 ? 'a' : 'z';
        struct trie trie = make_trie(36);
        link_nodes(&trie, 1, round == 0 ? 'z' : 'a', 10, -1); /* 25 values from here on */
        for (size_t i = 10; i < 35; i++) {
            link_nodes(&trie, i, 'c', i + 1, 0);
        }
        link_nodes(&trie, 1, byte, 2, 0);
        for (size_t i = 2; i < 9; i++) {
            link_nodes(&trie, i, 'c', i + 1, 0);
        }
        link_nodes(&trie, 9, 'c', 10, -1); /* 8 and 25 are 33 */
        expect_rules_refused(test, trie, "q", 2, "at most 32 values on one path");
    }
}

WEFT_TEST_ON_HOST(tries_that_lead_outside_or_in_circles_are_refused, test) {
    struct trie trie = make_trie(1);
    trie.units[0] = 0x1FFFFFu << 10 | 1u << 9; /* cases/spm/denormalizer.model */
    expect_rules_refused(test, trie, "x", 2, "a sound trie");

    trie = make_trie(2);
    trie.units[256 | 'z'] = 'z' | 0x1FFFFFu << 10; /* the child */
    expect_rules_refused(test, trie, "x", 2, "a sound trie");

    trie = make_trie(2);
    link_nodes(&trie, 1, 'z', 2, 600); /* cases/spm/leak.py 600 */
    expect_rules_refused(test, trie, "x", 2, "a sound trie");

    trie = make_trie(3);
    link_nodes(&trie, 1, 'x', 2, -1);
    link_nodes(&trie, 2, 'y', 3, -1);
    link_nodes(&trie, 3, 'z', 2, -1);
    expect_rules_refused(test, trie, "x", 2, "a sound trie");

    trie = make_trie(1);
    link_nodes(&trie, 1, 'x', 1, -1);
    expect_rules_refused(test, trie, "x", 2, "a sound trie");
    trie = make_trie(1);
    trie.count = 0;
    expect_rules_refused(test, trie, "x", 2, "a sound trie");
}

WEFT_TEST_ON_HOST(targets_of_rules_are_utf8_with_a_zero_behind, test) {
    static char large[4098];
    memset(large, 'x', sizeof large - 1);
    struct {
        const char *texts;
        size_t size;
        int64_t value;
        const char *reason;
    } cases[] = {
        {"xy", 2, 0, "a sound trie"}, /* no zero */
        {"\xFF", 2, 0, "targets that are UTF-8"},
        {"a\0\xC3", 4, 0, "targets that are UTF-8"},
        {"\xC3\xA9", 3, 1, "targets that are UTF-8, found one that begins within a character"},
        {large, 4098, 0, "targets of at most 4096 bytes"},
        {"x", 2, 2, "a sound trie"}, /* behind the end */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trie trie = make_trie(2);
        link_nodes(&trie, 1, 'z', 2, cases[i].value);
        expect_rules_refused(test, trie, cases[i].texts, cases[i].size, cases[i].reason);
    }
    static const struct {
        const char *bytes;
        size_t size;
    } cut[] = {{"\0", 1}, {"\4\0\0\0", 4}, {"\xFF\xFF\xFF\xFFxxxx", 9}, {"\0\0\0\0x", 6}};
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        struct weft_text bytes = {0};
        struct weft_text message = {0};
        put_base(&bytes);
        put_bytes(&message, 2, cut[i].bytes, cut[i].size);
        put_message(&bytes, DENORMALIZER, &message);
        expect_refused(test, &bytes, "denormalizer_spec.precompiled_charsmap: expected a sound");
    }
}

WEFT_TEST_ON_HOST(normal_forms_have_a_limit, test) {
    struct weft_text bytes = {0};
    struct trie trie = make_trie(2);
    link_nodes(&trie, 1, 'z', 2, 0);
    put_base(&bytes);
    put_rules(&bytes, NORMALIZER, trie, "0123456789", 11);
    struct weft_spm_model *model = expect_opened(test, &bytes);
    struct weft_text normal = {.host = test->host};
    assert_ok(weft_spm_normalize(&normal, NULL, &model->normalizer, "zzz", 3, 36, NULL));
    assert_int_equal(normal.length, 33);
    normal.length = 0;
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT,
                        weft_spm_normalize(&normal, NULL, &model->normalizer, "zzz", 3, 35, NULL),
                        "text: expected at most 35 bytes after normalization");
    weft_free(&test->host, normal.data);
    weft_spm_model_destroy(model);
}

/* ---- damage ---- */

/* Opens and uses a model; whether it was sound. */
static bool use_bytes(const uint8_t *bytes, size_t size, struct weft_test_host *test) {
    static const char text[] =
        "the \xEF\xBC\xA1 1,000, \xC2\xBD weaver\xE2\x96\x81 \xEF\xAC\x81 x\xFF<xy>";
    struct weft_text copy = {0};
    if (size > 0) {
        weft_text_put(&copy, bytes, size);
    }
    struct weft_spm_model *model = NULL;
    weft_test_host_reset(test);
    const weft_status status = open_model(&model, &copy, &test->host);
    if (status != WEFT_OK) {
        assert_status(status, WEFT_BAD_FILE);
        weft_test_expect_log(test, "error: made.model");
        assert_int_equal(weft_test_log_count(test, "error"), 1);
    } else {
        struct listed listed = {0};
        assert_ok(encode(model, text, sizeof text - 1, list_piece, &listed));
        int32_t ids[256];
        for (uint32_t i = 0; i < 256; i++) {
            ids[i] = i < listed.count ? listed.ids[i] : (int32_t)(i % model->vocabulary.count);
        }
        struct weft_text decoded = {.host = test->host};
        assert_ok(weft_spm_decode(model, ids, 256, &decoded));
        weft_free(&test->host, decoded.data);
        weft_spm_model_destroy(model);
    }
    assert_int_equal(test->live, 0);
    return status == WEFT_OK;
}

static void damage(const char *name, struct weft_test_host *test) {
    char *path = weft_test_data(weft_test_text("tokenizer/models/%s.model", name));
    size_t size = 0;
    uint8_t *bytes = weft_test_read(path, &size);
    assert_true(use_bytes(bytes, size, test));
    unsigned refused = 0;
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= (uint8_t)(1u << at % 8);
        refused += !use_bytes(bytes, size, test);
        bytes[at] ^= (uint8_t)(1u << at % 8);
        refused += !use_bytes(bytes, at, test);
    }
    assert_true(refused > size / 2);
    for (uint64_t round = 0; round < 1000; round++) {
        size_t mutated_size = 0;
        uint8_t *mutated = weft_test_mutate(bytes, size, 5, round, &mutated_size);
        (void)use_bytes(mutated, mutated_size, test);
        free(mutated);
    }
    free(bytes);
}

WEFT_TEST_ON_HOST(damaged_models_are_refused_or_work, test) {
    damage("unigram-back", test);
    damage("bpe-unused", test);
    damage("word-user", test);
    damage("char-user", test);
}

/* ---- memory and length ---- */

static bool take_any(void *user, const struct weft_spm_piece *piece) {
    *(size_t *)user += piece->size;
    return true;
}

WEFT_TEST_ON_HOST(every_failing_allocation_is_survived, test) {
    static const char *const names[] = {"unigram-back", "bpe-user-bytes", "bpe-unused",
                                        "char-user"};
    static const char text[] = "the weaver\xFF holds  the warp \xE6\x97\xA5 the end";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = weft_test_data(weft_test_text("tokenizer/models/%s.model", names[i]));
        weft_status status = WEFT_OUT_OF_HOST_MEMORY;
        weft_test_host_reset(test);
        test->failures = 0;
        while (weft_test_next_failure(test, status)) {
            weft_tokenizer *tokenizer = NULL;
            int32_t *ids = NULL;
            uint32_t count = 0;
            char *back = NULL;
            size_t size = 0;
            status = weft_tokenizer_open_pieces(&tokenizer, path, 1000, &test->host);
            if (status == WEFT_OK) {
                status = weft_tokenizer_encode_ids(tokenizer, text, sizeof text - 1, true, 512,
                                                   &ids, &count);
            }
            if (status == WEFT_OK) {
                status = weft_tokenizer_decode(tokenizer, ids, count, &back, &size);
            }
            if (status != WEFT_OK) {
                weft_test_expect_log(test, "out of memory");
                assert_null(back);
            }
            weft_free(&test->host, back);
            weft_free(&test->host, ids);
            weft_tokenizer_destroy(&tokenizer);
            assert_int_equal(test->live, 0);
        }
        assert_true(test->failures >= 15);
    }
}

/* A megabyte of one letter and pieces of all lengths: what is quadratic would take hours. */
WEFT_TEST_ON_HOST(long_texts_take_time_in_proportion, test) {
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    memset(text, 'a', SIZE);
    static char piece[4096];
    memset(piece, 'a', sizeof piece);
    for (uint64_t type = WEFT_SPM_UNIGRAM; type <= WEFT_SPM_CHAR; type++) {
        struct weft_text bytes = {0};
        struct weft_text trainer = {0};
        put_base(&bytes);
        for (size_t size = 2; size <= 64; size++) {
            put_piece_of(&bytes, piece, size, -(float)size, WEFT_PIECE_NORMAL);
        }
        put_number(&trainer, 3, type);
        put_message(&bytes, TRAINER, &trainer);
        struct weft_spm_model *model = expect_opened(test, &bytes);
        size_t taken = 0;
        assert_ok(encode(model, text, SIZE, take_any, &taken));
        assert_int_equal(taken, SIZE + 3);
        weft_spm_model_destroy(model);
    }
    free(text);
}
