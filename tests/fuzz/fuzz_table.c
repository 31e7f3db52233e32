/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as CSV, TSV and JSON Lines: records end in the same places however the bytes arrive, and what is taken of one lies in it; fields that are
 * written as RFC 4180 says are read as they were; memory is that of a record.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formats/table.h"
#include "fuzz.h"
#include "program_grammar.h"

#define MEMORY      ((size_t)1 << 20)
#define MOST_FIELDS 5
#define FIELD_SIZE  12
#define TEXT_SIZE   512

/* ---- any bytes ---- */

/* Where the record ends if its bytes come one by one. */
static bool find_slowly(weft_table_format format, const char *bytes, size_t size, size_t *length,
                        size_t *next) {
    struct weft_table_search search = {0};
    for (size_t there = 0; there <= size; there++) {
        if (weft_table_find_end(&search, format, bytes, there, there == size, length, next)) {
            return true;
        }
    }
    return false;
}

static void read_all(weft_table_format format, const char *given, size_t size,
                     const weft_host *host) {
    struct weft_table table = {.host = *host,
                               .format = format,
                               .path = "fuzz",
                               .field = "a",
                               .id_field = size % 2 ? "b" : NULL,
                               .line = 1};
    char *bytes = malloc(size + 1);
    fuzz_expect(bytes != NULL);
    memcpy(bytes, given, size);
    for (size_t at = 0; at < size;) {
        struct weft_table_search search = {0};
        struct weft_table_text text, id;
        size_t length = 0, next = 0, slow_length = 0, slow_next = 0;
        fuzz_expect(
            weft_table_find_end(&search, format, bytes + at, size - at, true, &length, &next));
        fuzz_expect(find_slowly(format, bytes + at, size - at, &slow_length, &slow_next));
        fuzz_expect(length == slow_length && next == slow_next && length <= next && next > 0);
        if (weft_table_take(&table, bytes + at, length, &text, &id) != WEFT_OK) {
            break;
        }
        fuzz_expect(!text.bytes || text.size <= length);
        fuzz_expect(!table.id_field || !text.bytes == !id.bytes);
        table.line++;
        at += next;
    }
    weft_table_clear(&table);
    free(bytes);
}

/* ---- fields that are written ---- */

struct fields {
    char at[MOST_FIELDS][FIELD_SIZE];
    size_t size[MOST_FIELDS];
    uint32_t count;
};

static size_t put_field(char *out, const char *field, size_t size, bool plain) {
    size_t used = 0;
    const bool quotes = !plain || size == 0 || memchr(field, '"', size) ||
                        memchr(field, ',', size) || memchr(field, '\n', size) ||
                        memchr(field, '\r', size);
    if (quotes) {
        out[used++] = '"';
    }
    for (size_t i = 0; i < size; i++) {
        out[used++] = field[i];
        if (field[i] == '"') {
            out[used++] = '"';
        }
    }
    if (quotes) {
        out[used++] = '"';
    }
    return used;
}

static void make_fields(struct fields *fields, struct fuzz_choices *choices) {
    static const char letters[] = "ab,\"\n\r x\t\xc3\xa4'";
    fields->count = 1 + fuzz_choose(choices, MOST_FIELDS);
    for (uint32_t i = 0; i < fields->count; i++) {
        fields->size[i] = fuzz_choose(choices, FIELD_SIZE);
        for (size_t k = 0; k < fields->size[i]; k++) {
            fields->at[i][k] = letters[fuzz_choose(choices, sizeof letters - 1)];
        }
    }
}

/* Of one record behind its names, the field in a place. */
static void expect_field(const struct fields *fields, uint32_t place, struct fuzz_choices *choices,
                         const weft_host *host) {
    char names[TEXT_SIZE] = "";
    char record[TEXT_SIZE];
    size_t size = 0;
    struct weft_table table = {
        .host = *host, .format = WEFT_TABLE_CSV, .path = "fuzz", .field = "t", .line = 1};
    struct weft_table_text text, id;
    for (uint32_t i = 0; i < fields->count; i++) {
        strcat(names, i > 0 ? "," : "");
        strcat(names, i == place ? "t" : "n");
        record[size] = ',';
        size += i > 0 ? 1 : 0;
        size +=
            put_field(record + size, fields->at[i], fields->size[i], fuzz_choose(choices, 2) == 1);
    }
    fuzz_expect(weft_table_take(&table, names, strlen(names), &text, &id) == WEFT_OK &&
                !text.bytes);
    table.line = 2;
    fuzz_expect(weft_table_take(&table, record, size, &text, &id) == WEFT_OK);
    fuzz_expect(text.bytes && text.size == fields->size[place]);
    fuzz_expect(memcmp(text.bytes, fields->at[place], text.size) == 0);
    weft_table_clear(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_choices choices = {.data = data, .size = size};
    struct fields fields;
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    for (int format = WEFT_TABLE_CSV; format <= WEFT_TABLE_JSONL && size < 4096; format++) {
        read_all((weft_table_format)format, (const char *)data, size, &host);
    }
    make_fields(&fields, &choices);
    expect_field(&fields, fuzz_choose(&choices, fields.count), &choices, &host);
    fuzz_expect(left == MEMORY);
    return 0;
}
