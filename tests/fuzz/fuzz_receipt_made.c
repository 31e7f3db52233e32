/* SPDX-License-Identifier: MIT */
/*
 * Receipts by their grammar, with chains that hold: the bytes choose records and one edit. A model of some lines says whether a receipt is to be
 * read, and where two differ. Chains are made by their definition in docs/receipts.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/receipt.h>

#include "core/hash.h"
#include "fuzz.h"

#define MOST   24
#define KINDS  12 /* the last is none */
#define FIELDS 4  /* of a record, that an edit changes */

struct made {
    unsigned kind, name, type, digest; /* digest 0: none */
};

struct receipt {
    struct made records[MOST + 1];
    unsigned count;
};

static const char *const kinds[KINDS] = {"setting", "config", "tokenizer", "tensor",
                                         "run",     "input",  "value",     "output",
                                         "data",    "rows",   "answer",    "runs"};
static const char *const names[] = {"0", "1", "2", "command", "line 1", "\xc3\xa9", "", "x y"};
static const char *const types[] = {"run", "layers", "f32 [2, 3]", "", "2 of 2", "\\\"", "1", "\t"};

/* ---- the bytes ---- */

struct source {
    const uint8_t *data;
    size_t size;
};

static unsigned take(struct source *source, unsigned below) {
    if (source->size == 0) {
        return 0;
    }
    source->size--;
    return *source->data++ % below;
}

/* Mostly what fits: a run has its number, and records of runs come behind one. */
static struct receipt choose(struct source *source) {
    struct receipt made = {.count = take(source, MOST) + 1};
    unsigned runs = 0;
    for (unsigned i = 0; i < made.count; i++) {
        struct made *record = &made.records[i];
        record->kind = take(source, KINDS - 1);
        if (runs > 0 && record->kind < 4) {
            record->kind += 4;
        } else if (runs == 0 && ((record->kind > 4 && record->kind < 8) || record->kind == 9)) {
            record->kind = 4;
        }
        record->name = take(source, 8);
        record->type = take(source, 8);
        record->digest = record->kind == 0 || record->kind == 4 ? 0 : 1 + take(source, 200);
        if (record->kind == 4) {
            record->name = runs < 3 ? runs : 0;
            runs++;
        }
    }
    return made;
}

/* One record is changed in a field, dropped, repeated or swapped with the next. */
static void edit(struct receipt *made, struct source *source) {
    const unsigned at = take(source, made->count);
    struct made *record = &made->records[at];
    const size_t behind = (made->count - at - 1) * sizeof *record;
    const unsigned what = take(source, FIELDS + 4);
    switch (what) {
    case 0:
        record->kind = take(source, KINDS);
        break;
    case 1:
        record->name = take(source, 8);
        break;
    case 2:
        record->type = take(source, 8);
        break;
    case 3:
        record->digest = take(source, 201);
        break;
    case 4:
        if (made->count > 1) {
            memmove(record, record + 1, behind);
            made->count--;
        }
        break;
    case 5:
        memmove(record + 1, record, behind + sizeof *record);
        made->count++;
        break;
    case 6:
        if (at + 1 < made->count) {
            const struct made other = *record;
            *record = record[1];
            record[1] = other;
        }
        break;
    default:
        break; /* none: the same */
    }
}

/* ---- what is right ---- */

static bool is_read(const struct receipt *made) {
    unsigned runs = 0;
    for (unsigned i = 0; i < made->count; i++) {
        const struct made *record = &made->records[i];
        const unsigned kind = record->kind;
        const bool hashed = kind != 0 && kind != 4;
        if (kind == KINDS - 1 || hashed != (record->digest > 0) || (kind < 4 && runs > 0) ||
            (((kind > 4 && kind < 8) || kind == 9) && runs == 0) ||
            (kind == 4 && (runs > 2 || record->name != runs))) {
            return false;
        }
        runs += kind == 4;
    }
    return true;
}

static uint32_t first_difference(const struct receipt *a, const struct receipt *b) {
    unsigned i = 0;
    while (i < a->count && i < b->count &&
           memcmp(&a->records[i], &b->records[i], sizeof a->records[i]) == 0) {
        i++;
    }
    return i == a->count && i == b->count ? UINT32_MAX : i;
}

/* ---- as text ---- */

struct text {
    char bytes[(MOST + 1) * 512 + 512];
    size_t size;
};

static void add(struct text *text, const char *part) {
    const size_t size = strlen(part);
    memcpy(text->bytes + text->size, part, size + 1);
    text->size += size;
}

static void add_string(struct text *text, const char *name, const char *value) {
    add(text, "\"");
    add(text, name);
    add(text, "\":\"");
    for (; *value; value++) {
        const char escaped[] = {'\\', *value == '\t' ? 't' : *value, '\0'};
        const char plain[] = {*value, '\0'};
        add(text, *value == '"' || *value == '\\' || *value == '\t' ? escaped : plain);
    }
    add(text, "\"");
}

static void add_record(struct text *text, const struct made *record, uint8_t chain[32]) {
    char hex[WEFT_DIGEST_TEXT_SIZE];
    weft_digest digest;
    weft_sha256 hash;
    const char *const parts[] = {kinds[record->kind], names[record->name], types[record->type]};
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, chain, 32);
    for (int i = 0; i < 3; i++) {
        weft_sha256_add(&hash, parts[i], strlen(parts[i]) + 1);
    }
    add(text, "{");
    add_string(text, "kind", parts[0]);
    add(text, ",");
    add_string(text, "name", parts[1]);
    add(text, ",");
    add_string(text, "type", parts[2]);
    if (record->digest > 0) {
        memset(digest.bytes, (int)record->digest, sizeof digest.bytes);
        weft_sha256_add(&hash, digest.bytes, sizeof digest.bytes);
        add(text, ",");
        add_string(text, "sha256", weft_digest_text(&digest, hex));
    }
    digest = weft_sha256_end(&hash);
    memcpy(chain, digest.bytes, 32);
    add(text, ",");
    add_string(text, "chain", weft_digest_text(&digest, hex));
    add(text, "}");
}

static void write_receipt(struct text *text, const struct receipt *made) {
    uint8_t chain[32] = {0};
    text->size = 0;
    add(text, "{\"format\":\"weft-receipt\",\"version\":2,\"weft\":\"0.1.0\",\"device\":{\"name\":"
              "\"a\",\"driver\":\"b\",\"driver_version\":\"c\"},\"records\":[");
    for (unsigned i = 0; i < made->count; i++) {
        add(text, i ? "," : "");
        add_record(text, &made->records[i], chain);
    }
    add(text, "]}");
}

/* ---- read ---- */

static void expect_records(const weft_receipt *receipt, const struct receipt *made) {
    weft_record_info info;
    unsigned runs = 0;
    for (unsigned i = 0; i < made->count; i++) {
        const struct made *record = &made->records[i];
        runs += record->kind == 4;
        fuzz_expect(weft_receipt_get_record(receipt, i, &info) == WEFT_OK);
        fuzz_expect((unsigned)info.kind == record->kind && info.run == (runs > 0 ? runs - 1 : 0) &&
                    strcmp(info.name, names[record->name]) == 0 &&
                    strcmp(info.type, types[record->type]) == 0 &&
                    (info.sha256[0] != '\0') == (record->digest > 0));
    }
    fuzz_expect(weft_receipt_get_record(receipt, made->count, &info) == WEFT_NOT_FOUND);
    const struct made *first = &made->records[0];
    const bool named = first->kind == 0 && strcmp(names[first->name], "command") == 0;
    const char *command = weft_receipt_command(receipt);
    fuzz_expect(named ? command && strcmp(command, types[first->type]) == 0 : !command);
}

static weft_receipt *read_made(const struct receipt *made, const weft_host *host) {
    static struct text text;
    weft_receipt *receipt = NULL;
    write_receipt(&text, made);
    const weft_status status = weft_receipt_read(&receipt, text.bytes, text.size, host);
    fuzz_expect(status == (is_read(made) ? WEFT_OK : WEFT_BAD_FILE));
    if (receipt) {
        expect_records(receipt, made);
    }
    return receipt;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct source source = {.data = data, .size = size};
    const weft_host host = {0};
    const struct receipt made = choose(&source);
    struct receipt other = made;
    edit(&other, &source);
    weft_receipt *receipt = read_made(&made, &host);
    weft_receipt *edited = read_made(&other, &host);
    if (receipt && edited) {
        uint32_t first = 0;
        fuzz_expect(weft_receipt_compare(&first, receipt, edited) == WEFT_OK);
        fuzz_expect(first == first_difference(&made, &other));
    }
    weft_receipt_destroy(&receipt);
    weft_receipt_destroy(&edited);
    return 0;
}
