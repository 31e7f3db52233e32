/* SPDX-License-Identifier: MIT */
/*
 * Operations on floats of 32 and 64 bits. Subnormals of operands and results are zeros where the mode says so. AMD's documents do not say
 * whether a result is judged before rounding or after (to 24 bits, as if exponents had no end): after, unless a test asks for the other. min and max are IEEE 754-2008's minNum and maxNum of quiet NaNs; -0 is less than +0. What is
 * approximate on a GPU (v_rcp: 1 ulp) is rounded to nearest here, or to the side that a test asks for: nothing whose bits are to be equal may
 * notice. Functions (v_exp, v_log, v_sin, v_sqrt, v_rsq) are refused, as no kernel of exact math may have them.
 */
#include <fenv.h>

#include "lanes.h"
#include "vector.h"

/* ---- 32 bits ---- */

#define F32(name, expression)                                                                  \
    AMD_EACH(name, const uint32_t p = amd_flush(a[i], mode->flush32_in);                       \
             const uint32_t q = amd_flush(b[i], mode->flush32_in);                             \
             const uint32_t r = amd_flush(c[i], mode->flush32_in); const float x = amd_f32(p); \
             const float y = amd_f32(q); const float z = amd_f32(r); (void)y; (void)z;         \
             to[i] = amd_result(expression, p, q, r, mode->flush32_out))
/* As bits, of operands that were flushed. */
#define F32_BITS(name, expression)                                                   \
    AMD_EACH(name, const uint32_t x = amd_flush(a[i], mode->flush32_in);             \
             const uint32_t y = amd_flush(b[i], mode->flush32_in);                   \
             const uint32_t z = amd_flush(c[i], mode->flush32_in); (void)y; (void)z; \
             to[i] = (expression))

F32(add, x + y)
F32(sub, x - y)
F32(subrev, y - x)
F32(mul_lanes, x *y)
/* But for NaNs and 2^-126. */
AMD_EACH(fma_lanes, const float x = amd_f32(amd_flush(a[i], mode->flush32_in));
         const float y = amd_f32(amd_flush(b[i], mode->flush32_in));
         const float z = amd_f32(amd_flush(c[i], mode->flush32_in));
         to[i] = amd_flush(amd_bits(fmaf(x, y, z)), mode->flush32_out))

/* Of a result of 2^-126 it decides on which side of `least` the exact sum lies: s + e is it, by Knuth's TwoSum. The product is exact. */
static uint32_t least_of_sum(uint32_t a, uint32_t b, uint32_t c, uint32_t bits,
                             const struct amd_mode *mode) {
    const double x = (double)amd_f32(amd_flush(a, mode->flush32_in));
    const double y = (double)amd_f32(amd_flush(b, mode->flush32_in));
    const double z = (double)amd_f32(amd_flush(c, mode->flush32_in));
    const double p = x * y, s = p + z, back = s - p;
    const double e = (p - (s - back)) + (z - back);
    const bool below = fabs(s) < mode->least || (fabs(s) == mode->least && e * s < 0);
    return below ? bits & 0x80000000u : bits;
}

static bool is_least(uint32_t bits) {
    return (bits & 0x7fffffffu) == 0x00800000u;
}

static void fma_(uint32_t *restrict to, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                 uint32_t n, const struct amd_mode *mode) {
    fma_lanes(to, a, b, c, n, mode);
    for (uint32_t i = 0; i < n; i++) {
        if (amd_is_nan(to[i])) {
            to[i] = amd_result(amd_f32(to[i]), a[i], b[i], c[i], 0);
        } else if (is_least(to[i]) && mode->flush32_out != 0) {
            to[i] = least_of_sum(a[i], b[i], c[i], to[i], mode);
        }
    }
}

static void mul(uint32_t *restrict to, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                uint32_t n, const struct amd_mode *mode) {
    mul_lanes(to, a, b, c, n, mode);
    for (uint32_t i = 0; mode->flush32_out != 0 && i < n; i++) {
        to[i] = is_least(to[i]) ? least_of_sum(a[i], b[i], 0, to[i], mode) : to[i];
    }
}

F32(trunc_, truncf(x))
F32(ceil_, ceilf(x))
F32(rndne, rintf(x))
F32(floor_, floorf(x))

/* Not fused, and subnormals are zeros whatever the mode says: "V_MAD_F32: D = S0 * S1 + S2; does not support denorms". */
static inline uint32_t mad_of(uint32_t a, uint32_t b, uint32_t c, const struct amd_mode *mode) {
    const uint32_t p = amd_flush(a, UINT32_MAX), q = amd_flush(b, UINT32_MAX);
    const uint32_t r = amd_flush(c, UINT32_MAX);
    const uint32_t product = amd_narrow_of((double)amd_f32(p) * (double)amd_f32(q), p, q, mode);
    return amd_result(amd_f32(amd_flush(product, UINT32_MAX)) + amd_f32(r), product, r, r,
                      UINT32_MAX);
}
AMD_EACH(mad, to[i] = mad_of(a[i], b[i], c[i], mode))

/* DX9's rule: zero times anything is +0. */
F32(mul_legacy, x == 0.0F || y == 0.0F ? 0.0F : x * y)

/* Numbers in an order in which -0 comes before +0. */
static inline int32_t order_of(uint32_t bits) {
    return (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) >> 1));
}
static inline uint32_t quiet(uint32_t bits) {
    return amd_is_nan(bits) ? bits | AMD_QUIET : bits;
}
static inline bool is_signaling(uint32_t bits) {
    return amd_is_nan(bits) && (bits & AMD_QUIET) == 0;
}
/* In IEEE mode a signaling NaN gives a quiet NaN; else a NaN gives the other operand. */
static inline uint32_t extreme(uint32_t x, uint32_t y, bool greatest, bool ieee) {
    const bool first = greatest ? order_of(x) >= order_of(y) : order_of(x) <= order_of(y);
    const uint32_t number = amd_is_nan(x) ? quiet(y) : amd_is_nan(y) ? x : first ? x : y;
    return ieee && is_signaling(x) ? quiet(x) : ieee && is_signaling(y) ? quiet(y) : number;
}
F32_BITS(max_, extreme(x, y, true, mode->ieee))
F32_BITS(min_, extreme(x, y, false, mode->ieee))
F32_BITS(max3, extreme(extreme(x, y, true, mode->ieee), z, true, mode->ieee))
F32_BITS(maxmin, extreme(extreme(x, y, true, mode->ieee), z, false, mode->ieee))
F32_BITS(minmax, extreme(extreme(x, y, false, mode->ieee), z, true, mode->ieee))
F32_BITS(min3, extreme(extreme(x, y, false, mode->ieee), z, false, mode->ieee))

static inline uint32_t median(uint32_t x, uint32_t y, uint32_t z, bool ieee) {
    if (amd_is_nan(x) || amd_is_nan(y) || amd_is_nan(z)) {
        return extreme(extreme(x, y, false, ieee), z, false, ieee);
    }
    const uint32_t low = extreme(x, y, false, ieee), high = extreme(x, y, true, ieee);
    return extreme(extreme(high, z, false, ieee), low, true, ieee);
}
F32_BITS(med3, median(x, y, z, mode->ieee))

/* "V_FRACT_F32: D = S0 - floor(S0)", below 1 */
F32(fract, fminf(x - floorf(x), 0x1.fffffep-1F))

/* D = S0 * 2^S1, of an integer */
AMD_EACH(ldexp_, const uint32_t p = amd_flush(a[i], mode->flush32_in);
         const int32_t by = (int32_t)b[i];
         to[i] = amd_narrow_of(ldexp((double)amd_f32(p), by > 500    ? 500
                                                         : by < -500 ? -500
                                                                     : by),
                               p, p, mode))

static inline uint32_t mantissa_of(uint32_t bits) {
    int exponent = 0;
    const float value = amd_f32(bits);
    return isfinite(value) ? amd_bits(frexpf(value, &exponent)) : quiet(bits);
}
static inline uint32_t exponent_of(uint32_t bits) {
    int exponent = 0;
    const float value = amd_f32(bits);
    (void)frexpf(isfinite(value) ? value : 0.0F, &exponent);
    return (uint32_t)exponent;
}
F32_BITS(frexp_mant, mantissa_of(x))
F32_BITS(frexp_exp, exponent_of(x))

/* Both neighbours of the exact quotient are within 1 ulp of it: tests take the greater or the smaller one. */
static inline uint32_t reciprocal(uint32_t x, int32_t side, uint32_t flush) {
    const double exact = 1.0 / (double)amd_f32(x);
    const float nearest = (float)exact;
    const double magnitude = fabs((double)nearest), wanted = fabs(exact);
    uint32_t bits = amd_bits(nearest);
    if (magnitude > 0x1p-126 && magnitude < 0x1p127) {
        bits += side > 0 && magnitude < wanted ? 1u : 0u;
        bits -= side < 0 && magnitude > wanted ? 1u : 0u;
    }
    return amd_is_nan(bits) ? amd_result(nearest, x, x, x, flush) : amd_flush(bits, flush);
}
F32_BITS(rcp, reciprocal(x, mode->side, mode->flush32_out))

/* ---- from and to integers ---- */

AMD_EACH(cvt_f32_u32, to[i] = amd_bits((float)a[i]))
AMD_EACH(cvt_f32_i32, to[i] = amd_bits((float)(int32_t)a[i]))
AMD_EACH(cvt_f32_ubyte0, to[i] = amd_bits((float)(a[i] & 0xffu)))
AMD_EACH(cvt_f32_ubyte1, to[i] = amd_bits((float)(a[i] >> 8 & 0xffu)))
AMD_EACH(cvt_f32_ubyte2, to[i] = amd_bits((float)(a[i] >> 16 & 0xffu)))
AMD_EACH(cvt_f32_ubyte3, to[i] = amd_bits((float)(a[i] >> 24)))

/* Out of range: the nearest; NaN: 0 */
static inline uint32_t to_unsigned(float x) {
    return !(x > 0.0F) ? 0 : x >= 0x1p32F ? UINT32_MAX : (uint32_t)x;
}
static inline uint32_t to_signed(float x) {
    return x != x         ? 0
           : x >= 0x1p31F ? INT32_MAX
           : x < -0x1p31F ? 0x80000000u
                          : (uint32_t)(int32_t)x;
}
AMD_EACH(cvt_u32_f32, to[i] = to_unsigned(amd_f32(a[i])))
AMD_EACH(cvt_i32_f32, to[i] = to_signed(amd_f32(a[i])))
AMD_EACH(cvt_flr_i32_f32, to[i] = to_signed(floorf(amd_f32(a[i]))))
AMD_EACH(cvt_rpi_i32_f32, to[i] = to_signed(floorf(amd_f32(a[i]) + 0.5F)))

/* ---- 64 bits ---- */

static inline uint64_t result64(double value, uint64_t x, uint64_t y, uint64_t z, uint32_t flush) {
    static const uint64_t quiet_bit = UINT64_C(1) << 51;
    const uint64_t nan = isnan(amd_f64(x))   ? x | quiet_bit
                         : isnan(amd_f64(y)) ? y | quiet_bit
                         : isnan(amd_f64(z)) ? z | quiet_bit
                                             : UINT64_C(0x7ff8000000000000);
    return isnan(value) ? nan : amd_flush64(amd_bits64(value), flush);
}
#define F64(name, expression)                                                        \
    AMD_EACH(name, const uint64_t p = amd_flush64(amd_wide(a, i), mode->flush64_in); \
             const uint64_t q = amd_flush64(amd_wide(b, i), mode->flush64_in);       \
             const uint64_t r = amd_flush64(amd_wide(c, i), mode->flush64_in);       \
             const double x = amd_f64(p); const double y = amd_f64(q);               \
             const double z = amd_f64(r); (void)y; (void)z;                          \
             amd_put_wide(to, i, result64(expression, p, q, r, mode->flush64_out)))
F64(add64, x + y)
F64(mul64, x *y)
F64(fma64, fma(x, y, z))
F64(trunc64, trunc(x))
F64(floor64, floor(x))
F64(ceil64, ceil(x))
F64(rndne64, rint(x))
F64(max64, fmax(x, y))
F64(min64, fmin(x, y))
AMD_EACH(cvt_f64_f32, amd_put_wide(to, i,
                                   result64((double)amd_f32(amd_flush(a[i], mode->flush32_in)),
                                            amd_bits64((double)amd_f32(a[i])), 0, 0, 0)))
AMD_EACH(cvt_f32_f64, const uint64_t p = amd_flush64(amd_wide(a, i), mode->flush64_in);
         to[i] = amd_narrow_of(amd_f64(p), 0, 0, mode))
AMD_EACH(cvt_f64_u32, amd_put_wide(to, i, amd_bits64((double)a[i])))
AMD_EACH(cvt_f64_i32, amd_put_wide(to, i, amd_bits64((double)(int32_t)a[i])))
AMD_EACH(ldexp64, const uint64_t p = amd_flush64(amd_wide(a, i), mode->flush64_in);
         const int32_t by = (int32_t)b[i];
         amd_put_wide(to, i,
                      result64(ldexp(amd_f64(p), by > 5000    ? 5000
                                                 : by < -5000 ? -5000
                                                              : by),
                               p, p, p, mode->flush64_out)))

/* ---- table ---- */

#define ROW(name, lanes, count) \
    { name, amd_run_vector, lanes, 1, {1, (count) > 1, (count) > 2}, 32, 0 }
#define ROW_64(name, lanes, count) \
    { name, amd_run_vector, lanes, 2, {2, (count) > 1 ? 2 : 0, (count) > 2 ? 2 : 0}, 64, 0 }

const struct amd_operation amd_float_operations[] = {
    ROW("v_add_f32", add, 2),
    ROW("v_sub_f32", sub, 2),
    ROW("v_subrev_f32", subrev, 2),
    ROW("v_mul_f32", mul, 2),
    ROW("v_mul_legacy_f32", mul_legacy, 2),
    ROW("v_mul_dx9_zero_f32", mul_legacy, 2),
    ROW("v_fma_f32", fma_, 3),
    /* the accumulator is the result's register */
    {"v_fmac_f32", amd_run_accumulate, fma_, 1, {1, 1, 1}, 32, 0},
    {"v_mac_f32", amd_run_accumulate, mad, 1, {1, 1, 1}, 32, 0},
    ROW("v_fmaak_f32", fma_, 3),
    ROW("v_fmamk_f32", fma_, 3),
    ROW("v_mad_f32", mad, 3),
    ROW("v_madak_f32", mad, 3),
    ROW("v_madmk_f32", mad, 3),
    ROW("v_max_f32", max_, 2),
    ROW("v_min_f32", min_, 2),
    ROW("v_max3_f32", max3, 3),
    ROW("v_min3_f32", min3, 3),
    ROW("v_maxmin_f32", maxmin, 3),
    ROW("v_minmax_f32", minmax, 3),
    ROW("v_med3_f32", med3, 3),
    ROW("v_trunc_f32", trunc_, 1),
    ROW("v_ceil_f32", ceil_, 1),
    ROW("v_rndne_f32", rndne, 1),
    ROW("v_floor_f32", floor_, 1),
    ROW("v_fract_f32", fract, 1),
    ROW("v_ldexp_f32", ldexp_, 2),
    ROW("v_frexp_mant_f32", frexp_mant, 1),
    ROW("v_frexp_exp_i32_f32", frexp_exp, 1),
    ROW("v_rcp_f32", rcp, 1),
    ROW("v_rcp_iflag_f32", rcp, 1),
    ROW("v_cvt_f32_u32", cvt_f32_u32, 1),
    ROW("v_cvt_f32_i32", cvt_f32_i32, 1),
    ROW("v_cvt_f32_ubyte0", cvt_f32_ubyte0, 1),
    ROW("v_cvt_f32_ubyte1", cvt_f32_ubyte1, 1),
    ROW("v_cvt_f32_ubyte2", cvt_f32_ubyte2, 1),
    ROW("v_cvt_f32_ubyte3", cvt_f32_ubyte3, 1),
    ROW("v_cvt_u32_f32", cvt_u32_f32, 1),
    ROW("v_cvt_i32_f32", cvt_i32_f32, 1),
    ROW("v_cvt_flr_i32_f32", cvt_flr_i32_f32, 1),
    ROW("v_cvt_rpi_i32_f32", cvt_rpi_i32_f32, 1),
    ROW_64("v_add_f64", add64, 2),
    ROW_64("v_mul_f64", mul64, 2),
    ROW_64("v_fma_f64", fma64, 3),
    ROW_64("v_trunc_f64", trunc64, 1),
    ROW_64("v_floor_f64", floor64, 1),
    ROW_64("v_ceil_f64", ceil64, 1),
    ROW_64("v_rndne_f64", rndne64, 1),
    ROW_64("v_max_f64", max64, 2),
    ROW_64("v_min_f64", min64, 2),
    {"v_ldexp_f64", amd_run_vector, ldexp64, 2, {2, 1, 0}, 64, 0},
    {"v_cvt_f64_f32", amd_run_vector, cvt_f64_f32, 2, {1, 0, 0}, 32, 0},
    {"v_cvt_f32_f64", amd_run_vector, cvt_f32_f64, 1, {2, 0, 0}, 64, 0},
    {"v_cvt_f64_u32", amd_run_vector, cvt_f64_u32, 2, {1, 0, 0}, 0, 0},
    {"v_cvt_f64_i32", amd_run_vector, cvt_f64_i32, 2, {1, 0, 0}, 0, 0},
    {0}};
