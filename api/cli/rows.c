/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/formats/json.h"
#include "core/formats/npz.h"
#include "core/formats/table.h"
#include "core/system/beside.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/text.h"
#include "core/try.h"
#include "logits.h"

#define AT_ONCE   ((size_t)1 << 16)  /* bytes read */
#define LINE_SIZE ((size_t)64 << 20) /* of a row in JSON: more than 2^20 values have */

#define MOST_OF_IDS ((uint64_t)1 << 28) /* characters of a .npz's ids */

bool weft_cli_rows_fit(const char *path) {
    weft_file_facts facts;
    return weft_beside_own_descriptor(path) < 0 &&
           (weft_system_facts(&facts, path) != 0 || facts.kind == WEFT_FILE_REGULAR);
}

bool weft_cli_rows_are_json(const char *path) {
    weft_table_format format = WEFT_TABLE_CSV;
    return weft_table_format_of(&format, path) && format == WEFT_TABLE_JSONL;
}

bool weft_cli_rows_are_npz(const char *path) {
    return weft_ends_with(path, ".npz");
}

static weft_status find_places(weft_cli_rows *rows) {
    char target[WEFT_SYSTEM_PATH_SIZE];
    const int error = weft_beside_target(target, rows->path);
    if (error != 0) {
        return weft_file_fail(rows->host, error, "write", rows->path);
    }
    rows->target = weft_strdup(rows->host, target);
    rows->part = weft_format(rows->host, "%s.part", target);
    return rows->target && rows->part ? WEFT_OK : weft_fail_memory(rows->host, rows->path);
}

static weft_status begin(weft_cli_rows *rows, const char *path, const weft_cli_row_form *form,
                         const weft_host *host) {
    *rows = (weft_cli_rows){.path = path,
                            .host = host,
                            .file = -1,
                            .width = form->width,
                            .is_open = true,
                            .indices = {.host = *host},
                            .values = {.host = *host},
                            .ends = {.host = *host},
                            .ids = {.host = *host},
                            .is_many = form->many};
    weft_sha256_begin(&rows->hash);
    if (!path) {
        return WEFT_OK;
    }
    rows->is_json = weft_cli_rows_are_json(path);
    rows->is_npz = (form->sparse || form->many) && weft_cli_rows_are_npz(path);
    WEFT_TRY(find_places(rows));
    if (form->sparse) {
        rows->terms = weft_alloc_zero(host, form->width, sizeof *rows->terms);
        return rows->terms ? WEFT_OK : weft_fail_memory(host, "a sparse vector");
    }
    return WEFT_OK;
}

static weft_status fail(const weft_cli_rows *rows, int error, const char *action) {
    return weft_file_fail(rows->host, error, action, rows->part);
}

/* ---- writing ---- */

static weft_status write_bytes(weft_cli_rows *rows, const void *data, size_t size) {
    const uint8_t *bytes = data;
    while (size > 0) {
        size_t count = 0;
        const int error = weft_system_write(&count, rows->file, bytes, size);
        if (error != 0) {
            return fail(rows, error, "write");
        }
        bytes += count;
        size -= count;
    }
    return WEFT_OK;
}

/* As long for any number of rows. */
static size_t make_header(uint8_t header[WEFT_NPY_HEADER_CAPACITY], const weft_cli_rows *rows) {
    const weft_shape shape = {
        .rank = 2, .dim = {rows->is_many ? (uint32_t)rows->vectors : rows->count, rows->width}};
    return weft_npy_header_write(header, weft_npy_dtype_name(WEFT_NPY_F32), shape);
}

static weft_status write_header(weft_cli_rows *rows) {
    uint8_t header[WEFT_NPY_HEADER_CAPACITY];
    const size_t size = make_header(header, rows);
    const int error = weft_system_seek(rows->file, 0);
    return error == 0 ? write_bytes(rows, header, size) : fail(rows, error, "write");
}

static void put_number(struct weft_text *bytes, uint64_t value, size_t size) {
    uint8_t stored[sizeof value];
    weft_store_bytes(stored, value, size);
    weft_text_put(bytes, stored, size);
}

static weft_status create(weft_cli_rows *rows) {
    if (rows->is_npz) {
        put_number(&rows->ends, 0, sizeof rows->term_count);
    }
    if (!rows->path || (rows->is_npz && !rows->is_many)) {
        return WEFT_OK;
    }
    (void)weft_system_remove(rows->part);
    const int error = weft_beside_create(&rows->file, rows->part, rows->target);
    if (error != 0) {
        rows->file = -1;
        return fail(rows, error, "create");
    }
    uint8_t header[WEFT_NPY_HEADER_CAPACITY];
    rows->end = rows->is_json ? 0 : make_header(header, rows);
    return rows->is_json ? WEFT_OK : write_header(rows);
}

int weft_cli_rows_create(weft_cli_rows *rows, const char *path, const weft_cli_row_form *form,
                         const weft_host *host) {
    weft_status status = begin(rows, path, form, host);
    return weft_cli_exit_code(status == WEFT_OK ? create(rows) : status);
}

/* Opens a file of an earlier command where its rows end, once there are more. */
static weft_status go_on(weft_cli_rows *rows) {
    const char *from = rows->from;
    rows->from = NULL;
    int error = from == rows->part ? 0 : weft_system_rename(from, rows->part);
    error = error != 0 ? error : weft_system_open(&rows->file, rows->part, WEFT_OPEN_WRITE);
    if (error != 0) {
        rows->file = -1;
        return fail(rows, error, "open for writing");
    }
    error = weft_system_resize(rows->file, rows->end);
    error = error != 0 ? error : weft_system_seek(rows->file, rows->end);
    return error == 0 ? WEFT_OK : fail(rows, error, "write");
}

/* A number with the digits that give its bits again; null for those that JSON does not have. */
static void put_value(struct weft_text *line, float value, bool first) {
    if (isfinite(value)) {
        weft_text_add(line, "%s%.9g", first ? "" : ", ", (double)value);
    } else {
        weft_text_add(line, "%snull", first ? "" : ", ");
    }
}

static void put_vector(struct weft_text *line, const float *values, uint32_t width) {
    weft_text_add(line, "\"vector\": [");
    for (uint32_t i = 0; i < width; i++) {
        put_value(line, values[i], i == 0);
    }
    weft_text_add(line, "]");
}

static void put_terms(struct weft_text *line, const weft_term *terms, uint32_t count) {
    weft_text_add(line, "\"indices\": [");
    for (uint32_t i = 0; i < count; i++) {
        weft_text_add(line, "%s%u", i > 0 ? ", " : "", terms[i].token);
    }
    weft_text_add(line, "], \"values\": [");
    for (uint32_t i = 0; i < count; i++) {
        put_value(line, terms[i].value, i == 0);
    }
    weft_text_add(line, "]");
}

static int compare_terms(const void *left, const void *right) {
    const weft_term *a = left;
    const weft_term *b = right;
    return (a->token > b->token) - (a->token < b->token);
}

/* Those of a sparse row, by their places. */
static uint32_t find_terms(weft_cli_rows *rows, const float *values) {
    const uint32_t count = weft_vector_terms(rows->terms, 0, values, rows->width);
    if (count > 0) {
        qsort(rows->terms, count, sizeof *rows->terms, compare_terms);
    }
    rows->term_count += count;
    return count;
}

static void put_bits(struct weft_text *bytes, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(bytes, bits, sizeof bits);
}

static void put_json(struct weft_text *line, weft_cli_rows *rows, const float *values,
                     const char *id) {
    const uint32_t count = rows->terms ? find_terms(rows, values) : 0;
    weft_text_add(line, id ? "{\"id\": " : "{");
    if (id) {
        weft_text_put(line, id, strlen(id));
        weft_text_add(line, ", ");
    }
    if (rows->terms) {
        put_terms(line, rows->terms, count);
    } else {
        put_vector(line, values, rows->width);
    }
    weft_text_add(line, "}\n");
}

static void put_row(struct weft_text *bytes, weft_cli_rows *rows, const float *values,
                    const char *id) {
    if (rows->is_json) {
        put_json(bytes, rows, values, id);
        return;
    }
    for (uint32_t i = 0; i < rows->width; i++) {
        put_bits(bytes, values[i]);
    }
    if (rows->terms) {
        (void)find_terms(rows, values);
    }
}

/* The terms of a .npz stay here. */
static weft_status keep(weft_cli_rows *rows, const float *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t terms = find_terms(rows, &values[(size_t)i * rows->width]);
        for (uint32_t k = 0; k < terms; k++) {
            put_number(&rows->indices, rows->terms[k].token, sizeof rows->terms[k].token);
            put_bits(&rows->values, rows->terms[k].value);
        }
        put_number(&rows->ends, rows->term_count, sizeof rows->term_count);
    }
    return rows->indices.failed || rows->values.failed || rows->ends.failed
               ? weft_fail_memory(rows->host, "sparse vectors")
               : WEFT_OK;
}

static weft_status add(weft_cli_rows *rows, const float *values, uint32_t count, char *const *ids) {
    struct weft_text bytes = {.host = *rows->host};
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < count && status == WEFT_OK; i++) {
        put_row(&bytes, rows, &values[(size_t)i * rows->width], ids ? ids[i] : NULL);
        status = bytes.failed ? weft_fail_memory(rows->host, rows->path) : WEFT_OK;
        if (status == WEFT_OK && (bytes.length >= AT_ONCE || i + 1 == count)) {
            status = write_bytes(rows, bytes.data, bytes.length);
            rows->end += bytes.length;
            weft_text_cut(&bytes, 0);
        }
    }
    weft_free(rows->host, bytes.data);
    return status;
}

int weft_cli_rows_add(weft_cli_rows *rows, const float *values, uint32_t count, char *const *ids,
                      bool sync) {
    weft_status status = rows->from ? go_on(rows) : WEFT_OK;
    if (status == WEFT_OK) {
        status = rows->is_npz ? keep(rows, values, count) : add(rows, values, count, ids);
    }
    const int error = status == WEFT_OK && sync ? weft_system_sync(rows->file) : 0;
    if (status == WEFT_OK) {
        weft_cli_hash_add(&rows->hash, values, (uint64_t)count * rows->width);
        rows->count += count;
    }
    return weft_cli_exit_code(error != 0 ? fail(rows, error, "write") : status);
}

/* ---- several vectors of a text ---- */

static void put_vectors(struct weft_text *line, const float *values, uint32_t count, uint32_t width,
                        const char *id) {
    weft_text_add(line, "{");
    if (id) {
        weft_text_add(line, "\"id\": ");
        weft_text_put(line, id, strlen(id));
        weft_text_add(line, ", ");
    }
    weft_text_add(line, "\"vectors\": [");
    for (uint32_t i = 0; i < count; i++) {
        weft_text_add(line, i > 0 ? ", [" : "[");
        for (uint32_t k = 0; k < width; k++) {
            put_value(line, values[(size_t)i * width + k], k == 0);
        }
        weft_text_add(line, "]");
    }
    weft_text_add(line, "]}\n");
}

/* As text: of a JSON text what it says. */
static weft_status keep_id(weft_cli_rows *rows, const char *id) {
    json_t *value = json_loads(id, JSON_DECODE_ANY, NULL);
    const char *text = json_is_string(value) ? json_string_value(value) : id;
    weft_text_put(&rows->ids, text, strlen(text) + 1);
    json_decref(value);
    return rows->ids.failed ? weft_fail_memory(rows->host, "ids") : WEFT_OK;
}

static weft_status add_text(weft_cli_rows *rows, const float *values, uint32_t count,
                            const char *id) {
    struct weft_text bytes = {.host = *rows->host};
    if (rows->vectors + count > UINT32_MAX || rows->count == UINT32_MAX) {
        return weft_fail(rows->host, WEFT_UNSUPPORTED, "%s: expected at most 2^32 - 1 vectors",
                         rows->path ? rows->path : "texts");
    }
    rows->vectors += count;
    if (rows->is_json) {
        put_vectors(&bytes, values, count, rows->width, id);
    } else if (rows->is_npz) {
        for (size_t i = 0; i < (size_t)count * rows->width; i++) {
            put_bits(&bytes, values[i]);
        }
        put_number(&rows->ends, rows->vectors, sizeof rows->vectors);
        WEFT_TRY(id ? keep_id(rows, id) : WEFT_OK);
    }
    const weft_status status = bytes.failed || rows->ends.failed
                                   ? weft_fail_memory(rows->host, "vectors")
                                   : write_bytes(rows, bytes.data, bytes.length);
    weft_free(rows->host, bytes.data);
    return status;
}

int weft_cli_rows_add_text(weft_cli_rows *rows, const float *values, uint32_t count,
                           const char *id) {
    const weft_status status = add_text(rows, values, count, id);
    if (status == WEFT_OK) {
        weft_cli_hash_add(&rows->hash, values, (uint64_t)count * rows->width);
        rows->count++;
    }
    return weft_cli_exit_code(status);
}

/* The longest id in characters, of `count` that follow each other. */
static size_t longest_of(const char *ids, uint32_t count) {
    size_t longest = 1;
    for (uint32_t i = 0; i < count; i++) {
        const size_t size = weft_utf8_count(ids, strlen(ids));
        longest = size > longest ? size : longest;
        ids += strlen(ids) + 1;
    }
    return longest;
}

/* The next of a text that is UTF-8, as jansson's are. */
static uint32_t take_character(const char **text) {
    const uint8_t first = (uint8_t) * (*text)++;
    uint32_t code = first < 0xC0   ? first
                    : first < 0xE0 ? first & 0x1FU
                    : first < 0xF0 ? first & 0xFU
                                   : first & 7U;
    while (weft_utf8_goes_on(**text)) {
        code = code << 6 | ((uint8_t) * (*text)++ & 0x3FU);
    }
    return code;
}

/* NumPy's texts have all the same room, and four bytes a character. */
static weft_status spread_ids(struct weft_text *spread, const weft_cli_rows *rows, size_t longest) {
    const char *id = rows->ids.data;
    if ((uint64_t)rows->count * longest > MOST_OF_IDS) {
        return weft_fail(rows->host, WEFT_UNSUPPORTED,
                         "%s: expected ids of at most 2^28 characters, each with room for the "
                         "longest: in a file named .jsonl they have the room that they need",
                         rows->path);
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        const char *end = id + strlen(id);
        size_t characters = 0;
        while (id < end) {
            put_number(spread, take_character(&id), 4);
            characters++;
        }
        for (; characters < longest; characters++) {
            put_number(spread, 0, 4);
        }
        id = end + 1;
    }
    return spread->failed ? weft_fail_memory(rows->host, "ids") : WEFT_OK;
}

/* FILE.part, which is a whole .npy, and what is small, into an archive beside it. */
static weft_status write_pieces(const weft_cli_rows *rows, const char *archive,
                                const struct weft_text *ids, size_t longest) {
    char type[32];
    snprintf(type, sizeof type, "<U%zu", longest);
    const struct weft_npz_member members[] = {{.name = "vectors", .file = rows->part},
                                              {.name = "offsets",
                                               .descr = "<i8",
                                               .shape = weft_shape_of(rows->count + 1),
                                               .data = rows->ends.data,
                                               .size = rows->ends.length},
                                              {.name = "ids",
                                               .descr = type,
                                               .shape = weft_shape_of(rows->count),
                                               .data = ids->data,
                                               .size = ids->length}};
    int file = -1;
    (void)weft_system_remove(archive);
    int error = weft_beside_create(&file, archive, rows->target);
    if (error == 0) {
        error = weft_system_close(file);
    }
    if (error != 0) {
        return weft_file_fail(rows->host, error, "create", archive);
    }
    WEFT_TRY(weft_npz_write_pieces(archive, members, ids->length > 0 ? 3 : 2, rows->host));
    error = weft_system_rename(archive, rows->target);
    return error == 0 ? WEFT_OK : weft_file_fail(rows->host, error, "write", rows->target);
}

static weft_status place_many(weft_cli_rows *rows) {
    struct weft_text ids = {.host = *rows->host};
    char *archive = weft_format(rows->host, "%s.npz", rows->part);
    WEFT_TRY(archive ? write_header(rows) : weft_fail_memory(rows->host, rows->path));
    const int error = weft_system_close(rows->file);
    const size_t longest = longest_of(rows->ids.data, rows->ids.data ? rows->count : 0);
    rows->file = -1;
    weft_status status = error == 0 ? WEFT_OK : fail(rows, error, "write");
    if (status == WEFT_OK && rows->ids.data) {
        status = spread_ids(&ids, rows, longest);
    }
    if (status == WEFT_OK) {
        status = write_pieces(rows, archive, &ids, longest);
    }
    if (status != WEFT_OK) {
        (void)weft_system_remove(archive);
    }
    (void)weft_system_remove(rows->part);
    rows->is_placed = true;
    weft_free(rows->host, ids.data);
    weft_free(rows->host, archive);
    return status;
}

void weft_cli_rows_digest(const weft_cli_rows *rows, char digest[WEFT_DIGEST_TEXT_SIZE]) {
    weft_sha256 hash = rows->hash;
    const weft_digest found = weft_sha256_end(&hash);
    weft_digest_text(&found, digest);
}

/* As scipy.sparse.save_npz names the parts of a CSR matrix, and as load_npz reads them. */
static weft_status write_npz(const weft_cli_rows *rows) {
    uint8_t shape[16];
    weft_store_bytes(shape, rows->count, 8);
    weft_store_bytes(shape + 8, rows->width, 8);
    if (rows->term_count > UINT32_MAX) {
        return weft_fail(rows->host, WEFT_UNSUPPORTED, "%s: expected at most 2^32 - 1 values",
                         rows->path);
    }
    const uint32_t terms = (uint32_t)rows->term_count;
    const struct weft_npz_member members[] = {
        {"indices", "<i4", weft_shape_of(terms), rows->indices.data, rows->indices.length, NULL},
        {"indptr", "<i8", weft_shape_of(rows->count + 1), rows->ends.data, rows->ends.length, NULL},
        {"format", "|S3", {.rank = 0}, "csr", 3, NULL},
        {"shape", "<i8", weft_shape_of(2), shape, sizeof shape, NULL},
        {"data", "<f4", weft_shape_of(terms), rows->values.data, rows->values.length, NULL}};
    return weft_npz_write(rows->path, members, sizeof members / sizeof *members, rows->host);
}

static weft_status place(weft_cli_rows *rows) {
    if (!rows->path) {
        return WEFT_OK;
    }
    if (rows->is_npz && rows->is_many) {
        return place_many(rows);
    }
    if (rows->is_npz) {
        rows->is_placed = true;
        return write_npz(rows);
    }
    if (rows->from == rows->target) { /* nothing was added to it */
        return WEFT_OK;
    }
    WEFT_TRY(rows->from ? go_on(rows) : WEFT_OK);
    WEFT_TRY(rows->is_json ? WEFT_OK : write_header(rows));
    int error = weft_system_sync(rows->file);
    const int closed = weft_system_close(rows->file);
    rows->file = -1;
    error = error != 0 ? error : closed;
    error = error != 0 ? error : weft_system_rename(rows->part, rows->target);
    rows->is_placed = error == 0;
    return error == 0 ? WEFT_OK : fail(rows, error, "write");
}

int weft_cli_rows_place(weft_cli_rows *rows) {
    return weft_cli_exit_code(place(rows));
}

void weft_cli_rows_drop(weft_cli_rows *rows) {
    if (rows->is_open && !rows->is_placed && rows->part) {
        (void)weft_system_remove(rows->part);
    }
    weft_cli_rows_close(rows);
}

void weft_cli_rows_close(weft_cli_rows *rows) {
    if (rows->is_open) {
        if (rows->file >= 0) {
            (void)weft_system_close(rows->file);
        }
        weft_free(rows->host, rows->part);
        weft_free(rows->host, rows->target);
        weft_free(rows->host, rows->terms);
        weft_free(rows->host, rows->indices.data);
        weft_free(rows->host, rows->values.data);
        weft_free(rows->host, rows->ends.data);
        weft_free(rows->host, rows->ids.data);
    }
    *rows = (weft_cli_rows){.file = -1};
}

/* ---- what is there ---- */

/* Rows of an earlier command, one by one. */
struct reader {
    weft_cli_rows *rows;
    const char *path; /* FILE.part or FILE */
    int file;
    char *bytes; /* read and not yet taken: from begin to end */
    size_t begin, end, capacity;
    float *row;
};

static weft_status fail_rows(const struct reader *reader, const char *found) {
    return weft_fail(reader->rows->host, WEFT_BAD_FILE,
                     "%s: row %u: expected %u values, as %s.resume says, found %s", reader->path,
                     reader->rows->count + 1, reader->rows->width, reader->rows->path, found);
}

/* More bytes, *count of them; none at the end. */
static weft_status read_more(struct reader *reader, size_t *count) {
    const weft_host *host = reader->rows->host;
    if (reader->begin > 0) {
        memmove(reader->bytes, reader->bytes + reader->begin, reader->end - reader->begin);
        reader->end -= reader->begin;
        reader->begin = 0;
    }
    if (reader->end == reader->capacity) {
        const size_t capacity = reader->capacity > 0 ? 2 * reader->capacity : AT_ONCE;
        char *bytes = capacity > LINE_SIZE ? NULL : weft_realloc(host, reader->bytes, capacity);
        if (!bytes) {
            return weft_fail_memory(host, reader->path);
        }
        reader->bytes = bytes;
        reader->capacity = capacity;
    }
    const int error = weft_system_read(count, reader->file, reader->bytes + reader->end,
                                       reader->capacity - reader->end);
    reader->end += *count;
    return error == 0 ? WEFT_OK : weft_file_fail(host, error, "read", reader->path);
}

/* There must be more bytes. */
static weft_status read_on(struct reader *reader) {
    size_t count = 0;
    WEFT_TRY(read_more(reader, &count));
    return count > 0 ? WEFT_OK : fail_rows(reader, "the end");
}

/* `size` bytes from begin on. */
static weft_status need(struct reader *reader, size_t size) {
    while (reader->end - reader->begin < size) {
        WEFT_TRY(read_on(reader));
    }
    return WEFT_OK;
}

static weft_status take_bits(struct reader *reader, size_t *size) {
    for (uint32_t i = 0; i < reader->rows->width; i++) {
        WEFT_TRY(need(reader, sizeof(float)));
        const uint32_t bits = (uint32_t)weft_load_bytes(
            (const uint8_t *)reader->bytes + reader->begin, sizeof(float));
        memcpy(&reader->row[i], &bits, sizeof bits);
        reader->begin += sizeof(float);
        *size += sizeof(float);
    }
    return WEFT_OK;
}

/* In the order in which they were written. */
static weft_status take_terms(const struct reader *reader, const json_t *object) {
    const json_t *places = json_object_get(object, "indices");
    const json_t *values = json_object_get(object, "values");
    json_int_t next = 0;
    memset(reader->row, 0, reader->rows->width * sizeof *reader->row);
    if (!json_is_array(places) || !json_is_array(values) ||
        json_array_size(places) != json_array_size(values)) {
        return fail_rows(reader, "others");
    }
    for (size_t i = 0; i < json_array_size(places); i++) {
        const json_t *place = json_array_get(places, i);
        const json_t *value = json_array_get(values, i);
        const json_int_t at = json_is_integer(place) ? json_integer_value(place) : -1;
        if (at < next || at >= reader->rows->width || !json_is_number(value)) {
            return fail_rows(reader, "a value in another place");
        }
        reader->row[at] = (float)json_number_value(value);
        next = at + 1;
    }
    reader->rows->term_count += json_array_size(places);
    return WEFT_OK;
}

static weft_status take_values(const struct reader *reader, const json_t *object) {
    const json_t *list = json_object_get(object, "vector");
    if (!json_is_array(list) || json_array_size(list) != reader->rows->width) {
        return fail_rows(reader, "others");
    }
    for (uint32_t i = 0; i < reader->rows->width; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_number(value)) {
            return fail_rows(reader, "one that is no number");
        }
        reader->row[i] = (float)json_number_value(value);
    }
    return WEFT_OK;
}

static weft_status take_object(struct reader *reader, size_t *size) {
    struct weft_table_search search = {0};
    json_t *object = NULL;
    size_t length = 0;
    size_t next = 0;
    if (!reader->bytes) {
        WEFT_TRY(read_on(reader));
    }
    while (!weft_table_find_end(&search, WEFT_TABLE_JSONL, reader->bytes + reader->begin,
                                reader->end - reader->begin, false, &length, &next)) {
        WEFT_TRY(read_on(reader));
    }
    WEFT_TRY(weft_json_parse(&object, reader->bytes + reader->begin, length, reader->path,
                             reader->rows->host));
    const weft_status status =
        reader->rows->terms ? take_terms(reader, object) : take_values(reader, object);
    json_decref(object);
    reader->begin += next;
    *size += next;
    return status;
}

static weft_status take_rows(struct reader *reader, uint32_t count) {
    weft_cli_rows *rows = reader->rows;
    uint8_t header[WEFT_NPY_HEADER_CAPACITY];
    const size_t before = rows->is_json ? 0 : make_header(header, rows);
    size_t size = 0;
    WEFT_TRY(need(reader, before));
    reader->begin += before;
    rows->end = before;
    while (rows->count < count) {
        size = 0;
        WEFT_TRY(rows->is_json ? take_object(reader, &size) : take_bits(reader, &size));
        if (rows->terms && !rows->is_json) {
            (void)find_terms(rows, reader->row);
        }
        weft_cli_hash_add(&rows->hash, reader->row, rows->width);
        rows->end += size;
        rows->count++;
    }
    return WEFT_OK;
}

static weft_status check_rows(weft_cli_rows *rows, const char *path,
                              const weft_cli_partial *found) {
    struct reader reader = {.rows = rows, .path = path, .file = -1};
    char digest[WEFT_DIGEST_TEXT_SIZE];
    reader.row = weft_alloc_zero(rows->host, rows->width, sizeof *reader.row);
    const int error = reader.row ? weft_system_open(&reader.file, path, WEFT_OPEN_READ_AT_ONCE) : 0;
    weft_status status = !reader.row  ? weft_fail_memory(rows->host, path)
                         : error != 0 ? weft_file_fail(rows->host, error, "open", path)
                                      : take_rows(&reader, found->count);
    if (reader.row && error == 0) {
        (void)weft_system_close(reader.file);
    }
    weft_free(rows->host, reader.bytes);
    weft_free(rows->host, reader.row);
    WEFT_TRY(status);
    weft_cli_rows_digest(rows, digest);
    return strcmp(digest, found->rows) == 0
               ? WEFT_OK
               : weft_fail(rows->host, WEFT_BAD_FILE,
                           "%s: field \"rows\": expected %s, found %s: the rows are not of this "
                           "command",
                           path, found->rows, digest);
}

static weft_status reopen(weft_cli_rows *rows, const weft_cli_partial *found) {
    weft_file_facts facts;
    const char *from = weft_system_facts(&facts, rows->part) == 0 ? rows->part : rows->target;
    if (weft_system_facts(&facts, from) == 0 && facts.kind != WEFT_FILE_REGULAR) {
        return weft_fail(rows->host, WEFT_BAD_FILE, "%s: expected a regular file", from);
    }
    rows->from = from;
    return check_rows(rows, from, found);
}

int weft_cli_rows_reopen(weft_cli_rows *rows, const char *path, const weft_cli_row_form *form,
                         const weft_cli_partial *found, const weft_host *host) {
    weft_status status = begin(rows, path, form, host);
    status = status == WEFT_OK ? reopen(rows, found) : status;
    return weft_cli_exit_code_of_file(status);
}
