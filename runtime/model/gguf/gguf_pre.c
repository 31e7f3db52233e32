/* SPDX-License-Identifier: MIT */
/*
 * The patterns are those in the tokenizer.json of the models that each name was made for; llama.cpp (llama-vocab.cpp) has the names, and
 * which of them merge no word that is a token. It does not normalize: for qwen2 and command-r, tokenizer.json does.
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

static const struct weft_gguf_pre rows[] = {
    {.name = "gpt-2"},
    {.name = "phi-2"},
    {.name = "llama-bpe", .pattern = three_digits, .whole = true, .begins = true},
    {.name = "llama-v3", .pattern = three_digits, .whole = true, .begins = true},
    {.name = "llama3", .pattern = three_digits, .whole = true, .begins = true},
    {.name = "dbrx", .pattern = three_digits},
    {.name = "smaug-bpe", .pattern = three_digits},
    {.name = "qwen2", .pattern = one_digit, .composed = true},
    {.name = "deepseek-r1-qwen", .pattern = one_digit},
    {.name = "tekken", .pattern = tekken, .whole = true, .begins = true},
    {.name = "gpt-4o", .pattern = four_o},
    {.name = "starcoder", .digits = true},
    {.name = "refact", .digits = true},
    {.name = "smollm", .digits = true},
    {.name = "command-r", .digits = true, .composed = true},
};

const char weft_gguf_pre_list[] =
    "gpt-2, phi-2, llama-bpe, llama-v3, llama3, dbrx, smaug-bpe, qwen2, "
    "deepseek-r1-qwen, tekken, gpt-4o, starcoder, refact, smollm or "
    "command-r";

const struct weft_gguf_pre *weft_gguf_pre_of(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(name, rows[i].name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}
