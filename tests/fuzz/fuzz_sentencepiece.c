/* SPDX-License-Identifier: MIT */
/* Any bytes as a SentencePiece model, and a text that goes through what there is of special cases. */
#include "fuzz.h"
#include "model/tokenizer.h"

#define VOCABULARY 4096
#define MAXIMUM    256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char text[] = " [CLS]The cat  sat, 19, on\t``the'' mat \xc3\xa9\xff[MASK] <unk>x";
    weft_tokenizer *tokenizer = NULL;
    weft_status status =
        weft_tokenizer_open_sentencepiece(&tokenizer, fuzz_file(data, size), VOCABULARY, NULL);
    fuzz_expect((status == WEFT_OK) == (tokenizer != NULL));
    int32_t *ids = NULL;
    uint32_t count = 0;
    if (tokenizer && weft_tokenizer_encode(tokenizer, text, sizeof text - 1, true, MAXIMUM, &ids,
                                           &count) == WEFT_OK) {
        fuzz_expect(count <= MAXIMUM);
        for (uint32_t i = 0; i < count; i++) {
            fuzz_expect(ids[i] >= 0 && ids[i] < VOCABULARY);
        }
        weft_free(NULL, ids);
    }
    weft_tokenizer_destroy(&tokenizer);
    return 0;
}
