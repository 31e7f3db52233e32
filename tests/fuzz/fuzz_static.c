/* SPDX-License-Identifier: MIT */
/*
 * Folders of static embeddings by a grammar of their tensors and fields: a table that is opened has the rows that its tensors say, in whatever
 * pieces it is read, and a row of zeros; nothing is lost of those that are refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/half.h"
#include "fuzz.h"
#include "model/static/static_model.h"
#include "model/static/static_table.h"
#include "program_grammar.h"

#define MEMORY       ((size_t)4 << 20)
#define MOST_TENSORS 4
#define MOST_VALUES  64
#define FILE_SIZE    8192

/* ---- tensors ---- */

static const struct {
    const char *name;
    uint32_t size;
} types[] = {{"F32", 4}, {"F16", 2}, {"F64", 8}, {"I8", 1}, {"I32", 4}, {"I64", 8}, {"U8", 1}};
enum { F32, F16, F64, I8, I32, I64, U8 };

static const char *const names[] = {"embedding.weight", "embeddings", "mapping", "weights",
                                    "other"};

struct tensor {
    const char *name;
    uint32_t type, rank;
    uint32_t shape[3], count;
    uint8_t bytes[MOST_VALUES * 8];
};

static int64_t whole_of(const struct tensor *tensor, uint32_t index) {
    const uint32_t size = types[tensor->type].size;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < size; i++) {
        bits |= (uint64_t)tensor->bytes[index * size + i] << (8 * i);
    }
    return size == 1   ? (int64_t)(int8_t)(uint8_t)bits
           : size == 4 ? (int64_t)(int32_t)(uint32_t)bits
                       : (int64_t)bits;
}

/* By the formats' own definitions. */
static float real_of(const struct tensor *tensor, uint32_t index) {
    const uint8_t *at = &tensor->bytes[index * types[tensor->type].size];
    double wide = 0;
    float value = 0;
    switch (tensor->type) {
    case I8:
        return (float)whole_of(tensor, index);
    case F16:
        return weft_float_of_half((uint16_t)(at[0] | at[1] << 8));
    case F64:
        memcpy(&wide, at, sizeof wide);
        return (float)wide;
    default:
        memcpy(&value, at, sizeof value);
        return value;
    }
}

/* Numbers that a file may well have, or any bytes. */
static void fill(struct tensor *tensor, struct fuzz_choices *choices) {
    const uint32_t size = types[tensor->type].size;
    const bool any = fuzz_choose(choices, 8) == 7;
    for (uint32_t i = 0; i < tensor->count; i++) {
        uint8_t *at = &tensor->bytes[i * size];
        const uint32_t chosen = fuzz_choose(choices, 256);
        const double wide = (double)chosen / 16 - 4;
        const float value = (float)wide;
        const uint16_t half = weft_half_of_float(value);
        memset(at, any ? (int)chosen : 0, size);
        at[0] = (uint8_t)(any ? chosen : chosen % 6);
        if (!any && tensor->type <= F64) {
            memcpy(at,
                   tensor->type == F32   ? (const void *)&value
                   : tensor->type == F16 ? (const void *)&half
                                         : (const void *)&wide,
                   size);
        }
    }
}

static void make_tensor(struct tensor *tensor, const char *name, struct fuzz_choices *choices) {
    static const uint32_t usual[] = {F32, F32, I64, F32, F32};
    const bool is_vector = strcmp(name, "mapping") == 0 || strcmp(name, "weights") == 0;
    const uint32_t odd = fuzz_choose(choices, 16);
    *tensor = (struct tensor){.name = name, .rank = is_vector ? 1 : 2, .count = 1};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        tensor->type = strcmp(names[i], name) == 0 ? usual[i] : tensor->type;
    }
    tensor->type = odd < 10 ? tensor->type : fuzz_choose(choices, sizeof types / sizeof *types);
    tensor->rank = odd == 15 ? fuzz_choose(choices, 4) : tensor->rank;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        tensor->shape[i] = odd == 14 ? fuzz_choose(choices, 5) : is_vector || i > 0 ? 3 : 4;
        tensor->count *= tensor->shape[i];
    }
    fill(tensor, choices);
}

/* ---- the folder ---- */

static void write_tensors(const struct tensor *tensors, uint32_t count) {
    static uint8_t file[FILE_SIZE];
    char *header = (char *)file + 8;
    size_t length = (size_t)snprintf(header, FILE_SIZE - 8, "{");
    size_t data = 0;
    for (uint32_t i = 0; i < count; i++) {
        const size_t bytes = (size_t)tensors[i].count * types[tensors[i].type].size;
        length += (size_t)snprintf(header + length, FILE_SIZE - 8 - length,
                                   "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", i ? "," : "",
                                   tensors[i].name, types[tensors[i].type].name);
        for (uint32_t axis = 0; axis < tensors[i].rank; axis++) {
            length += (size_t)snprintf(header + length, FILE_SIZE - 8 - length, "%s%u",
                                       axis ? "," : "", tensors[i].shape[axis]);
        }
        length += (size_t)snprintf(header + length, FILE_SIZE - 8 - length,
                                   "],\"data_offsets\":[%zu,%zu]}", data, data + bytes);
        data += bytes;
    }
    length += (size_t)snprintf(header + length, FILE_SIZE - 8 - length, "}");
    for (uint32_t i = 0; i < 8; i++) {
        file[i] = (uint8_t)((uint64_t)length >> (8 * i));
    }
    size_t end = 8 + length;
    for (uint32_t i = 0; i < count; i++) {
        const size_t bytes = (size_t)tensors[i].count * types[tensors[i].type].size;
        memcpy(file + end, tensors[i].bytes, bytes);
        end += bytes;
    }
    (void)fuzz_write("model.safetensors", file, end);
}

static void write_config(struct fuzz_choices *choices) {
    static const char *const values[] = {"true", "false", "3",    "0",  "null", "16777217",
                                         "-1",   "1e9",   "\"\"", "{}", "512",  "[1]"};
    static const char *const fields[] = {"normalize", "max_length", "hidden_dim", "head_config",
                                         "unheard_of"};
    char text[512] = "{\"model_type\":\"model2vec\"";
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fuzz_choose(choices, 2) == 1) {
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, ",\"%s\":%s", fields[i],
                     values[fuzz_choose(choices, sizeof values / sizeof *values)]);
        }
    }
    strcat(text, "}");
    (void)fuzz_write("config.json", text, strlen(text));
}

/* ---- what comes of it ---- */

static const struct tensor *find(const struct tensor *tensors, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(tensors[i].name, name) == 0) {
            return &tensors[i];
        }
    }
    return NULL;
}

/* Row by row, as the tensors say. */
static void expect_rows(const float *values, uint64_t tokens, uint64_t width,
                        const struct tensor *tensors, uint32_t count) {
    const struct tensor *own = find(tensors, count, "embedding.weight");
    const struct tensor *rows = own ? own : find(tensors, count, "embeddings");
    const struct tensor *mapping = own ? NULL : find(tensors, count, "mapping");
    const struct tensor *weights = own ? NULL : find(tensors, count, "weights");
    for (uint64_t i = 0; i < tokens * width; i++) {
        const uint32_t token = (uint32_t)(i / width);
        const uint32_t row = mapping ? (uint32_t)whole_of(mapping, token) : token;
        const float value = real_of(rows, row * (uint32_t)width + (uint32_t)(i % width));
        const float expected = weights ? value * real_of(weights, token) : value;
        fuzz_expect(values[i] == expected || (isnan(values[i]) && isnan(expected)));
    }
    for (uint64_t i = tokens * width; i < (tokens + 1) * width; i++) {
        fuzz_expect(values[i] == 0);
    }
}

/* In pieces it is what it is at once. */
static void expect_table(const weft_safetensors *table, const struct tensor *tensors,
                         uint32_t count, struct fuzz_choices *choices) {
    const weft_safetensors_tensor *tensor = weft_safetensors_at(table, 0);
    fuzz_expect(weft_safetensors_count(table) == 1 && tensor->rank == 2);
    fuzz_expect(tensor->shape[0] > 1 && tensor->elements == tensor->shape[0] * tensor->shape[1]);
    float *values = malloc((size_t)tensor->elements * sizeof *values);
    float piece[7];
    fuzz_expect(values != NULL);
    if (weft_safetensors_read_f32(table, tensor, 0, tensor->elements, values) == WEFT_OK) {
        expect_rows(values, tensor->shape[0] - 1, tensor->shape[1], tensors, count);
        const uint64_t first = fuzz_choose(choices, 256) % tensor->elements;
        const uint64_t most = tensor->elements - first < 7 ? tensor->elements - first : 7;
        fuzz_expect(weft_safetensors_read_f32(table, tensor, first, most, piece) == WEFT_OK);
        fuzz_expect(memcmp(piece, values + first, (size_t)most * sizeof *piece) == 0);
    }
    free(values);
}

static void open_table(const struct tensor *tensors, uint32_t count, struct fuzz_choices *choices,
                       const weft_host *host) {
    char path[1024];
    weft_safetensors *file = NULL;
    weft_safetensors *table = NULL;
    snprintf(path, sizeof path, "%s/model.safetensors", fuzz_folder());
    if (weft_safetensors_open(&file, path, host) == WEFT_OK &&
        weft_static_table_open(&table, file) == WEFT_OK) {
        expect_table(table, tensors, count, choices);
        weft_safetensors_close(&table);
    }
}

static void open_model(enum weft_bag_rules rules, const weft_host *host) {
    struct weft_static_model model = {.config = NULL};
    const weft_status status = weft_static_model_open(&model, fuzz_folder(), rules, host);
    fuzz_expect(status != WEFT_OK || (model.config && model.tokenizer && model.checkpoint));
    weft_static_model_clear(&model, host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct tensor tensors[MOST_TENSORS];
    struct fuzz_choices choices = {.data = data, .size = size};
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    const uint32_t form = fuzz_choose(&choices, 8);
    const uint32_t first = form == 0 ? 0 : 1;
    const uint32_t count = form == 0 ? 1 : 1 + fuzz_choose(&choices, form == 7 ? 4 : 3);
    for (uint32_t i = 0; i < count; i++) {
        make_tensor(&tensors[i], names[first + (form == 6 && i == 1 ? 2 : i)], &choices);
    }
    write_tensors(tensors, form == 6 && count > 2 ? 2 : count);
    write_config(&choices);
    (void)fuzz_write("tokenizer.json", "{}", fuzz_choose(&choices, 3));
    open_table(tensors, form == 6 && count > 2 ? 2 : count, &choices, &host);
    open_model(WEFT_BAG_MODEL2VEC, &host);
    open_model(WEFT_BAG_SENTENCE_TRANSFORMERS, &host);
    fuzz_expect(left == MEMORY); /* nothing was lost on the way */
    return 0;
}
