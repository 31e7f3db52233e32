/* SPDX-License-Identifier: MIT */
/*
 * Blocks of ggml (ggml-common.h and ggml-quants.c of that project define them): integers q, scales d and smallest values m, which stand for
 * d q, d q + m or d q - m. Each product and sum is rounded to f32 by itself: the library is compiled without contraction.
 */
#include "model/files/ggml_format.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

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
    out->units[0][0] = half_at(block);
    out->units[1][0] = -half_at(block + 2);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t six[2];
        six_bits_of(&six[0], &six[1], block + 4, i);
        out->steps[0][i] = (int8_t)six[0];
        out->steps[1][i] = (int8_t)six[1];
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
    out->units[0][0] = half_at(block + 208);
    for (uint32_t i = 0; i < SUPER; i++) {
        const uint32_t within = i % 128;
        const uint8_t low = block[i / 128 * 64 + within % 64];
        const uint8_t high = block[128 + i / 128 * 32 + within % 32];
        const uint32_t four = within < 64 ? low & 15u : (uint32_t)low >> 4;
        const uint32_t two = (uint32_t)high >> (within / 32 * 2) & 3u;
        out->steps[0][i / 16] = (int8_t)signed_byte(block[192 + i / 16]);
        out->codes[i] = (int8_t)((int32_t)(four | two << 4) - 32);
    }
}

/* ---- blocks of 256 with fewer bits ---- */

/* Number `i` of 256 with two bits: of 128 numbers in 32 bytes, the first 32 have the lowest bits. */
static int32_t two_bits_at(const uint8_t *bytes, uint32_t i) {
    return bytes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
}

/* 16 bytes with a scale and a smallest value of 4 bits each, the numbers, and the units of both. */
static void take_q2_k(const struct weft_blocks *out, const uint8_t *block) {
    out->units[0][0] = half_at(block + 80);
    out->units[1][0] = -half_at(block + 82);
    for (uint32_t i = 0; i < SUPER / 16; i++) {
        out->steps[0][i] = (int8_t)(block[i] & 15u);
        out->steps[1][i] = (int8_t)(block[i] >> 4);
    }
    for (uint32_t i = 0; i < SUPER; i++) {
        out->codes[i] = (int8_t)two_bits_at(block + 16, i);
    }
}

/* 32 bytes with a third bit for each of the eight runs of 32, the numbers, and sixteen scales of 6 bits in 12 bytes. */
static void take_q3_k(const struct weft_blocks *out, const uint8_t *block) {
    const uint8_t *scales = block + 96;
    out->units[0][0] = half_at(block + 108);
    for (uint32_t i = 0; i < SUPER / 16; i++) {
        const uint32_t low = i < 8 ? scales[i] & 15u : (uint32_t)scales[i - 8] >> 4;
        const uint32_t high = (uint32_t)scales[8 + i % 4] >> (i / 4 * 2) & 3u;
        out->steps[0][i] = (int8_t)((int32_t)(low | high << 4) - 32);
    }
    for (uint32_t i = 0; i < SUPER; i++) {
        const int32_t third = block[i % 32] >> (i / 32) & 1;
        out->codes[i] = (int8_t)(two_bits_at(block + 32, i) - (third ? 0 : 4));
    }
}

/* ---- codes that stand for numbers of a table ---- */

static const int8_t unequal_steps[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                         1,    13,   25,  38,  53,  69,  89,  113};
/* Twice the numbers of E2M1, of one sign and the other. */
static const int8_t small_floats[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* Of `count` numbers the first half is in the low halves of the bytes. */
static void take_table(int8_t *codes, const uint8_t *nibbles, const int8_t *table, uint32_t count) {
    for (uint32_t i = 0; i < count / 2; i++) {
        codes[i] = table[nibbles[i] & 15u];
        codes[count / 2 + i] = table[nibbles[i] >> 4];
    }
}

static void take_iq4_nl(const struct weft_blocks *out, const uint8_t *block) {
    out->scales[0] = half_at(block);
    take_table(out->codes, block + 2, unequal_steps, SMALL);
}

/* Eight scales of 6 bits: their upper two in 2 bytes, their lower four in 4. */
static void take_iq4_xs(const struct weft_blocks *out, const uint8_t *block) {
    const uint32_t upper = (uint32_t)weft_load_bytes(block + 2, 2);
    out->units[0][0] = half_at(block);
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t low = (uint32_t)block[4 + i / 2] >> (i % 2 * 4) & 15u;
        out->steps[0][i] = (int8_t)((int32_t)(low | (upper >> (2 * i) & 3u) << 4) - 32);
        take_table(out->codes + (size_t)i * 32, block + 8 + (size_t)i * 16, unequal_steps, 32);
    }
}

/* 2^(e - 128): a scale is half of what its byte says, as the codes are twice the numbers. Those that f32 has only as subnormal numbers are 0, as these
 * count as 0 everywhere. */
static void take_mxfp4(const struct weft_blocks *out, const uint8_t *block) {
    out->scales[0] = block[0] < 2 ? 0.0F : ldexpf(1.0F, (int)block[0] - 128);
    take_table(out->codes, block + 1, small_floats, SMALL);
}

/* Four scales of unsigned E4M3, likewise half of what they say; 127 stands for 0. */
static void take_nvfp4(const struct weft_blocks *out, const uint8_t *block) {
    for (uint32_t i = 0; i < 4; i++) {
        const int exponent = block[i] >> 3 & 15, mantissa = block[i] & 7;
        const float scale = exponent == 0 ? ldexpf((float)mantissa, -10)
                                          : ldexpf((float)(8 + mantissa), exponent - 11);
        out->scales[i] = block[i] == 127 ? 0.0F : scale;
        take_table(out->codes + (size_t)i * 16, block + 4 + (size_t)i * 8, small_floats, 16);
    }
}

/* ---- -1, 0 and 1 ---- */

static void take_tq2_0(const struct weft_blocks *out, const uint8_t *block) {
    for (uint32_t i = 0; i < SUPER; i++) {
        out->codes[i] = (int8_t)(two_bits_at(block, i) - 1);
    }
    for (uint32_t run = 0; run < SUPER / 32; run++) {
        out->scales[run] = half_at(block + 64);
    }
}

/* Five numbers in a byte, and four in each of the last four bytes: digits by three, the first one above the point. */
static void take_tq1_0(const struct weft_blocks *out, const uint8_t *block) {
    static const uint32_t powers[] = {1, 3, 9, 27, 81};
    for (uint32_t i = 0; i < SUPER; i++) {
        const uint32_t at = i < 160 ? i % 32 : i < 240 ? 32 + (i - 160) % 16 : 48 + (i - 240) % 4;
        const uint32_t digit = i < 160 ? i / 32 : i < 240 ? (i - 160) / 16 : (i - 240) / 4;
        const uint32_t rest = block[at] * powers[digit] & 255u;
        out->codes[i] = (int8_t)((int32_t)(rest * 3 >> 8) - 1);
    }
    for (uint32_t run = 0; run < SUPER / 32; run++) {
        out->scales[run] = half_at(block + 52);
    }
}

void weft_ggml_take(const struct weft_ggml_format *format, const struct weft_blocks *out,
                    const uint8_t *block) {
    int8_t steps[2][WEFT_GGML_MOST_RUNS];
    float units[2];
    struct weft_blocks taken = *out;
    for (int i = 0; i < 2 && !out->steps[0]; i++) {
        taken.steps[i] = steps[i];
        taken.units[i] = &units[i];
    }
    format->take(&taken, block);
    const bool has_units = format->form.scales == WEFT_SCALES_UNITS;
    for (uint32_t i = 0; has_units && i < format->elements / format->form.run; i++) {
        out->scales[i] = taken.units[0][0] * (float)taken.steps[0][i];
        if (format->form.offsets) {
            out->offsets[i] = taken.units[1][0] * (float)taken.steps[1][i];
        }
    }
}

void weft_ggml_decode(const struct weft_ggml_format *format, float *out, const uint8_t *block) {
    int8_t codes[WEFT_GGML_MOST_ELEMENTS];
    float scales[WEFT_GGML_MOST_RUNS], offsets[WEFT_GGML_MOST_RUNS];
    weft_ggml_take(
        format, &(struct weft_blocks){.codes = codes, .scales = scales, .offsets = offsets}, block);
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

static const struct weft_ggml_format formats[] = {
    [0] = NUMBERS("F32", 4, WEFT_SAFETENSORS_F32),
    [1] = NUMBERS("F16", 2, WEFT_SAFETENSORS_F16),
    [2] = BLOCKS("Q4_0", SMALL, 18, take_q4_0, .bits = 4, .run = 32, .scales = WEFT_SCALES_F16),
    [3] = BLOCKS("Q4_1", SMALL, 20, take_q4_1, .bits = 4, .run = 32, .offsets = true,
                 .scales = WEFT_SCALES_F16),
    [6] = BLOCKS("Q5_0", SMALL, 22, take_q5_0, .bits = 8, .run = 32, .scales = WEFT_SCALES_F16),
    [7] = BLOCKS("Q5_1", SMALL, 24, take_q5_1, .bits = 8, .run = 32, .offsets = true,
                 .scales = WEFT_SCALES_F16),
    [8] = BLOCKS("Q8_0", SMALL, 34, take_q8_0, .bits = 8, .run = 32, .scales = WEFT_SCALES_F16),
    [9] = OTHER("Q8_1"),
    [10] = BLOCKS("Q2_K", SUPER, 84, take_q2_k, .bits = 4, .run = 16, .offsets = true,
                  .scales = WEFT_SCALES_UNITS),
    [11] = BLOCKS("Q3_K", SUPER, 110, take_q3_k, .bits = 4, .run = 16, .scales = WEFT_SCALES_UNITS),
    [12] = BLOCKS("Q4_K", SUPER, 144, take_q4_k, .bits = 4, .run = 32, .offsets = true,
                  .scales = WEFT_SCALES_UNITS),
    [13] = BLOCKS("Q5_K", SUPER, 176, take_q5_k, .bits = 8, .run = 32, .offsets = true,
                  .scales = WEFT_SCALES_UNITS),
    [14] = BLOCKS("Q6_K", SUPER, 210, take_q6_k, .bits = 8, .run = 16, .scales = WEFT_SCALES_UNITS),
    [15] = OTHER("Q8_K"),
    [16] = OTHER("IQ2_XXS"),
    [17] = OTHER("IQ2_XS"),
    [18] = OTHER("IQ3_XXS"),
    [19] = OTHER("IQ1_S"),
    [20] =
        BLOCKS("IQ4_NL", SMALL, 18, take_iq4_nl, .bits = 8, .run = 32, .scales = WEFT_SCALES_F16),
    [21] = OTHER("IQ3_S"),
    [22] = OTHER("IQ2_S"),
    [23] = BLOCKS("IQ4_XS", SUPER, 136, take_iq4_xs, .bits = 8, .run = 32,
                  .scales = WEFT_SCALES_UNITS),
    [24] = OTHER("I8"),
    [25] = OTHER("I16"),
    [26] = OTHER("I32"),
    [27] = OTHER("I64"),
    [28] = OTHER("F64"),
    [29] = OTHER("IQ1_M"),
    [30] = NUMBERS("BF16", 2, WEFT_SAFETENSORS_BF16),
    [34] = BLOCKS("TQ1_0", SUPER, 54, take_tq1_0, .bits = 4, .run = 32, .scales = WEFT_SCALES_F16),
    [35] = BLOCKS("TQ2_0", SUPER, 66, take_tq2_0, .bits = 4, .run = 32, .scales = WEFT_SCALES_F16),
    [39] = BLOCKS("MXFP4", SMALL, 17, take_mxfp4, .bits = 8, .run = 32),
    [40] = BLOCKS("NVFP4", 64, 36, take_nvfp4, .bits = 8, .run = 16, .scales = WEFT_SCALES_F16),
};

const char weft_ggml_format_list[] =
    "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, "
    "MXFP4, NVFP4, TQ1_0 or TQ2_0";

const struct weft_ggml_format *weft_ggml_format_of(uint64_t number) {
    return number < sizeof formats / sizeof formats[0] && formats[number].name ? &formats[number]
                                                                               : NULL;
}

uint32_t weft_ggml_number_of(const struct weft_ggml_format *format) {
    return (uint32_t)(format - formats);
}

const struct weft_ggml_format *weft_ggml_format_fit(const struct weft_ggml_format *format,
                                                    uint64_t columns) {
    const struct weft_ggml_format *smaller = &formats[8];
    return columns % format->elements == 0    ? format
           : columns % smaller->elements == 0 ? smaller
                                              : NULL;
}

const char *weft_ggml_ending(char ending[WEFT_GGML_ENDING_SIZE],
                             const struct weft_ggml_format *format) {
    size_t i = 0;
    ending[0] = '.';
    for (; format->name[i] != '\0' && i + 2 < WEFT_GGML_ENDING_SIZE; i++) {
        ending[i + 1] = (char)tolower((unsigned char)format->name[i]);
    }
    ending[i + 1] = '\0';
    return ending;
}

const struct weft_ggml_format *weft_ggml_format_called(const char *name) {
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char ending[WEFT_GGML_ENDING_SIZE];
        if (formats[i].take && strcmp(weft_ggml_ending(ending, &formats[i]) + 1, name) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}
