/* SPDX-License-Identifier: MIT */
/* The decoder of a tokenizer.json. */
#include <string.h>

#include "core/try.h"
#include "tokenizer/json/component.h"
#include "tokenizer/json/decoder.h"

static const char *const no_names[] = {NULL};

static weft_status read_text(struct weft_decode_step *step, const struct weft_component *component,
                             const char *name, const char *text) {
    WEFT_TRY(weft_json_optional_string(&text, &component->fields, name));
    weft_text_put(&step->text, text, strlen(text));
    return step->text.failed ? weft_fail_memory(component->fields.host, component->fields.path)
                             : WEFT_OK;
}

static weft_status read_plain(struct weft_decode_step *step,
                              const struct weft_component *component) {
    (void)step;
    return weft_component_allow(component, no_names);
}

static weft_status read_word_piece(struct weft_decode_step *step,
                                   const struct weft_component *component) {
    static const char *const names[] = {"prefix", "cleanup", NULL};
    step->cleanup = true;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(read_text(step, component, names[0], "##"));
    return weft_json_optional_bool(&step->cleanup, &component->fields, names[1]);
}

static weft_status read_byte_level(struct weft_decode_step *step,
                                   const struct weft_component *component) {
    static const char *const names[] = {"add_prefix_space", "trim_offsets", "use_regex", NULL};
    (void)step;
    return weft_component_allow(component, names);
}

static weft_status read_metaspace(struct weft_decode_step *step,
                                  const struct weft_component *component) {
    static const char *const names[] = {"replacement",      "prepend_scheme", "split",
                                        "add_prefix_space", "str_rep",        NULL};
    static const char *const schemes[] = {"always", "first", "never", NULL};
    unsigned scheme = 0;
    bool prefix = true;
    step->code = 0x2581;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(weft_component_char(&step->code, component, names[0]));
    WEFT_TRY(weft_component_word(&scheme, component, names[1], schemes));
    WEFT_TRY(weft_json_optional_bool(&prefix, &component->fields, names[3]));
    step->drops_first = prefix && scheme < 2;
    return WEFT_OK;
}

static weft_status read_suffix(struct weft_decode_step *step,
                               const struct weft_component *component) {
    static const char *const names[] = {"suffix", NULL};
    WEFT_TRY(weft_component_allow(component, names));
    return read_text(step, component, names[0], "</w>");
}

static weft_status read_strip(struct weft_decode_step *step,
                              const struct weft_component *component) {
    static const char *const names[] = {"content", "start", "stop", NULL};
    int64_t begin = 0;
    int64_t end = 0;
    step->code = ' ';
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(weft_component_char(&step->code, component, names[0]));
    WEFT_TRY(weft_json_optional_integer(&begin, &component->fields, names[1], 0, INT32_MAX));
    WEFT_TRY(weft_json_optional_integer(&end, &component->fields, names[2], 0, INT32_MAX));
    step->from_begin = (uint32_t)begin;
    step->from_end = (uint32_t)end;
    return WEFT_OK;
}

static weft_status read_replace(struct weft_decode_step *step,
                                const struct weft_component *component) {
    static const char *const names[] = {"pattern", "content", NULL};
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(weft_component_pattern(&step->pattern, component));
    return read_text(step, component, names[1], "");
}

static const struct {
    const char *type;
    enum weft_decode_kind kind;
    weft_status (*read)(struct weft_decode_step *step, const struct weft_component *component);
} rows[] = {
    {"WordPiece", WEFT_DECODE_WORD_PIECE, read_word_piece},
    {"ByteLevel", WEFT_DECODE_BYTE_LEVEL, read_byte_level},
    {"Metaspace", WEFT_DECODE_METASPACE, read_metaspace},
    {"BPEDecoder", WEFT_DECODE_SUFFIX, read_suffix},
    {"ByteFallback", WEFT_DECODE_BYTE_FALLBACK, read_plain},
    {"Fuse", WEFT_DECODE_FUSE, read_plain},
    {"Strip", WEFT_DECODE_STRIP, read_strip},
    {"Replace", WEFT_DECODE_REPLACE, read_replace},
};

static weft_status read_step(void *user, const struct weft_component *component) {
    struct weft_text_decoder *decoder = user;
    const weft_host *host = component->fields.host;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(component->type, rows[i].type) != 0) {
            continue;
        }
        if (decoder->count == WEFT_MAX_COMPONENTS ||
            !weft_grow(host, &decoder->steps, decoder->count, &decoder->capacity,
                       sizeof *decoder->steps)) {
            return weft_fail_memory(host, component->fields.path);
        }
        struct weft_decode_step *step = &decoder->steps[decoder->count++];
        *step = (struct weft_decode_step){.kind = rows[i].kind, .text = {.host = *host}};
        return rows[i].read(step, component);
    }
    return weft_component_fail_type(component);
}

weft_status weft_text_decoder_read(struct weft_text_decoder *decoder, const json_t *value,
                                   const char *path, const weft_host *host) {
    decoder->is_there = value && !json_is_null(value);
    return weft_component_walk(value, "decoders", path, host, read_step, decoder);
}

void weft_text_decoder_clear(struct weft_text_decoder *decoder, const weft_host *host) {
    for (uint32_t i = 0; i < decoder->count; i++) {
        weft_free(host, decoder->steps[i].text.data);
        weft_regex_destroy(decoder->steps[i].pattern, host);
    }
    weft_free(host, decoder->steps);
    *decoder = (struct weft_text_decoder){0};
}
