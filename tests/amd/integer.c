/* SPDX-License-Identifier: MIT */
/* Operations on integers and bits. */
#include "lanes.h"
#include "vector.h"

/* ---- words ---- */

AMD_WORD(mov, x)
AMD_WORD(not_, ~x)
AMD_WORD(and_, x &y)
AMD_WORD(or_, x | y)
AMD_WORD(xor_, x ^ y)
AMD_WORD(xnor, ~(x ^ y))
AMD_WORD(add, x + y)
AMD_WORD(sub, x - y)
AMD_WORD(subrev, y - x)
AMD_WORD(lshlrev, y << (x & 31u))
AMD_WORD(lshrrev, y >> (x & 31u))
AMD_WORD(ashrrev, (uint32_t)((int32_t)y >> (x & 31u)))
AMD_WORD(lshl, x << (y & 31u))
AMD_WORD(lshr, x >> (y & 31u))
AMD_WORD(max_u32, x > y ? x : y)
AMD_WORD(min_u32, x < y ? x : y)
AMD_WORD(max_i32, (int32_t)x > (int32_t)y ? x : y)
AMD_WORD(min_i32, (int32_t)x < (int32_t)y ? x : y)
AMD_WORD(mul_lo, x *y)
AMD_WORD(mul_hi_u32, (uint64_t)x *y >> 32)
AMD_WORD(mul_hi_i32, (uint64_t)((int64_t)(int32_t)x *(int32_t)y) >> 32)

static inline int32_t signed24(uint32_t value) {
    return (int32_t)(value << 8) >> 8;
}
#define U24 0xffffffu
AMD_WORD(mul_u24, (x & U24) * (y & U24))
AMD_WORD(mul_hi_u24, (uint64_t)(x &U24) * (y & U24) >> 32)
AMD_WORD(mul_i24, (uint32_t)signed24(x) * (uint32_t)signed24(y))
AMD_WORD(mul_hi_i24, (uint64_t)((int64_t)signed24(x) * signed24(y)) >> 32)
AMD_WORD(mad_u24, (x & U24) * (y & U24) + z)
AMD_WORD(mad_i24, (uint32_t)signed24(x) * (uint32_t)signed24(y) + z)

AMD_WORD(lshl_add, (x << (y & 31u)) + z)
AMD_WORD(add_lshl, (x + y) << (z & 31u))
AMD_WORD(lshl_or, (x << (y & 31u)) | z)
AMD_WORD(and_or, (x & y) | z)
AMD_WORD(or3, x | y | z)
AMD_WORD(xor3, x ^ y ^ z)
AMD_WORD(add3, x + y + z)
AMD_WORD(xad, (x ^ y) + z)
AMD_WORD(bfi, (x & y) | (~x & z))
AMD_WORD(bfm, ((UINT32_C(1) << (x & 31u)) - 1) << (y & 31u))
AMD_WORD(alignbit, ((uint64_t)x << 32 | y) >> (z & 31u))
AMD_WORD(alignbyte, ((uint64_t)x << 32 | y) >> (8 * (z & 3u)))

static inline uint32_t field_u(uint32_t value, uint32_t from, uint32_t width) {
    return value >> (from & 31u) & ((UINT32_C(1) << (width & 31u)) - 1);
}
/* A field that ends behind the word is the word's upper part. */
static inline uint32_t field_i(uint32_t value, uint32_t from, uint32_t width) {
    const uint32_t first = from & 31u, bits = width & 31u;
    const uint32_t left = bits == 0 ? 0 : first + bits < 32 ? 32 - first - bits : 0;
    const uint32_t shift = first + bits < 32 ? 32 - bits : first;
    return bits == 0 ? 0 : (uint32_t)((int32_t)(value << left) >> shift);
}
AMD_WORD(bfe_u32, field_u(x, y, z))
AMD_WORD(bfe_i32, field_i(x, y, z))

static inline uint32_t extreme3(uint32_t x, uint32_t y, uint32_t z, bool greatest, uint32_t flip) {
    const uint32_t p = x ^ flip, q = y ^ flip, r = z ^ flip;
    const uint32_t high = p > q ? p : q, low = p < q ? p : q;
    return (greatest ? (high > r ? high : r) : (low < r ? low : r)) ^ flip;
}
static inline uint32_t median3(uint32_t x, uint32_t y, uint32_t z, uint32_t flip) {
    const uint32_t p = x ^ flip, q = y ^ flip, r = z ^ flip;
    const uint32_t high = p > q ? p : q, low = p < q ? p : q;
    const uint32_t least = high < r ? high : r;
    return (low > least ? low : least) ^ flip;
}
#define SIGN 0x80000000u
AMD_WORD(max3_u32, extreme3(x, y, z, true, 0))
AMD_WORD(min3_u32, extreme3(x, y, z, false, 0))
AMD_WORD(max3_i32, extreme3(x, y, z, true, SIGN))
AMD_WORD(min3_i32, extreme3(x, y, z, false, SIGN))
AMD_WORD(med3_u32, median3(x, y, z, 0))
AMD_WORD(med3_i32, median3(x, y, z, SIGN))
/* RDNA 3: the second operation is the name's second half */
AMD_WORD(maxmin_u32, extreme3(extreme3(x, y, y, true, 0), z, z, false, 0))
AMD_WORD(minmax_u32, extreme3(extreme3(x, y, y, false, 0), z, z, true, 0))
AMD_WORD(maxmin_i32, extreme3(extreme3(x, y, y, true, SIGN), z, z, false, SIGN))
AMD_WORD(minmax_i32, extreme3(extreme3(x, y, y, false, SIGN), z, z, true, SIGN))
AMD_WORD(sad_u32, (x > y ? x - y : y - x) + z)

static inline uint32_t reversed(uint32_t value) {
    value = (value & 0x55555555u) << 1 | (value >> 1 & 0x55555555u);
    value = (value & 0x33333333u) << 2 | (value >> 2 & 0x33333333u);
    value = (value & 0x0f0f0f0fu) << 4 | (value >> 4 & 0x0f0f0f0fu);
    return __builtin_bswap32(value);
}
AMD_WORD(bfrev, reversed(x))
AMD_WORD(bcnt, (uint32_t)__builtin_popcount(x) + y)
AMD_WORD(ffbh_u32, x == 0 ? UINT32_MAX : (uint32_t)__builtin_clz(x))
AMD_WORD(ffbl_b32, x == 0 ? UINT32_MAX : (uint32_t)__builtin_ctz(x))
/* How many bits from the top are as the sign; -1 where all are. */
static inline uint32_t sign_bits(uint32_t value) {
    const uint32_t changed = (int32_t)value < 0 ? ~value : value;
    return changed == 0 ? UINT32_MAX : (uint32_t)__builtin_clz(changed);
}
AMD_WORD(ffbh_i32, sign_bits(x))

/* V_PERM_B32: byte `selector` of { x, y }, y the low word; 8 to 11 repeat a sign, 12 is 0, above is 0xff. */
static inline uint32_t permuted(uint32_t x, uint32_t y, uint32_t selectors) {
    const uint64_t both = (uint64_t)x << 32 | y;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t selector = selectors >> (8 * i) & 0xffu;
        const uint32_t byte = selector < 8     ? (uint32_t)(both >> (8 * selector)) & 0xffu
                              : selector < 12  ? (both >> (16 * (selector - 8) + 15) & 1) * 0xffu
                              : selector == 12 ? 0
                                               : 0xffu;
        result |= byte << (8 * i);
    }
    return result;
}
AMD_WORD(perm, permuted(x, y, z))

static inline uint32_t dot4(uint32_t x, uint32_t y, uint32_t sum) {
    for (uint32_t i = 0; i < 32; i += 8) {
        sum += (uint32_t)((int8_t)(x >> i) * (int8_t)(y >> i));
    }
    return sum;
}
static inline uint32_t dot4_unsigned(uint32_t x, uint32_t y, uint32_t sum) {
    for (uint32_t i = 0; i < 32; i += 8) {
        sum += (x >> i & 0xffu) * (y >> i & 0xffu);
    }
    return sum;
}
AMD_WORD(dot2_i32_i16, (uint32_t)((int64_t)(int16_t)x *(int16_t)y +
                                  (int64_t)(int16_t)(x >> 16) * (int16_t)(y >> 16)) +
                           z)
AMD_WORD(dot2_u32_u16, (x & 0xffffu) * (y & 0xffffu) + (x >> 16) * (y >> 16) + z)
AMD_WORD(dot4_i32_i8, dot4(x, y, z))
AMD_WORD(dot4_u32_u8, dot4_unsigned(x, y, z))

/* ---- 16 bits: in the low half, the upper half is 0 ---- */

#define HALF(value) ((value)&0xffffu)
AMD_WORD(add_u16, HALF(x + y))
AMD_WORD(sub_u16, HALF(x - y))
AMD_WORD(mul_lo_u16, HALF(HALF(x) * HALF(y)))
AMD_WORD(lshlrev_b16, HALF(y << (x & 15u)))
AMD_WORD(lshrrev_b16, HALF(y) >> (x & 15u))
AMD_WORD(ashrrev_i16, HALF((uint32_t)((int16_t)y >> (x & 15u))))
AMD_WORD(max_u16, HALF(x) > HALF(y) ? HALF(x) : HALF(y))
AMD_WORD(min_u16, HALF(x) < HALF(y) ? HALF(x) : HALF(y))
AMD_WORD(max_i16, HALF((int16_t)x > (int16_t)y ? x : y))
AMD_WORD(min_i16, HALF((int16_t)x < (int16_t)y ? x : y))
AMD_WORD(and_b16, HALF(x &y))
AMD_WORD(or_b16, HALF(x | y))
AMD_WORD(xor_b16, HALF(x ^ y))
AMD_WORD(not_b16, HALF(~x))
AMD_WORD(cvt_u32_u16, HALF(x))
AMD_WORD(cvt_i32_i16, (uint32_t)(int32_t)(int16_t)x)
AMD_WORD(mad_u32_u16, HALF(x) * HALF(y) + z)
AMD_WORD(mad_i32_i16, (uint32_t)((int16_t)x *(int16_t)y) + z)
AMD_WORD(mad_u16, HALF(HALF(x) * HALF(y) + z))

/* ---- 64 bits ---- */

AMD_EACH(lshlrev_b64, amd_put_wide(to, i, amd_wide(b, i) << (a[i] & 63u)))
AMD_EACH(lshrrev_b64, amd_put_wide(to, i, amd_wide(b, i) >> (a[i] & 63u)))
AMD_EACH(ashrrev_i64, amd_put_wide(to, i, (uint64_t)((int64_t)amd_wide(b, i) >> (a[i] & 63u))))

/* ---- clamp: of integers, the nearest that there is ---- */

enum { ADD_UNSIGNED = 1, SUB_UNSIGNED, SUBREV_UNSIGNED, ADD_SIGNED, SUB_SIGNED };

static uint32_t saturated(int64_t exact, bool is_signed) {
    const int64_t least = is_signed ? INT32_MIN : 0,
                  most = is_signed ? INT32_MAX : (int64_t)UINT32_MAX;
    return (uint32_t)(exact < least ? least : exact > most ? most : exact);
}

bool amd_saturate(uint32_t *to, const uint32_t *a, const uint32_t *b, uint32_t n, int32_t detail) {
    const bool is_signed = detail >= ADD_SIGNED;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t x = is_signed ? (int64_t)(int32_t)a[i] : (int64_t)a[i];
        const int64_t y = is_signed ? (int64_t)(int32_t)b[i] : (int64_t)b[i];
        const int64_t exact = detail == ADD_UNSIGNED || detail == ADD_SIGNED ? x + y
                              : detail == SUBREV_UNSIGNED                    ? y - x
                                                                             : x - y;
        to[i] = saturated(exact, is_signed);
    }
    return detail != 0;
}

/* ---- table ---- */

static int32_t byte_of(uint32_t word, uint32_t which, bool is_signed) {
    const uint32_t byte = word >> (8 * which) & 0xffu;
    return is_signed ? (int8_t)byte : (int32_t)byte;
}

/* V_DOT4_I32_IU8: D = S0.byte[0] * S1.byte[0] + ... + S2; NEG[0] and NEG[1] say which factors have signs. */
static void run_mixed_dot(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const uint32_t signs = instruction->with.signed_ones;
    uint32_t rooms[3][AMD_LANES], to[AMD_LANES];
    const uint32_t *from[3];
    for (uint32_t i = 0; i < 3; i++) {
        from[i] = amd_vector_read(wave, instruction, i + 1, 1, 0, rooms[i], i);
    }
    if (instruction->with.clamp) {
        amd_fail(wave, "%s with clamp", instruction->operation->name);
    }
    for (uint32_t i = 0; !wave->done && i < wave->lanes; i++) {
        to[i] = from[2][i];
        for (uint32_t b = 0; b < 4; b++) {
            to[i] += (uint32_t)(byte_of(from[0][i], b, (signs & 1u) != 0) *
                                byte_of(from[1][i], b, (signs & 2u) != 0));
        }
    }
    if (!wave->done) {
        amd_vector_write(wave, instruction, &instruction->operands[0], to, 1);
    }
}

#define ROW(name, lanes, count) \
    { name, amd_run_vector, lanes, 1, {1, (count) > 1, (count) > 2}, 0, 0 }
#define ROW_CLAMPED(name, lanes, how) \
    { name, amd_run_vector, lanes, 1, {1, 1, 0}, 0, how }

const struct amd_operation amd_integer_operations[] = {
    /* moves may have the signs of floats: SDWA's and VOP3's modifiers */
    {"v_mov_b32", amd_run_vector, mov, 1, {1, 0, 0}, 32, 0},
    ROW("v_not_b32", not_, 1),
    ROW("v_and_b32", and_, 2),
    ROW("v_or_b32", or_, 2),
    ROW("v_xor_b32", xor_, 2),
    ROW("v_xnor_b32", xnor, 2),
    /* without a carry: RDNA's and GCN's names */
    ROW_CLAMPED("v_add_nc_u32", add, ADD_UNSIGNED),
    ROW_CLAMPED("v_sub_nc_u32", sub, SUB_UNSIGNED),
    ROW_CLAMPED("v_subrev_nc_u32", subrev, SUBREV_UNSIGNED),
    ROW_CLAMPED("v_add_u32", add, ADD_UNSIGNED),
    ROW_CLAMPED("v_sub_u32", sub, SUB_UNSIGNED),
    ROW_CLAMPED("v_subrev_u32", subrev, SUBREV_UNSIGNED),
    ROW_CLAMPED("v_add_i32", add, ADD_SIGNED),
    ROW_CLAMPED("v_sub_i32", sub, SUB_SIGNED),
    ROW_CLAMPED("v_add_nc_i32", add, ADD_SIGNED),
    ROW_CLAMPED("v_sub_nc_i32", sub, SUB_SIGNED),
    ROW("v_lshlrev_b32", lshlrev, 2),
    ROW("v_lshrrev_b32", lshrrev, 2),
    ROW("v_ashrrev_i32", ashrrev, 2),
    ROW("v_lshl_b32", lshl, 2),
    ROW("v_lshr_b32", lshr, 2),
    ROW("v_max_u32", max_u32, 2),
    ROW("v_min_u32", min_u32, 2),
    ROW("v_max_i32", max_i32, 2),
    ROW("v_min_i32", min_i32, 2),
    ROW("v_mul_lo_u32", mul_lo, 2),
    ROW("v_mul_hi_u32", mul_hi_u32, 2),
    ROW("v_mul_hi_i32", mul_hi_i32, 2),
    ROW("v_mul_u32_u24", mul_u24, 2),
    ROW("v_mul_hi_u32_u24", mul_hi_u24, 2),
    ROW("v_mul_i32_i24", mul_i24, 2),
    ROW("v_mul_hi_i32_i24", mul_hi_i24, 2),
    ROW("v_mad_u32_u24", mad_u24, 3),
    ROW("v_mad_i32_i24", mad_i24, 3),
    ROW("v_lshl_add_u32", lshl_add, 3),
    ROW("v_add_lshl_u32", add_lshl, 3),
    ROW("v_lshl_or_b32", lshl_or, 3),
    ROW("v_and_or_b32", and_or, 3),
    ROW("v_or3_b32", or3, 3),
    ROW("v_xor3_b32", xor3, 3),
    ROW("v_add3_u32", add3, 3),
    ROW("v_xad_u32", xad, 3),
    ROW("v_bfi_b32", bfi, 3),
    ROW("v_bfm_b32", bfm, 2),
    ROW("v_alignbit_b32", alignbit, 3),
    ROW("v_alignbyte_b32", alignbyte, 3),
    ROW("v_bfe_u32", bfe_u32, 3),
    ROW("v_bfe_i32", bfe_i32, 3),
    ROW("v_max3_u32", max3_u32, 3),
    ROW("v_min3_u32", min3_u32, 3),
    ROW("v_max3_i32", max3_i32, 3),
    ROW("v_min3_i32", min3_i32, 3),
    ROW("v_med3_u32", med3_u32, 3),
    ROW("v_med3_i32", med3_i32, 3),
    ROW("v_maxmin_u32", maxmin_u32, 3),
    ROW("v_minmax_u32", minmax_u32, 3),
    ROW("v_maxmin_i32", maxmin_i32, 3),
    ROW("v_minmax_i32", minmax_i32, 3),
    ROW("v_and_b16", and_b16, 2),
    ROW("v_or_b16", or_b16, 2),
    ROW("v_xor_b16", xor_b16, 2),
    ROW("v_not_b16", not_b16, 1),
    ROW("v_cvt_u32_u16", cvt_u32_u16, 1),
    ROW("v_cvt_i32_i16", cvt_i32_i16, 1),
    ROW("v_sad_u32", sad_u32, 3),
    ROW("v_bfrev_b32", bfrev, 1),
    ROW("v_bcnt_u32_b32", bcnt, 2),
    ROW("v_ffbh_u32", ffbh_u32, 1),
    ROW("v_ffbl_b32", ffbl_b32, 1),
    ROW("v_ffbh_i32", ffbh_i32, 1),
    ROW("v_perm_b32", perm, 3),
    ROW("v_dot2_i32_i16", dot2_i32_i16, 3),
    ROW("v_dot2_u32_u16", dot2_u32_u16, 3),
    ROW("v_dot4_i32_i8", dot4_i32_i8, 3),
    ROW("v_dot4_u32_u8", dot4_u32_u8, 3),
    {"v_dot4_i32_iu8", run_mixed_dot, 0, 1, {1, 1, 1}, 0, 0},
    {"v_dot4c_i32_i8", amd_run_accumulate, dot4_i32_i8, 1, {1, 1, 1}, 0, 0},
    ROW("v_add_u16", add_u16, 2),
    ROW("v_sub_u16", sub_u16, 2),
    ROW("v_add_nc_u16", add_u16, 2),
    ROW("v_sub_nc_u16", sub_u16, 2),
    ROW("v_mul_lo_u16", mul_lo_u16, 2),
    ROW("v_lshlrev_b16", lshlrev_b16, 2),
    ROW("v_lshrrev_b16", lshrrev_b16, 2),
    ROW("v_ashrrev_i16", ashrrev_i16, 2),
    ROW("v_max_u16", max_u16, 2),
    ROW("v_min_u16", min_u16, 2),
    ROW("v_max_i16", max_i16, 2),
    ROW("v_min_i16", min_i16, 2),
    ROW("v_mad_u32_u16", mad_u32_u16, 3),
    ROW("v_mad_i32_i16", mad_i32_i16, 3),
    ROW("v_mad_u16", mad_u16, 3),
    ROW("v_mad_legacy_u16", mad_u16, 3),
    {"v_lshlrev_b64", amd_run_vector, lshlrev_b64, 2, {1, 2, 0}, 0, 0},
    {"v_lshrrev_b64", amd_run_vector, lshrrev_b64, 2, {1, 2, 0}, 0, 0},
    {"v_ashrrev_i64", amd_run_vector, ashrrev_i64, 2, {1, 2, 0}, 0, 0},
    {0}};
