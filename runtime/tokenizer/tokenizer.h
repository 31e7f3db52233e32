/* SPDX-License-Identifier: MIT */
/*
 * Text to token ids and back. Four kinds: bytes, SentencePiece models as Hugging Face's FNetTokenizer
 * uses them, SentencePiece models as they are, and tokenizer.json. A tokenizer is immutable once made; it may be used in several
 * threads at the same time.
 */
#ifndef WEFT_TOKENIZER_TOKENIZER_H
#define WEFT_TOKENIZER_TOKENIZER_H

#include "core/hash.h"
#include "tokenizer/encoding.h"
#include "tokenizer/json/json_tokenizer.h"

typedef struct weft_tokenizer weft_tokenizer;

typedef enum weft_tokenizer_kind {
    WEFT_TOKENIZER_UNSPECIFIED = 0, /**< no tokenizer_class: SentencePiece if there is a model */
    WEFT_TOKENIZER_BYTES,           /**< "ByteTokenizer": a token is a byte of the text */
    WEFT_TOKENIZER_SENTENCEPIECE,   /**< "FNetTokenizer" or "FNetTokenizerFast" */
    WEFT_TOKENIZER_PIECES,          /**< "SentencePieceTokenizer" */
    WEFT_TOKENIZER_UNKNOWN          /**< a class that Weft does not have, see tokenizer_class */
} weft_tokenizer_kind;

/** Settings of the tokenizer in a config. */
typedef struct weft_tokenizer_settings {
    weft_tokenizer_kind kind;
    const char *class_name; /**< tokenizer_class, for messages; null when the config names none */
    uint32_t vocabulary;
} weft_tokenizer_settings;

/** Largest text that a SentencePiece tokenizer takes, in bytes. */
#define WEFT_TOKENIZER_MAX_TEXT ((size_t)64 << 20)

/**
 * The byte tokenizer: one token per byte of the text, its value. Has no special tokens.
 * WEFT_BAD_FILE when the vocabulary has fewer than 256 entries. `path` names the config in that
 * error. host may be null and is copied.
 */
weft_status weft_tokenizer_create_bytes(weft_tokenizer **tokenizer, uint32_t vocabulary,
                                        const char *path, const weft_host *host);

/**
 * A SentencePiece model file with the pieces [CLS] and [SEP]. The text is prepared as FNetTokenizer
 * does with do_lower_case off, keep_accents and remove_space on, the settings of the published
 * checkpoints:
 *   - the names of special pieces in it ([CLS], [SEP], [MASK], <pad>, <unk>) become those tokens,
 *     and what lies between is encoded by itself;
 *   - runs of white space (as Python's str.split) become one space, leading and trailing ones go;
 *   - `` and '' become ";
 *   - a piece that ends in a digit and a comma is encoded again without the comma, which becomes a
 *     token of its own.
 * Errors: WEFT_BAD_FILE when the file is no sound model (spm/model.h), has more pieces than
 * `vocabulary`, or lacks [CLS] or [SEP]; WEFT_NOT_FOUND, WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY. The
 * file is read once and not held open. host may be null and is copied.
 */
weft_status weft_tokenizer_open_sentencepiece(weft_tokenizer **tokenizer, const char *path,
                                              uint32_t vocabulary, const weft_host *host);

/**
 * A SentencePiece model file as it is: the text is encoded without preparation, and no special token is added or looked for.
 * Errors as above, but for [CLS] and [SEP].
 */
weft_status weft_tokenizer_open_pieces(weft_tokenizer **tokenizer, const char *path,
                                       uint32_t vocabulary, const weft_host *host);

/** A tokenizer.json (json_tokenizer.h, which has the errors). Also WEFT_NOT_FOUND, WEFT_IO_ERROR. */
weft_status weft_tokenizer_open_json(weft_tokenizer **tokenizer, const char *path,
                                     const weft_host *host);

/** The text of one, which is not kept; `path` names it in errors. */
weft_status weft_tokenizer_create_json(weft_tokenizer **tokenizer, const char *text, size_t size,
                                       const char *path, const weft_host *host);

/**
 * The tokenizer of a model folder: bytes or a SentencePiece model as it is by the config's tokenizer_class, else
 * tokenizer.json where that is there, else by the class, or spiece.model where that is there and no class is named.
 * Of tokenizer_config.json, truncation_side counts beside a tokenizer.json. tokenizer_config.json, if there is one, must not ask for
 * do_lower_case, remove_space or keep_accents other than above (WEFT_UNSUPPORTED naming the field).
 * A model without a tokenizer is fine (tokens can come from elsewhere): then the result is WEFT_OK
 * with a tokenizer whose kind is "none" and whose encode fails with the reason. That holds for an
 * unknown tokenizer_class, for a missing spiece.model, and for a tokenizer.json with parts that Weft does not support.
 * Without a folder (null) there are no files: the byte tokenizer, or "none".
 */
weft_status weft_tokenizer_load(weft_tokenizer **tokenizer, const char *folder,
                                const weft_tokenizer_settings *settings, const weft_host *host);

void weft_tokenizer_destroy(weft_tokenizer **tokenizer);

/**
 * True if a language model's prompt has special tokens, too: its tokenizer.json says which. Those of a spiece.model would end
 * it.
 */
bool weft_tokenizer_marks_prompts(const weft_tokenizer *tokenizer);

/** The SHA-256 of the file that it was read from; zeros where there is none. */
const weft_digest *weft_tokenizer_digest(const weft_tokenizer *tokenizer);

/** Where it has its memory, and logs. */
const weft_host *weft_tokenizer_host(const weft_tokenizer *tokenizer);

/** "bytes", "sentencepiece", "tokenizer.json" or "none". */
const char *weft_tokenizer_kind_name(const weft_tokenizer *tokenizer);

/** Zeros, and no unknown token, of any but a tokenizer.json. */
struct weft_token_facts weft_tokenizer_facts(const weft_tokenizer *tokenizer);

/** As weft_json_tokenizer_truncate_plainly; nothing of others. */
void weft_tokenizer_truncate_plainly(weft_tokenizer *tokenizer);

/** The token whose text this is: of a tokenizer.json an added one or one of the vocabulary, of bytes a byte; or -1, and of any other tokenizer. */
int32_t weft_tokenizer_find(const weft_tokenizer *tokenizer, const char *text);

/**
 * Where `text` is a token of a tokenizer.json, but its text is cut into others: has it found as a special token from now on, as it is. Nothing
 * may be encoded meanwhile. Nothing of other tokenizers. Errors: as weft_tokenizer_encode.
 */
weft_status weft_tokenizer_make_special(weft_tokenizer *tokenizer, const char *text);

/** One text or a pair, and what is wanted of it. */
struct weft_encode_request {
    const char *text; /* UTF-8, need not end in zero */
    size_t size;
    const char *pair; /* null: one text */
    size_t pair_size;
    bool no_special;
    bool with_offsets; /* otherwise begins and ends are 0 */
    uint32_t maximum;  /* tokens, with the special ones */
};

/**
 * Encodes a text or a pair. Texts' tokens are cut, by default at their ends, the longer text's first; special tokens are kept.
 * Special tokens are [CLS] A [SEP] or [CLS] A [SEP] B [SEP] for "sentencepiece", none for bytes. Arrays are in the memory of
 * the tokenizer's host (weft_encoded_clear).
 * Bytes that are not UTF-8 are encoded as U+FFFD by SentencePiece. Errors: WEFT_UNSUPPORTED for
 * "none", with the reason; WEFT_INVALID_ARGUMENT when `maximum` has no room for the special tokens,
 * the text is longer than WEFT_TOKENIZER_MAX_TEXT, or takes more steps or memory than WEFT_TEXT_STEPS and WEFT_TEXT_RATION give
 * it; as weft_encoded_make; WEFT_CANCELLED; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_tokenizer_encode(const weft_tokenizer *tokenizer,
                                  const struct weft_encode_request *request,
                                  struct weft_encoded *encoded);

/** The ids alone of one text. *ids is in the memory of the tokenizer's host (weft_free), or null where *count is 0. */
weft_status weft_tokenizer_encode_ids(const weft_tokenizer *tokenizer, const char *text,
                                      size_t size, bool add_special, uint32_t maximum,
                                      int32_t **ids, uint32_t *count);

/**
 * The text of tokens, *size bytes and a zero behind them in the memory of the tokenizer's host (weft_free). Bytes are themselves;
 * what SentencePiece makes of pieces begins without their first space. Tokens without a text are left out: special ones, and
 * those that the tokenizer does not have. Errors: WEFT_UNSUPPORTED for "none", with the reason; WEFT_INVALID_ARGUMENT for more
 * steps or memory than WEFT_DECODE_STEPS and WEFT_DECODE_RATION give; WEFT_CANCELLED; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_tokenizer_decode(const weft_tokenizer *tokenizer, const int32_t *ids,
                                  uint32_t count, char **text, size_t *size);

/**
 * A token as the vocabulary has it, in the memory of the tokenizer's host (weft_free), with a zero behind. WEFT_NOT_FOUND, of which
 * nothing is said, for a token that it does not have; WEFT_UNSUPPORTED for "none", with the reason; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_tokenizer_piece(const weft_tokenizer *tokenizer, int32_t id, char **text,
                                 size_t *size);

#endif
