/* SPDX-License-Identifier: MIT */
#include "tokenizer/json/compare.h"

#include <string.h>

#include "core/try.h"

static void warn_of(const weft_json_fields *fields, const char *name, bool value,
                    const char *instead) {
    weft_log(fields->host, WEFT_LOG_WARNING,
             "%s: field \"%s\": %s is passed over: tokenizer.json says otherwise, and %s",
             fields->path, name, value ? "true" : "false", instead);
}

/* transformers may make another template of these. Here tokenizer.json's counts. */
static weft_status check_ends(struct weft_json_tokenizer *tokenizer,
                              const weft_json_fields *fields) {
    const struct weft_template *single = &weft_json_tokenizer_templates(tokenizer)->single;
    const bool begins = single->count > 0 && !single->items[0].is_text;
    const bool ends = single->count > 0 && !single->items[single->count - 1].is_text;
    bool bos = begins;
    bool eos = ends;
    WEFT_TRY(weft_json_optional_bool(&bos, fields, "add_bos_token"));
    WEFT_TRY(weft_json_optional_bool(&eos, fields, "add_eos_token"));
    if (bos != begins) {
        warn_of(fields, "add_bos_token", bos,
                begins ? "a special token stands in front of texts"
                       : "no special token stands in front of texts");
    }
    if (eos != ends) {
        warn_of(fields, "add_eos_token", eos,
                ends ? "a special token ends texts" : "no special token ends texts");
    }
    return WEFT_OK;
}

/* Whether a text has the tokens that it would have behind a space. */
static weft_status begins_with_space(bool *begins, struct weft_json_tokenizer *tokenizer,
                                     const weft_host *host) {
    struct weft_token_list lists[2] = {{.host = *host}, {.host = *host}};
    weft_status status = weft_json_tokenizer_encode(tokenizer, &lists[0], "a", 1);
    if (status == WEFT_OK) {
        status = weft_json_tokenizer_encode(tokenizer, &lists[1], " a", 2);
    }
    *begins = status == WEFT_OK && lists[0].count == lists[1].count;
    for (uint32_t i = 0; *begins && i < lists[0].count; i++) {
        *begins = lists[0].tokens[i].id == lists[1].tokens[i].id;
    }
    weft_free(host, lists[0].tokens);
    weft_free(host, lists[1].tokens);
    return status;
}

/* Classes that read add_prefix_space, with or without "Fast". Others have it from their makers, and pass it over. */
static bool takes_first_space(const char *name) {
    static const char *const names[] = {"GPT2Tokenizer",       "RobertaTokenizer",
                                        "BartTokenizer",       "GPTNeoXTokenizer",
                                        "LongformerTokenizer", "DebertaTokenizer"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(name, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

static weft_status check_first_space(struct weft_json_tokenizer *tokenizer,
                                     const weft_json_fields *fields) {
    bool begins = false;
    bool said = false;
    const char *name = "";
    WEFT_TRY(weft_json_optional_string(&name, fields, "tokenizer_class"));
    if (!weft_json_has(fields, "add_prefix_space") || !takes_first_space(name)) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_json_optional_bool(&said, fields, "add_prefix_space"));
    WEFT_TRY(begins_with_space(&begins, tokenizer, fields->host));
    if (begins != said) {
        warn_of(fields, "add_prefix_space", said,
                begins ? "texts are read as if a space stood in front of them"
                       : "texts are read as they are");
    }
    return WEFT_OK;
}

weft_status weft_json_tokenizer_compare(struct weft_json_tokenizer *tokenizer,
                                        const weft_json_fields *fields) {
    WEFT_TRY(check_ends(tokenizer, fields));
    return check_first_space(tokenizer, fields);
}
