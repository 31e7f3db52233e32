/* SPDX-License-Identifier: MIT */
/*
 * Arrays of .npz archives, held to a type and a shape. Functions return exit codes; their messages
 * name file, member, what was expected and what was found.
 */
#ifndef WEFT_CLI_MEMBERS_H
#define WEFT_CLI_MEMBERS_H

#include "cli.h"
#include "core/formats/npz.h"

typedef enum weft_cli_values {
    WEFT_CLI_INTEGERS,      /* int32 or int64 */
    WEFT_CLI_REALS,         /* float32 or float64 */
    WEFT_CLI_REALS_OR_BYTES /* or uint8, where 255 means 1 */
} weft_cli_values;

#define WEFT_CLI_MEMBER_RANK 3

/** What an array must be. */
typedef struct weft_cli_member {
    const char *name;
    weft_cli_values values;
    const char *axes;                     /* a letter for each axis, for messages, such as "Nn" */
    uint32_t shape[WEFT_CLI_MEMBER_RANK]; /* sizes; 0: any from 1 on */
} weft_cli_member;

/** Where arrays come from. */
typedef struct weft_cli_archive {
    weft_npz *npz;
    const char *path;
    const weft_host *host;
    uint64_t left; /* bytes of memory that its arrays may still take */
} weft_cli_archive;

/** A small archive may have large contents. Its arrays take at most so much memory, and so many times the file's size. */
#define WEFT_CLI_ARCHIVE_BYTES (UINT64_C(64) << 20)
#define WEFT_CLI_ARCHIVE_TIMES 64U

int weft_cli_archive_open(weft_cli_archive *archive, const char *path, const weft_host *host);
void weft_cli_archive_close(weft_cli_archive *archive);

/** What an array is and the sizes of its axes, without its elements: nothing of it is unpacked. */
int weft_cli_member_look(uint32_t shape[WEFT_CLI_MEMBER_RANK], const weft_cli_archive *archive,
                         const weft_cli_member *expected);

/** The elements of WEFT_CLI_INTEGERS in fresh memory (weft_free), and the sizes of the axes. */
int weft_cli_member_integers(int32_t **values, uint32_t shape[WEFT_CLI_MEMBER_RANK],
                             weft_cli_archive *archive, const weft_cli_member *expected);

/** The same of the other two kinds, as float; a byte b is float(b) / 255.0f. */
int weft_cli_member_reals(float **values, uint32_t shape[WEFT_CLI_MEMBER_RANK],
                          weft_cli_archive *archive, const weft_cli_member *expected);

/** One number: float32 or float64, [] or [1]. */
int weft_cli_member_real(double *value, const weft_cli_archive *archive, const char *member);

/** An array of the two real kinds in fresh memory. */
weft_status weft_cli_npy_reals(float **values, const weft_npy *npy, const char *name,
                               const weft_host *host);

#endif
