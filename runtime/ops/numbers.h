/* SPDX-License-Identifier: MIT */
/*
 * Numbers that lowering and kernels share and that are in no public enum. As those are, they are in "numbers.glsl", which the
 * build makes (cmake/WeftShaders.cmake).
 */
#ifndef WEFT_OPS_NUMBERS_H
#define WEFT_OPS_NUMBERS_H

typedef enum weft_length_norm {
    WEFT_LENGTH_NORM_ROOT_MEAN_SQUARE = 0, /* x / sqrt(Σ x²/d + epsilon) · gain */
    WEFT_LENGTH_NORM_SIMPLE,               /* x / (sqrt(Σ x²/d) + epsilon) */
    WEFT_LENGTH_NORM_LENGTH                /* gain[0] · x / max(sqrt(Σ x²), epsilon) */
} weft_length_norm;

typedef enum weft_conversion {
    WEFT_CONVERSION_F16_TO_F32 = 0,
    WEFT_CONVERSION_F32_TO_F16,
    WEFT_CONVERSION_U8_TO_F32,
    WEFT_CONVERSION_F32_TO_U8,
    WEFT_CONVERSION_I32_TO_F32,
    WEFT_CONVERSION_F32_TO_I32,
    WEFT_CONVERSION_NEAREST_F16 /* as f32 */
} weft_conversion;

/* What a product's bias has a number for. */
typedef enum weft_bias {
    WEFT_BIAS_OF_NOTHING = 0,
    WEFT_BIAS_OF_COLUMNS,
    WEFT_BIAS_OF_ROWS
} weft_bias;

/* Term that a reduction takes from each element. */
typedef enum weft_term {
    WEFT_TERM_ITSELF = 0,
    WEFT_TERM_SQUARE,
    WEFT_TERM_SIZE,    /* without its sign */
    WEFT_TERM_NEGATIVE /* for the smallest as the largest */
} weft_term;

#endif
