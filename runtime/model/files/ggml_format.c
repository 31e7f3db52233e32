/* SPDX-License-Identifier: MIT */
/*
 * Blocks of ggml (ggml-common.h and ggml-quants.c of that project define them): integers q, scales d and smallest values m, which stand for
 * d q, d q + m or d q - m. Each product and sum is rounded to f32 by itself: the library is compiled without contraction.
 */
#include "model/gguf/gguf_format.h"

#include "core/bytes.h"
#include "core/math/half.h"

#define SMALL 32u  /* elements of a block with one scale */
#define SUPER 256u /* of a block of blocks */

static float half_at(const uint8_t *bytes) {
    return weft_float_of_half((uint16_t)weft_load_bytes(bytes, 2));
}

/* ---- blocks of 32 ---- */

/* The fifth bits of 32 numbers of 4 bits, or zeros. The low halves of the bytes come first. */
static uint32_t nibble_at(const uint8_t *nibbles, uint32_t fifths, uint32_t i) {
    const uint32_t four = i < 16 ? nibbles[i] & 15u : (uint32_t)nibbles[i - 16] >> 4;
    return four | (fifths >> i & 1u) << 4;
}

static void take_nibbles(const struct weft_blocks *out, const uint8_t *nibbles, uint32_t fifths,
                         int32_t centre) {
    for (uint32_t i = 0; i < SMALL; i++) {
        out->codes[i] = (int8_t)((int32_t)nibble_at(nibbles, fifths, i) - centre);
    }
}

static void take_q4_0(const struct weft_blocks *out, const uint8_t *block) {
    out->scales[0] = half_at(block);
    take_nibbles(out, block + 2, 0, 8);
}

static void take_q4_1(const struct weft_blocks *out, const uint8_t *block) {
    out->scales[0] = half_at(block);
    out->offsets[0] = half_at(block + 2);
    take_nibbles(out, block + 4, 0, 0);
}

static void take_q5_0(const struct weft_blocks *out, const uint8_t *block) {
    out->scales[0] = half_at(block);
    take_nibbles(out, block + 6, (uint32_t)weft_load_bytes(block + 2, 4), 16);
}

static void take_q5_1(const struct weft_blocks *out, const uint8_t *block) {
    out->scales[0] = half_at(block);
    out->offsets[0] = half_at(block + 2);
    take_nibbles(out, block + 8, (uint32_t)weft_load_bytes(block + 4, 4), 0);
}

static int32_t signed_byte(uint8_t byte) {
    return byte < 128 ? byte : (int32_t)byte - 256;
}

static void take_q8_0(const struct weft_blocks *out, const uint8_t *block) {
    out->scales[0] = half_at(block);
    for (uint32_t i = 0; i < SMALL; i++) {
        out->codes[i] = (int8_t)signed_byte(block[2 + i]);
    }
}

/* ---- blocks of 256: eight with scales and smallest values of 6 bits, or sixteen with scales of 8 ---- */

/* Of block `i` of eight: 12 bytes hold the lower bits of four scales, of four smallest values, and what the other four of each have. */
static void six_bits_of(uint32_t *scale, uint32_t *least, const uint8_t *packed, uint32_t i) {
    const uint32_t first = packed[i % 4];
    const uint32_t second = packed[4 + i % 4];
    const uint32_t third = packed[8 + i % 4];
    *scale = i < 4 ? first & 63u : (third & 15u) | (first >> 2 & 48u);
    *least = i < 4 ? second & 63u : third >> 4 | (second >> 2 & 48u);
}

/* `fifths`: 32 bytes with a bit for each of the eight blocks, or null. A smallest value is taken away, where an offset is added. */
static void take_eight(const struct weft_blocks *out, const uint8_t *block, const uint8_t *fifths,
                       const uint8_t *nibbles) {
    const float scale_unit = half_at(block);
    const float least_unit = half_at(block + 2);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t six[2];
        six_bits_of(&six[0], &six[1], block + 4, i);
        out->scales[i] = scale_unit * (float)six[0];
        out->offsets[i] = -(least_unit * (float)six[1]);
        for (uint32_t j = 0; j < 32; j++) {
            const uint32_t four = (uint32_t)nibbles[i / 2 * 32 + j] >> (i % 2 * 4) & 15u;
            const uint32_t fifth = fifths ? (uint32_t)fifths[j] >> i & 1u : 0u;
            out->codes[i * 32 + j] = (int8_t)(four | fifth << 4);
        }
    }
}

static void take_q4_k(const struct weft_blocks *out, const uint8_t *block) {
    take_eight(out, block, NULL, block + 16);
}

static void take_q5_k(const struct weft_blocks *out, const uint8_t *block) {
    take_eight(out, block, block + 16, block + 48);
}

/* 128 bytes of lower halves, 64 of upper quarters, 16 scales and their unit. */
static void take_q6_k(const struct weft_blocks *out, const uint8_t *block) {
    const float unit = half_at(block + 208);
    for (uint32_t i = 0; i < SUPER; i++) {
        const uint32_t within = i % 128;
        const uint8_t low = block[i / 128 * 64 + within % 64];
        const uint8_t high = block[128 + i / 128 * 32 + within % 32];
        const uint32_t four = within < 64 ? low & 15u : (uint32_t)low >> 4;
        const uint32_t two = (uint32_t)high >> (within / 32 * 2) & 3u;
        out->scales[i / 16] = unit * (float)signed_byte(block[192 + i / 16]);
        out->codes[i] = (int8_t)((int32_t)(four | two << 4) - 32);
    }
}

void weft_gguf_decode(const struct weft_gguf_format *format, float *out, const uint8_t *block) {
    int8_t codes[WEFT_GGUF_MOST_ELEMENTS];
    float scales[WEFT_GGUF_MOST_RUNS], offsets[WEFT_GGUF_MOST_RUNS];
    format->take(&(struct weft_blocks){codes, scales, offsets}, block);
    for (uint32_t i = 0; i < format->elements; i++) {
        const float product = scales[i / format->form.run] * (float)codes[i];
        out[i] = format->form.offsets ? product + offsets[i / format->form.run] : product;
    }
}

/* ---- the table ---- */

#define BLOCKS(text, count, size, function, ...) \
    { (text), (count), (size), WEFT_SAFETENSORS_F32, {__VA_ARGS__}, (function) }
#define NUMBERS(text, size, type) \
    { .name = (text), .elements = 1, .bytes = (size), .as = (type) }
#define OTHER(text) \
    { .name = (text) }

static const struct weft_gguf_format formats[] = {
    [0] = NUMBERS("F32", 4, WEFT_SAFETENSORS_F32),
    [1] = NUMBERS("F16", 2, WEFT_SAFETENSORS_F16),
    [2] = BLOCKS("Q4_0", SMALL, 18, take_q4_0, .bits = 4, .run = 32),
    [3] = BLOCKS("Q4_1", SMALL, 20, take_q4_1, .bits = 4, .run = 32, .offsets = true),
    [6] = BLOCKS("Q5_0", SMALL, 22, take_q5_0, .bits = 8, .run = 32),
    [7] = BLOCKS("Q5_1", SMALL, 24, take_q5_1, .bits = 8, .run = 32, .offsets = true),
    [8] = BLOCKS("Q8_0", SMALL, 34, take_q8_0, .bits = 8, .run = 32),
    [9] = OTHER("Q8_1"),
    [10] = OTHER("Q2_K"),
    [11] = OTHER("Q3_K"),
    [12] = BLOCKS("Q4_K", SUPER, 144, take_q4_k, .bits = 4, .run = 32, .offsets = true),
    [13] = BLOCKS("Q5_K", SUPER, 176, take_q5_k, .bits = 8, .run = 32, .offsets = true),
    [14] = BLOCKS("Q6_K", SUPER, 210, take_q6_k, .bits = 8, .run = 16),
    [15] = OTHER("Q8_K"),
    [16] = OTHER("IQ2_XXS"),
    [17] = OTHER("IQ2_XS"),
    [18] = OTHER("IQ3_XXS"),
    [19] = OTHER("IQ1_S"),
    [20] = OTHER("IQ4_NL"),
    [21] = OTHER("IQ3_S"),
    [22] = OTHER("IQ2_S"),
    [23] = OTHER("IQ4_XS"),
    [24] = OTHER("I8"),
    [25] = OTHER("I16"),
    [26] = OTHER("I32"),
    [27] = OTHER("I64"),
    [28] = OTHER("F64"),
    [29] = OTHER("IQ1_M"),
    [30] = NUMBERS("BF16", 2, WEFT_SAFETENSORS_BF16),
    [34] = OTHER("TQ1_0"),
    [35] = OTHER("TQ2_0"),
    [39] = OTHER("MXFP4"),
    [40] = OTHER("NVFP4"),
};

const char weft_gguf_format_list[] =
    "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K";

const struct weft_gguf_format *weft_gguf_format_of(uint64_t number) {
    return number < sizeof formats / sizeof formats[0] && formats[number].name ? &formats[number]
                                                                               : NULL;
}
