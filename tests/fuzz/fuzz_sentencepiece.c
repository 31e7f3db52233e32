/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a SentencePiece model, with a text that goes through what there is of special cases, and back. Two thirds of
 * the mutations know the fields of the file: most others would only break its outermost lengths.
 */
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/text.h"
#include "fuzz.h"
#include "tokenizer/spm/protobuf.h"
#include "tokenizer/tokenizer.h"

#define VOCABULARY 4096
#define MAXIMUM    256
#define MEMORY     ((size_t)64 << 20)

static void use(const weft_tokenizer *tokenizer, const weft_host *host) {
    static const char text[] = " [CLS]The cat  sat, 19, on\t``the'' mat \xc3\xa9\xff[MASK] <unk>x"
                               "zzz\xef\xbc\xa1\xcc\x81<xy>the\xe2\x96\x81\xe2\x96\x81 aaaaaaaaaa";
    const struct weft_encode_request request = {.text = text,
                                                .size = sizeof text - 1,
                                                .pair = text + 20,
                                                .pair_size = 40,
                                                .with_offsets = true,
                                                .maximum = MAXIMUM};
    struct weft_encoded encoded = {0};
    if (weft_tokenizer_encode(tokenizer, &request, &encoded) == WEFT_OK) {
        fuzz_expect(encoded.count <= MAXIMUM);
        for (uint32_t i = 0; i < encoded.count; i++) {
            const size_t size = encoded.sequences[i] == 1 ? 40 : sizeof text - 1;
            fuzz_expect(encoded.tokens[i] >= 0 && encoded.tokens[i] < VOCABULARY);
            fuzz_expect(encoded.begins[i] <= encoded.ends[i] && encoded.ends[i] <= size);
        }
        weft_encoded_clear(&encoded, host);
    }
    int32_t all[VOCABULARY / 4]; /* and some that no piece has */
    for (int32_t i = 0; i < VOCABULARY / 4; i++) {
        all[i] = i - 2;
    }
    char *back = NULL;
    size_t size = 0;
    if (weft_tokenizer_decode(tokenizer, all, VOCABULARY / 4, &back, &size) == WEFT_OK) {
        fuzz_expect(back && back[size] == '\0');
        weft_free(host, back);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t left;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    const char *path = fuzz_file(data, size);
    for (int plain = 0; plain < 2; plain++) {
        weft_tokenizer *tokenizer = NULL;
        const weft_status status =
            plain ? weft_tokenizer_open_pieces(&tokenizer, path, VOCABULARY, &host)
                  : weft_tokenizer_open_sentencepiece(&tokenizer, path, VOCABULARY, &host);
        fuzz_expect((status == WEFT_OK) == (tokenizer != NULL));
        if (tokenizer) {
            use(tokenizer, &host);
        }
        weft_tokenizer_destroy(&tokenizer);
    }
    fuzz_expect(left == MEMORY);
    return 0;
}

/* ---- mutations by field ---- */

#ifdef WEFT_LIBFUZZER

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static unsigned next(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void put_varint(struct weft_text *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        weft_text_put(out, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    }
    weft_text_put(out, &(uint8_t){(uint8_t)value}, 1);
}

static void put_field(struct weft_text *out, const struct weft_protobuf_field *field) {
    uint8_t fixed[8];
    put_varint(out, (uint64_t)field->number << 3 | (unsigned)field->wire);
    switch (field->wire) {
    case WEFT_PROTOBUF_VARINT:
        put_varint(out, field->value);
        break;
    case WEFT_PROTOBUF_BYTES:
        put_varint(out, field->bytes.size);
        weft_text_put(out, field->bytes.data, field->bytes.size);
        break;
    default:
        weft_store_bytes(fixed, field->value, 8);
        weft_text_put(out, fixed, field->wire == WEFT_PROTOBUF_FIXED32 ? 4 : 8);
    }
}

static uint64_t interesting(unsigned *seed) {
    static const uint64_t values[] = {0,          1,          2,         3,          4,
                                      5,          6,          7,         0x7F800000, 0xFF800000,
                                      0x7FC00000, 0x80000000, INT32_MAX, UINT64_MAX};
    const unsigned choice = next(seed);
    return choice % 3 == 0 ? (uint64_t)next(seed) << next(seed) % 32
                           : values[choice % (sizeof values / sizeof values[0])];
}

/* Bytes of their own: from libFuzzer, or a unit of the trie behind the first four. */
static void put_mutated(struct weft_text *out, struct weft_protobuf_field field, unsigned *seed) {
    const size_t most = 2 * field.bytes.size + 64;
    uint8_t *copy = malloc(most);
    fuzz_expect(copy != NULL);
    memcpy(copy, field.bytes.data, field.bytes.size);
    if (field.bytes.size > 12 && next(seed) % 2 == 0) {
        const size_t units = (field.bytes.size - 4) / 4;
        uint8_t *unit = copy + 4 + 4 * (next(seed) % units);
        const uint64_t old = weft_load_bytes(unit, 4);
        weft_store_bytes(unit,
                         next(seed) % 2 == 0
                             ? old ^ 1u << next(seed) % 32
                             : weft_load_bytes(copy + 4 + 4 * (next(seed) % units), 4),
                         4);
    } else {
        field.bytes.size = LLVMFuzzerMutate(copy, field.bytes.size, most);
    }
    field.bytes.data = copy;
    put_field(out, &field);
    free(copy);
}

static void put_message(struct weft_text *out, struct weft_protobuf message, unsigned depth,
                        unsigned *seed);

/* The rules of the normalizer as those of the denormalizer and so on: the same message under another number. */
static void put_changed(struct weft_text *out, struct weft_protobuf_field field, unsigned depth,
                        unsigned *seed) {
    const unsigned choice = next(seed) % 8;
    if (choice == 0) {
        return; /* removed */
    }
    if (choice == 1) {
        put_field(out, &field); /* there twice */
    } else if (choice == 2) {
        field.number = depth == 0 ? 1 + next(seed) % 6 : 1 + next(seed) % 48;
    } else if (field.wire != WEFT_PROTOBUF_BYTES) {
        field.value = interesting(seed);
    } else if (depth == 0 && choice != 3) {
        struct weft_text inner = {0};
        put_message(&inner, field.bytes, 1, seed);
        field.bytes = (struct weft_protobuf){(const uint8_t *)inner.data, inner.length};
        put_field(out, &field);
        weft_free(NULL, inner.data);
        return;
    } else {
        put_mutated(out, field, seed);
        return;
    }
    put_field(out, &field);
}

static size_t count_fields(struct weft_protobuf message) {
    struct weft_protobuf_field field;
    size_t count = 0;
    while (message.size > 0 && weft_protobuf_next(&message, &field)) {
        count++;
    }
    return count;
}

/* Copies a message with one field changed, or one more. */
static void put_message(struct weft_text *out, struct weft_protobuf message, unsigned depth,
                        unsigned *seed) {
    struct weft_protobuf_field field;
    const size_t count = count_fields(message);
    const size_t changed = count > 0 ? next(seed) % count : 0;
    for (size_t i = 0; i < count; i++) {
        (void)weft_protobuf_next(&message, &field);
        if (i == changed) {
            put_changed(out, field, depth, seed);
        } else {
            put_field(out, &field);
        }
    }
    if (depth > 0 && next(seed) % 4 == 0) {
        put_field(out, &(struct weft_protobuf_field){.number = 1 + next(seed) % 48,
                                                     .wire = WEFT_PROTOBUF_VARINT,
                                                     .value = next(seed) % 6});
    }
    if (!out->data) {
        weft_text_put(out, "", 0);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    if (next(&seed) % 3 == 0) {
        return LLVMFuzzerMutate(data, size, most);
    }
    struct weft_text out = {0};
    put_message(&out, (struct weft_protobuf){data, size}, 0, &seed);
    const bool fits = out.data && out.length > 0 && out.length <= most;
    const size_t made = fits ? out.length : size;
    if (fits) {
        memcpy(data, out.data, made);
    }
    weft_free(NULL, out.data);
    return fits ? made : LLVMFuzzerMutate(data, size, most);
}

#endif
