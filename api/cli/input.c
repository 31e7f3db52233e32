/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/system/system.h"
#include "core/try.h"
#include "members.h"

/* ---- arrays ---- */

static int tokens_of_array(weft_cli_tokens *tokens, const weft_npy *npy, const char *name,
                           const weft_host *host) {
    bool integers = npy->dtype == WEFT_NPY_I32 || npy->dtype == WEFT_NPY_I64;
    bool fits = npy->rank == 1 || npy->rank == 2;
    for (uint32_t axis = 0; fits && axis < npy->rank; axis++) {
        fits = npy->shape[axis] >= 1 && npy->shape[axis] <= UINT32_MAX;
    }
    if (!integers || !fits) {
        char shape[WEFT_NPY_SHAPE_TEXT_SIZE];
        return weft_cli_bad_file(
            host, "%s: expected int32 or int64 [batch, length] or [length], neither 0, found %s %s",
            name, weft_npy_dtype_name(npy->dtype), weft_npy_shape_text(npy, shape));
    }
    int32_t *values = npy->elements > SIZE_MAX
                          ? NULL
                          : weft_alloc_zero(host, (size_t)npy->elements, sizeof *values);
    weft_status status = !values ? weft_fail_memory(host, name) : weft_npy_read_i32(npy, values);
    if (status != WEFT_OK) {
        weft_free(host, values);
        return weft_cli_exit_code_of_file(status);
    }
    *tokens = (weft_cli_tokens){.values = values,
                                .batch = npy->rank == 2 ? (uint32_t)npy->shape[0] : 1,
                                .length = (uint32_t)npy->shape[npy->rank - 1]};
    return WEFT_CLI_FINE;
}

int weft_cli_read_tokens(weft_cli_tokens *tokens, const char *path, const weft_host *host) {
    weft_npy npy = {0};
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(weft_npy_open(&npy, path, host)));
    int exit_code = tokens_of_array(tokens, &npy, path, host);
    weft_npy_close(&npy);
    return exit_code;
}

/* [batch, length, width] or [length, width], as numbers. */
static bool are_vectors(const weft_npy *npy) {
    bool fits =
        (npy->rank == 2 || npy->rank == 3) &&
        (npy->dtype == WEFT_NPY_F32 || npy->dtype == WEFT_NPY_F64 || npy->dtype == WEFT_NPY_U8);
    for (uint32_t axis = 0; fits && axis < npy->rank; axis++) {
        fits = npy->shape[axis] >= 1 && npy->shape[axis] <= UINT32_MAX;
    }
    return fits;
}

static weft_status check_finite(const weft_cli_vectors *vectors, const char *path,
                                const weft_host *host) {
    size_t count = (size_t)vectors->batch * vectors->length * vectors->width;
    for (size_t index = 0; index < count; index++) {
        if (!isfinite(vectors->values[index])) {
            size_t token = index / vectors->width;
            return weft_fail(host, WEFT_BAD_FILE,
                             "%s: sequence %zu, position %zu: expected a finite value, found %g",
                             path, token / vectors->length, token % vectors->length,
                             (double)vectors->values[index]);
        }
    }
    return WEFT_OK;
}

static weft_status vectors_of_array(weft_cli_vectors *vectors, const weft_npy *npy,
                                    const char *path, const weft_host *host) {
    if (!are_vectors(npy)) {
        char shape[WEFT_NPY_SHAPE_TEXT_SIZE];
        return weft_fail(
            host, WEFT_BAD_FILE,
            "%s: expected float32, float64 or uint8 [batch, length, width] or [length, "
            "width], none 0, found %s %s",
            path, weft_npy_dtype_name(npy->dtype), weft_npy_shape_text(npy, shape));
    }
    *vectors = (weft_cli_vectors){.batch = npy->rank == 3 ? (uint32_t)npy->shape[0] : 1,
                                  .length = (uint32_t)npy->shape[npy->rank - 2],
                                  .width = (uint32_t)npy->shape[npy->rank - 1]};
    WEFT_TRY(weft_cli_npy_reals(&vectors->values, npy, path, host));
    return check_finite(vectors, path, host);
}

int weft_cli_read_vectors(weft_cli_vectors *vectors, const char *path, const weft_host *host) {
    weft_npy npy = {0};
    weft_status status = weft_npy_open(&npy, path, host);
    if (status == WEFT_OK) {
        status = vectors_of_array(vectors, &npy, path, host);
    }
    weft_npy_close(&npy);
    return weft_cli_exit_code_of_file(status);
}

static bool are_images(const weft_npy *npy, const weft_model_info *info) {
    const uint32_t axes[] = {info->image_channels, info->image_size, info->image_size};
    bool fits =
        (npy->rank == 3 || npy->rank == 4) &&
        (npy->dtype == WEFT_NPY_F32 || npy->dtype == WEFT_NPY_F64 || npy->dtype == WEFT_NPY_U8);
    for (uint32_t axis = 0; fits && axis < 3; axis++) {
        fits = npy->shape[npy->rank - 3 + axis] == axes[axis];
    }
    return fits && (npy->rank == 3 || (npy->shape[0] >= 1 && npy->shape[0] <= UINT32_MAX));
}

static weft_status images_of_array(weft_cli_vectors *vectors, const weft_npy *npy, const char *path,
                                   const weft_model_info *info, const weft_host *host) {
    if (!are_images(npy, info)) {
        char shape[WEFT_NPY_SHAPE_TEXT_SIZE];
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: expected float32, float64 or uint8 [batch, %u, %u, %u], the batch "
                         "not 0 or left out, as the model takes images, found %s %s",
                         path, info->image_channels, info->image_size, info->image_size,
                         weft_npy_dtype_name(npy->dtype), weft_npy_shape_text(npy, shape));
    }
    *vectors = (weft_cli_vectors){.batch = npy->rank == 4 ? (uint32_t)npy->shape[0] : 1,
                                  .length = info->image_channels * info->image_size,
                                  .width = info->image_size};
    WEFT_TRY(weft_cli_npy_reals(&vectors->values, npy, path, host));
    return check_finite(vectors, path, host);
}

int weft_cli_read_images(weft_cli_vectors *vectors, const char *path, const weft_model_info *info,
                         const weft_host *host) {
    weft_npy npy = {0};
    weft_status status = weft_npy_open(&npy, path, host);
    if (status == WEFT_OK) {
        status = images_of_array(vectors, &npy, path, info, host);
    }
    weft_npy_close(&npy);
    return weft_cli_exit_code_of_file(status);
}

bool weft_cli_check_length(uint32_t length, const weft_model_info *info, const char *name,
                           const weft_host *host) {
    if (info->exact_length != 0 && length != info->exact_length) {
        weft_fail(host, WEFT_BAD_FILE,
                  "%s: expected exactly %u tokens a sequence, as the model takes them, found %u",
                  name, info->exact_length, length);
        return false;
    }
    if (length > info->max_length) {
        weft_fail(host, WEFT_BAD_FILE, "%s: expected at most %u tokens a sequence, found %u", name,
                  info->max_length, length);
        return false;
    }
    return true;
}

int weft_cli_check_tokens(const weft_cli_tokens *tokens, const weft_model_info *info,
                          const char *name, const weft_host *host) {
    if (!weft_cli_check_length(tokens->length, info, name, host)) {
        return WEFT_CLI_BAD_FILE;
    }
    for (uint32_t sequence = 0; sequence < tokens->batch; sequence++) {
        const int32_t *row = &tokens->values[(size_t)sequence * tokens->length];
        for (uint32_t position = 0; position < tokens->length; position++) {
            if (row[position] < 0 || (uint32_t)row[position] >= info->vocabulary) {
                return weft_cli_bad_file(
                    host, "%s: sequence %u, position %u: expected a token from 0 to %u, found %d",
                    name, sequence, position, info->vocabulary - 1, (int)row[position]);
            }
        }
    }
    return WEFT_CLI_FINE;
}

/* ---- texts ---- */

/* So much of a text is read; no model has positions for more. */
#define TEXT_LIMIT ((size_t)64 << 20)
#define TEXT_FIRST ((size_t)64 << 10)

/* Reads up to the limit and looks whether there is more. */
static weft_status read_stream(weft_cli_file_bytes *text, FILE *stream, const char *name,
                               size_t limit, const weft_host *host) {
    size_t capacity = 0;
    for (;;) {
        if (text->size == capacity) {
            if (capacity >= limit) {
                break;
            }
            size_t grown = capacity == 0 ? TEXT_FIRST : capacity * 2;
            char *bytes = weft_realloc(host, text->bytes, grown);
            if (!bytes) {
                return weft_fail_memory(host, name);
            }
            text->bytes = bytes;
            capacity = grown;
        }
        WEFT_TRY(weft_interrupted(host));
        size_t count = fread(text->bytes + text->size, 1, capacity - text->size, stream);
        text->size += count;
        if (count == 0) {
            break;
        }
    }
    text->more = !feof(stream) && !ferror(stream) && fgetc(stream) != EOF;
    if (ferror(stream)) {
        const int error = errno;
        WEFT_TRY(weft_interrupted(host)); /* a signal ended the wait */
        errno = error;
        return weft_fail(host, WEFT_IO_ERROR, "%s: cannot read: %s", name, strerror(errno));
    }
    return WEFT_OK;
}

weft_status weft_cli_read_bytes(weft_cli_file_bytes *text, const char *path,
                                const weft_host *host) {
    bool standard = strcmp(path, "-") == 0;
    FILE *stream = standard ? stdin : weft_system_stream(path);
    if (!stream) {
        return weft_fail(host, WEFT_NOT_FOUND, "%s: cannot open: %s", path, strerror(errno));
    }
    const char *name = standard ? "standard input" : path;
    weft_status status = read_stream(text, stream, name, TEXT_LIMIT, host);
    if (!standard) {
        fclose(stream);
    }
    if (status == WEFT_OK && text->size == 0) {
        status = weft_fail(host, WEFT_BAD_FILE, "%s: the text is empty", name);
    }
    return status;
}

weft_status weft_cli_read_standard_input(weft_cli_file_bytes *bytes, const weft_host *host) {
    return read_stream(bytes, stdin, "standard input", SIZE_MAX / 2, host);
}

const char *weft_cli_source_name(const weft_cli_source *source) {
    return source->text                     ? "--text"
           : strcmp(source->file, "-") == 0 ? "standard input"
                                            : source->file;
}

void weft_cli_note_file(const char *text) {
    FILE *stream = weft_system_stream(text);
    if (stream) {
        fclose(stream);
        weft_cli_print(stderr, "weft: note: --text is the text itself; to read %s, use --file\n",
                       text);
    }
}

static weft_status read_source(weft_cli_file_bytes *text, const weft_cli_source *source,
                               const weft_host *host) {
    if (!source->text) {
        return weft_cli_read_bytes(text, source->file, host);
    }
    weft_cli_note_file(source->text);
    text->size = strlen(source->text);
    text->bytes = weft_strdup(host, source->text);
    return text->size == 0 ? weft_fail(host, WEFT_INVALID_ARGUMENT, "--text: the text is empty")
           : !text->bytes  ? weft_fail_memory(host, "a text")
                           : WEFT_OK;
}

static weft_status tokenize(weft_cli_tokens *tokens, weft_model *model,
                            const weft_cli_file_bytes *text, const char *name,
                            const weft_host *host) {
    int32_t *ids = NULL;
    uint32_t count = 0;
    weft_status status = weft_model_tokenize(model, text->bytes, text->size, &ids, &count);
    if (status != WEFT_OK && status != WEFT_CANCELLED) {
        weft_fail(host, status, "%s: the text could not be turned into tokens", name);
        return status == WEFT_INVALID_ARGUMENT || status == WEFT_UNSUPPORTED ? WEFT_BAD_FILE
                                                                             : status;
    }
    WEFT_TRY(status);
    int32_t *values = weft_alloc_zero(host, count, sizeof *values);
    if (!values) {
        weft_tokens_free(model, &ids);
        return weft_fail_memory(host, name);
    }
    memcpy(values, ids, count * sizeof *values);
    weft_tokens_free(model, &ids);
    *tokens = (weft_cli_tokens){.values = values, .batch = 1, .length = count};
    return WEFT_OK;
}

int weft_cli_read_text(weft_cli_tokens *tokens, weft_cli_text_note *note, weft_model *model,
                       const weft_cli_source *source, const weft_host *host) {
    weft_model_info info;
    weft_cli_file_bytes text = {0};
    weft_status status = weft_model_get_info(model, &info);
    if (status == WEFT_OK) {
        status = read_source(&text, source, host);
    }
    if (status == WEFT_OK) {
        status = tokenize(tokens, model, &text, weft_cli_source_name(source), host);
    }
    if (status == WEFT_OK && note) {
        bool bytes = strcmp(info.tokenizer, "bytes") == 0;
        const bool cut = text.more || (bytes && text.size > tokens->length);
        *note = (weft_cli_text_note){
            .bytes = text.size,
            .full = tokens->length == info.max_length,
            .cut = cut,
            .digest = weft_cli_receipt_text_digest(text.bytes, text.size, tokens->length, cut)};
    }
    weft_free(host, text.bytes);
    return weft_cli_exit_code(status);
}
