/* SPDX-License-Identifier: MIT */
/* Weights from a checkpoint's safetensors files, read when they are needed; or random ones in their place. */
#ifndef WEFT_MODEL_CHECKPOINT_H
#define WEFT_MODEL_CHECKPOINT_H

#include <weft/graph.h>

#include "core/hash.h"
#include "model/files/tensor_names.h"

/** Files that stay open until the last weight taken from it is gone. Reference counted, atomically. */
struct weft_checkpoint;

/** The bytes of a safetensors file, and whom to tell when they are not needed any more; release may be null. */
struct weft_checkpoint_memory {
    const void *data;
    size_t size;
    weft_release release;
    void *release_user;
};

weft_status weft_checkpoint_open(struct weft_checkpoint **checkpoint, const char *path,
                                 const weft_host *host);
/** Opens the files in a folder that an index names (model/files/shards.h). */
weft_status weft_checkpoint_open_index(struct weft_checkpoint **checkpoint, const char *folder,
                                       const char *index, const weft_host *host);
/**
 * Opens the bytes of such a file, which messages call `name`. They are borrowed until release(user), which is not
 * called when this fails.
 */
weft_status weft_checkpoint_open_memory(struct weft_checkpoint **checkpoint,
                                        const struct weft_checkpoint_memory *memory,
                                        const char *name, const weft_host *host);
/**
 * Takes a file, opened, as the only one; it is closed with the checkpoint or when this fails. `as_applied`: every matrix is [out, in], also
 * those that a layout calls transposed.
 */
weft_status weft_checkpoint_take(struct weft_checkpoint **checkpoint, weft_safetensors *file,
                                 bool as_applied, const weft_host *host);
/** A checkpoint without a file: it gives every tensor it is asked for, of random_weights.h, and has none of those that a file may lack. */
weft_status weft_checkpoint_create_random(struct weft_checkpoint **checkpoint, uint64_t seed,
                                          const weft_host *host);
/** Takes a reference more. */
void weft_checkpoint_share(struct weft_checkpoint *checkpoint);
/** Drops a reference, as of the opener. */
void weft_checkpoint_close(struct weft_checkpoint **checkpoint);

/**
 * True if the file has the tensor; without a file false. What wrappers of PyTorch put in front of every name ("module.",
 * "_orig_mod.", "model.") is no part of a name, here and below. Of tensors that share memory, a file may have one and note the other names
 * (model/files/tensor_names.h): these find it, too.
 */
bool weft_checkpoint_has(const struct weft_checkpoint *checkpoint, const char *name);

/** The file's or the index's; null without one. */
const char *weft_checkpoint_path(const struct weft_checkpoint *checkpoint);

/** As weft_checkpoint_take was told; false of others. */
bool weft_checkpoint_is_as_applied(const struct weft_checkpoint *checkpoint);

/** The bytes of one file, as weft_shards_copy gives them. Errors: WEFT_UNSUPPORTED without one, and where it is as applied; those. */
weft_status weft_checkpoint_copy(const struct weft_checkpoint *checkpoint, char **data,
                                 size_t *size);

/** Number of tensors in the file, and their names, in byte order; null when index is out of range. 0 and null without a file. */
uint32_t weft_checkpoint_count(const struct weft_checkpoint *checkpoint);
const char *weft_checkpoint_name(const struct weft_checkpoint *checkpoint, uint32_t index);

/** Its type and shape as text, such as "BF16 [2, 384]". */
#define WEFT_CHECKPOINT_TYPE_SIZE 224
void weft_checkpoint_type(char type[WEFT_CHECKPOINT_TYPE_SIZE],
                          const struct weft_checkpoint *checkpoint, uint32_t index);
/** The tree hash of its bytes in the file. Errors as weft_safetensors_read. */
weft_status weft_checkpoint_digest(weft_digest *digest, const struct weft_checkpoint *checkpoint,
                                   uint32_t index);

/**
 * SHA-256 of all names, types and tree hashes, or of the seed of random weights. Reads all of the file the first time, and is kept. Any
 * thread. Errors as weft_checkpoint_digest.
 */
weft_status weft_checkpoint_digest_all(weft_digest *digest, struct weft_checkpoint *checkpoint);

/**
 * True once the numbers of tensor `index` have been used: given to a device, to a check of results, or to what was made of them when the model
 * was loaded. Hashes and the look for numbers that are not finite do not count. Any thread.
 */
bool weft_checkpoint_was_used(const struct weft_checkpoint *checkpoint, uint32_t index);
/** Notes that of one of them, which is read past the checkpoint. */
void weft_checkpoint_use(struct weft_checkpoint *checkpoint,
                         const struct weft_named_tensor *tensor);
/** The tensor of that name, or null; the host of its opener. */
const struct weft_named_tensor *weft_checkpoint_find(const struct weft_checkpoint *checkpoint,
                                                     const char *name);
const weft_host *weft_checkpoint_host(const struct weft_checkpoint *checkpoint);
/** Notes that for all of them, where they are read past the checkpoint. */
void weft_checkpoint_use_all(struct weft_checkpoint *checkpoint);

/** True if tensor `index` of these has that name, or it is another name of the tensor. */
bool weft_checkpoint_is_named(const struct weft_checkpoint *checkpoint, uint32_t index,
                              const char *name);

/** True if tensor `index` has the scales of a matrix of bytes (model/files/int8_tensor.h). */
bool weft_checkpoint_is_scale(const struct weft_checkpoint *checkpoint, uint32_t index);

/** First axis of a tensor in the file; 0 when there is no such tensor or it is a scalar. */
uint32_t weft_checkpoint_rows(const struct weft_checkpoint *checkpoint, const char *name);

/**
 * The tensor of that name and shape as an f32 weight, which stores f16 and bf16 as such, and matrices of I8 with their scales; F64 is rounded.
 * All its values must be finite; they are looked at now, and read again when a device or a check needs them. Errors name file, tensor, expected and found.
 */
weft_status weft_checkpoint_weight(weft_weight **weight, struct weft_checkpoint *checkpoint,
                                   const char *name, weft_shape shape);

/** Makes a weight of a tensor with this number of elements and any shape; the weight's shape is [elements]. */
weft_status weft_checkpoint_vector(weft_weight **weight, struct weft_checkpoint *checkpoint,
                                   const char *name, uint32_t elements);

/**
 * The I32 or I64 tensor of that name and shape as an i32 weight. Errors name file, tensor, expected and found; WEFT_NOT_FOUND without a
 * file, as random weights have none.
 */
weft_status weft_checkpoint_integers(weft_weight **weight, struct weft_checkpoint *checkpoint,
                                     const char *name, weft_shape shape);

/** Tensor that a weight comes from: all of it, rows of it, or its transpose. */
struct weft_checkpoint_origin {
    struct weft_checkpoint *checkpoint; /* no reference */
    const struct weft_named_tensor *tensor;
    bool transposed;
};

/** False for weights that are of no file. */
bool weft_checkpoint_find_origin(struct weft_checkpoint_origin *origin, const weft_weight *weight);

/** All tensors. */
const struct weft_tensor_names *weft_checkpoint_names(const struct weft_checkpoint *checkpoint);

/** True if the file has a tensor of exactly that name, whatever is in front of others. */
bool weft_checkpoint_has_exactly(const struct weft_checkpoint *checkpoint, const char *name);

/**
 * That tensor in the file's own shape: f32 of floating-point types and of I8 with scales, i32 of I32 and I64. Values may be any, but those of I64 must fit
 * i32. Read when they are needed. Errors: WEFT_NOT_FOUND, WEFT_BAD_FILE.
 */
weft_status weft_checkpoint_any(weft_weight **weight, struct weft_checkpoint *checkpoint,
                                const char *name);

#endif
