/* SPDX-License-Identifier: MIT */
#include "model/files/checkpoint.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "graph/graph.h"
#include "model/files/int8_tensor.h"
#include "model/files/random_weights.h"
#include "model/files/rearranged_weight.h"
#include "model/files/shards.h"

#define PREFIX_SIZE 64
#define NAME_SIZE   256 /* of a tensor that a family asks for */

struct weft_checkpoint {
    weft_host host;
    atomic_uint references;
    char *path;                           /* null: no files, but numbers of `seed` */
    struct weft_shards files;             /* one, or those of the index `path` */
    struct weft_checkpoint_memory memory; /* that the file is of, or zeros */
    char prefix[PREFIX_SIZE]; /* of every name in the file; names given and taken lack it */
    uint64_t seed;
    bool as_applied;   /* no matrix is transposed, whatever a layout says */
    atomic_bool *used; /* of each tensor: whether its numbers have been read */
    _Atomic(weft_digest *)
        all; /* of weft_checkpoint_digest_all, once it has been asked for; or null */
};

/* ---- names ---- */

/*
 * Finds the prefix that wrappers of PyTorch put in front of every name: DataParallel, torch.compile, a module of a
 * module.
 */
static void find_prefix(struct weft_checkpoint *checkpoint) {
    static const char *const wrappers[] = {"module.", "_orig_mod.", "model."};
    const struct weft_tensor_names *names = &checkpoint->files.names;
    if (names->count == 0) {
        return;
    }
    /* Names are in order: what the first and the last begin with they all begin with. */
    const char *first = names->tensors[0].name;
    const char *last = names->tensors[names->count - 1].name;
    size_t length = 0;
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        const size_t size = strlen(wrappers[i]);
        if (length + size < PREFIX_SIZE && strncmp(first + length, wrappers[i], size) == 0 &&
            strncmp(last, first, length + size) == 0) {
            length += size;
            i = SIZE_MAX; /* from the start, as wrappers are wrapped */
        }
    }
    memcpy(checkpoint->prefix, first, length);
}

struct file_name {
    char text[PREFIX_SIZE + NAME_SIZE];
};

static struct file_name file_name(const struct weft_checkpoint *checkpoint, const char *name) {
    struct file_name full;
    snprintf(full.text, sizeof full.text, "%s%s", checkpoint->prefix, name);
    return full;
}

static const struct weft_named_tensor *find(const struct weft_checkpoint *checkpoint,
                                            const char *name) {
    const struct file_name full = file_name(checkpoint, name);
    return weft_tensor_names_find(&checkpoint->files.names, full.text);
}

/* ---- opening ---- */

/* path may be null. */
static weft_status create(struct weft_checkpoint **out, const char *path, const weft_host *host) {
    struct weft_checkpoint *checkpoint = weft_alloc_zero(host, 1, sizeof *checkpoint);
    char *copy = path ? weft_strdup(host, path) : NULL;
    if (!checkpoint || (path && !copy)) {
        weft_free(host, checkpoint);
        weft_free(host, copy);
        return weft_fail_memory(host, path ? path : "a checkpoint");
    }
    checkpoint->host = host ? *host : (weft_host){0};
    checkpoint->path = copy;
    atomic_init(&checkpoint->references, 1);
    *out = checkpoint;
    return WEFT_OK;
}

/* Returns the checkpoint, or frees it after an error. */
static weft_status finish(struct weft_checkpoint **out, struct weft_checkpoint *checkpoint,
                          weft_status status) {
    const size_t count = checkpoint->files.names.count;
    checkpoint->used = weft_alloc_zero(&checkpoint->host, count + 1, sizeof *checkpoint->used);
    if (status == WEFT_OK && !checkpoint->used) {
        status = weft_fail_memory(&checkpoint->host, "a checkpoint's tensors");
    }
    if (status != WEFT_OK) {
        weft_checkpoint_close(&checkpoint);
        return status;
    }
    find_prefix(checkpoint);
    *out = checkpoint;
    return WEFT_OK;
}

weft_status weft_checkpoint_open(struct weft_checkpoint **out, const char *path,
                                 const weft_host *host) {
    struct weft_checkpoint *checkpoint = NULL;
    weft_safetensors *file = NULL;
    WEFT_TRY(create(&checkpoint, path, host));
    weft_status status = weft_safetensors_open(&file, path, host);
    status = status == WEFT_OK ? weft_shards_take(&checkpoint->files, file) : status;
    return finish(out, checkpoint, status);
}

weft_status weft_checkpoint_open_index(struct weft_checkpoint **out, const char *folder,
                                       const char *path, const weft_host *host) {
    struct weft_checkpoint *checkpoint = NULL;
    WEFT_TRY(create(&checkpoint, path, host));
    return finish(out, checkpoint, weft_shards_open(&checkpoint->files, folder, path, host));
}

weft_status weft_checkpoint_open_memory(struct weft_checkpoint **out,
                                        const struct weft_checkpoint_memory *memory,
                                        const char *name, const weft_host *host) {
    struct weft_checkpoint *checkpoint = NULL;
    weft_safetensors *file = NULL;
    WEFT_TRY(create(&checkpoint, name, host));
    weft_status status =
        weft_safetensors_open_memory(&file, memory->data, memory->size, name, host);
    status = status == WEFT_OK ? weft_shards_take(&checkpoint->files, file) : status;
    WEFT_TRY(finish(out, checkpoint, status));
    checkpoint->memory = *memory;
    return WEFT_OK;
}

weft_status weft_checkpoint_take(struct weft_checkpoint **out, weft_safetensors *file,
                                 bool as_applied, const weft_host *host) {
    struct weft_checkpoint *checkpoint = NULL;
    weft_status status = create(&checkpoint, weft_safetensors_path(file), host);
    if (status != WEFT_OK) {
        weft_safetensors_close(&file);
        return status;
    }
    checkpoint->as_applied = as_applied;
    return finish(out, checkpoint, weft_shards_take(&checkpoint->files, file));
}

bool weft_checkpoint_is_as_applied(const struct weft_checkpoint *checkpoint) {
    return checkpoint->as_applied;
}

weft_status weft_checkpoint_create_random(struct weft_checkpoint **out, uint64_t seed,
                                          const weft_host *host) {
    WEFT_TRY(create(out, NULL, host));
    (*out)->seed = seed;
    return WEFT_OK;
}

static void release(void *user) {
    struct weft_checkpoint *checkpoint = user;
    if (atomic_fetch_sub(&checkpoint->references, 1) == 1) {
        weft_host host = checkpoint->host;
        const struct weft_checkpoint_memory memory = checkpoint->memory;
        weft_shards_close(&checkpoint->files, &host);
        weft_free(&host, checkpoint->path);
        weft_free(&host, checkpoint->used);
        weft_free(&host, atomic_load(&checkpoint->all));
        weft_free(&host, checkpoint);
        if (memory.release) {
            memory.release(memory.release_user);
        }
    }
}

void weft_checkpoint_share(struct weft_checkpoint *checkpoint) {
    atomic_fetch_add(&checkpoint->references, 1);
}

void weft_checkpoint_close(struct weft_checkpoint **checkpoint) {
    if (*checkpoint) {
        release(*checkpoint);
        *checkpoint = NULL;
    }
}

bool weft_checkpoint_has(const struct weft_checkpoint *checkpoint, const char *name) {
    return find(checkpoint, name) != NULL;
}

const char *weft_checkpoint_path(const struct weft_checkpoint *checkpoint) {
    return checkpoint->path;
}

weft_status weft_checkpoint_copy(const struct weft_checkpoint *checkpoint, char **data,
                                 size_t *size) {
    if (!checkpoint->path) {
        return weft_fail(&checkpoint->host, WEFT_UNSUPPORTED,
                         "the model's weights are random: it has no file");
    }
    if (checkpoint->as_applied) {
        return weft_fail(&checkpoint->host, WEFT_UNSUPPORTED,
                         "%s: its matrices lie otherwise than in a model.safetensors",
                         checkpoint->path);
    }
    return weft_shards_copy(&checkpoint->files, data, size, &checkpoint->host);
}

uint32_t weft_checkpoint_count(const struct weft_checkpoint *checkpoint) {
    return checkpoint->files.names.count;
}

const char *weft_checkpoint_name(const struct weft_checkpoint *checkpoint, uint32_t index) {
    const struct weft_tensor_names *names = &checkpoint->files.names;
    return index < names->count ? names->tensors[index].name + strlen(checkpoint->prefix) : NULL;
}

/* Every axis may have 20 digits. */
void weft_checkpoint_type(char type[WEFT_CHECKPOINT_TYPE_SIZE],
                          const struct weft_checkpoint *checkpoint, uint32_t index) {
    const weft_safetensors_tensor *tensor = checkpoint->files.names.tensors[index].tensor;
    int used = snprintf(type, WEFT_CHECKPOINT_TYPE_SIZE, "%s [",
                        weft_safetensors_dtype_name(tensor->dtype));
    for (uint32_t i = 0; i < tensor->rank; i++) {
        used += snprintf(type + used, WEFT_CHECKPOINT_TYPE_SIZE - (size_t)used, "%s%llu",
                         i ? ", " : "", (unsigned long long)tensor->shape[i]);
    }
    snprintf(type + used, WEFT_CHECKPOINT_TYPE_SIZE - (size_t)used, "]");
}

weft_status weft_checkpoint_digest(weft_digest *digest, const struct weft_checkpoint *checkpoint,
                                   uint32_t index) {
    const struct weft_named_tensor *named = &checkpoint->files.names.tensors[index];
    const size_t most = (size_t)1 << 20;
    uint8_t *piece = weft_alloc(&checkpoint->host, most);
    weft_status status =
        piece ? WEFT_OK : weft_fail_memory(&checkpoint->host, "a piece of a tensor");
    weft_tree_hash hash;
    weft_tree_hash_begin(&hash);
    for (uint64_t at = 0; at < named->tensor->bytes && status == WEFT_OK; at += most) {
        const uint64_t left = named->tensor->bytes - at;
        const size_t size = left < most ? (size_t)left : most;
        status = weft_interrupted(&checkpoint->host);
        if (status == WEFT_OK) {
            status = weft_safetensors_read(named->file, named->tensor, at, piece, size);
        }
        if (status == WEFT_OK) {
            weft_tree_hash_add(&hash, piece, size);
        }
    }
    weft_free(&checkpoint->host, piece);
    WEFT_TRY(status);
    *digest = weft_tree_hash_end(&hash);
    return WEFT_OK;
}

/* Names and types with their zeros, so that no two lists are one. */
static weft_status hash_all(weft_digest *digest, const struct weft_checkpoint *checkpoint) {
    char type[WEFT_CHECKPOINT_TYPE_SIZE];
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    if (!checkpoint->path) {
        snprintf(type, sizeof type, "random %" PRIu64, checkpoint->seed);
        weft_sha256_add(&hash, type, strlen(type) + 1);
    }
    for (uint32_t i = 0; i < weft_checkpoint_count(checkpoint); i++) {
        const char *name = weft_checkpoint_name(checkpoint, i);
        weft_digest tensor;
        WEFT_TRY(weft_checkpoint_digest(&tensor, checkpoint, i));
        weft_checkpoint_type(type, checkpoint, i);
        weft_sha256_add(&hash, name, strlen(name) + 1);
        weft_sha256_add(&hash, type, strlen(type) + 1);
        weft_sha256_add(&hash, tensor.bytes, sizeof tensor.bytes);
    }
    *digest = weft_sha256_end(&hash);
    return WEFT_OK;
}

weft_status weft_checkpoint_digest_all(weft_digest *digest, struct weft_checkpoint *checkpoint) {
    const weft_digest *known = atomic_load(&checkpoint->all);
    if (known) {
        *digest = *known;
        return WEFT_OK;
    }
    WEFT_TRY(hash_all(digest, checkpoint));
    weft_digest *kept = weft_alloc(&checkpoint->host, sizeof *kept);
    if (!kept) {
        return weft_fail_memory(&checkpoint->host, "a model's hash");
    }
    *kept = *digest;
    weft_digest *none = NULL;
    if (!atomic_compare_exchange_strong(&checkpoint->all, &none, kept)) {
        weft_free(&checkpoint->host, kept); /* another thread was faster */
    }
    return WEFT_OK;
}

bool weft_checkpoint_is_named(const struct weft_checkpoint *checkpoint, uint32_t index,
                              const char *name) {
    const struct weft_tensor_names *names = &checkpoint->files.names;
    const struct weft_named_tensor *tensor = &names->tensors[index];
    if (strcmp(tensor->name + strlen(checkpoint->prefix), name) == 0) {
        return true;
    }
    const struct weft_named_tensor *found = names->other_count > 0 ? find(checkpoint, name) : NULL;
    return found && found->tensor == tensor->tensor;
}

bool weft_checkpoint_is_scale(const struct weft_checkpoint *checkpoint, uint32_t index) {
    const struct weft_tensor_names *names = &checkpoint->files.names;
    return weft_int8_tensor_is_scale(names, names->tensors[index].name);
}

uint32_t weft_checkpoint_rows(const struct weft_checkpoint *checkpoint, const char *name) {
    const struct weft_named_tensor *found = find(checkpoint, name);
    const weft_safetensors_tensor *tensor = found ? found->tensor : NULL;
    return tensor && tensor->rank > 0 && tensor->shape[0] <= UINT32_MAX ? (uint32_t)tensor->shape[0]
                                                                        : 0;
}

/* Source of a weight: a reference to the checkpoint, and a tensor of it. */
struct stored {
    struct weft_checkpoint *checkpoint;
    const struct weft_named_tensor *named;
    atomic_bool *used; /* of that tensor */
};

/* The tensor under its own name: `named` may be another one of it. */
static atomic_bool *use_of(const struct weft_checkpoint *checkpoint,
                           const struct weft_named_tensor *named) {
    const struct weft_tensor_names *names = &checkpoint->files.names;
    return &checkpoint->used[weft_tensor_names_find(names, named->tensor->name) - names->tensors];
}

bool weft_checkpoint_was_used(const struct weft_checkpoint *checkpoint, uint32_t index) {
    return atomic_load(&checkpoint->used[index]);
}

const struct weft_named_tensor *weft_checkpoint_find(const struct weft_checkpoint *checkpoint,
                                                     const char *name) {
    return find(checkpoint, name);
}

void weft_checkpoint_use(struct weft_checkpoint *checkpoint,
                         const struct weft_named_tensor *tensor) {
    atomic_store(use_of(checkpoint, tensor), true);
}

const weft_host *weft_checkpoint_host(const struct weft_checkpoint *checkpoint) {
    return &checkpoint->host;
}

void weft_checkpoint_use_all(struct weft_checkpoint *checkpoint) {
    for (uint32_t i = 0; i < checkpoint->files.names.count; i++) {
        atomic_store(&checkpoint->used[i], true);
    }
}

/* Every way to a weight's numbers begins here. */
static const struct weft_named_tensor *use(void *user) {
    const struct stored *stored = user;
    atomic_store(stored->used, true);
    return stored->named;
}

static weft_status read_stored(void *user, uint64_t first, uint64_t count, void *out) {
    const struct weft_named_tensor *named = use(user);
    return weft_safetensors_read_f32(named->file, named->tensor, first, count, out);
}

static weft_status read_halves(void *user, uint64_t first, uint64_t count, void *out) {
    const struct weft_named_tensor *named = use(user);
    return weft_safetensors_read_u16(named->file, named->tensor, first, count, out);
}

static weft_status read_bytes(void *user, uint64_t first, uint64_t count, void *out) {
    const struct weft_named_tensor *named = use(user);
    return weft_safetensors_read(named->file, named->tensor, first, out, (size_t)count);
}

static weft_status read_blocks(void *user, uint64_t first_row, uint64_t rows,
                               const struct weft_blocks *out) {
    const struct weft_named_tensor *named = use(user);
    return weft_safetensors_read_blocks(named->file, named->tensor, first_row, rows, out);
}

/* How a tensor of numbers is read: in 16 bits where the file has it so. */
static weft_weight_reader real_reader(weft_stored *stored, const weft_safetensors_tensor *tensor) {
    *stored = tensor->dtype == WEFT_SAFETENSORS_F16    ? WEFT_STORED_F16
              : tensor->dtype == WEFT_SAFETENSORS_BF16 ? WEFT_STORED_BF16
                                                       : WEFT_STORED_WHOLE;
    return *stored == WEFT_STORED_WHOLE ? read_stored : read_halves;
}

static void release_stored(void *user) {
    struct stored *stored = user;
    struct weft_checkpoint *checkpoint = stored->checkpoint;
    weft_free(&checkpoint->host, stored);
    release(checkpoint);
}

static weft_status create_stored(weft_weight **weight, struct weft_checkpoint *checkpoint,
                                 const struct weft_named_tensor *named, weft_weight_params params,
                                 weft_weight_reader read) {
    const weft_host *host = &checkpoint->host;
    struct stored *stored = weft_alloc(host, sizeof *stored);
    if (!stored) {
        return weft_fail_memory(host, params.name);
    }
    *stored = (struct stored){checkpoint, named, use_of(checkpoint, named)};
    weft_checkpoint_share(checkpoint);
    params.release = release_stored;
    params.release_user = stored;
    weft_status status = weft_weight_create_read(weight, &params, read, host);
    if (status != WEFT_OK) {
        release_stored(stored);
        return status;
    }
    if (read == read_stored && params.shape.rank == 2) {
        (*weight)->blocks = weft_safetensors_blocks(named->file, named->tensor);
        (*weight)->read_blocks = read_blocks;
    }
    return WEFT_OK;
}

static weft_status create_bytes(weft_weight **weight, struct weft_checkpoint *checkpoint,
                                const struct weft_named_tensor *named, weft_weight_params params) {
    const struct weft_named_tensor *read = NULL;
    WEFT_TRY(
        weft_int8_tensor_read(&params, &read, &checkpoint->files.names, named, &checkpoint->host));
    atomic_store(use_of(checkpoint, read), true);
    float *scales = (float *)(uintptr_t)params.scales; /* which the weight copies */
    const weft_status status = create_stored(weight, checkpoint, named, params, read_bytes);
    weft_free(&checkpoint->host, scales);
    return status;
}

/* The tensor, which has the shape `stored_shape`, as a weight of shape `shape`. */
static weft_status make_weight(weft_weight **weight, struct weft_checkpoint *checkpoint,
                               const char *name, weft_shape stored_shape, weft_shape shape) {
    const struct weft_named_tensor *found = find(checkpoint, name);
    if (!found) {
        return weft_safetensors_missing(checkpoint->path, file_name(checkpoint, name).text,
                                        stored_shape, &checkpoint->host);
    }
    weft_weight_params params = {.name = name, .dtype = WEFT_F32, .shape = shape};
    if (found->tensor->dtype == WEFT_SAFETENSORS_I8 && shape.rank == 2) {
        WEFT_TRY(weft_safetensors_expect_shape(found->file, found->tensor, shape));
        return create_bytes(weight, checkpoint, found, params);
    }
    WEFT_TRY(weft_safetensors_expect(found->file, found->tensor, stored_shape));
    WEFT_TRY(weft_safetensors_check_finite(found->file, found->tensor));
    const weft_weight_reader read = real_reader(&params.stored, found->tensor);
    return create_stored(weight, checkpoint, found, params, read);
}

weft_status weft_checkpoint_weight(weft_weight **weight, struct weft_checkpoint *checkpoint,
                                   const char *name, weft_shape shape) {
    return checkpoint->path
               ? make_weight(weight, checkpoint, name, shape, shape)
               : weft_random_weight(weight, name, shape, checkpoint->seed, &checkpoint->host);
}

weft_status weft_checkpoint_vector(weft_weight **weight, struct weft_checkpoint *checkpoint,
                                   const char *name, uint32_t elements) {
    weft_shape shape = weft_shape_of(elements);
    if (!checkpoint->path) {
        return weft_checkpoint_weight(weight, checkpoint, name, shape);
    }
    const struct weft_named_tensor *found = find(checkpoint, name);
    const weft_safetensors_tensor *tensor = found ? found->tensor : NULL;
    weft_shape stored = shape;
    if (tensor && tensor->elements == elements && tensor->rank <= WEFT_MAX_RANK) {
        stored.rank = tensor->rank;
        for (uint32_t i = 0; i < tensor->rank; i++) {
            stored.dim[i] = (uint32_t)tensor->shape[i]; /* a factor of `elements` */
        }
    }
    return make_weight(weight, checkpoint, name, stored, shape);
}

static weft_status read_whole(void *user, uint64_t first, uint64_t count, void *out) {
    const struct weft_named_tensor *named = use(user);
    return weft_safetensors_read_i32(named->file, named->tensor, first, count, out);
}

weft_status weft_checkpoint_integers(weft_weight **weight, struct weft_checkpoint *checkpoint,
                                     const char *name, weft_shape shape) {
    const struct weft_named_tensor *found = find(checkpoint, name);
    if (!found) {
        return weft_fail(&checkpoint->host, WEFT_NOT_FOUND, "there is no tensor \"%.200s\"", name);
    }
    const weft_safetensors_tensor *tensor = found->tensor;
    if (tensor->dtype != WEFT_SAFETENSORS_I32 && tensor->dtype != WEFT_SAFETENSORS_I64) {
        return weft_fail(&checkpoint->host, WEFT_BAD_FILE,
                         "%s: tensor \"%.200s\": expected I32 or I64, found %s",
                         weft_safetensors_path(found->file), tensor->name,
                         weft_safetensors_dtype_name(tensor->dtype));
    }
    WEFT_TRY(weft_safetensors_expect_shape(found->file, tensor, shape));
    WEFT_TRY(weft_safetensors_check_i32(found->file, tensor));
    const weft_weight_params params = {.name = name, .dtype = WEFT_I32, .shape = shape};
    return create_stored(weight, checkpoint, found, params, read_whole);
}

bool weft_checkpoint_find_origin(struct weft_checkpoint_origin *origin, const weft_weight *weight) {
    if (weight->part_of) {
        return weft_checkpoint_find_origin(origin, weight->part_of);
    }
    bool transposed = false;
    const weft_weight *other = weft_weight_rearranged_from(&transposed, weight);
    if (other) {
        const bool found = weft_checkpoint_find_origin(origin, other);
        origin->transposed = origin->transposed != transposed;
        return found;
    }
    if (weight->release != release_stored) {
        *origin = (struct weft_checkpoint_origin){0};
        return false;
    }
    const struct stored *stored = weight->release_user;
    *origin =
        (struct weft_checkpoint_origin){.checkpoint = stored->checkpoint, .tensor = stored->named};
    return true;
}

const struct weft_tensor_names *weft_checkpoint_names(const struct weft_checkpoint *checkpoint) {
    return &checkpoint->files.names;
}

/* ---- tensors of programs ---- */

bool weft_checkpoint_has_exactly(const struct weft_checkpoint *checkpoint, const char *name) {
    return weft_tensor_names_find(&checkpoint->files.names, name) != NULL;
}

/** Type and shape of a tensor in graphs; false if it has none. */
static bool find_type(weft_dtype *dtype, weft_shape *shape, const weft_safetensors_tensor *tensor) {
    const bool whole =
        tensor->dtype == WEFT_SAFETENSORS_I32 || tensor->dtype == WEFT_SAFETENSORS_I64;
    *dtype = whole ? WEFT_I32 : WEFT_F32;
    shape->rank = tensor->rank;
    bool fits = tensor->rank <= WEFT_MAX_RANK &&
                (whole || weft_safetensors_is_float(tensor->dtype) ||
                 (tensor->dtype == WEFT_SAFETENSORS_I8 && tensor->rank == 2));
    for (uint32_t i = 0; fits && i < tensor->rank; i++) {
        fits = tensor->shape[i] > 0 && tensor->shape[i] <= UINT32_MAX;
        shape->dim[i] = (uint32_t)tensor->shape[i];
    }
    return fits;
}

weft_status weft_checkpoint_any(weft_weight **weight, struct weft_checkpoint *checkpoint,
                                const char *name) {
    const struct weft_named_tensor *named = weft_tensor_names_find(&checkpoint->files.names, name);
    weft_weight_params params = {.name = name};
    if (!named) {
        return weft_fail(&checkpoint->host, WEFT_NOT_FOUND, "there is no tensor \"%.200s\"", name);
    }
    const weft_safetensors_tensor *tensor = named->tensor;
    if (!find_type(&params.dtype, &params.shape, tensor)) {
        return weft_fail(&checkpoint->host, WEFT_BAD_FILE,
                         "%s: tensor \"%.200s\": expected F32, F16, BF16, F64, I32 or I64 with up "
                         "to 8 axes that are not 0, or I8 with 2, found %s with %u axes",
                         weft_safetensors_path(named->file), name,
                         weft_safetensors_dtype_name(tensor->dtype), tensor->rank);
    }
    if (tensor->dtype == WEFT_SAFETENSORS_I64) {
        WEFT_TRY(weft_safetensors_check_i32(named->file, tensor));
    }
    if (tensor->dtype == WEFT_SAFETENSORS_I8) {
        return create_bytes(weight, checkpoint, named, params);
    }
    if (params.dtype == WEFT_I32) {
        return create_stored(weight, checkpoint, named, params, read_whole);
    }
    const weft_weight_reader read = real_reader(&params.stored, tensor);
    return create_stored(weight, checkpoint, named, params, read);
}
