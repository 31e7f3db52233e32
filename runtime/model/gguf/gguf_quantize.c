/* SPDX-License-Identifier: MIT */
#include "model/gguf/gguf_quantize.h"

#include <string.h>

#include "core/bytes.h"
#include "core/system/file.h"
#include "core/text.h"
#include "core/try.h"
#include "model/files/ggml_encode.h"
#include "model/files/safetensors.h"
#include "model/gguf/gguf.h"

#define FILE_TYPE "general.file_type"
#define VERSION   "general.quantization_version"
#define ALIGNMENT "general.alignment"
#define AT_ONCE   ((uint64_t)1 << 16) /* bytes that are copied */

struct writer {
    const weft_gguf *file;
    const struct weft_ggml_format *format;
    struct weft_new_file out;
    struct weft_text front; /* all before the data */
    uint64_t alignment;
    weft_quantize_info *info;
    const weft_host *host;
};

/* ---- what becomes of a tensor ---- */

/* Or the matrices of experts, but not those that choose among them. */
static bool is_matrix(const struct weft_gguf_tensor *tensor) {
    return (tensor->rank == 2 || tensor->rank == 3) && tensor->format->elements == 1 &&
           weft_ends_with(tensor->name, ".weight") &&
           !weft_ends_with(tensor->name, ".ffn_gate_inp.weight") &&
           strcmp(tensor->name, "position_embd.weight") != 0 &&
           strcmp(tensor->name, "token_types.weight") != 0;
}

/* As weft_model_quantize has it. Its own, where it stays as it is. */
static const struct weft_ggml_format *format_for(const struct writer *w,
                                                 const struct weft_gguf_tensor *tensor) {
    const struct weft_ggml_format *found =
        is_matrix(tensor) ? weft_ggml_format_fit(w->format, tensor->shape[tensor->rank - 1]) : NULL;
    return found ? found : tensor->format;
}

static uint64_t bytes_of(const struct writer *w, const struct weft_gguf_tensor *tensor) {
    const struct weft_ggml_format *format = format_for(w, tensor);
    return tensor->elements / format->elements * format->bytes;
}

static uint64_t padded(const struct writer *w, uint64_t size) {
    return (size + w->alignment - 1) / w->alignment * w->alignment;
}

/* ---- the front ---- */

static void put_number(struct weft_text *text, uint64_t number, size_t size) {
    uint8_t bytes[sizeof number];
    weft_store_bytes(bytes, number, size);
    weft_text_put(text, (const char *)bytes, size);
}

static void put_string(struct weft_text *text, const char *string) {
    put_number(text, strlen(string), 8);
    weft_text_put(text, string, strlen(string));
}

/* As files number kinds of files; of Q4_K, one whose matrices are all so. */
static uint32_t file_type(const struct weft_ggml_format *format) {
    return strcmp(format->name, "Q4_0") == 0 ? 2 : strcmp(format->name, "Q8_0") == 0 ? 7 : 14;
}

/* All keys as the file has them, but for two numbers. */
static weft_status put_values(struct writer *w) {
    const uint64_t begin = WEFT_GGUF_VALUES_AT, end = weft_gguf_values_end(w->file);
    const struct weft_gguf_value *type = weft_gguf_find(w->file, FILE_TYPE);
    const struct weft_gguf_value *version = weft_gguf_find(w->file, VERSION);
    const size_t start = w->front.length;
    uint8_t piece[4096];
    for (uint64_t at = begin; at < end; at += sizeof piece) {
        const size_t size = (size_t)(end - at < sizeof piece ? end - at : sizeof piece);
        WEFT_TRY(weft_gguf_read_front(w->file, at, piece, size));
        weft_text_put(&w->front, (const char *)piece, size);
    }
    if (type && type->type == WEFT_GGUF_U32 && !w->front.failed) {
        weft_store_bytes((uint8_t *)w->front.data + start + (type->offset - begin),
                         file_type(w->format), 4);
    }
    if (!version) {
        put_string(&w->front, VERSION);
        put_number(&w->front, WEFT_GGUF_U32, 4);
        put_number(&w->front, 2, 4);
    }
    return WEFT_OK;
}

static void put_tensors(struct writer *w) {
    uint64_t offset = 0;
    for (uint32_t i = 0; i < weft_gguf_tensor_count(w->file); i++) {
        const struct weft_gguf_tensor *tensor = weft_gguf_tensor_at(w->file, i);
        const struct weft_ggml_format *format = format_for(w, tensor);
        const bool changes = format != tensor->format;
        put_string(&w->front, tensor->name);
        put_number(&w->front, tensor->rank, 4);
        for (uint32_t axis = tensor->rank; axis-- > 0;) {
            put_number(&w->front, tensor->shape[axis], 8);
        }
        put_number(&w->front, weft_ggml_number_of(format), 4);
        put_number(&w->front, offset, 8);
        offset = padded(w, offset + bytes_of(w, tensor));
        w->info->matrices += changes;
        w->info->as_q8_0 += changes && format != w->format;
        w->info->bytes_before += tensor->bytes;
        w->info->bytes_after += bytes_of(w, tensor);
    }
}

static weft_status pad(struct writer *w, uint64_t size) {
    static const uint8_t zeros[256];
    for (uint64_t left = padded(w, size) - size; left > 0;) {
        const size_t count = (size_t)(left < sizeof zeros ? left : sizeof zeros);
        WEFT_TRY(weft_new_file_add(&w->out, zeros, count, w->host));
        left -= count;
    }
    return WEFT_OK;
}

static weft_status write_front(struct writer *w) {
    const bool has_version = weft_gguf_find(w->file, VERSION) != NULL;
    weft_text_put(&w->front, "GGUF", 4);
    put_number(&w->front, 3, 4);
    put_number(&w->front, weft_gguf_tensor_count(w->file), 8);
    put_number(&w->front, weft_gguf_value_count(w->file) + (has_version ? 0u : 1u), 8);
    WEFT_TRY(put_values(w));
    put_tensors(w);
    if (w->front.failed) {
        return weft_fail_memory(w->host, "the keys of a GGUF file");
    }
    if (w->info->matrices == 0) {
        return weft_fail(w->host, WEFT_UNSUPPORTED,
                         "%s: expected matrices of F32, F16 or BF16 with rows of multiples of 32, "
                         "found none",
                         weft_gguf_path(w->file));
    }
    WEFT_TRY(weft_new_file_add(&w->out, w->front.data, w->front.length, w->host));
    return pad(w, w->front.length);
}

/* ---- the data ---- */

/* A tensor that is read as floats. */
struct source {
    const weft_gguf *file;
    const struct weft_gguf_tensor *tensor;
};

static weft_status read_floats(void *user, uint64_t first, uint64_t count, float *out) {
    const struct source *source = user;
    const struct weft_ggml_format *format = source->tensor->format;
    uint8_t *bytes = (uint8_t *)out + (size_t)count * (sizeof *out - format->bytes);
    WEFT_TRY(weft_gguf_read(source->file, source->tensor, first * format->bytes, bytes,
                            (size_t)count * format->bytes));
    weft_safetensors_convert(out, format->as, bytes, (size_t)count);
    return WEFT_OK;
}

static weft_status add_blocks(void *user, const uint8_t *blocks, size_t size) {
    struct writer *w = user;
    return weft_new_file_add(&w->out, blocks, size, w->host);
}

static weft_status encode(struct writer *w, const struct weft_gguf_tensor *tensor) {
    struct source source = {w->file, tensor};
    return weft_ggml_encode(&(struct weft_ggml_encoding){.format = format_for(w, tensor),
                                                         .path = weft_gguf_path(w->file),
                                                         .name = tensor->name,
                                                         .elements = tensor->elements,
                                                         .read = read_floats,
                                                         .source = &source,
                                                         .add = add_blocks,
                                                         .target = w,
                                                         .host = w->host});
}

static weft_status copy(struct writer *w, const struct weft_gguf_tensor *tensor, uint8_t *piece) {
    for (uint64_t at = 0; at < tensor->bytes; at += AT_ONCE) {
        const uint64_t left = tensor->bytes - at;
        const size_t size = (size_t)(left < AT_ONCE ? left : AT_ONCE);
        WEFT_TRY(weft_interrupted(w->host));
        WEFT_TRY(weft_gguf_read(w->file, tensor, at, piece, size));
        WEFT_TRY(weft_new_file_add(&w->out, piece, size, w->host));
    }
    return WEFT_OK;
}

static weft_status write_tensors(struct writer *w) {
    uint8_t *piece = weft_alloc(w->host, (size_t)AT_ONCE);
    weft_status status = piece ? WEFT_OK : weft_fail_memory(w->host, "tensors");
    for (uint32_t i = 0; status == WEFT_OK && i < weft_gguf_tensor_count(w->file); i++) {
        const struct weft_gguf_tensor *tensor = weft_gguf_tensor_at(w->file, i);
        status =
            format_for(w, tensor) != tensor->format ? encode(w, tensor) : copy(w, tensor, piece);
        status = status == WEFT_OK ? pad(w, bytes_of(w, tensor)) : status;
    }
    weft_free(w->host, piece);
    return status;
}

static weft_status write(struct writer *w, const char *out) {
    int64_t alignment = WEFT_GGUF_ALIGNMENT;
    WEFT_TRY(weft_gguf_integer(&alignment, w->file, ALIGNMENT, 1, WEFT_GGUF_MOST_ALIGNMENT));
    w->alignment = (uint64_t)alignment;
    WEFT_TRY(weft_new_file_create(&w->out, out, w->host));
    WEFT_TRY(write_front(w));
    WEFT_TRY(write_tensors(w));
    WEFT_TRY(weft_new_file_finish(&w->out, w->host));
    return weft_new_file_place(&w->out, w->host);
}

weft_status weft_gguf_quantize(weft_quantize_info *info, const char *path, const char *out,
                               const struct weft_ggml_format *format, const weft_host *host) {
    weft_gguf *file = NULL;
    *info = (weft_quantize_info){.matrices = 0};
    WEFT_TRY(weft_gguf_open(&file, path, host));
    struct writer writer = {.file = file,
                            .format = format,
                            .out = {.file = -1},
                            .front = {.host = *weft_gguf_host(file)},
                            .info = info,
                            .host = host};
    const weft_status status = write(&writer, out);
    weft_new_file_drop(&writer.out, host);
    weft_free(host, writer.front.data);
    weft_gguf_close(&file);
    return status;
}
