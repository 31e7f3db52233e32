/* SPDX-License-Identifier: MIT */
#include "tokenizer/json/decoder.h"

#include <string.h>

#include "core/try.h"
#include "tokenizer/json/normalizer.h"
#include "tokenizer/unicode/text_class.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* Cost of a step for a text, and of a cleaning step for each byte. */
#define TEXT_STEPS  16u
#define CLEAN_STEPS 32u

void weft_texts_begin(struct weft_texts *texts, const weft_host *host) {
    *texts = (struct weft_texts){.all = {.host = *host}};
}

void weft_texts_clear(struct weft_texts *texts) {
    weft_free(&texts->all.host, texts->all.data);
    weft_free(&texts->all.host, texts->ends);
}

weft_status weft_texts_end(struct weft_texts *texts) {
    if (texts->all.failed || !weft_grow(&texts->all.host, &texts->ends, texts->count,
                                        &texts->capacity, sizeof *texts->ends)) {
        return weft_fail_memory(&texts->all.host, "a text");
    }
    texts->ends[texts->count++] = texts->all.length;
    return WEFT_OK;
}

const char *weft_texts_get(const struct weft_texts *texts, uint32_t index, size_t *size) {
    const size_t begin = index > 0 ? texts->ends[index - 1] : 0;
    *size = texts->ends[index] - begin;
    return texts->all.data ? texts->all.data + begin : "";
}

/* ---- steps from text to text ---- */

static bool begins_with(const char *text, size_t size, const char *start, size_t length) {
    return size >= length && memcmp(text, start, length) == 0;
}

/* Replaces every `old`, which is not empty. */
static void put_replaced(struct weft_text *out, const char *text, size_t size, const char *old,
                         size_t old_size, const char *by) {
    for (size_t i = 0; i < size;) {
        if (begins_with(text + i, size - i, old, old_size)) {
            weft_text_put(out, by, strlen(by));
            i += old_size;
        } else {
            weft_text_put(out, text + i++, 1);
        }
    }
}

/* No space before punctuation and contractions, as BERT's own decoder. */
static void clean_up(struct weft_text *text, size_t begin) {
    static const char *const rules[][2] = {{" .", "."},     {" ?", "?"},           {" !", "!"},
                                           {" ,", ","},     {" ' ", "'"},          {" n't", "n't"},
                                           {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},
                                           {" 've", "'ve"}, {" 're", "'re"}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0] && !text->failed; i++) {
        struct weft_text cleaned = {.host = text->host};
        put_replaced(&cleaned, text->data + begin, text->length - begin, rules[i][0],
                     strlen(rules[i][0]), rules[i][1]);
        if (cleaned.failed) {
            weft_text_fail(text);
        } else {
            weft_text_cut(text, begin);
            weft_text_put(text, cleaned.data ? cleaned.data : "", cleaned.length);
        }
        weft_free(&text->host, cleaned.data);
    }
}

static void put_word_piece(const struct weft_decode_step *step, struct weft_text *out,
                           const char *text, size_t size, bool first) {
    const size_t begin = out->length;
    const bool goes_on = begins_with(text, size, step->text.data, step->text.length);
    if (!first && !goes_on) {
        weft_text_put(out, " ", 1);
    }
    const size_t skipped = !first && goes_on ? step->text.length : 0;
    weft_text_put(out, text + skipped, size - skipped);
    if (step->cleanup && !out->failed && memchr(out->data + begin, ' ', out->length - begin)) {
        clean_up(out, begin);
    }
}

static void put_metaspace(const struct weft_decode_step *step, struct weft_text *out,
                          const char *text, size_t size, bool first) {
    for (size_t i = 0, length = 0; i < size; i += length) {
        uint32_t code = 0;
        length = weft_utf8_decode(text + i, size - i, &code);
        if (code != step->code) {
            weft_text_put(out, text + i, length);
        } else if (!first || !step->drops_first) {
            weft_text_put(out, " ", 1);
        }
    }
}

static void put_stripped(const struct weft_decode_step *step, struct weft_text *out,
                         const char *text, size_t size) {
    char wanted[4];
    const size_t length = weft_utf8_encode(wanted, step->code);
    for (uint32_t i = 0; i < step->from_begin && begins_with(text, size, wanted, length); i++) {
        text += length;
        size -= length;
    }
    for (uint32_t i = 0;
         i < step->from_end && size >= length && memcmp(text + size - length, wanted, length) == 0;
         i++) {
        size -= length;
    }
    weft_text_put(out, text, size);
}

/* Working state of a decoder. */
struct work {
    struct weft_chars chars;
    struct weft_regex_work regex;
    struct weft_budget *budget;
};

static weft_status put_by_pattern(const struct weft_decode_step *step, struct work *work,
                                  struct weft_text *out, const char *text, size_t size) {
    struct weft_chars *chars = &work->chars;
    struct weft_regex_matches matches = {0};
    uint32_t done = 0;
    chars->count = 0;
    weft_chars_decode(chars, text, size);
    if (chars->failed) {
        return weft_fail_memory(&chars->host, "a text");
    }
    weft_regex_begin(&work->regex, work->budget);
    while (weft_regex_find_next(step->pattern, &work->regex, chars->at, chars->count, &matches)) {
        weft_chars_put(out, chars->at + done, matches.begin - done);
        weft_text_put(out, step->text.data ? step->text.data : "", step->text.length);
        done = matches.end;
    }
    weft_chars_put(out, chars->at + done, chars->count - done);
    return work->regex.status;
}

static weft_status put_one(const struct weft_decode_step *step, struct work *work,
                           struct weft_text *out, const char *text, size_t size, bool first,
                           bool last) {
    switch (step->kind) {
    case WEFT_DECODE_WORD_PIECE:
        put_word_piece(step, out, text, size, first);
        break;
    case WEFT_DECODE_METASPACE:
        put_metaspace(step, out, text, size, first);
        break;
    case WEFT_DECODE_SUFFIX:
        if (step->text.length == 0) {
            weft_text_put(out, text, size);
        } else {
            put_replaced(out, text, size, step->text.data, step->text.length, last ? "" : " ");
        }
        break;
    case WEFT_DECODE_STRIP:
        put_stripped(step, out, text, size);
        break;
    default:
        return put_by_pattern(step, work, out, text, size);
    }
    return WEFT_OK;
}

static weft_status each(const struct weft_decode_step *step, struct work *work,
                        const struct weft_texts *from, struct weft_texts *to) {
    const uint64_t steps = step->cleanup ? CLEAN_STEPS : 1;
    for (uint32_t i = 0; i < from->count; i++) {
        size_t size = 0;
        const char *text = weft_texts_get(from, i, &size);
        WEFT_TRY(weft_budget_spend(work->budget, TEXT_STEPS + size * steps));
        WEFT_TRY(put_one(step, work, &to->all, text, size, i == 0, i + 1 == from->count));
        WEFT_TRY(weft_texts_end(to));
    }
    return WEFT_OK;
}

/* ---- steps over the whole list ---- */

/* Characters for bytes become these; a text with any other stays. */
static weft_status byte_level(const struct weft_texts *from, struct weft_texts *to) {
    for (uint32_t i = 0; i < from->count; i++) {
        size_t size = 0;
        const char *text = weft_texts_get(from, i, &size);
        const size_t begin = to->all.length;
        for (size_t j = 0, length = 0; j < size; j += length) {
            uint32_t code = 0;
            length = weft_utf8_decode(text + j, size - j, &code);
            const int byte = weft_byte_of_char(code);
            if (byte < 0) {
                weft_text_cut(&to->all, begin);
                weft_text_put(&to->all, text, size);
                break;
            }
            const char put = (char)byte;
            weft_text_put(&to->all, &put, 1);
        }
    }
    return weft_texts_end(to);
}

static int hex_of(char digit) {
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                          : -1;
}

/* The byte that "<0x41>" stands for, or -1. */
static int byte_of(const char *text, size_t size) {
    const bool is_byte = size == 6 && memcmp(text, "<0x", 3) == 0 && text[5] == '>';
    const int high = is_byte ? hex_of(text[3]) : -1;
    const int low = is_byte ? hex_of(text[4]) : -1;
    return high >= 0 && low >= 0 ? 16 * high + low : -1;
}

static bool is_utf8(const char *text, size_t size) {
    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        const size_t length = weft_utf8_decode(text + i, size - i, &code);
        if (length == 1 && code > 0x7F) {
            return false;
        }
        i += length;
    }
    return true;
}

/* Bytes that follow each other are a text if they are UTF-8, and else U+FFFD each. */
static weft_status put_bytes(struct weft_texts *to, struct weft_text *bytes) {
    const size_t count = bytes->length;
    if (count == 0) {
        return WEFT_OK;
    }
    if (is_utf8(bytes->data, count)) {
        weft_text_put(&to->all, bytes->data, count);
        bytes->length = 0;
        return weft_texts_end(to);
    }
    bytes->length = 0;
    for (size_t i = 0; i < count; i++) {
        weft_text_put(&to->all, REPLACEMENT, strlen(REPLACEMENT));
        WEFT_TRY(weft_texts_end(to));
    }
    return WEFT_OK;
}

static weft_status byte_fallback(const struct weft_texts *from, struct weft_texts *to) {
    struct weft_text bytes = {.host = to->all.host};
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < from->count && status == WEFT_OK; i++) {
        size_t size = 0;
        const char *text = weft_texts_get(from, i, &size);
        const int byte = byte_of(text, size);
        if (byte >= 0) {
            const char put = (char)byte;
            weft_text_put(&bytes, &put, 1);
            status = bytes.failed ? weft_fail_memory(&bytes.host, "a text") : WEFT_OK;
            continue;
        }
        status = put_bytes(to, &bytes);
        weft_text_put(&to->all, text, size);
        status = status == WEFT_OK ? weft_texts_end(to) : status;
    }
    status = status == WEFT_OK ? put_bytes(to, &bytes) : status;
    weft_free(&bytes.host, bytes.data);
    return status;
}

static weft_status fuse(const struct weft_texts *from, struct weft_texts *to) {
    weft_text_put(&to->all, from->all.data ? from->all.data : "", from->all.length);
    return weft_texts_end(to);
}

static weft_status run_step(const struct weft_decode_step *step, struct work *work,
                            const struct weft_texts *from, struct weft_texts *to) {
    switch (step->kind) {
    case WEFT_DECODE_BYTE_LEVEL:
        return byte_level(from, to);
    case WEFT_DECODE_BYTE_FALLBACK:
        return byte_fallback(from, to);
    case WEFT_DECODE_FUSE:
        return fuse(from, to);
    default:
        return each(step, work, from, to);
    }
}

static weft_status run_steps(const struct weft_text_decoder *decoder, struct work *work,
                             struct weft_texts *texts) {
    for (uint32_t i = 0; i < decoder->count; i++) {
        struct weft_texts made;
        weft_texts_begin(&made, &texts->all.host);
        const uint64_t size = texts->all.length + texts->count;
        const weft_status status = weft_budget_take(work->budget, size)
                                       ? run_step(&decoder->steps[i], work, texts, &made)
                                       : work->budget->status;
        weft_texts_clear(texts);
        *texts = made;
        WEFT_TRY(status);
    }
    return WEFT_OK;
}

weft_status weft_text_decode(const struct weft_text_decoder *decoder, struct weft_texts *texts,
                             struct weft_text *out, struct weft_budget *budget) {
    const weft_host *host = &texts->all.host;
    struct work work = {.chars = {.host = *host}, .regex = {.host = *host}, .budget = budget};
    const weft_status status = run_steps(decoder, &work, texts);
    weft_free(host, work.chars.at);
    weft_free(host, work.regex.stack);
    WEFT_TRY(status);
    for (uint32_t i = 0; i < texts->count; i++) {
        size_t size = 0;
        const char *text = weft_texts_get(texts, i, &size);
        if (i > 0 && !decoder->is_there) {
            weft_text_put(out, " ", 1);
        }
        weft_text_put(out, text, size);
    }
    return out->failed ? weft_fail_memory(host, "a text") : WEFT_OK;
}
