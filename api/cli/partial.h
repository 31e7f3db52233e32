/* SPDX-License-Identifier: MIT */
/*
 * What a stopped `weft embed --lines … --out FILE` needs to go on: FILE has the rows that are done, and FILE.resume says by hashes
 * which model, settings and lines they are of. Functions return exit codes.
 */
#ifndef WEFT_CLI_PARTIAL_H
#define WEFT_CLI_PARTIAL_H

#include "core/hash.h"
#include "session.h"

/** Rows [count, width], and what they are bound to. */
typedef struct weft_cli_partial {
    uint32_t count, width;
    char model
        [WEFT_DIGEST_TEXT_SIZE]; /* files, pooling, math, weights and the version of bits, as a receipt chains them */
    char prompt[WEFT_DIGEST_TEXT_SIZE]; /* what stands in front of each text */
    char inputs
        [WEFT_DIGEST_TEXT_SIZE];      /* the lines' tokens, in their order, and how many each has */
    char rows[WEFT_DIGEST_TEXT_SIZE]; /* their bits */
} weft_cli_partial;

/** Fills in what they are bound to, but for the inputs. Reads the model's files. An error in fast mode. */
int weft_cli_partial_bind(weft_cli_partial *partial, const char *prompt,
                          const weft_cli_session *session);

/** Writes PATH.resume. */
int weft_cli_partial_write(const weft_cli_partial *partial, const char *path,
                           const weft_host *host);

/**
 * Reads PATH.resume. `expected` is what the rows must be bound to, but for the inputs; the rows themselves are rows.h's to check. Without
 * it and without PATH there are no rows: found->count is 0.
 */
int weft_cli_partial_read(weft_cli_partial *found, const char *path,
                          const weft_cli_partial *expected, const weft_host *host);

/** Removes PATH.resume: PATH is whole. */
void weft_cli_partial_remove(const char *path, const weft_host *host);

#endif
