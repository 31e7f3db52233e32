/* SPDX-License-Identifier: MIT */
/*
 * Four kinds: pairs of bytes ("gpt2"), SentencePiece's pairs with scores ("llama"), its likeliest pieces ("t5") and BERT's pieces of words ("bert"). Each becomes a tokenizer.json as
 * the folders have that such files are made of, so that one reader checks it, and one program cuts texts by it.
 */
#include "model/gguf/gguf_tokenizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "model/gguf/gguf_pre.h"
#include "model/gguf/gguf_tokens.h"
#include "model/gguf/gguf_unigram.h"
#include "tokenizer/json/json_tokenizer.h"
#include "tokenizer/unicode/text_class.h"

#define KEY(name) ("tokenizer.ggml." name)

struct maker;

/* A kind, and what its files mean where they say nothing. */
struct kind {
    const char *name;
    size_t tokens;                                         /* of read_tokens that it uses */
    int64_t begin, end, unknown, separator, padding, mask; /* tokens, or -1 */
    bool adds_begin, prefix_space;
    weft_status (*put)(struct maker *maker); /* all behind the added tokens */
};

struct maker {
    const weft_gguf *file;
    const struct kind *kind;
    const struct weft_gguf_pre *pre; /* of pairs of bytes */
    struct weft_gguf_tokens tokens;
    struct weft_text out;
    int64_t begin, end, unknown, separator, padding, mask;
    bool adds_begin, adds_end, prefix_space;
};

/* ---- JSON ---- */

static void put(struct maker *maker, const char *text) {
    weft_text_put(&maker->out, text, strlen(text));
}

static void put_string(struct maker *maker, const char *text, size_t size) {
    put(maker, "\"");
    weft_gguf_put_characters(&maker->out, text, size);
    put(maker, "\"");
}

/* ---- texts of tokens ---- */

/* Tokens such as [CLS] stand in brackets, and have no mark of a word's begin. */
static bool is_bracketed(const char *text, size_t size) {
    return size > 1 && text[0] == '[' && text[size - 1] == ']';
}

static bool is_word_piece(const struct maker *maker);

/* A token's text as tokenizer.json has it: BERT's files mark the first piece of a word by U+2581, folders the others by ##. */
static void put_token(struct maker *maker, uint32_t id) {
    const char *text = weft_gguf_token_text(&maker->tokens, id);
    const size_t size = maker->tokens.at[id].size;
    const bool plain = !is_word_piece(maker) || is_bracketed(text, size) || size == 0;
    const size_t mark = !plain && weft_begins_with_mark(text, size) ? WEFT_SPACE_MARK_SIZE : 0;
    put(maker, plain || mark > 0 ? "\"" : "\"##");
    weft_gguf_put_characters(&maker->out, text + mark, size - mark);
    put(maker, "\"");
}

static void put_vocabulary(struct maker *maker) {
    put(maker, "\"vocab\":{");
    for (uint32_t id = 0; id < maker->tokens.count; id++) {
        put(maker, id > 0 ? "," : "");
        put_token(maker, id);
        weft_text_add(&maker->out, ":%" PRIu32, id);
    }
    put(maker, "}");
}

/* ---- added tokens ---- */

static bool is_marked(const struct maker *maker, uint32_t id) {
    const int64_t marked[] = {maker->unknown, maker->separator, maker->padding, maker->mask,
                              maker->begin};
    for (size_t i = 0; i < sizeof marked / sizeof marked[0]; i++) {
        if (marked[i] == (int64_t)id) {
            return true;
        }
    }
    return false;
}

/* BERT's files need not type its tokens. */
static bool is_special(const struct maker *maker, uint32_t id) {
    const int32_t type = weft_gguf_token_type(&maker->tokens, id);
    return type == WEFT_GGUF_TOKEN_CONTROL || type == WEFT_GGUF_TOKEN_UNKNOWN ||
           (is_word_piece(maker) && is_marked(maker, id));
}

static void put_added(struct maker *maker) {
    bool first = true;
    put(maker, "\"added_tokens\":[");
    for (uint32_t id = 0; id < maker->tokens.count; id++) {
        const bool special = is_special(maker, id);
        const bool defined =
            weft_gguf_token_type(&maker->tokens, id) == WEFT_GGUF_TOKEN_USER_DEFINED;
        if (maker->tokens.at[id].size > 0 && (special || defined)) {
            weft_text_add(&maker->out, "%s{\"id\":%" PRIu32 ",\"content\":", first ? "" : ",", id);
            put_token(maker, id);
            weft_text_add(&maker->out,
                          ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
                          "\"normalized\":false,\"special\":%s}",
                          special ? "true" : "false");
            first = false;
        }
    }
    put(maker, "],");
}

/* ---- around texts ---- */

static void put_text(struct maker *maker, char name, unsigned type) {
    if (maker->adds_begin) {
        weft_text_add(&maker->out, "{\"SpecialToken\":{\"id\":\"begin\",\"type_id\":%u}},", type);
    }
    weft_text_add(&maker->out, "{\"Sequence\":{\"id\":\"%c\",\"type_id\":%u}}", name, type);
    if (maker->adds_end) {
        weft_text_add(&maker->out, ",{\"SpecialToken\":{\"id\":\"end\",\"type_id\":%u}}", type);
    }
}

static void put_special(struct maker *maker, const char *name, int64_t token) {
    weft_text_add(&maker->out, "\"%s\":{\"id\":\"%s\",\"ids\":[%" PRId64 "]}", name, name, token);
}

/* Each text of a pair has them. */
static void put_template(struct maker *maker) {
    put(maker, "{\"type\":\"TemplateProcessing\",\"single\":[");
    put_text(maker, 'A', 0);
    put(maker, "],\"pair\":[");
    put_text(maker, 'A', 0);
    put(maker, ",");
    put_text(maker, 'B', 1);
    put(maker, "],\"special_tokens\":{");
    if (maker->adds_begin) {
        put_special(maker, "begin", maker->begin);
    }
    put(maker, maker->adds_begin && maker->adds_end ? "," : "");
    if (maker->adds_end) {
        put_special(maker, "end", maker->end);
    }
    put(maker, "}}");
}

/* ---- pairs of bytes ---- */

static weft_status put_merge(void *user, uint32_t index, const char *text, size_t size) {
    struct maker *maker = user;
    const char *space = size > 1 ? memchr(text + 1, ' ', size - 1) : NULL;
    if (!space || !weft_utf8_is_text(text, size)) {
        char found[48];
        snprintf(found, sizeof found, "another text at %" PRIu32, index);
        return weft_gguf_fail(maker->file, WEFT_BAD_FILE, KEY("merges"),
                              "two tokens with a space between", found);
    }
    const size_t left = (size_t)(space - text);
    put(maker, index > 0 ? ",[" : "[");
    put_string(maker, text, left);
    put(maker, ",");
    put_string(maker, space + 1, size - left - 1);
    put(maker, "]");
    return maker->out.failed ? weft_fail_memory(weft_gguf_host(maker->file), "merges") : WEFT_OK;
}

/* Words by patterns, or by GPT-2's; then bytes as characters. */
static void put_words(struct maker *maker) {
    const struct weft_gguf_pre *pre = maker->pre;
    put(maker, "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[");
    if (pre->digits) {
        put(maker, "{\"type\":\"Digits\",\"individual_digits\":true},");
    }
    for (size_t i = 0; pre->patterns[i]; i++) {
        put(maker, "{\"type\":\"Split\",\"behavior\":\"Isolated\",\"invert\":false,"
                   "\"pattern\":{\"Regex\":");
        put_string(maker, pre->patterns[i], strlen(pre->patterns[i]));
        put(maker, "}},");
    }
    weft_text_add(&maker->out,
                  "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":false,"
                  "\"use_regex\":%s}]},",
                  pre->patterns[0] ? "false" : "true");
}

static weft_status put_bytes(struct maker *maker) {
    weft_text_add(&maker->out, "\"normalizer\":%s,",
                  maker->pre->composed ? "{\"type\":\"NFC\"}" : "null");
    put_words(maker);
    put(maker, "\"post_processor\":{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\","
               "\"add_prefix_space\":false,\"trim_offsets\":false,\"use_regex\":true},");
    put_template(maker);
    put(maker, "]},\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
               "\"trim_offsets\":false,\"use_regex\":true},");
    weft_text_add(&maker->out, "\"model\":{\"type\":\"BPE\",\"ignore_merges\":%s,",
                  maker->pre->whole ? "true" : "false");
    put_vocabulary(maker);
    put(maker, ",\"merges\":[");
    WEFT_TRY(weft_gguf_walk(maker->file, KEY("merges"), (uint64_t)2 * WEFT_GGUF_MAX_TOKEN + 1,
                            put_merge, maker));
    put(maker, "]}");
    return WEFT_OK;
}

/* ---- SentencePiece's pairs ---- */

static bool has_bytes(const struct maker *maker) {
    for (uint32_t id = 0; id < maker->tokens.count; id++) {
        if (weft_gguf_token_type(&maker->tokens, id) == WEFT_GGUF_TOKEN_BYTE) {
            return true;
        }
    }
    return false;
}

/* No longer than a tokenizer.json may be, however long the tokens are. */
static weft_status check_size(const struct maker *maker) {
    return maker->out.length <= WEFT_TOKENIZER_JSON_MAX_BYTES
               ? WEFT_OK
               : weft_fail(weft_gguf_host(maker->file), WEFT_BAD_FILE,
                           "%s: tokens: expected a tokenizer.json of at most %zu bytes, found more",
                           weft_gguf_path(maker->file), WEFT_TOKENIZER_JSON_MAX_BYTES);
}

static weft_status put_merges(struct maker *maker, const struct weft_gguf_merge *merges,
                              uint32_t count) {
    put(maker, ",\"merges\":[");
    for (uint32_t i = 0; i < count; i++) {
        WEFT_TRY(check_size(maker));
        put(maker, i > 0 ? ",[" : "[");
        put_token(maker, merges[i].left);
        put(maker, ",");
        put_token(maker, merges[i].right);
        put(maker, "]");
    }
    put(maker, "]}");
    return WEFT_OK;
}

static weft_status put_found_merges(struct maker *maker) {
    const weft_host *host = weft_gguf_host(maker->file);
    struct weft_gguf_merge *merges = NULL;
    struct weft_budget budget;
    uint32_t count = 0;
    weft_budget_begin(&budget, WEFT_FILE_STEPS(maker->tokens.texts.length),
                      weft_gguf_path(maker->file), host);
    WEFT_TRY(weft_gguf_merges_find(&merges, &count, &maker->tokens, &budget));
    const weft_status status = put_merges(maker, merges, count);
    weft_free(host, merges);
    return status;
}

static weft_status put_pieces(struct maker *maker) {
    if (!maker->tokens.scores) {
        return weft_gguf_fail(maker->file, WEFT_BAD_FILE, KEY("scores"), "a score for each token",
                              "no such key");
    }
    weft_text_add(
        &maker->out,
        "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[%s"
        "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"%s\"}]},"
        "\"pre_tokenizer\":null,\"post_processor\":",
        maker->prefix_space ? "{\"type\":\"Prepend\",\"prepend\":\"" WEFT_SPACE_MARK "\"}," : "",
        WEFT_SPACE_MARK);
    put_template(maker);
    weft_text_add(&maker->out,
                  ",\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\","
                  "\"pattern\":{\"String\":\"%s\"},\"content\":\" \"},{\"type\":\"ByteFallback\"},"
                  "{\"type\":\"Fuse\"}%s]},",
                  WEFT_SPACE_MARK,
                  maker->prefix_space
                      ? ",{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}"
                      : "");
    weft_text_add(&maker->out,
                  "\"model\":{\"type\":\"BPE\",\"fuse_unk\":true,"
                  "\"byte_fallback\":%s,\"unk_token\":",
                  has_bytes(maker) ? "true" : "false");
    put_token(maker, (uint32_t)maker->unknown);
    put(maker, ",");
    put_vocabulary(maker);
    return put_found_merges(maker);
}

/* ---- SentencePiece's likeliest pieces ---- */

static weft_status put_likeliest(struct maker *maker) {
    WEFT_TRY(weft_gguf_put_unigram_steps(&maker->out, maker->file));
    put(maker, "\"post_processor\":");
    put_template(maker);
    put(maker, ",");
    return weft_gguf_put_unigram(&maker->out, maker->file, &maker->tokens, maker->unknown,
                                 has_bytes(maker));
}

/* ---- BERT's pieces of words ---- */

/* A vocabulary without capital letters is of texts in small ones. */
static bool has_capitals(const struct maker *maker) {
    for (uint32_t id = 0; id < maker->tokens.count; id++) {
        const char *text = weft_gguf_token_text(&maker->tokens, id);
        const size_t size = maker->tokens.at[id].size;
        for (size_t i = 0; !is_bracketed(text, size) && i < size; i++) {
            if (text[i] >= 'A' && text[i] <= 'Z') {
                return true;
            }
        }
    }
    return false;
}

static weft_status put_word_pieces(struct maker *maker) {
    bool lowercase = !has_capitals(maker);
    WEFT_TRY(weft_gguf_bool(&lowercase, maker->file, KEY("normalizer.lowercase")));
    bool strips = lowercase;
    WEFT_TRY(weft_gguf_bool(&strips, maker->file, KEY("normalizer.strip_accents")));
    weft_text_add(&maker->out,
                  "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
                  "\"handle_chinese_chars\":true,\"strip_accents\":%s,\"lowercase\":%s},"
                  "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},",
                  strips ? "true" : "false", lowercase ? "true" : "false");
    weft_text_add(&maker->out,
                  "\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"\",%" PRId64
                  "],\"cls\":[\"\",%" PRId64 "]},",
                  maker->separator, maker->begin);
    put(maker, "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},"
               "\"model\":{\"type\":\"WordPiece\",\"continuing_subword_prefix\":\"##\","
               "\"max_input_chars_per_word\":100,\"unk_token\":");
    put_token(maker, (uint32_t)maker->unknown);
    put(maker, ",");
    put_vocabulary(maker);
    put(maker, "}");
    return WEFT_OK;
}

static bool is_word_piece(const struct maker *maker) {
    return maker->kind->put == put_word_pieces;
}

/* ---- keys ---- */

static const struct kind kinds[] = {
    {"gpt2", 2, -1, -1, -1, -1, -1, -1, false, false, put_bytes},
    {"llama", 3, 1, 2, 0, -1, -1, -1, true, true, put_pieces},
    {"t5", 3, -1, 1, 2, -1, -1, -1, false, true, put_likeliest},
    {"bert", 7, 101, -1, 100, 102, 0, 103, true, false, put_word_pieces},
};

/* Keys below tokenizer.ggml that are read, or change no tokens. */
static const char *const known[] = {
    "model",
    "pre",
    "tokens",
    "token_type",
    "token_type_count",
    "scores",
    "merges",
    "bos_token_id",
    "eos_token_id",
    "eot_token_id",
    "eom_token_id",
    "unknown_token_id",
    "seperator_token_id",
    "padding_token_id",
    "mask_token_id",
    "cls_token_id",
    "prefix_token_id",
    "suffix_token_id",
    "middle_token_id",
    "fim_pre_token_id",
    "fim_suf_token_id",
    "fim_mid_token_id",
    "fim_pad_token_id",
    "fim_rep_token_id",
    "fim_sep_token_id",
    "add_bos_token",
    "add_eos_token",
    "add_sep_token",
    "add_space_prefix",
    "remove_extra_whitespaces",
    "precompiled_charsmap",
    "normalizer.lowercase",
    "normalizer.strip_accents",
};

static weft_status refuse_others(const weft_gguf *file) {
    const size_t length = strlen(KEY(""));
    for (uint32_t i = 0; i < weft_gguf_value_count(file); i++) {
        const char *key = weft_gguf_value_at(file, i)->key;
        bool found = strncmp(key, KEY(""), length) != 0;
        for (size_t j = 0; !found && j < sizeof known / sizeof known[0]; j++) {
            found = strcmp(key + length, known[j]) == 0;
        }
        if (!found) {
            return weft_gguf_fail(file, WEFT_UNSUPPORTED, key, "keys of tokenizers that Weft knows",
                                  "another");
        }
    }
    return WEFT_OK;
}

/* Files number tokens that their kind does not use carelessly: those are not looked at. */
static weft_status read_tokens(struct maker *maker) {
    const struct kind *kind = maker->kind;
    const struct {
        const char *key;
        int64_t *token;
        int64_t otherwise;
    } rows[] = {{KEY("bos_token_id"), &maker->begin, kind->begin},
                {KEY("eos_token_id"), &maker->end, kind->end},
                {KEY("unknown_token_id"), &maker->unknown, kind->unknown},
                {KEY("seperator_token_id"), &maker->separator, kind->separator},
                {KEY("padding_token_id"), &maker->padding, kind->padding},
                {KEY("mask_token_id"), &maker->mask, kind->mask},
                {KEY("cls_token_id"), &maker->begin, kind->begin}};
    const int64_t count = maker->tokens.count;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i].token = rows[i].otherwise < count ? rows[i].otherwise : -1;
    }
    for (size_t i = 0; i < kind->tokens; i++) {
        WEFT_TRY(weft_gguf_integer(rows[i].token, maker->file, rows[i].key, 0, count - 1));
    }
    return WEFT_OK;
}

static weft_status expect_token(const struct maker *maker, const char *key, int64_t token) {
    return token >= 0 ? WEFT_OK
                      : weft_gguf_fail(maker->file, WEFT_BAD_FILE, key, "a token", "none");
}

static weft_status read_additions(struct maker *maker) {
    const bool begins = maker->pre ? maker->pre->begins : maker->kind->adds_begin;
    maker->adds_begin = begins && maker->begin >= 0;
    maker->adds_end = maker->kind->put == put_likeliest && maker->end >= 0;
    maker->prefix_space = maker->kind->prefix_space;
    WEFT_TRY(weft_gguf_bool(&maker->adds_begin, maker->file, KEY("add_bos_token")));
    WEFT_TRY(weft_gguf_bool(&maker->adds_end, maker->file, KEY("add_eos_token")));
    WEFT_TRY(maker->adds_begin ? expect_token(maker, KEY("bos_token_id"), maker->begin) : WEFT_OK);
    WEFT_TRY(maker->adds_end ? expect_token(maker, KEY("eos_token_id"), maker->end) : WEFT_OK);
    WEFT_TRY(weft_gguf_expect_bool(maker->file, KEY("add_sep_token"), is_word_piece(maker)));
    const bool likeliest = maker->kind->put == put_likeliest;
    WEFT_TRY(weft_gguf_expect_bool(maker->file, KEY("remove_extra_whitespaces"), likeliest));
    if (likeliest || maker->kind->put == put_pieces) {
        WEFT_TRY(expect_token(maker, KEY("unknown_token_id"), maker->unknown));
    }
    if (maker->kind->put == put_pieces) {
        return weft_gguf_bool(&maker->prefix_space, maker->file, KEY("add_space_prefix"));
    }
    return weft_gguf_expect_bool(maker->file, KEY("add_space_prefix"), likeliest);
}

/* [CLS] and [SEP] are always there. */
static weft_status check_word_pieces(const struct maker *maker) {
    WEFT_TRY(expect_token(maker, KEY("bos_token_id"), maker->begin));
    WEFT_TRY(expect_token(maker, KEY("seperator_token_id"), maker->separator));
    WEFT_TRY(expect_token(maker, KEY("unknown_token_id"), maker->unknown));
    WEFT_TRY(weft_gguf_expect_bool(maker->file, KEY("add_bos_token"), true));
    return weft_gguf_expect_bool(maker->file, KEY("add_eos_token"), false);
}

/* ---- the kinds ---- */

static weft_status find_kind(struct maker *maker, const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            maker->kind = &kinds[i];
            return WEFT_OK;
        }
    }
    return weft_gguf_fail(maker->file, WEFT_UNSUPPORTED, KEY("model"), "gpt2, llama, t5 or bert",
                          name);
}

static weft_status find_pre(struct maker *maker) {
    char *name = NULL;
    if (maker->kind->put != put_bytes) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_gguf_name(&name, maker->file, KEY("pre")));
    maker->pre = weft_gguf_pre_of(name);
    const weft_status status =
        maker->pre ? WEFT_OK
                   : weft_gguf_fail(maker->file, WEFT_UNSUPPORTED, KEY("pre"), weft_gguf_pre_list,
                                    name[0] != '\0' ? name : "none");
    weft_free(weft_gguf_host(maker->file), name);
    return status;
}

static weft_status make(struct maker *maker, uint32_t vocabulary) {
    WEFT_TRY(refuse_others(maker->file));
    WEFT_TRY(find_pre(maker));
    WEFT_TRY(weft_gguf_tokens_read(&maker->tokens, maker->file, vocabulary));
    WEFT_TRY(read_tokens(maker));
    WEFT_TRY(read_additions(maker));
    WEFT_TRY(is_word_piece(maker) ? check_word_pieces(maker) : WEFT_OK);
    put(maker, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,");
    put_added(maker);
    WEFT_TRY(maker->kind->put(maker));
    put(maker, "}");
    WEFT_TRY(check_size(maker));
    return maker->out.failed ? weft_fail_memory(weft_gguf_host(maker->file), "a tokenizer")
                             : WEFT_OK;
}

/* "none" and "no_vocab" are of files without one. */
static bool is_none(const char *name) {
    return name[0] == '\0' || strcmp(name, "none") == 0 || strcmp(name, "no_vocab") == 0;
}

weft_status weft_gguf_tokenizer(char **json, size_t *size, const weft_gguf *file,
                                uint32_t vocabulary) {
    const weft_host *host = weft_gguf_host(file);
    struct maker maker = {.file = file, .out = {.host = *host}};
    char *name = NULL;
    *json = NULL;
    WEFT_TRY(weft_gguf_name(&name, file, KEY("model")));
    const bool none = is_none(name);
    weft_status status = none ? WEFT_OK : find_kind(&maker, name);
    weft_free(host, name);
    if (none || status != WEFT_OK) {
        return status;
    }
    status = make(&maker, vocabulary);
    weft_gguf_tokens_free(&maker.tokens, host);
    if (status != WEFT_OK) {
        weft_free(host, maker.out.data);
        return status;
    }
    *size = maker.out.length;
    *json = maker.out.data;
    return WEFT_OK;
}
