/* SPDX-License-Identifier: MIT */
/* Instructions of GLSL.std.450 by their numbers there: those that something runs. */
#ifndef WEFT_SPIRV_IR_GLSL_H
#define WEFT_SPIRV_IR_GLSL_H

enum weft_glsl_op {
    WEFT_GLSL_ROUND = 1,
    WEFT_GLSL_ROUND_EVEN = 2,
    WEFT_GLSL_TRUNC = 3,
    WEFT_GLSL_F_ABS = 4,
    WEFT_GLSL_S_ABS = 5,
    WEFT_GLSL_F_SIGN = 6,
    WEFT_GLSL_S_SIGN = 7,
    WEFT_GLSL_FLOOR = 8,
    WEFT_GLSL_CEIL = 9,
    WEFT_GLSL_FRACT = 10,
    WEFT_GLSL_TANH = 21,
    WEFT_GLSL_EXP = 27,
    WEFT_GLSL_LOG = 28,
    WEFT_GLSL_EXP2 = 29,
    WEFT_GLSL_LOG2 = 30,
    WEFT_GLSL_SQRT = 31,
    WEFT_GLSL_INVERSE_SQRT = 32,
    WEFT_GLSL_F_MIN = 37,
    WEFT_GLSL_U_MIN = 38,
    WEFT_GLSL_S_MIN = 39,
    WEFT_GLSL_F_MAX = 40,
    WEFT_GLSL_U_MAX = 41,
    WEFT_GLSL_S_MAX = 42,
    WEFT_GLSL_F_CLAMP = 43,
    WEFT_GLSL_U_CLAMP = 44,
    WEFT_GLSL_S_CLAMP = 45,
    WEFT_GLSL_F_MIX = 46,
    WEFT_GLSL_FMA = 50,
    WEFT_GLSL_UNPACK_HALF = 62,
    WEFT_GLSL_FIND_I_LSB = 73,
    WEFT_GLSL_FIND_S_MSB = 74,
    WEFT_GLSL_FIND_U_MSB = 75,
    WEFT_GLSL_N_MIN = 79,
    WEFT_GLSL_N_MAX = 80,
    WEFT_GLSL_N_CLAMP = 81
};

#endif
