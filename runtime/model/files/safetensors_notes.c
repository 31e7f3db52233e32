/* SPDX-License-Identifier: MIT */
#include "model/files/safetensors_notes.h"

#include <string.h>

#include "core/try.h"

/* The object while it is read: first its notes are counted, then taken. */
struct reader {
    struct weft_safetensors_notes *notes;
    size_t count, bytes;
    char *end; /* of what is taken; null while they are counted */
};

static char *put(struct reader *reader, const char *text) {
    const size_t size = strlen(text) + 1;
    char *place = memcpy(reader->end, text, size);
    reader->end += size;
    return place;
}

static weft_status visit(void *user, const char *key, const weft_json_part *value) {
    struct reader *reader = user;
    json_t *note = NULL;
    WEFT_TRY(weft_json_part_parse(&note, value));
    weft_status status = WEFT_OK;
    if (!json_is_string(note)) {
        char found[WEFT_JSON_TEXT_SIZE];
        status = weft_fail(value->host, WEFT_BAD_FILE,
                           "%s: __metadata__: \"%.200s\": expected a string, found %s", value->path,
                           key, weft_json_describe(note, found));
    } else if (reader->end) {
        weft_safetensors_note *item = &reader->notes->items[reader->notes->count++];
        item->key = put(reader, key);
        item->value = put(reader, json_string_value(note));
    } else {
        reader->count++;
        reader->bytes += strlen(key) + json_string_length(note) + 2;
    }
    json_decref(note);
    return status;
}

weft_status weft_safetensors_notes_read(struct weft_safetensors_notes *notes,
                                        const weft_json_part *object) {
    struct reader reader = {.notes = notes};
    if (object->size == 0 || object->text[0] != '{') {
        return weft_fail(object->host, WEFT_BAD_FILE,
                         "%s: __metadata__: expected an object of strings", object->path);
    }
    WEFT_TRY(weft_json_walk(object, visit, &reader));
    if (reader.count == 0) {
        return WEFT_OK;
    }
    notes->items = weft_alloc_zero(object->host, reader.count, sizeof *notes->items);
    notes->text = weft_alloc(object->host, reader.bytes);
    if (!notes->items || !notes->text) {
        return weft_fail_memory(object->host, object->path);
    }
    reader.end = notes->text;
    return weft_json_walk(object, visit, &reader);
}

void weft_safetensors_notes_free(struct weft_safetensors_notes *notes, const weft_host *host) {
    weft_free(host, notes->items);
    weft_free(host, notes->text);
    *notes = (struct weft_safetensors_notes){.count = 0};
}
