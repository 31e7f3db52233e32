/* SPDX-License-Identifier: MIT */
#include "model/files/quantized_files.h"

#include <stdio.h>
#include <string.h>

#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"
#include "graph/graph.h"
#include "model/files/folder_save.h"
#include "model/files/ggml_encode.h"
#include "model/files/int8_tensor.h"
#include "model/files/safetensors_header.h"
#include "model/files/stacked_weight.h"

#define AT_ONCE ((uint64_t)1 << 18) /* bytes that are copied */

/* ---- marks ---- */

static struct weft_quantized_mark *find(const struct weft_quantized_files *files,
                                        const weft_safetensors_tensor *tensor) {
    for (uint32_t i = 0; i < files->count; i++) {
        if (files->marks[i].tensor->tensor == tensor) {
            return &files->marks[i];
        }
    }
    return NULL;
}

weft_status weft_quantized_files_add(struct weft_quantized_files *files,
                                     const weft_weight *weight) {
    struct weft_checkpoint_origin origin;
    uint32_t count = 0;
    weft_weight *const *parts = weft_weight_stack_parts(&count, weight);
    for (uint32_t i = 0; i < count; i++) {
        WEFT_TRY(weft_quantized_files_add(files, parts[i]));
    }
    if (parts || !weft_checkpoint_find_origin(&origin, weight)) {
        return WEFT_OK;
    }
    const weft_safetensors_tensor *tensor = origin.tensor->tensor;
    if (tensor->format) {
        return weft_fail(files->host, WEFT_UNSUPPORTED,
                         "%s: tensor \"%.200s\": expected numbers, found blocks (%s): quantize the "
                         "folder that this one was made of",
                         weft_safetensors_path(origin.tensor->file), tensor->name,
                         tensor->format->name);
    }
    struct weft_quantized_mark *mark = find(files, tensor);
    if (!mark) {
        if (!weft_grow(files->host, &files->marks, files->count, &files->capacity,
                       sizeof *files->marks)) {
            return weft_fail_memory(files->host, "the tensors of a model");
        }
        mark = &files->marks[files->count++];
        *mark =
            (struct weft_quantized_mark){.checkpoint = origin.checkpoint, .tensor = origin.tensor};
    }
    mark->weights++;
    return WEFT_OK;
}

weft_status weft_quantized_files_mark(struct weft_quantized_files *files, const weft_weight *weight,
                                      bool columns) {
    struct weft_checkpoint_origin origin;
    uint32_t count = 0;
    weft_weight *const *parts = weft_weight_stack_parts(&count, weight);
    for (uint32_t i = 0; i < count; i++) {
        WEFT_TRY(weft_quantized_files_mark(files, parts[i], columns));
    }
    if (!parts && weft_checkpoint_find_origin(&origin, weight)) {
        struct weft_quantized_mark *mark = find(files, origin.tensor->tensor);
        mark->columns += columns != origin.transposed;
        mark->rows += columns == origin.transposed;
    }
    return WEFT_OK;
}

static const struct weft_ggml_format *format_for(const struct weft_quantized_files *files,
                                                 const weft_safetensors_tensor *tensor) {
    return weft_ggml_format_fit(files->format, tensor->shape[1]);
}

/* All that is made of it becomes bytes, in the same way; or it is multiplied along its rows, which are whole blocks. */
static bool is_matrix(const struct weft_quantized_files *files,
                      const struct weft_quantized_mark *mark) {
    const weft_safetensors_tensor *tensor = mark ? mark->tensor->tensor : NULL;
    if (!tensor || tensor->rank != 2 || !weft_safetensors_is_float(tensor->dtype)) {
        return false;
    }
    return files->format ? mark->rows == mark->weights && format_for(files, tensor)
                         : mark->rows == mark->weights || mark->columns == mark->weights;
}

uint32_t weft_quantized_files_matrices(const struct weft_quantized_files *files) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < files->count; i++) {
        count += is_matrix(files, &files->marks[i]);
    }
    return count;
}

void weft_quantized_files_free(struct weft_quantized_files *files) {
    weft_free(files->host, files->marks);
    files->marks = NULL;
    files->count = 0;
}

/* ---- one file ---- */

struct writer {
    const struct weft_quantized_files *files;
    struct weft_checkpoint *checkpoint;
    const struct weft_tensor_names *names;
    struct weft_new_file file;
    const char *out; /* the folder that the model gets */
    weft_quantize_info *info;
};

static const struct weft_quantized_mark *matrix_at(const struct writer *w, uint32_t index) {
    const struct weft_quantized_mark *mark = find(w->files, w->names->tensors[index].tensor);
    return is_matrix(w->files, mark) ? mark : NULL;
}

/* The name of what a matrix gets besides, or instead: the caller frees it. */
static weft_status new_name(char **name, const struct writer *w,
                            const struct weft_quantized_mark *mark, const char *end) {
    const weft_host *host = w->files->host;
    *name = weft_format(host, "%s%s", mark->tensor->tensor->name, end);
    if (!*name) {
        return weft_fail_memory(host, mark->tensor->tensor->name);
    }
    return weft_tensor_names_find(w->names, *name)
               ? weft_fail(host, WEFT_UNSUPPORTED,
                           "%s: tensor \"%.200s\": expected none of that name, which \"%.200s\" "
                           "needs",
                           weft_safetensors_path(mark->tensor->file), *name,
                           mark->tensor->tensor->name)
               : WEFT_OK;
}

/* A matrix and its scales behind it. */
static weft_status add_bytes(struct weft_safetensors_header *header, const struct writer *w,
                             const struct weft_quantized_mark *mark) {
    const weft_safetensors_tensor *tensor = mark->tensor->tensor;
    const bool rows = mark->rows > 0;
    const uint64_t shape[] = {rows ? tensor->shape[0] : 1, rows ? 1 : tensor->shape[1]};
    char *name = NULL;
    weft_status status = new_name(&name, w, mark, WEFT_SCALE_NAME(w->files->stored));
    if (status == WEFT_OK) {
        status = weft_safetensors_header_add(header, tensor->name, WEFT_SAFETENSORS_I8,
                                             tensor->shape, 2);
    }
    if (status == WEFT_OK) {
        status = weft_safetensors_header_add(header, name, WEFT_SAFETENSORS_F32, shape, 2);
    }
    weft_free(w->files->host, name);
    return status;
}

/* Rows of blocks, as safetensors.h says how they are called. */
static weft_status add_blocks(struct weft_safetensors_header *header, const struct writer *w,
                              const struct weft_quantized_mark *mark) {
    const weft_safetensors_tensor *tensor = mark->tensor->tensor;
    const struct weft_ggml_format *format = format_for(w->files, tensor);
    const uint64_t shape[] = {tensor->shape[0],
                              tensor->shape[1] / format->elements * format->bytes};
    char end[WEFT_GGML_ENDING_SIZE];
    char *name = NULL;
    weft_status status = new_name(&name, w, mark, weft_ggml_ending(end, format));
    if (status == WEFT_OK) {
        status = weft_safetensors_header_add(header, name, WEFT_SAFETENSORS_U8, shape, 2);
    }
    weft_free(w->files->host, name);
    return status;
}

/* Names of tensors that share memory, and what transformers wants to see. */
static weft_status end_header(struct weft_safetensors_header *header, const struct writer *w) {
    const uint32_t count = w->names->other_count;
    weft_safetensors_note *notes = weft_alloc_zero(w->files->host, count + 1, sizeof *notes);
    if (!notes) {
        return weft_fail_memory(w->files->host, "names of tensors");
    }
    notes[0] = (weft_safetensors_note){"format", "pt"};
    for (uint32_t i = 0; i < count; i++) {
        notes[i + 1] =
            (weft_safetensors_note){w->names->others[i].name, w->names->others[i].tensor->name};
    }
    const weft_status status = weft_safetensors_header_end(header, notes, count + 1);
    weft_free(w->files->host, notes);
    return status;
}

static weft_status add_tensors(struct weft_safetensors_header *header, struct writer *w) {
    for (uint32_t i = 0; i < w->names->count; i++) {
        const struct weft_named_tensor *named = &w->names->tensors[i];
        const struct weft_quantized_mark *mark = matrix_at(w, i);
        const bool blocks = mark && w->files->format;
        w->info->matrices += mark != NULL;
        w->info->as_q8_0 += blocks && format_for(w->files, named->tensor) != w->files->format;
        w->info->bytes_before += named->tensor->bytes;
        WEFT_TRY(!mark    ? weft_safetensors_header_add(header, named->tensor->name,
                                                        named->tensor->dtype, named->tensor->shape,
                                                        named->tensor->rank)
                 : blocks ? add_blocks(header, w, mark)
                          : add_bytes(header, w, mark));
    }
    WEFT_TRY(end_header(header, w));
    w->info->bytes_after += header->data;
    return weft_new_file_add(&w->file, header->text.data, header->text.length, w->files->host);
}

static weft_status write_weight(struct writer *w, const weft_weight *weight, uint8_t *block) {
    const uint64_t count = weft_shape_elements(weight->shape);
    for (uint64_t done = 0; done < count; done += AT_ONCE) {
        const uint64_t size = count - done < AT_ONCE ? count - done : AT_ONCE;
        WEFT_TRY(weft_interrupted(w->files->host));
        WEFT_TRY(weft_weight_read_stored(weight, done, size, block));
        WEFT_TRY(weft_new_file_add(&w->file, block, (size_t)size, w->files->host));
    }
    const uint64_t scales = weight->shape.dim[weight->scale_columns ? 1 : 0];
    return weft_new_file_add(&w->file, weight->scales, (size_t)scales * sizeof(float),
                             w->files->host);
}

static weft_status write_bytes(struct writer *w, const struct weft_quantized_mark *mark,
                               weft_weight *source, uint8_t *block) {
    weft_weight *bytes = NULL;
    WEFT_TRY(weft_weight_quantize(&bytes, source, w->files->stored, mark->rows == 0));
    const weft_status status = write_weight(w, bytes, block);
    weft_weight_destroy(&bytes);
    return status;
}

static weft_status add_block(void *user, const uint8_t *block, size_t size) {
    struct writer *w = user;
    return weft_new_file_add(&w->file, block, size, w->files->host);
}

static weft_status read_source(void *user, uint64_t first, uint64_t count, float *out) {
    return weft_weight_read(user, first, count, out);
}

static weft_status write_blocks(struct writer *w, const struct weft_quantized_mark *mark,
                                weft_weight *source) {
    const weft_safetensors_tensor *tensor = mark->tensor->tensor;
    return weft_ggml_encode(&(struct weft_ggml_encoding){
        .format = format_for(w->files, tensor),
        .path = weft_safetensors_path(mark->tensor->file),
        .name = tensor->name,
        .elements = tensor->elements,
        .read = read_source,
        .source = source,
        .add = add_block,
        .target = w,
        .host = w->files->host,
    });
}

static weft_status write_matrix(struct writer *w, const struct weft_quantized_mark *mark,
                                uint8_t *block) {
    weft_weight *source = NULL;
    WEFT_TRY(weft_checkpoint_any(&source, w->checkpoint, mark->tensor->name));
    const weft_status status =
        w->files->format ? write_blocks(w, mark, source) : write_bytes(w, mark, source, block);
    weft_weight_destroy(&source);
    return status;
}

static weft_status copy_tensor(struct writer *w, const struct weft_named_tensor *named,
                               uint8_t *block) {
    const uint64_t bytes = named->tensor->bytes;
    for (uint64_t done = 0; done < bytes; done += AT_ONCE) {
        const uint64_t size = bytes - done < AT_ONCE ? bytes - done : AT_ONCE;
        WEFT_TRY(weft_interrupted(w->files->host));
        WEFT_TRY(weft_safetensors_read(named->file, named->tensor, done, block, (size_t)size));
        WEFT_TRY(weft_new_file_add(&w->file, block, (size_t)size, w->files->host));
    }
    return WEFT_OK;
}

static weft_status write_tensors(struct writer *w) {
    const weft_host *host = w->files->host;
    struct weft_safetensors_header header = {.text = {.host = host ? *host : (weft_host){0}}};
    weft_status status = add_tensors(&header, w);
    weft_free(host, header.text.data);
    uint8_t *block = status == WEFT_OK ? weft_alloc(host, (size_t)AT_ONCE) : NULL;
    if (status == WEFT_OK && !block) {
        status = weft_fail_memory(host, "tensors");
    }
    for (uint32_t i = 0; i < w->names->count && status == WEFT_OK; i++) {
        const struct weft_quantized_mark *mark = matrix_at(w, i);
        status = weft_interrupted(host);
        if (status == WEFT_OK) {
            status =
                mark ? write_matrix(w, mark, block) : copy_tensor(w, &w->names->tensors[i], block);
        }
    }
    weft_free(host, block);
    return status == WEFT_OK ? weft_new_file_finish(&w->file, host) : status;
}

static weft_status write_file(struct writer *w, const char *path) {
    const weft_host *host = w->files->host;
    weft_status status = weft_new_file_create(&w->file, path, host);
    if (status == WEFT_OK) {
        status = write_tensors(w);
    }
    if (status == WEFT_OK) {
        status = weft_folder_save_withdraw(w->out, host);
    }
    if (status == WEFT_OK) {
        status = weft_new_file_place(&w->file, host);
    }
    weft_new_file_drop(&w->file, host);
    return status;
}

/* ---- all ---- */

/*
 * Path of a checkpoint's folder below the model's, with separators on both sides: "/" or "/2_Dense/". The caller
 * frees it.
 */
static char *place_of(const struct weft_checkpoint *checkpoint, const char *folder,
                      const weft_host *host) {
    const char *path = weft_checkpoint_path(checkpoint);
    size_t begin = strncmp(path, folder, strlen(folder)) == 0 ? strlen(folder) : 0;
    size_t end = strlen(path);
    while (end > begin && !weft_system_is_separator(path[end - 1])) {
        end--;
    }
    while (begin < end && weft_system_is_separator(path[begin])) {
        begin++;
    }
    return weft_format(host, "/%.*s", (int)(end - begin), path + begin);
}

static weft_status write_checkpoint(weft_quantize_info *info,
                                    const struct weft_quantized_files *files,
                                    struct weft_checkpoint *checkpoint, const char *folder,
                                    const char *out) {
    const weft_host *host = files->host;
    char *place = place_of(checkpoint, folder, host);
    char *target = place ? weft_format(host, "%s%s", out, place) : NULL;
    char *path = target ? weft_path_join(target, "model.safetensors", host) : NULL;
    struct writer writer = {.files = files,
                            .checkpoint = checkpoint,
                            .names = weft_checkpoint_names(checkpoint),
                            .file = {.file = -1},
                            .out = out,
                            .info = info};
    weft_status status = path ? weft_make_folders(target, host) : weft_fail_memory(host, "a path");
    if (status == WEFT_OK) {
        status = write_file(&writer, path);
    }
    weft_free(host, place);
    weft_free(host, target);
    weft_free(host, path);
    return status;
}

weft_status weft_quantized_files_write(weft_quantize_info *info,
                                       const struct weft_quantized_files *files, const char *folder,
                                       const char *out) {
    *info = (weft_quantize_info){0};
    for (uint32_t i = 0; i < files->count; i++) {
        bool first = true;
        for (uint32_t k = 0; k < i && first; k++) {
            first = files->marks[k].checkpoint != files->marks[i].checkpoint;
        }
        if (first) {
            WEFT_TRY(write_checkpoint(info, files, files->marks[i].checkpoint, folder, out));
        }
    }
    return WEFT_OK;
}
