/* SPDX-License-Identifier: MIT */
#include "model/static/static_table.h"

#include <inttypes.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

#define MOST_TOKENS     16777215U           /* 2^24 - 1: there is a row more */
#define MOST_VALUES     65536U              /* of a row */
#define MOST_MAPPED     4096U               /* of a row that a mapping may repeat, and … */
#define MOST_MAPPED_ALL ((uint64_t)1 << 30) /* … of all rows that it makes */
#define VALUES_AT_ONCE  1024U

struct table {
    weft_host host;
    weft_safetensors *file;
    const weft_safetensors_tensor *rows, *mapping, *weights; /* the last two: or null */
    weft_safetensors_tensor given;                           /* the only tensor of the view */
    int32_t *row_of;                                         /* of each token; null: its own */
    float *kept;    /* with it: all rows, as a mapping jumps among them */
    float *factors; /* of each token; null: 1 */
    uint64_t tokens, width;
};

/* ---- reading ---- */

/* Values of the file's rows as f32. */
static weft_status read_floats(const struct table *table, uint64_t first, uint64_t count,
                               float *out) {
    if (table->rows->dtype != WEFT_SAFETENSORS_I8) {
        return weft_safetensors_read_f32(table->file, table->rows, first, count, out);
    }
    /* At the end of `out`: each number is read there before the last one is written over it. */
    int8_t *bytes = (int8_t *)out + (size_t)count * (sizeof *out - 1);
    WEFT_TRY(weft_safetensors_read(table->file, table->rows, first, bytes, (size_t)count));
    for (uint64_t i = 0; i < count; i++) {
        out[i] = (float)bytes[i];
    }
    return WEFT_OK;
}

/* Values of the tokens' rows. */
static weft_status make_floats(const struct table *table, uint64_t first, uint64_t count,
                               float *out) {
    if (!table->kept) {
        WEFT_TRY(read_floats(table, first, count, out));
    }
    for (uint64_t i = 0; (table->kept || table->factors) && i < count; i++) {
        const uint64_t token = (first + i) / table->width;
        const uint64_t column = (first + i) % table->width;
        const float value =
            table->kept ? table->kept[(uint64_t)table->row_of[token] * table->width + column]
                        : out[i];
        out[i] = table->factors ? value * table->factors[token] : value;
    }
    return WEFT_OK;
}

/* The same as the view has them, little-endian. */
static weft_status make_bytes(const struct table *table, uint64_t first, uint64_t count,
                              uint8_t *out) {
    float values[VALUES_AT_ONCE];
    if (table->given.dtype != WEFT_SAFETENSORS_F32) {
        const size_t size = weft_safetensors_dtype_size(table->given.dtype);
        return weft_safetensors_read(table->file, table->rows, first * size, out,
                                     (size_t)count * size);
    }
    for (uint64_t done = 0; done < count;) {
        const uint64_t piece = count - done < VALUES_AT_ONCE ? count - done : VALUES_AT_ONCE;
        WEFT_TRY(make_floats(table, first + done, piece, values));
        for (uint64_t i = 0; i < piece; i++) {
            uint32_t bits;
            memcpy(&bits, &values[i], sizeof bits);
            weft_store_bytes(out + (done + i) * sizeof bits, bits, sizeof bits);
        }
        done += piece;
    }
    return WEFT_OK;
}

static weft_status read(void *user, const weft_safetensors_tensor *tensor, uint64_t begin,
                        void *out, size_t size) {
    const struct table *table = user;
    const size_t each = weft_safetensors_dtype_size(tensor->dtype);
    const uint64_t all = table->tokens * table->width; /* behind them are zeros */
    const uint64_t first = begin / each;
    const uint64_t count = size / each;
    const uint64_t made = first >= all ? 0 : all - first < count ? all - first : count;
    memset((uint8_t *)out + (size_t)made * each, 0, (size_t)(count - made) * each);
    return make_bytes(table, first, made, out);
}

static void release(void *user) {
    struct table *table = user;
    const weft_host host = table->host;
    weft_safetensors_close(&table->file);
    weft_free(&host, table->row_of);
    weft_free(&host, table->kept);
    weft_free(&host, table->factors);
    weft_free(&host, table);
}

/* ---- checking ---- */

static weft_status refuse(const struct table *table, const weft_safetensors_tensor *tensor,
                          const char *expected) {
    return weft_fail(&table->host, WEFT_BAD_FILE,
                     "%s: tensor \"%.200s\": expected %s, found %s with %u axes and %" PRIu64
                     " elements",
                     weft_safetensors_path(table->file), tensor->name, expected,
                     weft_safetensors_dtype_name(tensor->dtype), tensor->rank, tensor->elements);
}

static weft_status find_tensors(struct table *table) {
    const weft_safetensors *file = table->file;
    const weft_safetensors_tensor *own = weft_safetensors_find(file, WEFT_STATIC_TABLE_NAME);
    table->rows = own ? own : weft_safetensors_find(file, "embeddings");
    table->mapping = own ? NULL : weft_safetensors_find(file, "mapping");
    table->weights = own ? NULL : weft_safetensors_find(file, "weights");
    for (uint32_t i = 0; i < weft_safetensors_count(file); i++) {
        const weft_safetensors_tensor *tensor = weft_safetensors_at(file, i);
        if (tensor != table->rows && tensor != table->mapping && tensor != table->weights) {
            return weft_fail(&table->host, WEFT_BAD_FILE,
                             "%s: tensor \"%.200s\": expected " WEFT_STATIC_TABLE_NAME
                             ", or embeddings with mapping and weights, as a static embedding has",
                             weft_safetensors_path(file), tensor->name);
        }
    }
    return table->rows ? WEFT_OK
                       : weft_fail(&table->host, WEFT_BAD_FILE,
                                   "%s: expected the tensor " WEFT_STATIC_TABLE_NAME
                                   " or embeddings of a static embedding, found none",
                                   weft_safetensors_path(file));
}

/* Numbers that are not finite are found where the view is read. */
static weft_status check_rows(struct table *table) {
    const weft_safetensors_tensor *rows = table->rows;
    if (rows->dtype != WEFT_SAFETENSORS_I8 && !weft_safetensors_is_float(rows->dtype)) {
        return refuse(table, rows, "F32, F16, BF16, F64 or I8");
    }
    if (rows->rank != 2 || rows->shape[0] < 1 || rows->shape[0] > MOST_TOKENS ||
        rows->shape[1] < 1 || rows->shape[1] > (table->mapping ? MOST_MAPPED : MOST_VALUES)) {
        return refuse(table, rows,
                      table->mapping ? "2 axes of up to 2^24 - 1 rows and 4096 values"
                                     : "2 axes of up to 2^24 - 1 rows and 65536 values");
    }
    table->width = rows->shape[1];
    table->tokens = table->mapping ? table->mapping->elements : rows->shape[0];
    return WEFT_OK;
}

/* All rows: no more than four times what the file has. */
static weft_status keep_rows(struct table *table) {
    table->kept = weft_alloc(&table->host, (size_t)table->rows->elements * sizeof *table->kept);
    return table->kept ? read_floats(table, 0, table->rows->elements, table->kept)
                       : weft_fail_memory(&table->host, table->rows->name);
}

static weft_status read_mapping(struct table *table) {
    const weft_safetensors_tensor *mapping = table->mapping;
    if (!mapping) {
        return WEFT_OK;
    }
    if ((mapping->dtype != WEFT_SAFETENSORS_I32 && mapping->dtype != WEFT_SAFETENSORS_I64) ||
        mapping->rank != 1 || table->tokens < 1 || table->tokens > MOST_TOKENS ||
        table->tokens > MOST_MAPPED_ALL / table->width) {
        return refuse(table, mapping,
                      "I32 or I64 with 1 axis, of up to 2^24 - 1 tokens with 2^30 values");
    }
    table->row_of = weft_alloc(&table->host, (size_t)table->tokens * sizeof *table->row_of);
    if (!table->row_of) {
        return weft_fail_memory(&table->host, mapping->name);
    }
    WEFT_TRY(weft_safetensors_read_i32(table->file, mapping, 0, table->tokens, table->row_of));
    for (uint64_t i = 0; i < table->tokens; i++) {
        if (table->row_of[i] < 0 || (uint64_t)table->row_of[i] >= table->rows->shape[0]) {
            return weft_fail(&table->host, WEFT_BAD_FILE,
                             "%s: tensor \"mapping\": expected rows from 0 to %" PRIu64
                             ", found %" PRId32 " at index %" PRIu64,
                             weft_safetensors_path(table->file), table->rows->shape[0] - 1,
                             table->row_of[i], i);
        }
    }
    return keep_rows(table);
}

static weft_status read_factors(struct table *table) {
    const weft_safetensors_tensor *weights = table->weights;
    if (!weights) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_safetensors_expect(table->file, weights, weft_shape_of((uint32_t)table->tokens)));
    table->factors = weft_alloc(&table->host, (size_t)table->tokens * sizeof *table->factors);
    return table->factors
               ? weft_safetensors_read_f32(table->file, weights, 0, table->tokens, table->factors)
               : weft_fail_memory(&table->host, weights->name);
}

/* ---- opening ---- */

static weft_status open_view(weft_safetensors **out, struct table *table) {
    const weft_safetensors_dtype dtype = table->rows->dtype;
    const bool halves = dtype == WEFT_SAFETENSORS_F16 || dtype == WEFT_SAFETENSORS_BF16;
    weft_safetensors_tensor *given = &table->given;
    *given = (weft_safetensors_tensor){
        .name = WEFT_STATIC_TABLE_NAME,
        .dtype = halves && !table->factors && !table->kept ? dtype : WEFT_SAFETENSORS_F32,
        .rank = 2,
        .shape = {table->tokens + 1, table->width},
        .elements = (table->tokens + 1) * table->width};
    given->bytes = given->elements * weft_safetensors_dtype_size(given->dtype);
    return weft_safetensors_open_view(
        out,
        &(struct weft_safetensors_view){.path = weft_safetensors_path(table->file),
                                        .tensors = given,
                                        .count = 1,
                                        .read = read,
                                        .release = release,
                                        .user = table},
        &table->host);
}

weft_status weft_static_table_open(weft_safetensors **out, weft_safetensors *file) {
    const weft_host host = *weft_safetensors_host(file);
    struct table *table = weft_alloc_zero(&host, 1, sizeof *table);
    if (!table) {
        const weft_status status = weft_fail_memory(&host, weft_safetensors_path(file));
        weft_safetensors_close(&file);
        return status;
    }
    *table = (struct table){.host = host, .file = file};
    weft_status status = find_tensors(table);
    status = status == WEFT_OK ? check_rows(table) : status;
    status = status == WEFT_OK ? read_mapping(table) : status;
    status = status == WEFT_OK ? read_factors(table) : status;
    status = status == WEFT_OK ? open_view(out, table) : status;
    if (status != WEFT_OK) {
        release(table);
    }
    return status;
}
