/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as choices of a grammar: a tokenizer.json that has its features together (affix, byte_fallback, ignore_merges, added
 * tokens, normalizers, pre-tokenizers, patterns, templates, decoders, truncation), and texts. What an encoding holds, and what
 * it costs, is checked: a second is a hang, and memory has the multiples of tokenizer/ration.h.
 */
#include <string.h>
#include <time.h>

#include "core/text.h"
#include "fuzz.h"
#include "tokenizer/json/json_tokenizer.h"
#include "tokenizer/ration.h"

#define MEMORY  ((size_t)1 << 30)
#define SECONDS 1.0

struct choices {
    const uint8_t *data;
    size_t size;
    struct weft_text out;
};

static unsigned choose(struct choices *choices, unsigned count) {
    if (choices->size == 0) {
        return 0;
    }
    choices->size--;
    return *choices->data++ % count;
}

static void put(struct choices *choices, const char *text) {
    weft_text_put(&choices->out, text, strlen(text));
}

#define PICK(choices, list) ((list)[choose(choices, sizeof(list) / sizeof(list)[0])])

static const char *const atoms[] = {
    "a",  "b",  " ",    "  ",    "\xC3\xA9", "\xE7\xB9\x94", "\xE2\x96\x81",
    "##", "ab", "</w>", "[CLS]", "\xCC\x81", "<0x41>",       "\xEF\xB7\xBA",
    "'s", "1",  "A",    ".",     "\\n",      "\xE2\x84\xAA"};

/* A text without quotes. */
static void put_text(struct choices *choices, unsigned most) {
    for (unsigned left = choose(choices, most + 1); left > 0; left--) {
        put(choices, PICK(choices, atoms));
    }
}

static void put_bool(struct choices *choices, const char *name) {
    weft_text_add(&choices->out, ",\"%s\":%s", name, choose(choices, 2) ? "true" : "false");
}

static void put_class(struct choices *choices, unsigned depth) {
    static const char *const items[] = {"a",     "b-d",       "\xC3\xA0-\xC3\xBF",
                                        "\\\\s", "\\\\p{L}",  "\\\\d",
                                        "&&a-z", "[:space:]", "\xE4\xB8\x80-\xE9\xBE\xA0"};
    put(choices, choose(choices, 2) ? "[" : "[^");
    for (unsigned left = 1 + choose(choices, 4); left > 0; left--) {
        if (depth < 20 && choose(choices, 3) == 0) {
            put_class(choices, depth + 1);
        } else {
            put(choices, PICK(choices, items));
        }
    }
    put(choices, "]");
}

static void put_regex(struct choices *choices, unsigned depth) {
    static const char *const parts[] = {".", "\\\\s", "\\\\w", "\\\\p{N}", "^",
                                        "$", "\\\\b", "a",     " ",        "(?i)"};
    static const char *const opens[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"};
    static const char *const repeats[] = {"", "+", "*", "?", "{2,3}", "*?", "++", "{20}"};
    for (unsigned left = 1 + choose(choices, 4); left > 0; left--) {
        const unsigned kind = choose(choices, 8);
        if (kind == 0 && depth < 6) {
            put(choices, PICK(choices, opens));
            put_regex(choices, depth + 1);
            put(choices, choose(choices, 2) ? "|" : "");
            put(choices, ")");
        } else if (kind == 1) {
            put_class(choices, 0);
        } else {
            put(choices, PICK(choices, parts));
        }
        put(choices, PICK(choices, repeats));
    }
}

static void put_pattern(struct choices *choices) {
    const bool literal = choose(choices, 3) == 0;
    put(choices, literal ? ",\"pattern\":{\"String\":\"" : ",\"pattern\":{\"Regex\":\"");
    if (literal) {
        put_text(choices, 3);
    } else {
        put_regex(choices, 0);
    }
    put(choices, "\"}");
}

static void put_content(struct choices *choices, const char *name) {
    weft_text_add(&choices->out, ",\"%s\":\"", name);
    for (unsigned times = choose(choices, 4) == 0 ? 64 : 1; times > 0; times--) {
        put(choices, PICK(choices, atoms));
    }
    put(choices, "\"");
}

/* ---- parts of a file ---- */

static void put_normalizer(struct choices *choices) {
    static const char *const types[] = {"BertNormalizer", "NFC",       "NFKC",         "NFKD",
                                        "Lowercase",      "Strip",     "StripAccents", "Replace",
                                        "Prepend",        "ByteLevel", "Nmt"};
    const char *type = PICK(choices, types);
    weft_text_add(&choices->out, "{\"type\":\"%s\"", type);
    if (strcmp(type, "Replace") == 0) {
        put_pattern(choices);
        put_content(choices, "content");
    } else if (strcmp(type, "Prepend") == 0) {
        put_content(choices, "prepend");
    }
    put(choices, "}");
}

static void put_pre_tokenizer(struct choices *choices) {
    static const char *const types[] = {
        "BertPreTokenizer", "ByteLevel", "Whitespace", "WhitespaceSplit", "Punctuation",
        "Digits",           "Metaspace", "Split",      "Split",           "FixedLength"};
    static const char *const ways[] = {"Removed", "Isolated", "MergedWithPrevious",
                                       "MergedWithNext", "Contiguous"};
    static const char *const lengths[] = {"1", "2", "7", "1000"};
    const char *type = PICK(choices, types);
    weft_text_add(&choices->out, "{\"type\":\"%s\"", type);
    if (strcmp(type, "Split") == 0) {
        put_pattern(choices);
        weft_text_add(&choices->out, ",\"behavior\":\"%s\"", PICK(choices, ways));
        put_bool(choices, "invert");
    } else if (strcmp(type, "ByteLevel") == 0) {
        put_bool(choices, "add_prefix_space");
        put_bool(choices, "use_regex");
    } else if (strcmp(type, "FixedLength") == 0) {
        weft_text_add(&choices->out, ",\"length\":%s", PICK(choices, lengths));
    }
    put(choices, "}");
}

static void put_decoder(struct choices *choices) {
    static const char *const types[] = {"WordPiece",    "ByteLevel", "Metaspace", "BPEDecoder",
                                        "ByteFallback", "Fuse",      "Strip",     "Replace"};
    const char *type = PICK(choices, types);
    weft_text_add(&choices->out, "{\"type\":\"%s\"", type);
    if (strcmp(type, "Replace") == 0) {
        put_pattern(choices);
        put_content(choices, "content");
    }
    put(choices, "}");
}

static void put_sequence(struct choices *choices, const char *field, const char *list,
                         void (*put_one)(struct choices *choices)) {
    const unsigned counts[] = {0, 1, 1, 2, 3, 8, 40};
    const unsigned count = PICK(choices, counts);
    weft_text_add(&choices->out, "\"%s\":{\"type\":\"Sequence\",\"%s\":[", field, list);
    for (unsigned i = 0; i < count; i++) {
        put(choices, i > 0 ? "," : "");
        put_one(choices);
    }
    put(choices, "]},");
}

static void put_added(struct choices *choices) {
    put(choices, "\"added_tokens\":[");
    for (unsigned i = 0, count = choose(choices, 4); i < count; i++) {
        weft_text_add(&choices->out, "%s{\"id\":%u,\"content\":\"", i > 0 ? "," : "",
                      choose(choices, 40));
        put_text(choices, 3);
        put(choices, "\"");
        put_bool(choices, "single_word");
        put_bool(choices, "lstrip");
        put_bool(choices, "rstrip");
        put_bool(choices, "normalized");
        put_bool(choices, "special");
        put(choices, "}");
    }
    put(choices, "],");
}

static void put_template(struct choices *choices, const char *name, unsigned texts) {
    weft_text_add(&choices->out, "\"%s\":[", name);
    for (unsigned i = 0, count = choose(choices, 6); i < count; i++) {
        const unsigned item = choose(choices, texts + 1);
        weft_text_add(&choices->out, "%s{\"%s\":{\"id\":\"%s\",\"type_id\":%u}}", i > 0 ? "," : "",
                      item == texts ? "SpecialToken" : "Sequence",
                      item == texts ? "X"
                      : item == 0   ? "A"
                                    : "B",
                      choose(choices, 3));
    }
    put(choices, "],");
}

static void put_ends(struct choices *choices) {
    static const char *const cuts[] = {"LongestFirst", "OnlyFirst", "OnlySecond"};
    if (choose(choices, 4) == 0) {
        put(choices, "\"post_processor\":{\"type\":\"ByteLevel\"},");
    } else {
        put(choices, "\"post_processor\":{\"type\":\"TemplateProcessing\",");
        put_template(choices, "single", 1);
        put_template(choices, "pair", 2);
        put(choices, "\"special_tokens\":{\"X\":{\"ids\":[1,2]}}},");
    }
    weft_text_add(&choices->out, "\"truncation\":{\"strategy\":\"%s\",\"direction\":\"%s\"},",
                  PICK(choices, cuts), choose(choices, 2) ? "Left" : "Right");
}

static void put_bytes(struct choices *choices, bool scored) {
    for (unsigned byte = 0; byte < 256; byte++) {
        weft_text_add(&choices->out, scored ? ",[\"<0x%02X>\",-9]" : ",\"<0x%02X>\":%u", byte,
                      40 + byte);
    }
}

static void put_pairs(struct choices *choices) {
    static const char *const affixes[] = {"", "##", "</w>", "\xC3\xA9", "long long long long"};
    const char *prefix = PICK(choices, affixes);
    const char *suffix = PICK(choices, affixes);
    weft_text_add(&choices->out,
                  "\"model\":{\"type\":\"BPE\",\"continuing_subword_prefix\":\"%s\",\"end_of_word_"
                  "suffix\":\"%s\"",
                  prefix, suffix);
    put_bool(choices, "byte_fallback");
    put_bool(choices, "ignore_merges");
    put_bool(choices, "fuse_unk");
    put(choices, choose(choices, 2) ? ",\"unk_token\":\"?\"" : "");
    weft_text_add(
        &choices->out,
        ",\"merges\":[[\"a\",\"%sb\"]],\"vocab\":{\"?\":0,\"a\":1,\"%sb\":2,\"ab\":3,\"a.%s\":4",
        prefix, prefix, suffix);
    if (choose(choices, 2)) {
        put_bytes(choices, false);
    }
    put(choices, "}}");
}

static void put_model(struct choices *choices) {
    static const char *const others[] = {"\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\","
                                         "\"vocab\":{\"?\":0,\"a\":1,\"b\":2}}",
                                         "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"?\","
                                         "\"vocab\":{\"?\":0,\"a\":1,\"##b\":2,\"##a\":3}}"};
    const unsigned kind = choose(choices, 5);
    if (kind < 2) {
        put(choices, others[kind]);
    } else if (kind == 2) {
        put(choices, "\"model\":{\"type\":\"Unigram\",\"unk_id\":0");
        put_bool(choices, "byte_fallback");
        put(choices, ",\"vocab\":[[\"?\",0],[\"a\",-1],[\"ab\",-2],[\"\xE2\x96\x81\",-1.5]");
        put_bytes(choices, true);
        put(choices, "]}");
    } else {
        put_pairs(choices);
    }
}

/* ---- what must hold ---- */

static void check_encodings(struct weft_json_tokenizer *tokenizer, struct weft_token_list *list,
                            const weft_host *host) {
    const struct weft_token_list lists[2] = {*list, *list};
    for (unsigned pair = 0; pair < 2; pair++) {
        struct weft_encoded made = {0};
        const weft_status status = weft_encoded_make(
            &made, weft_json_tokenizer_templates(tokenizer), lists, pair > 0, false, 40);
        fuzz_expect(status == WEFT_OK || status == WEFT_INVALID_ARGUMENT);
        fuzz_expect(made.count <= 40);
        for (uint32_t i = 0; i < made.count; i++) {
            const bool special = made.sequences[i] == 255;
            fuzz_expect(special || made.sequences[i] <= pair);
            fuzz_expect(made.tokens[i] >= 0 && made.begins[i] <= made.ends[i] &&
                        made.ends[i] <= (special ? 0 : list->size));
        }
        weft_encoded_clear(&made, host);
    }
}

static void use(struct weft_json_tokenizer *tokenizer, const char *text, size_t size,
                const weft_host *host) {
    struct weft_token_list list = {.host = *host};
    weft_status status = WEFT_OK;
    for (unsigned round = 0; round < 2; round++) { /* the second finds words that it knows */
        list.count = 0;
        status = weft_json_tokenizer_encode(tokenizer, &list, text, size);
    }
    if (status == WEFT_OK) {
        check_encodings(tokenizer, &list, host);
    }
    int32_t ids[64];
    uint32_t count = 0;
    for (; count < 64; count++) {
        ids[count] = count < list.count ? list.tokens[count].id : (int32_t)count - 2;
    }
    struct weft_text back = {.host = *host};
    (void)weft_json_tokenizer_decode(tokenizer, ids, count, &back);
    fuzz_expect(back.length <= WEFT_RATION_LEAST + count * WEFT_DECODE_RATION);
    weft_free(host, back.data);
    weft_free(host, list.tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct choices choices = {.data = data, .size = size};
    struct choices said = {0};
    size_t left;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    said.data = data + size / 2; /* the second half says the text */
    said.size = size - size / 2;
    choices.size = size / 2;
    put(&said, "");
    for (unsigned times = PICK(&said, ((const unsigned[]){1, 1, 4, 300})); times > 0; times--) {
        put_text(&said, 12);
    }
    put(&choices, "{");
    put_added(&choices);
    put_sequence(&choices, "normalizer", "normalizers", put_normalizer);
    put_sequence(&choices, "pre_tokenizer", "pretokenizers", put_pre_tokenizer);
    put_sequence(&choices, "decoder", "decoders", put_decoder);
    put_ends(&choices);
    put_model(&choices);
    put(&choices, "}");
    fuzz_expect(choices.out.data && said.out.data);
    const clock_t begin = clock();
    struct weft_json_tokenizer *tokenizer = NULL;
    (void)weft_json_tokenizer_create(&tokenizer, choices.out.data, choices.out.length,
                                     "tokenizer.json", &host);
    if (tokenizer) {
        use(tokenizer, said.out.data, said.out.length, &host);
    }
    weft_json_tokenizer_destroy(tokenizer);
    fuzz_expect(left == MEMORY);
    fuzz_expect((double)(clock() - begin) / CLOCKS_PER_SEC < 4 * SECONDS); /* with sanitizers */
    weft_free(NULL, choices.out.data);
    weft_free(NULL, said.out.data);
    return 0;
}
