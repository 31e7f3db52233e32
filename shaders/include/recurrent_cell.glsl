// SPDX-License-Identifier: MIT
//
// What recurrent cells (weft_cell) make of x, a token's gates, and a = W h + bias, and of what is kept: h, and of LSTM c.

#ifndef WEFT_INCLUDE_RECURRENT_CELL_GLSL
#define WEFT_INCLUDE_RECURRENT_CELL_GLSL

#include "activation.glsl"
#include "multiply_add.glsl"

#if WEFT_CELL_COUNT != 5
#error "a weft_cell has no case here"
#endif

// h and c of LSTM.
vec2 weft_lstm_cell(vec4 x, vec4 a, float c)
{
    x = x + a;
    float written = weft_sigmoid(x.x) * weft_tanh(x.z);
    c = weft_flush(weft_multiply_add(weft_sigmoid(x.y), c, written));
    return vec2(weft_flush(weft_sigmoid(x.w) * weft_tanh(c)), c);
}

// n and h, mixed by z.
float weft_gru_mixed(float z, float n, float h)
{
    return weft_flush(weft_multiply_add(z, h, (1.0 - z) * n));
}

float weft_gru_cell(vec4 x, vec4 a, float h)
{
    float n = weft_tanh(weft_multiply_add(weft_sigmoid(x.x + a.x), a.z, x.z));
    return weft_gru_mixed(weft_sigmoid(x.y + a.y), n, h);
}

float weft_simple_cell(uint cell, float x)
{
    return weft_flush(cell == WEFT_CELL_RELU ? weft_relu(x) : weft_tanh(x));
}

#endif
