/* SPDX-License-Identifier: MIT */
#include "core/formats/table.h"

#include <string.h>

#include "core/formats/json.h"
#include "core/text.h"
#include "core/try.h"

/* ---- formats ---- */

bool weft_table_format_of(weft_table_format *format, const char *path) {
    static const struct {
        const char *end;
        weft_table_format format;
    } ends[] = {{".csv", WEFT_TABLE_CSV},
                {".tsv", WEFT_TABLE_TSV},
                {".tab", WEFT_TABLE_TSV},
                {".jsonl", WEFT_TABLE_JSONL},
                {".ndjson", WEFT_TABLE_JSONL}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (weft_ends_with(path, ends[i].end)) {
            *format = ends[i].format;
            return true;
        }
    }
    return false;
}

/* ---- records ---- */

/* Two quotes that stand for one change nothing: they end a quoted part, and begin one. */
bool weft_table_find_end(struct weft_table_search *search, weft_table_format format,
                         const char *bytes, size_t size, bool last, size_t *length, size_t *next) {
    size_t at = search->looked;
    bool quoted = search->quoted;
    while (at < size && (quoted || bytes[at] != '\n')) {
        quoted = quoted != (format == WEFT_TABLE_CSV && bytes[at] == '"');
        at++;
    }
    search->looked = at;
    search->quoted = quoted;
    if (at == size && (!last || size == 0)) {
        return false;
    }
    *next = at < size ? at + 1 : at;
    *length = at > 0 && !quoted && bytes[at - 1] == '\r' ? at - 1 : at;
    return true;
}

static weft_status fail(const struct weft_table *table, const char *what) {
    return weft_fail(&table->host, WEFT_BAD_FILE, "%s: line %llu: %s", table->path,
                     (unsigned long long)table->line, what);
}

/* ---- fields of CSV and TSV ---- */

/* A record while it is cut into fields. */
struct cutter {
    const struct weft_table *table;
    char *bytes;
    size_t size, at;
    bool more; /* fields to come */
};

static char separator_of(const struct weft_table *table) {
    return table->format == WEFT_TABLE_TSV ? '\t' : ',';
}

/* Up to the next separator. */
static weft_status take_plain(struct cutter *cutter, struct weft_table_text *field) {
    const char separator = separator_of(cutter->table);
    const size_t begin = cutter->at;
    while (cutter->at < cutter->size && cutter->bytes[cutter->at] != separator) {
        if (cutter->table->format == WEFT_TABLE_CSV && cutter->bytes[cutter->at] == '"') {
            return fail(cutter->table, "expected quotes around a whole field, found one within it");
        }
        cutter->at++;
    }
    *field = (struct weft_table_text){cutter->bytes + begin, cutter->at - begin};
    return WEFT_OK;
}

/* Behind its first quote: what is within moves to the front of itself as "" become ". */
static weft_status take_quoted(struct cutter *cutter, struct weft_table_text *field) {
    char *bytes = cutter->bytes;
    const size_t begin = ++cutter->at;
    size_t end = begin;
    for (;; cutter->at++) {
        if (cutter->at == cutter->size) {
            return fail(cutter->table, "expected the quote that ends a field, found the end");
        }
        if (bytes[cutter->at] == '"') {
            const bool two = cutter->at + 1 < cutter->size && bytes[cutter->at + 1] == '"';
            if (!two) {
                break;
            }
            cutter->at++;
        }
        bytes[end++] = bytes[cutter->at];
    }
    cutter->at++;
    *field = (struct weft_table_text){bytes + begin, end - begin};
    return cutter->at == cutter->size || bytes[cutter->at] == separator_of(cutter->table)
               ? WEFT_OK
               : fail(cutter->table, "expected a comma behind a field's quotes, found another");
}

static weft_status take_field(struct cutter *cutter, struct weft_table_text *field) {
    const bool quoted = cutter->table->format == WEFT_TABLE_CSV && cutter->at < cutter->size &&
                        cutter->bytes[cutter->at] == '"';
    WEFT_TRY(quoted ? take_quoted(cutter, field) : take_plain(cutter, field));
    cutter->more = cutter->at < cutter->size;
    cutter->at += cutter->more ? 1 : 0; /* the separator */
    return WEFT_OK;
}

static bool is_named(const struct weft_table_text *field, const char *name) {
    return name && strlen(name) == field->size && memcmp(name, field->bytes, field->size) == 0;
}

static weft_status fail_name(const struct weft_table *table, const char *name, const char *found) {
    return weft_fail(&table->host, WEFT_BAD_FILE,
                     "%s: line %llu: expected a field named \"%.200s\", found %s", table->path,
                     (unsigned long long)table->line, name, found);
}

static weft_status note_name(struct weft_table *table, const char *name, uint32_t *at, bool *found,
                             const struct weft_table_text *field) {
    if (!is_named(field, name)) {
        return WEFT_OK;
    }
    if (*found) {
        return fail_name(table, name, "two");
    }
    *found = true;
    *at = table->fields;
    return WEFT_OK;
}

static weft_status read_names(struct weft_table *table, struct cutter *cutter) {
    bool found[2] = {false, false};
    do {
        struct weft_table_text field = {NULL, 0};
        WEFT_TRY(take_field(cutter, &field));
        WEFT_TRY(note_name(table, table->field, &table->at, &found[0], &field));
        WEFT_TRY(note_name(table, table->id_field, &table->id_at, &found[1], &field));
        if (++table->fields > WEFT_TABLE_MOST_FIELDS) {
            return fail(table, "expected at most 65536 fields, found more");
        }
    } while (cutter->more);
    if (!found[0]) {
        return fail_name(table, table->field, "others");
    }
    return !table->id_field || found[1] ? WEFT_OK : fail_name(table, table->id_field, "others");
}

/* Its id is a text, written as JSON. */
static weft_status keep_id(struct weft_table *table, const struct weft_table_text *field) {
    json_t *text = weft_json_string_of(field->bytes, field->size, &table->host);
    table->id = text ? weft_json_text(text, JSON_ENCODE_ANY, &table->host) : NULL;
    json_decref(text);
    return table->id ? WEFT_OK : weft_fail_memory(&table->host, "an id");
}

static weft_status take_record(struct weft_table *table, struct cutter *cutter,
                               struct weft_table_text *text) {
    uint32_t count = 0;
    struct weft_table_text found = {NULL, 0};
    do {
        struct weft_table_text field = {NULL, 0};
        WEFT_TRY(take_field(cutter, &field));
        if (count == table->at) {
            found = field;
        }
        if (table->id_field && count == table->id_at) {
            WEFT_TRY(keep_id(table, &field));
        }
        count++;
    } while (cutter->more && count <= table->fields);
    if (count != table->fields) {
        return weft_fail(&table->host, WEFT_BAD_FILE,
                         "%s: line %llu: expected %u fields, as there are names, found %s%u",
                         table->path, (unsigned long long)table->line, table->fields,
                         cutter->more ? "more than " : "", cutter->more ? table->fields : count);
    }
    *text = found;
    return WEFT_OK;
}

/* ---- objects ---- */

static weft_status take_id(struct weft_table *table, const weft_json_fields *fields) {
    const json_t *id = json_object_get(fields->object, table->id_field);
    if (!json_is_string(id) && !json_is_number(id)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, table->id_field, "a text or a number", id);
    }
    table->id = weft_json_text(id, JSON_ENCODE_ANY, &table->host);
    return table->id ? WEFT_OK : weft_fail_memory(&table->host, "an id");
}

static weft_status take_fields(struct weft_table *table, const weft_json_fields *fields,
                               struct weft_table_text *text) {
    const json_t *value = json_object_get(fields->object, table->field);
    if (!json_is_string(value)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, table->field, "a text", value);
    }
    const size_t size = json_string_length(value);
    table->made = weft_alloc(&table->host, size + 1);
    if (!table->made) {
        return weft_fail_memory(&table->host, "a text");
    }
    memcpy(table->made, json_string_value(value), size + 1);
    *text = (struct weft_table_text){table->made, size};
    return table->id_field ? take_id(table, fields) : WEFT_OK;
}

static weft_status take_object(struct weft_table *table, const char *bytes, size_t size,
                               struct weft_table_text *text) {
    json_t *object = NULL;
    char *place =
        weft_format(&table->host, "%s: line %llu", table->path, (unsigned long long)table->line);
    weft_status status = place ? weft_json_parse(&object, bytes, size, place, &table->host)
                               : weft_fail_memory(&table->host, "a place");
    if (status == WEFT_OK) {
        status = take_fields(
            table, &(weft_json_fields){.object = object, .path = place, .host = &table->host},
            text);
    }
    json_decref(object);
    weft_free(&table->host, place);
    return status;
}

/* ---- all ---- */

void weft_table_clear(struct weft_table *table) {
    weft_free(&table->host, table->made);
    weft_free(&table->host, table->id);
    table->made = NULL;
    table->id = NULL;
}

static bool is_blank(const struct weft_table *table, const char *bytes, size_t size) {
    const char *white = table->format == WEFT_TABLE_JSONL ? " \t\r" : "";
    size_t at = 0;
    while (at < size && *white != '\0' && bytes[at] != '\0' && strchr(white, bytes[at])) {
        at++;
    }
    return at == size;
}

/* What some programs put in front of UTF-8. */
static size_t size_of_mark(const struct weft_table *table, const char *bytes, size_t size) {
    return table->line == 1 && size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

weft_status weft_table_take(struct weft_table *table, char *bytes, size_t size,
                            struct weft_table_text *text, struct weft_table_text *id) {
    const size_t mark = size_of_mark(table, bytes, size);
    struct cutter cutter = {.table = table, .bytes = bytes + mark, .size = size - mark};
    weft_table_clear(table);
    *text = *id = (struct weft_table_text){NULL, 0};
    if (is_blank(table, cutter.bytes, cutter.size)) {
        return WEFT_OK;
    }
    if (table->format != WEFT_TABLE_JSONL && table->fields == 0) {
        return read_names(table, &cutter);
    }
    WEFT_TRY(table->format == WEFT_TABLE_JSONL ? take_object(table, cutter.bytes, cutter.size, text)
                                               : take_record(table, &cutter, text));
    if (table->id) {
        *id = (struct weft_table_text){table->id, strlen(table->id)};
    }
    return WEFT_OK;
}
