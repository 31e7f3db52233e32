/* SPDX-License-Identifier: MIT */
/*
 * Vectors of texts in a file that is written as they come: .npy, or where its name ends with .jsonl or .ndjson an object with "id", where there are ids, and
 * "vector", of sparse ones "indices" and "values", on each line. Until all are there, it is called FILE.part; that is whole rows, and
 * perhaps a piece of one more, whenever the process ends. Sparse ones may be in a file named .npz, which is there at the end alone, as
 * SciPy writes CSR matrices. Texts with several vectors each have "vectors" in their objects; or all are in a .npz: "vectors" [n, width],
 * "offsets" [texts + 1], so that text i has the rows from offsets[i] to offsets[i + 1], and "ids" where there are some. Functions return exit codes.
 */
#ifndef WEFT_CLI_ROWS_H
#define WEFT_CLI_ROWS_H

#include <weft/texts.h>

#include "core/hash.h"
#include "core/text.h"
#include "partial.h"

/** What a row is. */
typedef struct weft_cli_row_form {
    uint32_t width;
    bool sparse; /* values besides 0 are written, with their places */
    bool many;   /* a text has several, or none */
} weft_cli_row_form;

/** Zeroed: it is not open. */
typedef struct weft_cli_rows {
    const char *path;
    const weft_host *host;
    char *target, *part; /* what links of the path lead to, and beside it */
    const char *
        from; /* the one of these that an earlier command left, until there are more rows; or null */
    int file;
    bool is_open, is_json, is_placed;
    bool is_npz, is_many;
    uint32_t count, width; /* texts */
    uint64_t vectors;      /* of texts with several */
    weft_term *terms;      /* of sparse rows: room for those of one */
    uint64_t term_count;
    struct weft_text indices, values, ends; /* of a .npz: its arrays, as bytes */
    struct weft_text ids;                   /* one behind the other, each with a zero */
    uint64_t end;                           /* bytes of whole rows, with the header */
    weft_sha256 hash;                       /* of the rows' bits */
} weft_cli_rows;

/** Whether there is a place for such a file: not where something other than a regular file has its name. */
bool weft_cli_rows_fit(const char *path);

/** Whether the file of that name is JSON Lines. */
bool weft_cli_rows_are_json(const char *path);
/** Whether it is a .npz, which has sparse rows, or several of a text. */
bool weft_cli_rows_are_npz(const char *path);

/** Begins the file, in the place of whatever FILE.part there is. `path` and `host` outlive it. With a null path, of several vectors, there is only their hash. */
int weft_cli_rows_create(weft_cli_rows *rows, const char *path, const weft_cli_row_form *form,
                         const weft_host *host);

/**
 * Goes on with FILE.part, or where there is none with FILE, behind the rows that `found` says: they must have its digest, and what is behind them is
 * cut off.
 */
int weft_cli_rows_reopen(weft_cli_rows *rows, const char *path, const weft_cli_row_form *form,
                         const weft_cli_partial *found, const weft_host *host);

/** Writes `count` rows more; ids [count] as JSON, or null. With `sync` the device has them behind the call. */
int weft_cli_rows_add(weft_cli_rows *rows, const float *values, uint32_t count, char *const *ids,
                      bool sync);

/** Writes the `count` vectors of one text more; `id` as JSON, or null. */
int weft_cli_rows_add_text(weft_cli_rows *rows, const float *values, uint32_t count,
                           const char *id);

/** Their SHA-256 so far. */
void weft_cli_rows_digest(const weft_cli_rows *rows, char digest[WEFT_DIGEST_TEXT_SIZE]);

/** Renames the file over FILE. */
int weft_cli_rows_place(weft_cli_rows *rows);

/** Removes what has not been placed, and closes it. */
void weft_cli_rows_drop(weft_cli_rows *rows);

/** What has not been placed stays FILE.part. */
void weft_cli_rows_close(weft_cli_rows *rows);

#endif
