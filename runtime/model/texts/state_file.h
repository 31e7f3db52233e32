/* SPDX-License-Identifier: MIT */
/*
 * Files of a decoder's state: one sequence, with all that it needs to go on where it was. A safetensors file of these tensors,
 *   tokens       I32 [n], those that the model has read
 *   next         I32 [k], those that follow in the text and have not been read; absent if there are none
 *   state/NAME   F32, or F16 where the model's states are, of each state: [count, min(n, rows), width] of one that consists of rings, the oldest token first, else [elements]
 * and of the notes that state_file.c lists. Everything is checked, and compared with the reader's own, before any of it is used.
 */
#ifndef WEFT_MODEL_STATE_FILE_H
#define WEFT_MODEL_STATE_FILE_H

#include "core/hash.h"
#include "graph/graph.h"
#include "model/files/safetensors.h"

#define WEFT_STATE_FORMAT  "weft-state"
#define WEFT_STATE_VERSION 1

/** What has to be the same for a state to go on with the same bits. */
struct weft_state_owner {
    const char *math, *weights; /* of the device: weft_math_name, weft_weight_storage_name */
    const char *decoding;       /* weft_decoding_name */
    weft_digest model;
    uint32_t vocabulary;
};

/** The text of a state. */
struct weft_state_text {
    const int32_t *tokens; /* [count + next]: those that were read, then the others */
    uint32_t count, next;
    uint32_t
        given; /* so many of the first were not made: the sampling's random numbers are counted from there */
};

/** A state: `elements` of a sequence, f32 or f16, or rings of them. */
struct weft_state_part {
    const char *name;
    weft_dtype dtype;
    uint64_t elements;
    struct weft_state_rings rings;
};

/** Elements that the file has of it, for a sequence of so many tokens. */
uint64_t weft_state_part_kept(const struct weft_state_part *part, uint32_t tokens);

/** What is written: `read` gives the elements that are kept of a part, more than once. */
struct weft_state_source {
    const struct weft_state_owner *owner;
    struct weft_state_text text;
    const struct weft_state_part *parts;
    uint32_t count;
    weft_status (*read)(void *user, uint32_t part, void *out);
    void *user;
};

/** Writes it beside `path` and renames it. Errors: WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY, those of `read`. */
weft_status weft_state_file_write(const char *path, const struct weft_state_source *source,
                                  const weft_host *host);

/** A file that has been opened and checked, but for the parts. Zeros before; close it in any case. */
struct weft_state_file {
    weft_safetensors *tensors;
    int32_t *tokens; /* of text */
    struct weft_state_text text;
    weft_digest states; /* of all parts */
};

/**
 * Opens a file, whose text may have up to `most` tokens that were read. Memory is that of its header and its tokens.
 * Errors: WEFT_NOT_FOUND, WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY; WEFT_BAD_FILE naming file, field, expected and found, for a state of
 * another owner, too.
 */
weft_status weft_state_file_open(struct weft_state_file *file, const char *path,
                                 const struct weft_state_owner *owner, uint32_t most,
                                 const weft_host *host);
/** Checks that the file has these parts and nothing else, and their hash. Errors: WEFT_BAD_FILE, WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_state_file_check(const struct weft_state_file *file,
                                  const struct weft_state_part *parts, uint32_t count);
/** The elements of a part that are kept. */
weft_status weft_state_file_read(const struct weft_state_file *file,
                                 const struct weft_state_part *part, void *out);
void weft_state_file_close(struct weft_state_file *file);

#endif
