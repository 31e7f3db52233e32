/* SPDX-License-Identifier: MIT */
/*
 * A C interface to the SentencePiece library, and nothing more: no exception leaves it. Compiled
 * only where the library is installed (WEFT_HAVE_SENTENCEPIECE). All functions that take a const
 * pointer may be called from any thread at the same time.
 */
#ifndef WEFT_MODEL_SENTENCEPIECE_SHIM_H
#define WEFT_MODEL_SENTENCEPIECE_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_spm weft_spm;

typedef enum weft_spm_result {
    WEFT_SPM_OK = 0,
    WEFT_SPM_OUT_OF_MEMORY,
    WEFT_SPM_FAILED /* the library's reason is in `reason` */
} weft_spm_result;

#define WEFT_SPM_REASON_SIZE 256

/** Makes a processor from the bytes of a model file; they are not kept. */
weft_spm_result weft_spm_create(weft_spm **spm, const void *model, size_t size,
                                char reason[WEFT_SPM_REASON_SIZE]);
void weft_spm_destroy(weft_spm *spm);

/** Number of pieces. */
uint32_t weft_spm_size(const weft_spm *spm);
/** The id of a piece, or -1 when the model has no such piece. */
int32_t weft_spm_find(const weft_spm *spm, const char *piece, size_t size);
/** The id of the unknown piece. */
int32_t weft_spm_unknown(const weft_spm *spm);

/** Takes one piece, not zero-terminated; false stops the encoding, which is then WEFT_SPM_OK. */
typedef bool (*weft_spm_take)(void *user, const char *piece, size_t size);

/** Normalises and encodes text, and hands over its pieces in order. */
weft_spm_result weft_spm_encode(const weft_spm *spm, const char *text, size_t size,
                                weft_spm_take take, void *user, char reason[WEFT_SPM_REASON_SIZE]);

/** Hands over the text of pieces, once; ids are below weft_spm_size. */
weft_spm_result weft_spm_decode(const weft_spm *spm, const int32_t *ids, size_t count,
                                weft_spm_take take, void *user, char reason[WEFT_SPM_REASON_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
