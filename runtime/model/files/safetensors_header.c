/* SPDX-License-Identifier: MIT */
#include "model/files/safetensors_header.h"

#include <inttypes.h>
#include <string.h>

#include "core/formats/json.h"
#include "core/try.h"

#define LENGTH_BYTES 8u

static weft_status check(const struct weft_text *text) {
    return text->failed ? weft_fail_memory(&text->host, "the header of a safetensors file")
                        : WEFT_OK;
}

static weft_status add_string(struct weft_text *text, const char *string) {
    json_t *value = weft_json_string_of(string, strlen(string), &text->host);
    char *json = weft_json_text(value, JSON_ENCODE_ANY, &text->host);
    json_decref(value);
    if (!json) {
        return weft_fail_memory(&text->host, string);
    }
    weft_text_put(text, json, strlen(json));
    weft_free(&text->host, json);
    return WEFT_OK;
}

/* Room for the length comes first. */
static void begin_entry(struct weft_text *text) {
    static const char zeros[LENGTH_BYTES];
    if (text->length == 0) {
        weft_text_put(text, zeros, sizeof zeros);
        weft_text_put(text, "{", 1);
    } else {
        weft_text_put(text, ",", 1);
    }
}

weft_status weft_safetensors_header_add(struct weft_safetensors_header *header, const char *name,
                                        weft_safetensors_dtype dtype, const uint64_t *shape,
                                        uint32_t rank) {
    struct weft_text *text = &header->text;
    uint64_t bytes = weft_safetensors_dtype_size(dtype);
    begin_entry(text);
    WEFT_TRY(add_string(text, name));
    weft_text_add(text, ":{\"dtype\":\"%s\",\"shape\":[", weft_safetensors_dtype_name(dtype));
    for (uint32_t i = 0; i < rank; i++) {
        weft_text_add(text, "%s%" PRIu64, i ? ", " : "", shape[i]);
        bytes *= shape[i];
    }
    weft_text_add(text, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", header->data,
                  header->data + bytes);
    header->data += bytes;
    return check(text);
}

static weft_status add_notes(struct weft_text *text, const weft_safetensors_note *notes,
                             uint32_t count) {
    begin_entry(text);
    weft_text_add(text, "\"__metadata__\":{");
    for (uint32_t i = 0; i < count; i++) {
        weft_text_add(text, i ? "," : "");
        WEFT_TRY(add_string(text, notes[i].key));
        weft_text_add(text, ":");
        WEFT_TRY(add_string(text, notes[i].value));
    }
    weft_text_add(text, "}");
    return WEFT_OK;
}

weft_status weft_safetensors_header_end(struct weft_safetensors_header *header,
                                        const weft_safetensors_note *notes, uint32_t count) {
    struct weft_text *text = &header->text;
    if (count > 0 || text->length == 0) {
        WEFT_TRY(add_notes(text, notes, count));
    }
    weft_text_put(text, "}", 1);
    while (!text->failed && text->length % 8 != 0) {
        weft_text_put(text, " ", 1);
    }
    WEFT_TRY(check(text));
    for (uint32_t i = 0; i < LENGTH_BYTES; i++) {
        text->data[i] = (char)(uint8_t)((uint64_t)(text->length - LENGTH_BYTES) >> (8 * i));
    }
    return WEFT_OK;
}
