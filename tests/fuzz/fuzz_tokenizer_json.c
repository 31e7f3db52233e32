/* SPDX-License-Identifier: MIT */
/* Any bytes as a tokenizer.json, with texts that go through what there is of special cases, and back. */
#include <string.h>

#include "fuzz.h"
#include "tokenizer/json/json_tokenizer.h"

#define MEMORY ((size_t)64 << 20)

static const char text[] =
    " [CLS]The cat  sat, 19, on\t``the'' mat \xc3\xa9\xff[MASK] <unk>x"
    "zzz\xef\xbc\xa1\xcc\x81\xcc\xa3<xy>the\xe2\x96\x81\xe2\x96\x81 aaaaaaaaaa"
    "12345\r\n\n  \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac\xe7\xb9\x94 don'T"
    " \xc4\xb0\xef\xac\x81 <s> <mask>\0\x7f";

static void use(struct weft_json_tokenizer *tokenizer, const weft_host *host) {
    struct weft_token_list list = {.host = *host};
    int32_t ids[4096 + 8];
    uint32_t count = 0;
    for (unsigned round = 0; round < 2; round++) { /* the second finds words that it knows */
        list.count = 0;
        (void)weft_json_tokenizer_encode(tokenizer, &list, text, sizeof text - 1);
    }
    for (uint32_t i = 0; i < list.count; i++) {
        fuzz_expect(list.tokens[i].id >= 0);
        fuzz_expect(list.tokens[i].begin <= list.tokens[i].end &&
                    list.tokens[i].end <= sizeof text - 1);
        if (count < 4096) {
            ids[count++] = list.tokens[i].id;
        }
    }
    for (int32_t i = 0; i < 8; i++) { /* and some that it may not have */
        ids[count++] = i * 77 - 2;
    }
    struct weft_text back = {.host = *host};
    (void)weft_json_tokenizer_decode(tokenizer, ids, count, &back);
    weft_free(host, back.data);
    struct weft_encoded encoded = {0};
    struct weft_token_list lists[2] = {list, list};
    if (weft_encoded_make(&encoded, weft_json_tokenizer_templates(tokenizer), lists, true, false,
                          300) == WEFT_OK) {
        fuzz_expect(encoded.count <= 300);
    }
    weft_encoded_clear(&encoded, host);
    weft_free(host, list.tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t left;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    struct weft_json_tokenizer *tokenizer = NULL;
    const weft_status status =
        weft_json_tokenizer_create(&tokenizer, (const char *)data, size, "tokenizer.json", &host);
    fuzz_expect((status == WEFT_OK) == (tokenizer != NULL));
    if (tokenizer) {
        static const char *const names[] = {"[CLS]", "the", "[Q] ", "\xc3\xa9", "aa"};
        use(tokenizer, &host);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const size_t length = strlen(names[i]);
            (void)weft_json_tokenizer_make_special(tokenizer, names[i], length);
            const int32_t id = weft_json_tokenizer_find(tokenizer, names[i], length);
            struct weft_token_list list = {.host = host};
            if (id >= 0 &&
                weft_json_tokenizer_encode(tokenizer, &list, names[i], length) == WEFT_OK) {
                fuzz_expect(list.count > 0);
            }
            weft_free(&host, list.tokens);
        }
        use(tokenizer, &host);
    }
    weft_json_tokenizer_destroy(tokenizer);
    fuzz_expect(left == MEMORY);
    return 0;
}
