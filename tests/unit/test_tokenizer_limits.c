/* SPDX-License-Identifier: MIT */
/* weft-test: long */
/*
 * What a stranger's tokenizer.json may give and cost: tokens within their text, at most as many as asked for, steps and memory
 * in proportion to text and file.
 */
#include <time.h>

#include "support.h"
#include "tokenizer/budget.h"
#include "tokenizer/json/json_tokenizer.h"
#include "tokenizer/ration.h"
#include "tokenizer/vocabulary.h"

/* Of processor time: what takes longer hangs. What bounds it is the budget, which is asserted by what is refused. */
#define SECONDS 60.0

#define MODEL                                                              \
    "\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"<unk>\":0,\"a\":1,\" " \
    "\":2,\"b\":3},\"unk_token\":\"<unk>\"}"
#define SPLIT(p)                                      \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" p \
    "\"},\"behavior\":\"Isolated\",\"invert\":false}"
#define GROWS                                                           \
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":" \
    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}"
#define ADDED(text, more) "{\"id\":2,\"content\":\"" text "\",\"normalized\":" more "}"

/* ---- a host that counts bytes, and that may want an end ---- */

struct counter {
    struct weft_test_host *test;
    size_t live, peak;
    unsigned asked;  /* whether the call shall end */
    unsigned end_at; /* the answer to which is yes; 0: none */
};

union block {
    size_t size;
    max_align_t alignment;
};

static void *count(void *user, void *pointer, size_t size) {
    struct counter *counter = user;
    union block *old = pointer ? (union block *)pointer - 1 : NULL;
    counter->live -= old ? old->size : 0;
    if (size == 0) {
        weft_free(&counter->test->host, old);
        return NULL;
    }
    union block *block = weft_realloc(&counter->test->host, old, sizeof *block + size);
    if (!block) {
        counter->live += old ? old->size : 0;
        return NULL;
    }
    block->size = size;
    counter->live += size;
    counter->peak = counter->live > counter->peak ? counter->live : counter->peak;
    return block + 1;
}

static bool is_interrupted(void *user) {
    struct counter *counter = user;
    return ++counter->asked == counter->end_at;
}

static weft_host host_of(struct counter *counter) {
    weft_host host = counter->test->host;
    host.reallocate = count;
    host.allocator_user = counter;
    host.interrupted = is_interrupted;
    host.interrupted_user = counter;
    return host;
}

/* ---- texts ---- */

static void put(struct weft_text *text, const char *part) {
    weft_text_put(text, part, strlen(part));
}

static void put_times(struct weft_text *text, const char *part, const char *between, size_t times) {
    for (size_t i = 0; i < times; i++) {
        put(text, i > 0 ? between : "");
        put(text, part);
    }
}

/* `before`, then `part` so many times, then `after`. */
static char *built(const char *before, const char *part, const char *between, size_t times,
                   const char *after) {
    struct weft_text text = {0};
    put(&text, before);
    put_times(&text, part, between, times);
    put(&text, after);
    return weft_text_take(&text);
}

static struct weft_json_tokenizer *open(const weft_host *host, const char *json) {
    struct weft_json_tokenizer *tokenizer = NULL;
    assert_ok(weft_json_tokenizer_create(&tokenizer, json, strlen(json), "t.json", host));
    return tokenizer;
}

/* ---- tokens within the text ---- */

struct expected {
    int32_t id;
    uint32_t begin, end;
};

/* BPE with all bytes, a, b and an affix. */
static char *pairs_with(const char *affix) {
    struct weft_text text = {0};
    put(&text, "{\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"model\":{\"type\":\"BPE\","
               "\"byte_fallback\":true,\"unk_token\":\"?\",\"merges\":[],");
    put(&text, affix);
    put(&text, "\"vocab\":{\"?\":256,\"a\":257,\"##b\":258,\"b</w>\":259");
    for (unsigned byte = 0; byte < 256; byte++) {
        weft_text_add(&text, ",\"<0x%02X>\":%u", byte, byte);
    }
    put(&text, "}}}");
    return weft_text_take(&text);
}

static void expect_tokens(struct weft_test_host *test, const char *affix, const char *text,
                          const struct expected *expected, uint32_t expected_count) {
    char *json = pairs_with(affix);
    struct weft_json_tokenizer *tokenizer = open(&test->host, json);
    struct weft_token_list list = {.host = test->host};
    for (unsigned round = 0; round < 2; round++) { /* the second finds words that it knows */
        list.count = 0;
        assert_ok(weft_json_tokenizer_encode(tokenizer, &list, text, strlen(text)));
        assert_int_equal(list.count, expected_count);
        for (uint32_t i = 0; i < list.count; i++) {
            assert_int_equal(list.tokens[i].id, expected[i].id);
            assert_int_equal(list.tokens[i].begin, expected[i].begin);
            assert_int_equal(list.tokens[i].end, expected[i].end);
        }
    }
    weft_free(&test->host, list.tokens);
    weft_json_tokenizer_destroy(tokenizer);
    free(json);
}

/*
 * Ids by tokenizers 0.23. It counts a byte of the word for each byte of the affix: where that is in the word, so are our places;
 * behind the word it gives places behind the text, where ours are the word's last character.
 */
WEFT_TEST_ON_HOST(bytes_of_an_affix_stand_within_the_word, test) {
    static const struct expected suffixed[] = {{97, 0, 1}, {60, 0, 1},  {47, 0, 1},  {119, 0, 1},
                                               {62, 0, 1}, {195, 2, 4}, {169, 2, 4}, {60, 2, 4},
                                               {47, 2, 4}, {119, 2, 4}, {62, 2, 4}};
    static const struct expected prefixed[] = {{257, 0, 1}, {35, 1, 3},  {35, 1, 3},
                                               {195, 3, 4}, {169, 3, 4}, {258, 3, 4}};
    static const struct expected known[] = {{257, 0, 1}, {195, 1, 3}, {169, 1, 3}, {259, 3, 4}};
    expect_tokens(test, "\"end_of_word_suffix\":\"</w>\",", "a \xC3\xA9", suffixed, 11);
    expect_tokens(test, "\"continuing_subword_prefix\":\"##\",",
                  "a\xC3\xA9"
                  "b",
                  prefixed, 6);
    expect_tokens(test, "\"end_of_word_suffix\":\"</w>\",",
                  "a\xC3\xA9"
                  "b",
                  known, 4);
}

WEFT_TEST_ON_HOST(long_affixes_stand_within_the_text, test) {
    static const char *const names[] = {"end_of_word_suffix", "continuing_subword_prefix"};
    for (size_t i = 0; i < 2; i++) {
        char *affix = built("\"", names[i], "", 1, "\":\"");
        char *field = built(affix, "s", "", 20000, "\",");
        char *json = pairs_with(field);
        struct weft_json_tokenizer *tokenizer = open(&test->host, json);
        struct weft_token_list list = {.host = test->host};
        assert_ok(weft_json_tokenizer_encode(tokenizer, &list, "x\xC3\xA9", 3));
        assert_int_equal(list.count, 20003);
        for (uint32_t k = 0; k < list.count; k++) {
            assert_true(list.tokens[k].begin <= list.tokens[k].end && list.tokens[k].end <= 3);
        }
        weft_free(&test->host, list.tokens);
        weft_json_tokenizer_destroy(tokenizer);
        free(json);
        free(field);
        free(affix);
    }
}

/* ---- what any encoding holds ---- */

static weft_status make(struct weft_test_host *test, struct weft_token token, size_t size,
                        struct weft_template_item item) {
    struct weft_template_item items[2] = {{.is_text = true}, item};
    const struct weft_templates templates = {.single = {items, 2}, .pair = {items, 2}};
    const struct weft_token_list lists[2] = {
        {.host = test->host, .tokens = &token, .count = 1, .size = size}, {.host = test->host}};
    struct weft_encoded encoded = {0};
    const weft_status status = weft_encoded_make(&encoded, &templates, lists, false, false, 10);
    weft_encoded_clear(&encoded, &test->host);
    return status;
}

WEFT_TEST_ON_HOST(no_encoding_holds_what_is_not_in_its_text, test) {
    const struct weft_template_item special = {.token = 7};
    assert_ok(make(test, (struct weft_token){3, 1, 5}, 5, special));
    assert_ok(make(test, (struct weft_token){3, 5, 5}, 5, special));
    const struct weft_token wrong[] = {{3, 1, 6}, {3, 4, 3}, {-1, 0, 1}, {3, UINT32_MAX, 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, make(test, wrong[i], 5, special),
                            "expected tokens within the text of 5 bytes");
    }
    const struct weft_template_item odd[] = {
        {.token = -1}, {.token = 7, .type = -1}, {.is_text = true, .sequence = 1}};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                            make(test, (struct weft_token){3, 1, 5}, 5, odd[i]), "a template");
    }
}

/* A template of texts, "AAB", with which lists of so many tokens become an encoding. */
static void expect_kept(struct weft_test_host *test, const char *names,
                        enum weft_truncation_strategy strategy, const uint32_t lengths[2],
                        uint32_t maximum, uint32_t first, uint32_t second) {
    struct weft_template_item items[64] = {{0}};
    struct weft_token tokens[64] = {{0}};
    const uint32_t named = (uint32_t)strlen(names);
    uint32_t counts[2] = {0};
    for (uint32_t i = 0; i < named; i++) {
        items[i] = (struct weft_template_item){.is_text = true, .sequence = names[i] == 'B'};
    }
    const bool is_pair = strchr(names, 'B') != NULL;
    const struct weft_templates templates = {
        .single = {items, named}, .pair = {items, named}, .truncation = {.strategy = strategy}};
    const struct weft_token_list lists[2] = {
        {.host = test->host, .tokens = tokens, .count = lengths[0], .size = 1},
        {.host = test->host, .tokens = tokens, .count = lengths[1], .size = 1}};
    struct weft_encoded made = {0};
    assert_ok(weft_encoded_make(&made, &templates, lists, is_pair, false, maximum));
    assert_true(made.count <= maximum);
    for (uint32_t i = 0; i < made.count; i++) {
        counts[made.sequences[i]]++;
    }
    assert_int_equal(counts[0], first);
    assert_int_equal(counts[1], second);
    weft_encoded_clear(&made, &test->host);
}

WEFT_TEST_ON_HOST(texts_that_are_named_again_count_again, test) {
    const uint32_t both[2] = {6, 3};
    expect_kept(test, "AA", WEFT_TRUNCATE_LONGEST, both, 12, 12, 0); /* as the package */
    expect_kept(test, "AA", WEFT_TRUNCATE_LONGEST, both, 11, 10, 0); /* which gives 22 */
    expect_kept(test, "AA", WEFT_TRUNCATE_LONGEST, both, 1, 0, 0);
    expect_kept(test, "AA", WEFT_TRUNCATE_FIRST, both, 11, 10, 0);
    expect_kept(test, "AAB", WEFT_TRUNCATE_LONGEST, both, 15, 12, 3);
    expect_kept(test, "AAB", WEFT_TRUNCATE_LONGEST, both, 14, 10, 3);
    expect_kept(test, "AAB", WEFT_TRUNCATE_LONGEST, both, 5, 2, 1);
    expect_kept(test, "ABB", WEFT_TRUNCATE_SECOND, both, 10, 6, 4);
    expect_kept(test, "ABAB", WEFT_TRUNCATE_FIRST, both, 9, 2, 6);
    expect_kept(test, "AB", WEFT_TRUNCATE_LONGEST, both, 7, 4, 3);
}

/* ---- what it costs ---- */

struct cost {
    const char *name;
    char *json;
    char *text;
    weft_status load, encode;
};

static void clear(struct cost *cost) {
    free(cost->json);
    free(cost->text);
}

static void expect_cost(struct weft_test_host *test, const struct cost *cost) {
    struct counter counter = {.test = test};
    const weft_host host = host_of(&counter);
    const size_t file = strlen(cost->json);
    const size_t size = strlen(cost->text);
    struct weft_json_tokenizer *tokenizer = NULL;
    const clock_t begin = clock();
    weft_test_host_reset(test);
    weft_status status = weft_json_tokenizer_create(&tokenizer, cost->json, file, "t.json", &host);
    if (status != cost->load) {
        fail_msg("%s: load: %s: %s", cost->name, weft_status_name(status), weft_test_log(test));
    }
    assert_true(counter.peak <= WEFT_RATION_LEAST + file * WEFT_FILE_RATION + 65536);
    if (tokenizer) {
        struct weft_token_list list = {.host = test->host};
        counter.peak = 0;
        const size_t kept = counter.live;
        status = weft_json_tokenizer_encode(tokenizer, &list, cost->text, size);
        if (status != cost->encode) {
            fail_msg("%s: %s: %s", cost->name, weft_status_name(status), weft_test_log(test));
        }
        assert_true(counter.peak <= kept + WEFT_RATION_LEAST + size * WEFT_TEXT_RATION + 65536);
        weft_free(&test->host, list.tokens);
    }
    weft_json_tokenizer_destroy(tokenizer);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > SECONDS) {
        fail_msg("%s: %.1f s", cost->name, seconds);
    }
    if (status != WEFT_OK) {
        weft_test_expect_log(test, cost->load != WEFT_OK ? "t.json" : "text", "found");
    }
    assert_int_equal(counter.live, 0);
}

static void expect_costs(struct weft_test_host *test, struct cost *costs, size_t count_of) {
    for (size_t i = 0; i < count_of; i++) {
        expect_cost(test, &costs[i]);
        clear(&costs[i]);
    }
}

#define COSTS(test, costs) expect_costs(test, costs, sizeof costs / sizeof costs[0])

static char *with_split(const char *pattern) {
    return weft_strdup(NULL,
                       weft_test_text("{\"pre_tokenizer\":" SPLIT("%s") "," MODEL "}", pattern));
}

/* A class in another, so many times, without regard to case. */
static char *nested(unsigned depth) {
    struct weft_text pattern = {0};
    put(&pattern, "(?i)");
    put_times(&pattern, "[", "", depth);
    put(&pattern, "\xC3\xA9");
    put_times(&pattern, "]", "", depth);
    char *json = with_split(pattern.data);
    weft_free(NULL, pattern.data);
    return json;
}

WEFT_TEST_ON_HOST(patterns_cost_what_their_size_allows, test) {
    char *empty = built(
        "{\"pre_tokenizer\":",
        SPLIT(
            "(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?!)"),
        "", 1, "," MODEL "}");
    char *parts = built(
        "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT(".") ",",
        SPLIT(
            "(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?:|)(?!)"),
        ",", 250, "]}," MODEL "}");
    char *ands = built("{\"pre_tokenizer\":{\"type\":\"Split\",\"behavior\":\"Isolated\","
                       "\"pattern\":{\"Regex\":\"[",
                       "&&", "", 8000, "a]\"}}," MODEL "}");
    char *ranges = built("{\"pre_tokenizer\":{\"type\":\"Split\",\"behavior\":\"Isolated\","
                         "\"pattern\":{\"Regex\":\"[",
                         "\xC3\xA0-\xC3\xBF", "", 3000, "]+\"}}," MODEL "}");
    char *again = built("{\"pre_tokenizer\":{\"type\":\"Split\",\"behavior\":\"Isolated\","
                        "\"pattern\":{\"Regex\":\"(?:(?:a",
                        "()", "", 7000, "){1000}){19}\"}}," MODEL "}");
    struct cost costs[] = {
        {"nested 24", nested(24), weft_strdup(NULL, "\xC3\x89"), WEFT_OK, WEFT_OK},
        {"nested 14", nested(14), weft_strdup(NULL, "a"), WEFT_OK, WEFT_OK},
        {"and", ands, built("", "\xC3\xA9", "", 1000, ""), WEFT_OK, WEFT_OK},
        {"empty groups", empty, built("", "a", "", 300, ""), WEFT_OK, WEFT_INVALID_ARGUMENT},
        {"parts", parts, weft_strdup(NULL, "aaaaaaaaaaaaaaaaaaaa"), WEFT_OK, WEFT_INVALID_ARGUMENT},
        {"ranges", ranges, built("", "\xE7\xB9\x94", "", 100000, ""), WEFT_OK,
         WEFT_INVALID_ARGUMENT},
        {"emitted again", again, weft_strdup(NULL, "a"), WEFT_BAD_FILE, WEFT_OK},
    };
    COSTS(test, costs);
}

WEFT_TEST_ON_HOST(steps_that_multiply_cost_what_the_size_allows, test) {
    const char *grows = "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[";
    struct cost costs[] = {
        {"replace", built(grows, GROWS, ",", 8, "]}," MODEL "}"), weft_strdup(NULL, "a"), WEFT_OK,
         WEFT_INVALID_ARGUMENT},
        {"replace, long", built(grows, GROWS, ",", 8, "]}," MODEL "}"),
         built("", "a", "", 100000, ""), WEFT_OK, WEFT_INVALID_ARGUMENT},
        {"added",
         built(grows, GROWS, ",", 8, "]},\"added_tokens\":[" ADDED("a", "true") "]," MODEL "}"),
         weft_strdup(NULL, "b"), WEFT_BAD_FILE, WEFT_OK},
        {"slow",
         built("{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" GROWS "," GROWS ",",
               "{\"type\":\"NFKC\"}", ",", 250, "]}," MODEL "}"),
         built("", "a", "", 20, ""), WEFT_OK, WEFT_INVALID_ARGUMENT},
        {"bytes",
         built("{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[",
               "{\"type\":\"ByteLevel\",\"use_regex\":false}", ",", 60, "]}," MODEL "}"),
         weft_strdup(NULL, "\xC3\xA9"), WEFT_OK, WEFT_INVALID_ARGUMENT},
        {"marks", built(grows, "{\"type\":\"NFC\"}", ",", 20, "]}," MODEL "}"),
         built("a", "\xCC\x81\xCC\xA7", "", 50000, ""), WEFT_OK, WEFT_OK},
    };
    COSTS(test, costs);
}

WEFT_TEST_ON_HOST(tokens_that_are_looked_for_cost_what_the_size_allows, test) {
    const char *space =
        "{\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Whitespace\"},"
        "\"added_tokens\":[{\"id\":2,\"content\":\" "
        "\",\"rstrip\":true,\"normalized\":false}]," MODEL "}";
    struct cost costs[] = {
        {"spaces", weft_strdup(NULL, space), built("", " ", "", 16000, "a"), WEFT_OK,
         WEFT_INVALID_ARGUMENT},
        {"few spaces", weft_strdup(NULL, space), built("", " ", "", 100, "a"), WEFT_OK, WEFT_OK},
        {"long token",
         built("{\"added_tokens\":[{\"id\":2,\"normalized\":false,\"content\":\"", "a", "", 100000,
               "b\"}]," MODEL "}"),
         built("", "a", "", 200000, ""), WEFT_OK, WEFT_INVALID_ARGUMENT},
        {"long piece",
         built("{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1],[\"", "a", "", 4000,
               "b\",-1]]}}"),
         built("", "a", "", 100000, ""), WEFT_OK, WEFT_INVALID_ARGUMENT},
        {"unknown bytes", NULL, built("", "\xE7\xB9\x94", "", 30000, ""), WEFT_OK, WEFT_OK},
    };
    struct weft_text bytes = {0};
    put(&bytes, "{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,\"vocab\":[["
                "\"?\",0]");
    for (unsigned byte = 0; byte < 256; byte++) {
        weft_text_add(&bytes, ",[\"<0x%02X>\",-1]", byte);
    }
    put(&bytes, "]}}");
    costs[4].json = weft_text_take(&bytes);
    COSTS(test, costs);
}

/* ---- chosen numbers ---- */

enum { SIDE = 300, ROOM = 1 << 18 };

static int by_place(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* The first numbers by their places under a fixed hash: of left tokens by the low half of the product, else by the high one. */
static void choose(uint32_t chosen[SIDE], bool *taken, uint32_t most, bool left) {
    uint64_t *all = malloc(most * sizeof *all);
    assert_non_null(all);
    for (uint32_t id = 1; id < most; id++) {
        const uint64_t product = id * 0x9E3779B97F4A7C15u;
        const uint64_t place = (left ? product : product >> 32) & (ROOM - 1);
        all[id - 1] = place << 32 | id;
    }
    qsort(all, most - 1, sizeof *all, by_place);
    for (uint32_t i = 0, found = 0; found < SIDE; i++) {
        const uint32_t id = (uint32_t)all[i];
        if (!taken[id]) {
            taken[id] = true;
            chosen[found++] = id;
        }
    }
    free(all);
}

/* A file with the merges of all pairs of 300 tokens with 300. */
static char *merges_of_pairs(bool chosen) {
    static uint32_t sides[2][SIDE];
    static bool taken[(SIDE * SIDE + 2 * SIDE) * 8];
    struct weft_text json = {0};
    memset(taken, 0, sizeof taken);
    for (uint32_t i = 0; !chosen && i < 2 * SIDE; i++) {
        sides[i / SIDE][i % SIDE] = i + 1;
        taken[i + 1] = true;
    }
    for (unsigned side = 0; chosen && side < 2; side++) {
        choose(sides[side], taken, sizeof taken, side == 0);
    }
    put(&json, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"?\":0");
    for (uint32_t i = 0; i < 2 * SIDE; i++) {
        weft_text_add(&json, ",\"%c%u.\":%u", i < SIDE ? 'l' : 'r', i % SIDE,
                      sides[i / SIDE][i % SIDE]);
    }
    uint32_t number = 1;
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        while (taken[number]) {
            number++;
        }
        weft_text_add(&json, ",\"l%u.r%u.\":%u", i / SIDE, i % SIDE, number++);
    }
    put(&json, "},\"merges\":[");
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        weft_text_add(&json, "%s[\"l%u.\",\"r%u.\"]", i > 0 ? "," : "", i / SIDE, i % SIDE);
    }
    put(&json, "]}}");
    return weft_text_take(&json);
}

static double seconds_to_read(struct weft_test_host *test, bool chosen) {
    char *json = merges_of_pairs(chosen);
    const clock_t begin = clock();
    weft_json_tokenizer_destroy(open(&test->host, json));
    free(json);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* With a hash that is known, chosen numbers lie in one row of the table: they took twenty times as long. */
WEFT_TEST_ON_HOST(chosen_numbers_of_tokens_cost_no_more_than_others, test) {
    const double others = seconds_to_read(test, false);
    const double chosen = seconds_to_read(test, true);
    if (chosen > 5 * others) {
        fail_msg("%.2f s, others %.2f s", chosen, others);
    }
}

/* ---- texts of tokens ---- */

WEFT_TEST_ON_HOST(the_text_of_tokens_has_a_limit, test) {
    char *json =
        built("{\"decoder\":{\"type\":\"Sequence\",\"decoders\":[", GROWS, ",", 6, "]}," MODEL "}");
    struct counter counter = {.test = test};
    const weft_host host = host_of(&counter);
    struct weft_json_tokenizer *tokenizer = open(&host, json);
    const int32_t ids[] = {1, 3, 1, 1};
    struct weft_text text = {.host = test->host};
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT,
                        weft_json_tokenizer_decode(tokenizer, ids, 4, &text), "found");
    assert_true(counter.peak < WEFT_RATION_LEAST + ((size_t)1 << 20));
    weft_free(&test->host, text.data);
    weft_json_tokenizer_destroy(tokenizer);
    free(json);
}

/* ---- ends that the host wants ---- */

WEFT_TEST_ON_HOST(reading_and_cutting_end_where_the_host_wants_it, test) {
    char *grows = built("{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[", GROWS, ",", 8,
                        "]},\"added_tokens\":[" ADDED("a", "true") "]," MODEL "}");
    struct counter counter = {.test = test, .end_at = 3};
    const weft_host host = host_of(&counter);
    struct weft_json_tokenizer *tokenizer = NULL;
    WEFT_EXPECT_REFUSED(
        test, WEFT_CANCELLED,
        weft_json_tokenizer_create(&tokenizer, grows, strlen(grows), "t.json", &host), "cancelled");
    assert_null(tokenizer);
    assert_int_equal(counter.asked, 3);
    free(grows);
    tokenizer = open(&host, "{\"pre_tokenizer\":{\"type\":\"Whitespace\"}," MODEL "}");
    char *text = built("", "a ", "", 200000, "");
    struct weft_token_list list = {.host = test->host};
    counter.asked = 0;
    WEFT_EXPECT_REFUSED(test, WEFT_CANCELLED,
                        weft_json_tokenizer_encode(tokenizer, &list, text, strlen(text)),
                        "cancelled");
    assert_int_equal(counter.asked, 3);
    counter.end_at = 0;
    list.count = 0;
    assert_ok(weft_json_tokenizer_encode(tokenizer, &list, text, strlen(text)));
    assert_int_equal(list.count, 200000);
    weft_free(&test->host, list.tokens);
    weft_json_tokenizer_destroy(tokenizer);
    free(text);
}
