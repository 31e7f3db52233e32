/* SPDX-License-Identifier: MIT */
/*
 * Tokens, vectors and texts from files. Functions return exit codes and name file, expected and found in
 * their messages. NPY files are read by the library's own core/formats/npy.h.
 */
#ifndef WEFT_CLI_INPUT_H
#define WEFT_CLI_INPUT_H

#include <weft/model.h>

#include "cli.h"
#include "core/formats/npy.h"
#include "receipt.h"

/** Token ids, row-major [batch, length], both at least 1; release with weft_free. */
typedef struct weft_cli_tokens {
    int32_t *values;
    uint32_t batch;
    uint32_t length;
} weft_cli_tokens;

/** From a file with an int32 or int64 array [batch, length] or [length]. */
int weft_cli_read_tokens(weft_cli_tokens *tokens, const char *path, const weft_host *host);

/** Vectors, row-major [batch, length, width], no axis 0; release with weft_free. */
typedef struct weft_cli_vectors {
    float *values;
    uint32_t batch;
    uint32_t length;
    uint32_t width;
} weft_cli_vectors;

/**
 * From a file with a float32, float64 or uint8 array [batch, length, width] or [length, width]; of
 * bytes 255 means 1. All are finite.
 */
int weft_cli_read_vectors(weft_cli_vectors *vectors, const char *path, const weft_host *host);

/**
 * From a file with an array [batch, channels, height, width], or without the batch, as the model takes images: float32, float64,
 * or uint8, which is divided by 255. A row of `vectors` is then one of a channel.
 */
int weft_cli_read_images(weft_cli_vectors *vectors, const char *path, const weft_model_info *info,
                         const weft_host *host);

/** Whether a model takes sequences of that length; else says so in the log. */
bool weft_cli_check_length(uint32_t length, const weft_model_info *info, const char *name,
                           const weft_host *host);

/** Checks length and ids against a model, before any device is at work. */
int weft_cli_check_tokens(const weft_cli_tokens *tokens, const weft_model_info *info,
                          const char *name, const weft_host *host);

/** The bytes of a text file; release with weft_free. */
typedef struct weft_cli_file_bytes {
    char *bytes;
    size_t size; /* at least 1 */
    bool more;   /* the file goes on behind the 64 MiB that are read at most */
} weft_cli_file_bytes;

/** Reads a file, or standard input for "-". Errors: WEFT_NOT_FOUND, WEFT_IO_ERROR; WEFT_BAD_FILE for one without a byte. */
weft_status weft_cli_read_bytes(weft_cli_file_bytes *text, const char *path, const weft_host *host);

/** All bytes of standard input, which may be none; release with weft_free, also after an error: WEFT_IO_ERROR. */
weft_status weft_cli_read_standard_input(weft_cli_file_bytes *bytes, const weft_host *host);

/** Says so where a text is the name of a file: whoever names one there gets the answer for its name. */
void weft_cli_note_file(const char *text);

/** What became of a text. */
typedef struct weft_cli_text_note {
    size_t bytes;       /* read */
    bool full;          /* it has as many tokens as the model has positions */
    bool cut;           /* some of it is certainly left out */
    weft_digest digest; /* weft_cli_receipt_text_digest, with 1 token cut off where there is more */
} weft_cli_text_note;

/** A text by --text or --file: one of both is not null. */
typedef struct weft_cli_source {
    const char *text; /* the text itself */
    const char *file; /* where it is; "-" is standard input */
} weft_cli_source;

/** What messages call the text. */
const char *weft_cli_source_name(const weft_cli_source *source);

/** A whole text as one sequence. `note` may be null. */
int weft_cli_read_text(weft_cli_tokens *tokens, weft_cli_text_note *note, weft_model *model,
                       const weft_cli_source *source, const weft_host *host);

#endif
