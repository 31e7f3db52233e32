/* SPDX-License-Identifier: MIT */
#include "tokenizer/encoding.h"

#include "core/try.h"

#define NO_SEQUENCE 255u

uint32_t weft_template_special(const struct weft_template *template) {
    uint32_t special = 0;
    for (uint32_t i = 0; i < template->count; i++) {
        special += template->items[i].is_text ? 0 : 1;
    }
    return special;
}

/* ---- truncation ---- */

static uint64_t length_of(const struct weft_token_list *list) {
    return (uint64_t)list->count + list->more;
}

/* How many times a template names each text. */
struct times {
    uint32_t of[2];
};

static struct times times_of(const struct weft_template *template) {
    struct times times = {{0, 0}};
    for (uint32_t i = 0; i < template->count; i++) {
        times.of[template->items[i].sequence] += template->items[i].is_text ? 1 : 0;
    }
    return times;
}

/* A text that is named never or once counts once, as in the package tokenizers. */
static uint64_t weight_of(const struct times *times, unsigned sequence) {
    return times->of[sequence] > 1 ? times->of[sequence] : 1;
}

static uint64_t weigh(const uint64_t kept[2], const struct times *times) {
    return kept[0] * weight_of(times, 0) + kept[1] * weight_of(times, 1);
}

/* As the package tokenizers: the longer text first, then both to a half each. */
static void halve(uint64_t kept[2], uint64_t maximum) {
    const bool swapped = kept[0] > kept[1];
    uint64_t shorter = kept[swapped];
    uint64_t longer = shorter > maximum             ? shorter
                      : maximum - shorter > shorter ? maximum - shorter
                                                    : shorter;
    if (shorter + longer > maximum) {
        shorter = maximum / 2;
        longer = shorter + maximum % 2;
    }
    kept[swapped] = shorter;
    kept[!swapped] = longer;
}

/* The package then gives more than the maximum: here both texts are cut to the greatest length that leaves room. */
static void shorten_both(uint64_t kept[2], const struct times *times, uint64_t maximum) {
    const uint64_t whole[2] = {kept[0], kept[1]};
    uint64_t low = 0;
    uint64_t high = maximum;
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        for (unsigned i = 0; i < 2; i++) {
            kept[i] = whole[i] < middle ? whole[i] : middle;
        }
        if (weigh(kept, times) <= maximum) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        kept[i] = whole[i] < low ? whole[i] : low;
    }
}

static void cut_longest(uint64_t kept[2], bool is_pair, const struct times *times,
                        uint64_t maximum) {
    if (!is_pair) {
        kept[0] = maximum / weight_of(times, 0);
    } else if (weight_of(times, 0) == 1 && weight_of(times, 1) == 1) {
        halve(kept, maximum);
    } else {
        shorten_both(kept, times, maximum);
    }
}

/* How many tokens of each text are kept. */
static weft_status truncate_texts(uint64_t kept[2], const struct weft_token_list *lists,
                                  bool is_pair, struct weft_truncation truncation,
                                  const struct times *times, uint64_t maximum) {
    kept[0] = length_of(&lists[0]);
    kept[1] = is_pair ? length_of(&lists[1]) : 0;
    const uint64_t total = weigh(kept, times);
    if (total <= maximum) {
        return WEFT_OK;
    }
    if (maximum == 0 || truncation.strategy == WEFT_TRUNCATE_LONGEST) {
        cut_longest(kept, is_pair, times, maximum);
        return WEFT_OK;
    }
    const bool second = truncation.strategy == WEFT_TRUNCATE_SECOND;
    if (second && !is_pair) {
        return weft_fail(&lists[0].host, WEFT_INVALID_ARGUMENT,
                         "text: the tokenizer shortens the second text of a pair only, found one "
                         "text of %llu tokens, more than %llu",
                         (unsigned long long)total, (unsigned long long)maximum);
    }
    const uint64_t weight = weight_of(times, second);
    const uint64_t cut = (total - maximum + weight - 1) / weight;
    if (kept[second] <= cut) {
        return weft_fail(&lists[0].host, WEFT_INVALID_ARGUMENT,
                         "text: the tokenizer shortens the %s text only, whose %llu tokens are "
                         "fewer than those too many, %llu",
                         second ? "second" : "first", (unsigned long long)kept[second],
                         (unsigned long long)cut);
    }
    kept[second] -= cut;
    return WEFT_OK;
}

/* ---- what an encoding may hold ---- */

static weft_status fail_token(const struct weft_token_list *list, uint32_t index,
                              const struct weft_token *token) {
    return weft_fail(&list->host, WEFT_BAD_FILE,
                     "tokenizer: expected tokens within the text of %zu bytes, found token %u, of "
                     "number %d, at bytes %u to %u",
                     list->size, (unsigned)index, (int)token->id, (unsigned)token->begin,
                     (unsigned)token->end);
}

static weft_status check_list(const struct weft_token_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        const struct weft_token *token = &list->tokens[i];
        if (token->id < 0 || token->begin > token->end || token->end > list->size) {
            return fail_token(list, i, token);
        }
    }
    return WEFT_OK;
}

static weft_status check_template(const struct weft_template *template, bool is_pair,
                                  uint64_t count, uint32_t maximum, const weft_host *host) {
    bool sound = count <= maximum;
    for (uint32_t i = 0; i < template->count; i++) {
        const struct weft_template_item *item = &template->items[i];
        sound = sound && item->type >= 0 &&
                (item->is_text ? item->sequence <= (is_pair ? 1 : 0) : item->token >= 0);
    }
    return sound ? WEFT_OK
                 : weft_fail(host, WEFT_BAD_FILE,
                             "tokenizer: expected a template of special tokens and texts that are "
                             "there, of at most %u tokens, found another",
                             (unsigned)maximum);
}

/* ---- putting together ---- */

static bool allocate(struct weft_encoded *encoded, size_t count, const weft_host *host) {
    const size_t room = count > 0 ? count : 1;
    encoded->tokens = weft_alloc_zero(host, room, sizeof *encoded->tokens);
    encoded->types = weft_alloc_zero(host, room, sizeof *encoded->types);
    encoded->begins = weft_alloc_zero(host, room, sizeof *encoded->begins);
    encoded->ends = weft_alloc_zero(host, room, sizeof *encoded->ends);
    encoded->sequences = weft_alloc_zero(host, room, sizeof *encoded->sequences);
    return encoded->tokens && encoded->types && encoded->begins && encoded->ends &&
           encoded->sequences;
}

static void put(struct weft_encoded *encoded, struct weft_token token, int32_t type,
                unsigned sequence) {
    const uint32_t at = encoded->count++;
    encoded->tokens[at] = token.id;
    encoded->types[at] = type;
    encoded->begins[at] = token.begin;
    encoded->ends[at] = token.end;
    encoded->sequences[at] = (uint8_t)sequence;
}

static void put_item(struct weft_encoded *encoded, const struct weft_template_item *item,
                     const struct weft_token_list *lists, const uint64_t kept[2], bool left) {
    if (!item->is_text) {
        put(encoded, (struct weft_token){.id = item->token}, item->type, NO_SEQUENCE);
        return;
    }
    const struct weft_token_list *list = &lists[item->sequence];
    const uint32_t count = (uint32_t)kept[item->sequence];
    const uint32_t first = left ? list->count - count : 0;
    for (uint32_t i = 0; i < count; i++) {
        put(encoded, list->tokens[first + i], item->type, item->sequence);
    }
}

static uint64_t count_tokens(const struct weft_template *template, const uint64_t kept[2],
                             bool no_special) {
    uint64_t count = no_special ? 0 : weft_template_special(template);
    for (uint32_t i = 0; i < template->count; i++) {
        count += template->items[i].is_text ? kept[template->items[i].sequence] : 0;
    }
    return count;
}

weft_status weft_encoded_make(struct weft_encoded *encoded, const struct weft_templates *templates,
                              const struct weft_token_list *lists, bool is_pair, bool no_special,
                              uint32_t maximum) {
    const weft_host *host = &lists[0].host;
    const struct weft_template *template = is_pair ? &templates->pair : &templates->single;
    const uint32_t special = no_special ? 0 : weft_template_special(template);
    if (special > maximum) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "expected room for at least %u tokens, the special ones, found %u",
                         (unsigned)special, (unsigned)maximum);
    }
    uint64_t kept[2];
    const struct times times = times_of(template);
    WEFT_TRY(check_list(&lists[0]));
    WEFT_TRY(is_pair ? check_list(&lists[1]) : WEFT_OK);
    WEFT_TRY(
        truncate_texts(kept, lists, is_pair, templates->truncation, &times, maximum - special));
    const uint64_t all = length_of(&lists[0]) + (is_pair ? length_of(&lists[1]) : 0);
    const uint64_t count = count_tokens(template, kept, no_special);
    struct weft_encoded made = {.cut = (uint32_t)(all - kept[0] - kept[1])};
    WEFT_TRY(check_template(template, is_pair, count, maximum, host));
    if (!allocate(&made, (size_t)count, host)) {
        weft_encoded_clear(&made, host);
        return weft_fail_memory(host, "tokens");
    }
    for (uint32_t i = 0; i < template->count; i++) {
        if (template->items[i].is_text || !no_special) {
            put_item(&made, &template->items[i], lists, kept, templates->truncation.left);
        }
    }
    *encoded = made;
    return WEFT_OK;
}

void weft_encoded_clear(struct weft_encoded *encoded, const weft_host *host) {
    weft_free(host, encoded->tokens);
    weft_free(host, encoded->types);
    weft_free(host, encoded->begins);
    weft_free(host, encoded->ends);
    weft_free(host, encoded->sequences);
    *encoded = (struct weft_encoded){0};
}
