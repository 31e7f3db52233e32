/* SPDX-License-Identifier: MIT */
/*
 * SentencePiece models: reading their files (sentencepiece_model.proto: ModelProto), text to pieces, and back. Gives the
 * pieces that the library gives (0.1.97 to 0.2.0). A model is immutable once made, and may be used in several threads at the
 * same time.
 */
#ifndef WEFT_TOKENIZER_SPM_MODEL_H
#define WEFT_TOKENIZER_SPM_MODEL_H

#include "core/text.h"
#include "tokenizer/spm/normalizer.h"
#include "tokenizer/vocabulary.h"

/** Largest model file, in bytes. */
#define WEFT_SPM_MAX_BYTES ((size_t)32 << 20)

enum weft_spm_type { WEFT_SPM_UNIGRAM = 1, WEFT_SPM_BPE = 2, WEFT_SPM_WORD = 3, WEFT_SPM_CHAR = 4 };

struct weft_spm_model {
    weft_host host;
    uint8_t *bytes; /* of the file: texts of pieces and rules lie in it */
    enum weft_spm_type type;
    bool byte_fallback;
    int32_t byte_ids[256]; /* with byte_fallback */
    const char *unknown_surface;
    size_t unknown_surface_size;
    struct weft_vocabulary vocabulary;
    struct weft_spm_normalizer normalizer;
    struct weft_spm_normalizer denormalizer; /* has effect where it has rules */
};

/**
 * Reads a model of at most `most_pieces` pieces out of the bytes of a file, which it takes over in any case (host memory).
 * All of it is checked before anything is used: WEFT_BAD_FILE, logged with `path`, the field or the number of the piece,
 * what was expected and what was found; WEFT_OUT_OF_HOST_MEMORY. What only says how the model was trained is not looked
 * at. host may be null and is copied.
 */
weft_status weft_spm_model_create(struct weft_spm_model **model, uint8_t *bytes, size_t size,
                                  const char *path, uint32_t most_pieces, const weft_host *host);
void weft_spm_model_destroy(struct weft_spm_model *model);

/** A piece of a text. */
struct weft_spm_piece {
    const char *
        text; /* as it is after normalization: of unknown pieces that follow each other all together, of a byte piece
                         that byte */
    size_t size;
    int32_t id;
    uint32_t begin; /* the bytes before normalization; 0 where nobody asked for them */
    uint32_t end;
};

/** Takes one piece. False stops the encoding, which is then WEFT_OK. */
typedef bool (*weft_spm_take)(void *user, const struct weft_spm_piece *piece);

/** Most bytes of the normal form of a text of `size` bytes. */
#define WEFT_SPM_MOST_NORMAL(size) ((size_t)(size)*16 + 65536)

/**
 * Normalizes a text, cuts it, and hands over the pieces in order. Memory is of the budget's host. WEFT_OUT_OF_HOST_MEMORY; as
 * weft_budget_take; WEFT_INVALID_ARGUMENT when its normal form is longer than WEFT_SPM_MOST_NORMAL or WEFT_MAX_CUT.
 */
weft_status weft_spm_encode(const struct weft_spm_model *model, struct weft_budget *budget,
                            const char *text, size_t size, bool with_origins, weft_spm_take take,
                            void *user);

/**
 * Puts the text of pieces into `text`, which is empty; ids are below the count of the vocabulary. The same errors;
 * WEFT_INVALID_ARGUMENT for one of more than WEFT_DECODE_RATION bytes for each piece, and 32 MiB.
 */
weft_status weft_spm_decode(const struct weft_spm_model *model, const int32_t *ids, size_t count,
                            struct weft_text *text);

#endif
