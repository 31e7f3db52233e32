/* SPDX-License-Identifier: MIT */
/*
 * The container of GGUF files, versions 2 and 3: keys with typed values, the names, formats and places of tensors, and their data. The
 * project ggml defines it, in a page of its own.
 *
 * A file is checked completely before any of it can be used; a handle is immutable afterwards, so all functions that take a const
 * handle may be called from any thread at the same time. Keys and tensors take memory, values and data stay in the file.
 */
#ifndef WEFT_MODEL_GGUF_H
#define WEFT_MODEL_GGUF_H

#include "core/text.h"
#include "model/files/ggml_format.h"

/** Longest key, in bytes. */
#define WEFT_GGUF_MAX_KEY 256u
/** Longest name of a tensor. */
#define WEFT_GGUF_MAX_NAME 64u
/** Most axes of a tensor. */
#define WEFT_GGUF_MAX_RANK 4u
/** Where tensors begin: at multiples of this, or of general.alignment. */
#define WEFT_GGUF_ALIGNMENT      32
#define WEFT_GGUF_MOST_ALIGNMENT 65536
/** Where the first key is. */
#define WEFT_GGUF_VALUES_AT 24u
/** Most arrays in one another. */
#define WEFT_GGUF_MAX_DEPTH 4u

/** As files number them. */
enum weft_gguf_type {
    WEFT_GGUF_U8 = 0,
    WEFT_GGUF_I8,
    WEFT_GGUF_U16,
    WEFT_GGUF_I16,
    WEFT_GGUF_U32,
    WEFT_GGUF_I32,
    WEFT_GGUF_F32,
    WEFT_GGUF_BOOL,
    WEFT_GGUF_STRING,
    WEFT_GGUF_ARRAY,
    WEFT_GGUF_U64,
    WEFT_GGUF_I64,
    WEFT_GGUF_F64,
    WEFT_GGUF_TYPE_COUNT
};

/** A key of the metadata. All pointers live as long as the file is open. */
struct weft_gguf_value {
    char *key;
    enum weft_gguf_type type;
    enum weft_gguf_type element; /* of an array; otherwise `type` */
    uint64_t count;              /* of an array; otherwise 1 */
    uint64_t offset;             /* of its first element in the file */
};

/** A tensor. Its rows are whole blocks. */
struct weft_gguf_tensor {
    char name[WEFT_GGUF_MAX_NAME + 1];
    const struct weft_ggml_format *format;
    uint32_t rank;
    uint64_t shape[WEFT_GGUF_MAX_RANK]; /* outermost first; none is 0 */
    uint64_t elements;
    uint64_t offset; /* of its data in the file */
    uint64_t bytes;
};

typedef struct weft_gguf weft_gguf;

/**
 * Opens and checks a file, and keeps it open: what is read later are the bytes that were there now, or an error (core/system/kept_file.h).
 * Errors, naming file, key or tensor, expected and found:
 *   WEFT_BAD_FILE: cut short; no GGUF file; a key or name that is too long, empty or there twice; a zero byte in a text; a type
 *     that nobody has defined; a tensor with an axis of 0, rows of parts of blocks, or data that are out of the file, misaligned or another's, too;
 *   WEFT_UNSUPPORTED: version 1, big-endian numbers, a part of a split file, a format that Weft does not have;
 *   WEFT_NOT_FOUND, WEFT_IO_ERROR, WEFT_CANCELLED, WEFT_OUT_OF_HOST_MEMORY.
 * host may be null and is copied.
 */
weft_status weft_gguf_open(weft_gguf **file, const char *path, const weft_host *host);
/** Opens bytes in memory, which are borrowed until weft_gguf_close; `path` only names them in errors. */
weft_status weft_gguf_open_memory(weft_gguf **file, const void *data, size_t size, const char *path,
                                  const weft_host *host);
void weft_gguf_close(weft_gguf **file);

const char *weft_gguf_path(const weft_gguf *file);
const weft_host *weft_gguf_host(const weft_gguf *file);
/** Bytes of the file. */
uint64_t weft_gguf_size(const weft_gguf *file);

/** Keys in their byte order; null when index is out of range. */
uint32_t weft_gguf_value_count(const weft_gguf *file);
const struct weft_gguf_value *weft_gguf_value_at(const weft_gguf *file, uint32_t index);
/** Where the bytes of keys and values end, and some of these bytes. Errors as weft_kept_file_read. */
uint64_t weft_gguf_values_end(const weft_gguf *file);
weft_status weft_gguf_read_front(const weft_gguf *file, uint64_t at, void *out, size_t size);
/** The value of a key, or null. */
const struct weft_gguf_value *weft_gguf_find(const weft_gguf *file, const char *key);

/** Tensors in the byte order of names; null when index is out of range. */
uint32_t weft_gguf_tensor_count(const weft_gguf *file);
const struct weft_gguf_tensor *weft_gguf_tensor_at(const weft_gguf *file, uint32_t index);
const struct weft_gguf_tensor *weft_gguf_find_tensor(const weft_gguf *file, const char *name);

/** So many of a tensor's bytes from `begin` on. Errors as weft_kept_file_read. */
weft_status weft_gguf_read(const weft_gguf *file, const struct weft_gguf_tensor *tensor,
                           uint64_t begin, void *out, size_t size);

/*
 * Values of keys. `out` stays as it is where the file lacks the key, and on failure: WEFT_BAD_FILE, naming file, key, expected and found,
 * for another type, or what is out of range; those of reading.
 */

/** Of any integer type. */
weft_status weft_gguf_integer(int64_t *out, const weft_gguf *file, const char *key, int64_t minimum,
                              int64_t maximum);
/** Of any type of numbers. */
weft_status weft_gguf_real(double *out, const weft_gguf *file, const char *key);
weft_status weft_gguf_bool(bool *out, const weft_gguf *file, const char *key);
/** WEFT_UNSUPPORTED where the file has the key with the other value. */
weft_status weft_gguf_expect_bool(const weft_gguf *file, const char *key, bool expected);
/** Appended to `out`: up to `most` bytes. */
weft_status weft_gguf_string(struct weft_text *out, const weft_gguf *file, const char *key,
                             uint64_t most);

/** The text of a key, of at most WEFT_GGUF_MAX_NAME bytes, to be freed; "" where the file lacks the key. */
weft_status weft_gguf_name(char **out, const weft_gguf *file, const char *key);

/**
 * Calls `visit` with each text of an array, until one gives an error, which is then the result. WEFT_BAD_FILE where the key is no
 * array of texts, or is missing.
 */
weft_status weft_gguf_walk(const weft_gguf *file, const char *key, uint64_t most,
                           weft_status (*visit)(void *user, uint32_t index, const char *text,
                                                size_t size),
                           void *user);
/** The numbers of an array of `count`, to be freed; null where the file lacks the key. Others are WEFT_BAD_FILE. */
weft_status weft_gguf_reals(float **out, const weft_gguf *file, const char *key, uint64_t count);
weft_status weft_gguf_integers(int32_t **out, const weft_gguf *file, const char *key,
                               uint64_t count);

/** Logs that of a key and returns `status`. */
weft_status weft_gguf_fail(const weft_gguf *file, weft_status status, const char *key,
                           const char *expected, const char *found);

#endif
