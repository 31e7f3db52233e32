/* SPDX-License-Identifier: MIT */
/*
 * Tables of texts, a record at a time: CSV as RFC 4180 has it, TSV, whose fields are whatever stands between tabs, and JSON Lines, an object
 * on each line. CSV and TSV begin with the fields' names. Nothing is in memory but a record.
 */
#ifndef WEFT_CORE_TABLE_H
#define WEFT_CORE_TABLE_H

#include "core/host.h"

typedef enum weft_table_format {
    WEFT_TABLE_CSV,
    WEFT_TABLE_TSV,
    WEFT_TABLE_JSONL
} weft_table_format;

/** The format that a file's name ends with: .csv, .tsv or .tab, .jsonl or .ndjson. False for others. */
bool weft_table_format_of(weft_table_format *format, const char *path);

/** Most fields of a record of CSV or TSV. */
#define WEFT_TABLE_MOST_FIELDS 65536U

/** Where the end of a record is being looked for, so that no byte is looked at twice. Zeroed for each record. */
struct weft_table_search {
    size_t looked;
    bool quoted; /* there, within quotes */
};

/**
 * True if a record ends within `size` bytes, of which it has *length, without its line's end; the next one begins at *next. `last`: no bytes come
 * behind them. A line's end is \n or \r\n; of CSV those within quotes are part of a field.
 */
bool weft_table_find_end(struct weft_table_search *search, weft_table_format format,
                         const char *bytes, size_t size, bool last, size_t *length, size_t *next);

/** A text in a record; null: there is none. */
struct weft_table_text {
    const char *bytes;
    size_t size;
};

struct weft_table {
    weft_host host;
    weft_table_format format;
    const char *path;             /* for messages */
    const char *field, *id_field; /* the names of the text's field, and of its id's, or null */
    uint32_t at, id_at,
        fields;    /* of CSV and TSV: which of how many; 0 fields: the names have not been read */
    uint64_t line; /* of a record's first line, from 1: counted by the caller */
    char *made;    /* of the newest record of JSON Lines, as the id's text always: fresh memory */
    char *id;
};

/**
 * Takes a record of `size` bytes, into which it writes: *text is its field, *id the other as JSON, both until the next call. Both are null where a record is
 * none: a blank line, or the names. Errors, naming file and line: WEFT_BAD_FILE for a field that is not there or there twice, is no text, an id that is
 * no text or number, another number of fields than names, a quote out of place, and JSON that is none; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_table_take(struct weft_table *table, char *bytes, size_t size,
                            struct weft_table_text *text, struct weft_table_text *id);
void weft_table_clear(struct weft_table *table);

#endif
