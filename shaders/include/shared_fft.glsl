// SPDX-License-Identifier: MIT
//
// Complex transforms in shared memory: those of WEFT_FFT_ROWS rows of WEFT_FFT_LENGTH points each, four
// to WEFT_FIXED_MOST_POINTS in all, by a workgroup of WEFT_FFT_INVOCATIONS: 128, or what the including file defines. In place, four points at a time: the
// forward transform takes its input in order and leaves frequencies in bit-reversed order, the
// inverse goes back (Gentleman and Sande; Cooley and Tukey), so nothing is ever permuted. The first
// stage of the one and the last of the other are left to the including file, which has its points
// elsewhere: weft_fft_butterfly stores four, weft_fft_inverse_butterfly loads four.
//
// Loops over the work items of 128 invocations stay loops: some compilers would have the points of all of an invocation's items in
// registers at once, and spill them.
//
// The including file defines weft_twiddle and asks for GL_EXT_control_flow_attributes; the bits depend on the length alone. With WEFT_FFT_LANES, for processors
// and as many rows as lanes, real and imaginary parts lie apart, so that they are loaded as vectors.

#ifndef WEFT_INCLUDE_SHARED_FFT_GLSL
#define WEFT_INCLUDE_SHARED_FFT_GLSL

#include "complex.glsl"
#include "index.glsl"

#ifndef WEFT_FFT_INVOCATIONS
#define WEFT_FFT_INVOCATIONS WEFT_ITEMS_PER_GROUP
#endif

layout(local_size_x = WEFT_FFT_INVOCATIONS) in;

layout(constant_id = 0) const uint WEFT_FFT_LOG_LENGTH = 11;
#ifdef WEFT_FFT_LANES
layout(constant_id = 1) const uint FFT_LOG_ROWS = 0; // of the kernels that are not for processors
layout(constant_id = 16) const uint TILE_LOG_POINTS = 12; // of a workgroup, each of 8 bytes; 11 or more
layout(constant_id = 64) const uint FIXED_MOST_LOG_ROWS = 4;

const uint WEFT_FFT_LOG_ROWS = WEFT_FFT_LOG_LENGTH + FIXED_MOST_LOG_ROWS < TILE_LOG_POINTS
                                   ? FIXED_MOST_LOG_ROWS
                                   : TILE_LOG_POINTS - WEFT_FFT_LOG_LENGTH;
#else
layout(constant_id = 1) const uint WEFT_FFT_LOG_ROWS = 0;
#endif

#define WEFT_FFT_LENGTH (1u << WEFT_FFT_LOG_LENGTH)
#define WEFT_FFT_ROWS (1u << WEFT_FFT_LOG_ROWS)

// Point p of row r is number (p << WEFT_FFT_LOG_ROWS) + r.
#ifdef WEFT_FFT_LANES
const uint WEFT_FFT_POINTS = 1u << (WEFT_FFT_LOG_LENGTH + WEFT_FFT_LOG_ROWS);
shared float weft_real[WEFT_FFT_POINTS];
shared float weft_imaginary[WEFT_FFT_POINTS];

#define WEFT_POINT(at) vec2(weft_real[at], weft_imaginary[at])
#define WEFT_FFT_BELOW(i, count) ((i) >> WEFT_FFT_LOG_ROWS < (count) >> WEFT_FFT_LOG_ROWS) // for all lanes alike

void weft_put_point(uint at, vec2 point)
{
    weft_real[at] = point.x;
    weft_imaginary[at] = point.y;
}
#else
layout(constant_id = 64) const uint WEFT_FIXED_MOST_POINTS = 2048; // of a workgroup

const uint WEFT_FFT_POINTS = 1u << (WEFT_FFT_LOG_LENGTH + WEFT_FFT_LOG_ROWS);
shared vec2 weft_points[WEFT_FFT_POINTS];

#define WEFT_POINT(at) weft_points[at]
#define WEFT_FFT_BELOW(i, count) ((i) < (count))
#define weft_put_point(at, point) weft_points[at] = point
#endif

// Calls item(i) or item(i, stage) for each work item of this invocation.
#if WEFT_FFT_INVOCATIONS == WEFT_ITEMS_PER_GROUP
#define WEFT_FFT_EACH(count, call)                                                                                      \
    [[dont_unroll]] for (uint i = gl_LocalInvocationID.x; WEFT_FFT_BELOW(i, count); i += WEFT_FFT_INVOCATIONS)          \
    {                                                                                                                   \
        call;                                                                                                           \
    }
#else
#define WEFT_FFT_TURNS(count) ((count) < WEFT_FFT_INVOCATIONS ? 1u : (count) / WEFT_FFT_INVOCATIONS)
#define WEFT_FFT_EACH(count, call)                                                                                      \
    [[unroll]] for (uint turn = 0; turn < WEFT_FFT_TURNS(count); turn++)                                                \
    {                                                                                                                   \
        uint i = gl_LocalInvocationID.x + turn * WEFT_FFT_INVOCATIONS;                                                  \
        if ((count) >= WEFT_FFT_INVOCATIONS || i < (count)) {                                                           \
            call;                                                                                                       \
        }                                                                                                               \
    }
#endif

// exp(-2πi k / WEFT_FFT_LENGTH), k < WEFT_FFT_LENGTH.
vec2 weft_twiddle(uint k);

// The four points of a work item of a stage.
struct weft_fft_item {
    uint at;       // of the first point
    uint step;     // from each to the next
    uint exponent; // of the twiddle factor; in the first stage the first point's number in its row
};

struct weft_fft_four {
    vec2 a, b, c, d;
};

// Work item i of a stage over blocks of 4 << log_quarter points.
weft_fft_item weft_fft_place(uint i, uint log_quarter)
{
#ifndef WEFT_FFT_LANES
    // The bits of i above the offset and the row move up by two.
    uint shift = log_quarter + WEFT_FFT_LOG_ROWS;
    uint low = i & ((1u << shift) - 1);
    return weft_fft_item(((i >> shift) << (shift + 2)) | low, 1u << shift,
                         (low >> WEFT_FFT_LOG_ROWS) << (WEFT_FFT_LOG_LENGTH - 2 - log_quarter));
#else
    uint row = i & (WEFT_FFT_ROWS - 1);
    uint four = i >> WEFT_FFT_LOG_ROWS;
    uint offset = four & ((1u << log_quarter) - 1);
    uint point = ((four >> log_quarter) << (log_quarter + 2)) + offset;
    return weft_fft_item((point << WEFT_FFT_LOG_ROWS) + row,
                         1u << (log_quarter + WEFT_FFT_LOG_ROWS),
                         offset << (WEFT_FFT_LOG_LENGTH - 2 - log_quarter));
#endif
}

// Two radix-2 stages of the forward transform in one.
void weft_fft_butterfly(weft_fft_item item, vec2 a, vec2 b, vec2 c, vec2 d)
{
    vec2 even = a + c;
    vec2 odd = a - c;
    vec2 sum = b + d;
    vec2 rest = vec2(b.y - d.y, d.x - b.x); // -i (b - d)
    uint at = item.at;
    uint k = item.exponent;
    weft_put_point(at, even + sum);
    at += item.step;
    weft_put_point(at, weft_complex_multiply(even - sum, weft_twiddle(2 * k)));
    at += item.step;
    weft_put_point(at, weft_complex_multiply(odd + rest, weft_twiddle(k)));
    at += item.step;
    weft_put_point(at, weft_complex_multiply(odd - rest, weft_twiddle(3 * k)));
}

// The same two of the inverse: undoes weft_fft_butterfly, and multiplies by 4.
weft_fft_four weft_fft_inverse_butterfly(weft_fft_item item)
{
    uint at = item.at;
    uint k = item.exponent;
    vec2 first = WEFT_POINT(at);
    at += item.step;
    vec2 second = weft_conjugate_multiply(weft_twiddle(2 * k), WEFT_POINT(at));
    at += item.step;
    vec2 third = weft_conjugate_multiply(weft_twiddle(k), WEFT_POINT(at));
    at += item.step;
    vec2 fourth = weft_conjugate_multiply(weft_twiddle(3 * k), WEFT_POINT(at));
    vec2 even = first + second;
    vec2 sum = first - second;
    vec2 odd = third + fourth;
    vec2 rest = vec2(fourth.y - third.y, third.x - fourth.x); // i (third - fourth)
    return weft_fft_four(even + odd, sum + rest, even - odd, sum - rest);
}

#define WEFT_FFT_FIRST_QUARTER (WEFT_FFT_LOG_LENGTH - 2)
#define WEFT_FFT_FOURS (WEFT_FFT_ROWS * WEFT_FFT_LENGTH / 4) // work items of a stage
#define WEFT_FFT_PAIRS (2 * WEFT_FFT_FOURS)

void weft_fft_pair_item(uint i)
{
    uint row = i & (WEFT_FFT_ROWS - 1);
    uint at = ((i >> WEFT_FFT_LOG_ROWS) << (WEFT_FFT_LOG_ROWS + 1)) + row;
    vec2 a = WEFT_POINT(at);
    vec2 b = WEFT_POINT(at + WEFT_FFT_ROWS);
    weft_put_point(at, a + b);
    weft_put_point(at + WEFT_FFT_ROWS, a - b);
}

// The radix-2 stage that is left when the logarithm of the length is odd: its own inverse, times 2.
void weft_fft_pairs()
{
    if ((WEFT_FFT_LOG_LENGTH & 1u) != 0u) {
        WEFT_FFT_EACH(WEFT_FFT_PAIRS, weft_fft_pair_item(i))
        barrier();
    }
}

void weft_fft_forward_item(uint i, uint log_quarter)
{
    weft_fft_item item = weft_fft_place(i, log_quarter);
    vec2 a = WEFT_POINT(item.at);
    vec2 b = WEFT_POINT(item.at + item.step);
    vec2 c = WEFT_POINT(item.at + 2 * item.step);
    vec2 d = WEFT_POINT(item.at + 3 * item.step);
    weft_fft_butterfly(item, a, b, c, d);
}

// All stages but the first, and the barriers around them.
void weft_fft_forward()
{
    barrier();
    for (int quarter = int(WEFT_FFT_LOG_LENGTH) - 4; quarter >= 0; quarter -= 2) {
        WEFT_FFT_EACH(WEFT_FFT_FOURS, weft_fft_forward_item(i, uint(quarter)))
        barrier();
    }
    weft_fft_pairs();
}

void weft_fft_inverse_item(uint i, uint log_quarter)
{
    weft_fft_item item = weft_fft_place(i, log_quarter);
    weft_fft_four four = weft_fft_inverse_butterfly(item);
    weft_put_point(item.at, four.a);
    weft_put_point(item.at + item.step, four.b);
    weft_put_point(item.at + 2 * item.step, four.c);
    weft_put_point(item.at + 3 * item.step, four.d);
}

// All stages but the last, likewise.
void weft_fft_inverse()
{
    barrier();
    weft_fft_pairs();
    for (int quarter = int(WEFT_FFT_LOG_LENGTH & 1u); quarter <= int(WEFT_FFT_LOG_LENGTH) - 4;
         quarter += 2) {
        WEFT_FFT_EACH(WEFT_FFT_FOURS, weft_fft_inverse_item(i, uint(quarter)))
        barrier();
    }
}

// ---- frequencies ----

// Where bit reversal puts pair m = 0 … WEFT_FFT_LENGTH/2 - 1 of frequencies: k and -k; for m = 0
// those that are their own opposites, 0 and WEFT_FFT_LENGTH/2.
uvec2 weft_fft_pair(uint m)
{
    if (m == 0) {
        return uvec2(0, 1);
    }
    uint size = 1u << findMSB(m);
    return uvec2(m + size, 5 * size - 1 - m);
}

// The frequency k of the first of the pair.
uint weft_fft_frequency(uint m)
{
    return bitfieldReverse(weft_fft_pair(m).x) >> (32 - WEFT_FFT_LOG_LENGTH);
}

#endif
