/* SPDX-License-Identifier: MIT */
/*
 * The patterns are those in the tokenizer.json of the models that each name was made for; llama.cpp (llama-vocab.cpp) has the names, and
 * which of them merge no word that is a token. It does not normalize: where tokenizer.json does, it counts.
 */
#include "model/gguf/gguf_pre.h"

#include <stddef.h>
#include <string.h>

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define REST         "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define WORDS        CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"

static const char three_digits[] = WORDS "|\\p{N}{1,3}" REST;
static const char one_digit[] = WORDS "|\\p{N}" REST;

#define UPPER  "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define SPACES "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const char tekken[] = "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER
                             "+|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*|\\p{N}" SPACES;
static const char four_o[] =
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" CONTRACTIONS "?|[^\\r\\n\\p{L}\\p{N}]?" UPPER
    "+" LOWER "*" CONTRACTIONS "?|\\p{N}{1,3}" SPACES;

/* DeepSeek's letters that have a case. */
#define CASED                                                                        \
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293"  \
    "\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a"   \
    "\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556"        \
    "\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b" \
    "\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d" \
    "\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe"   \
    "\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4" \
    "\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128"    \
    "\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184"   \
    "\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b"  \
    "\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17" \
    "\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3"           \
    "\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"                \
    "\U000118a0-\U000118df\U0001e900-\U0001e943"

#define IDEOGRAPHS        "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
#define PUNCTUATION       "!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002"
#define ASCII_PUNCTUATION "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"

/* Each cuts what the one before it has left in pieces. */
#define DEEPSEEK \
    { "[\r\n]", "\\s?[" CASED "]+", "\\s?[" PUNCTUATION "]+", "\\s+$", IDEOGRAPHS }
#define DEEPSEEK_CODER \
    { "[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", IDEOGRAPHS }
#define DEEPSEEK_V3                                                               \
    {                                                                             \
        "\\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",              \
            ASCII_PUNCTUATION                                                     \
            "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*" \
            "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"                                       \
    }

static const char marks_too[] =
    CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
                 "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

static const char seed[] =
    WORDS "|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

static const struct weft_gguf_pre rows[] = {
    {.name = "gpt-2"},
    {.name = "phi-2"},
    {.name = "exaone4"},
    {.name = "olmo", .composed = true},
    {.name = "mpt", .composed = true},
    {.name = "llama-bpe", .patterns = {three_digits}, .whole = true, .begins = true},
    {.name = "llama-v3", .patterns = {three_digits}, .whole = true, .begins = true},
    {.name = "llama3", .patterns = {three_digits}, .whole = true, .begins = true},
    {.name = "lfm2", .patterns = {three_digits}, .whole = true, .begins = true},
    {.name = "chatglm-bpe", .patterns = {three_digits}},
    {.name = "glm4", .patterns = {three_digits}},
    {.name = "seed-coder", .patterns = {seed}},
    {.name = "dbrx", .patterns = {three_digits}},
    {.name = "smaug-bpe", .patterns = {three_digits}},
    {.name = "qwen2", .patterns = {one_digit}, .composed = true},
    {.name = "deepseek-r1-qwen", .patterns = {one_digit}},
    {.name = "stablelm2", .patterns = {one_digit}},
    {.name = "qwen35", .patterns = {marks_too}},
    {.name = "tekken", .patterns = {tekken}, .whole = true, .begins = true},
    {.name = "gpt-4o", .patterns = {four_o}},
    {.name = "starcoder", .digits = true},
    {.name = "refact", .digits = true},
    {.name = "smollm", .digits = true},
    {.name = "command-r", .digits = true, .composed = true},
    {.name = "deepseek-llm", .patterns = DEEPSEEK, .digits = true},
    {.name = "deepseek-coder", .patterns = DEEPSEEK_CODER, .digits = true},
    {.name = "deepseek-v3", .patterns = DEEPSEEK_V3},
};

const char weft_gguf_pre_list[] =
    "gpt-2, phi-2, exaone4, olmo, mpt, llama-bpe, llama-v3, llama3, lfm2, chatglm-bpe, glm4, "
    "seed-coder, dbrx, smaug-bpe, qwen2, "
    "deepseek-r1-qwen, stablelm2, qwen35, tekken, gpt-4o, starcoder, refact, smollm, "
    "command-r, deepseek-llm, deepseek-coder or deepseek-v3";

const struct weft_gguf_pre *weft_gguf_pre_of(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(name, rows[i].name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}
