/* SPDX-License-Identifier: MIT */
#include "receipt_report.h"

#include <string.h>

#define FIRST_ELEMENTS 4U

/* ---- counts ---- */

typedef struct counts {
    uint32_t records, runs, tensors, values;
    char chain[WEFT_RECORD_HASH_SIZE]; /* of all */
} counts;

/* Whether a run computed it. */
static bool is_value(const weft_record_info *record) {
    return record->kind == WEFT_RECORD_VALUE || record->kind == WEFT_RECORD_OUTPUT;
}

static counts count_records(const weft_receipt *receipt) {
    counts found = {0};
    weft_record_info record;
    for (; weft_receipt_get_record(receipt, found.records, &record) == WEFT_OK; found.records++) {
        found.runs += record.kind == WEFT_RECORD_RUN;
        found.tensors += record.kind == WEFT_RECORD_TENSOR;
        found.values += is_value(&record);
        memcpy(found.chain, record.chain, sizeof found.chain);
    }
    return found;
}

/* "tensor encoder.weight", "value node 17 layer_norm of run 0". */
static char *name_of(const weft_record_info *record, const weft_host *host) {
    const char *kind = weft_record_kind_name(record->kind);
    if (record->kind == WEFT_RECORD_ROWS) {
        return weft_format(host, "rows of run %u", record->run);
    }
    if (record->kind <= WEFT_RECORD_RUN || record->kind > WEFT_RECORD_OUTPUT) {
        return weft_format(host, record->kind <= WEFT_RECORD_RUN ? "%s %s" : "%s '%s'", kind,
                           record->name);
    }
    return weft_format(host, "%s '%s' of run %u", kind, record->name, record->run);
}

/* ---- the first difference ---- */

typedef struct difference {
    bool has[2]; /* whether the receipt and the one made here have such a record */
    weft_record_info records[2];
    uint32_t further; /* tensors that differ behind it */
    weft_record_info last_same;
    bool has_last;
} difference;

static bool same_record(const weft_record_info *a, const weft_record_info *b) {
    return a->kind == b->kind && strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0 &&
           strcmp(a->sha256, b->sha256) == 0;
}

static difference find_difference(const weft_cli_receipt_verdict *verdict) {
    const uint32_t first = verdict->first;
    difference found = {0};
    const weft_receipt *const receipts[2] = {verdict->receipt, verdict->again};
    for (size_t i = 0; i < 2; i++) {
        found.has[i] = weft_receipt_get_record(receipts[i], first, &found.records[i]) == WEFT_OK;
    }
    found.has_last = first > 0 && weft_receipt_get_record(verdict->again, first - 1,
                                                          &found.last_same) == WEFT_OK;
    weft_record_info a;
    weft_record_info b;
    for (uint32_t i = first + 1;
         found.has[0] && found.records[0].kind == WEFT_RECORD_TENSOR &&
         weft_receipt_get_record(verdict->receipt, i, &a) == WEFT_OK &&
         weft_receipt_get_record(verdict->again, i, &b) == WEFT_OK && a.kind == WEFT_RECORD_TENSOR;
         i++) {
        found.further += !same_record(&a, &b);
    }
    return found;
}

/* What to do about a setting that differs. */
static const char *advice(const weft_record_info *record) {
    return record->kind == WEFT_RECORD_RUN ? "the receipt has other checkpoints"
           : record->kind == WEFT_RECORD_DATA
               ? "what was given is something else, or in another order"
           : record->kind == WEFT_RECORD_ROWS ? "the rows are other examples"
           : record->kind == WEFT_RECORD_ANSWER
               ? "what was handed over does not follow from the runs, which are the same"
           : record->kind != WEFT_RECORD_SETTING  ? NULL
           : strcmp(record->name, "bits") == 0    ? "the versions of Weft give other bits"
           : strcmp(record->name, "math") == 0    ? "give verify the same --math"
           : strcmp(record->name, "weights") == 0 ? "give verify the same --weights"
           : strcmp(record->name, "state") == 0   ? "give verify the same --state"
           : strcmp(record->name, "similarity") == 0
               ? "the folder's similarity_fn_name is another one"
               : NULL;
}

static void print_side(const char *where, bool has, const weft_record_info *record,
                       const weft_host *host) {
    char *name = has ? name_of(record, host) : NULL;
    if (!has) {
        weft_cli_print(stdout, "  %s: nothing more\n", where);
    } else {
        weft_cli_print(stdout, "  %s: %s, %s%s%s\n", where, name ? name : record->name,
                       record->type, record->sha256[0] ? ", SHA-256 " : "", record->sha256);
    }
    weft_free(host, name);
}

/* The one that says what is wrong: that of here, unless it is what follows where the receipt goes on with what was given. */
static const weft_record_info *named(const difference *found) {
    const weft_record_info *receipt = &found->records[0];
    const weft_record_info *here = &found->records[1];
    const bool goes_on =
        found->has[0] && receipt->kind == WEFT_RECORD_DATA && here->kind != WEFT_RECORD_DATA;
    return found->has[1] && !goes_on ? here : receipt;
}

static void print_difference(const difference *found, const weft_host *host) {
    const weft_record_info *record = named(found);
    char *name = name_of(record, host);
    weft_cli_print(stdout, "differs first in the %s\n", name ? name : record->name);
    weft_free(host, name);
    print_side("receipt", found->has[0], &found->records[0], host);
    print_side("here", found->has[1], &found->records[1], host);
    const bool both =
        found->has[0] && found->has[1] && (found->records[0].kind == found->records[1].kind);
    if (advice(record) && (both || record->kind == WEFT_RECORD_DATA)) {
        weft_cli_print(stdout, "  %s\n", advice(record));
    }
    if (found->further > 0) {
        weft_cli_print(stdout, "  and so do %u further tensors\n", found->further);
    }
    if (is_value(record) && found->has_last) {
        name = name_of(&found->last_same, host);
        weft_cli_print(stdout, "  the last record that is the same is the %s\n",
                       name ? name : found->last_same.name);
        weft_free(host, name);
    }
}

/* ---- elements ---- */

/* Bytes of an element as text: its number and its bits. */
static void element_text(char text[64], const weft_cli_watch *kept, uint64_t index) {
    const uint32_t size = weft_dtype_size(kept->port.dtype);
    uint32_t bits = 0;
    memcpy(&bits, (const uint8_t *)kept->data + index * size, size);
    if (kept->port.dtype == WEFT_F32) {
        float value = 0;
        memcpy(&value, &bits, sizeof value);
        snprintf(text, 64, "%.9g (0x%08x)", (double)value, bits);
    } else if (kept->port.dtype == WEFT_I32) {
        snprintf(text, 64, "%d", (int32_t)bits);
    } else {
        snprintf(text, 64, "0x%0*x", (int)(2 * size), bits);
    }
}

static uint64_t element_count(const weft_cli_watch *kept) {
    return weft_shape_elements(kept->port.shape);
}

static bool element_differs(const weft_cli_watch kept[2], uint64_t index) {
    const uint32_t size = weft_dtype_size(kept[0].port.dtype);
    return memcmp((const uint8_t *)kept[0].data + index * size,
                  (const uint8_t *)kept[1].data + index * size, size) != 0;
}

static uint64_t count_different(const weft_cli_watch kept[2]) {
    uint64_t different = 0;
    for (uint64_t i = 0; i < element_count(&kept[0]); i++) {
        different += element_differs(kept, i);
    }
    return different;
}

static void print_elements(const weft_cli_watch *kept) {
    weft_cli_print(stdout, "  its first values here: ");
    for (uint64_t i = 0; i < FIRST_ELEMENTS && i < element_count(kept); i++) {
        char text[64];
        element_text(text, kept, i);
        weft_cli_print(stdout, "%s%s", i ? ", " : "", text);
    }
    weft_cli_print(stdout, "\n");
}

static void print_two(const weft_cli_watch kept[2]) {
    uint32_t shown = 0;
    weft_cli_print(stdout, "  %llu of %llu elements differ\n",
                   (unsigned long long)count_different(kept),
                   (unsigned long long)element_count(&kept[0]));
    for (uint64_t i = 0; i < element_count(&kept[0]) && shown < FIRST_ELEMENTS; i++) {
        if (element_differs(kept, i)) {
            char texts[2][64];
            element_text(texts[0], &kept[0], i);
            element_text(texts[1], &kept[1], i);
            weft_cli_print(stdout, "  element %llu: %s and %s\n", (unsigned long long)i, texts[0],
                           texts[1]);
            shown++;
        }
    }
}

static void print_devices(const weft_cli_receipt_verdict *verdict, const weft_host *host) {
    weft_record_info record;
    if (verdict->node == UINT32_MAX) {
        weft_cli_print(stdout,
                       "both devices here, %s and %s, agree in every node: the receipt's maker "
                       "computed something else\n",
                       weft_receipt_maker(verdict->nodes[0]),
                       weft_receipt_maker(verdict->nodes[1]));
    } else if (weft_receipt_get_record(verdict->nodes[0], verdict->node, &record) == WEFT_OK) {
        char *name = name_of(&record, host);
        weft_cli_print(stdout, "%s and %s differ first in the %s, %s\n",
                       weft_receipt_maker(verdict->nodes[0]), weft_receipt_maker(verdict->nodes[1]),
                       name ? name : record.name, record.type);
        weft_free(host, name);
    }
}

/* ---- reports ---- */

int weft_cli_receipt_report_text(const weft_cli_receipt_verdict *verdict) {
    const weft_host host = {0};
    const counts found = count_records(verdict->again);
    if (verdict->first == UINT32_MAX) {
        weft_cli_print(stdout, "%s: the same bits: %u values of %u runs, %u tensors, in %.1f s\n",
                       verdict->path, found.values, found.runs, found.tensors, verdict->seconds);
    } else {
        const difference first = find_difference(verdict);
        weft_cli_print(stdout, "%s: not the same: ", verdict->path);
        print_difference(&first, &host);
    }
    weft_cli_print(stdout, "made by %s\n", weft_receipt_maker(verdict->receipt));
    weft_cli_print(stdout, "again by %s\n", weft_receipt_maker(verdict->again));
    if (verdict->against) {
        print_devices(verdict, &host);
    }
    if (verdict->kept[0].data && verdict->kept[1].data) {
        print_two(verdict->kept);
    } else if (verdict->kept[0].data) {
        print_elements(&verdict->kept[0]);
    }
    if (verdict->first == UINT32_MAX) {
        weft_cli_print(stdout, "chain %s\n", found.chain);
    }
    return WEFT_CLI_FINE;
}

static json_t *record_json(bool has, const weft_record_info *record) {
    return !has
               ? json_null()
               : json_pack("{s:s, s:o, s:o, s:I, s:s}", "kind", weft_record_kind_name(record->kind),
                           "name", weft_cli_json_text(record->name), "type",
                           weft_cli_json_text(record->type), "run", (json_int_t)record->run,
                           "sha256", record->sha256);
}

static json_t *values_json(const weft_cli_receipt_verdict *verdict) {
    json_t *lists = json_array();
    for (size_t side = 0; side < 2 && verdict->kept[side].data; side++) {
        json_t *elements = json_array();
        for (uint64_t i = 0; i < FIRST_ELEMENTS && i < element_count(&verdict->kept[side]); i++) {
            char text[64];
            element_text(text, &verdict->kept[side], i);
            elements = weft_cli_json_append(elements, json_string(text));
        }
        lists = weft_cli_json_append(lists, elements);
    }
    return lists;
}

static json_t *devices_json(const weft_cli_receipt_verdict *verdict) {
    weft_record_info record;
    const bool differ =
        weft_receipt_get_record(verdict->nodes[0], verdict->node, &record) == WEFT_OK;
    json_t *object = json_pack("{s:o, s:o}", "against",
                               weft_cli_json_text(weft_receipt_maker(verdict->nodes[1])), "node",
                               record_json(differ, &record));
    return verdict->kept[0].data && verdict->kept[1].data
               ? weft_cli_json_field(object, "different_elements",
                                     json_integer((json_int_t)count_different(verdict->kept)))
               : object;
}

int weft_cli_receipt_report_json(const weft_cli_receipt_verdict *verdict) {
    const counts found = count_records(verdict->again);
    json_t *report = json_pack(
        "{s:b, s:o, s:o, s:I, s:I, s:I, s:s, s:o}", "same", verdict->first == UINT32_MAX, "made_by",
        weft_cli_json_text(weft_receipt_maker(verdict->receipt)), "again_by",
        weft_cli_json_text(weft_receipt_maker(verdict->again)), "runs", (json_int_t)found.runs,
        "tensors", (json_int_t)found.tensors, "values", (json_int_t)found.values, "chain",
        found.chain, "seconds", weft_cli_json_real(verdict->seconds));
    if (verdict->first != UINT32_MAX) {
        const difference first = find_difference(verdict);
        report =
            weft_cli_json_field(report, "receipt", record_json(first.has[0], &first.records[0]));
        report = weft_cli_json_field(report, "here", record_json(first.has[1], &first.records[1]));
        report =
            weft_cli_json_field(report, "further_tensors", json_integer((json_int_t)first.further));
        report = weft_cli_json_field(report, "first_values", values_json(verdict));
    }
    if (verdict->against) {
        report = weft_cli_json_field(report, "devices", devices_json(verdict));
    }
    return weft_cli_print_json(report);
}
