/* SPDX-License-Identifier: MIT */
/* Vector operations against the formulas of AMD's documents: values checked by hand, and floats against float64. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lanes.h"
#include "test_amd.h"

/* ---- one lane: v1, v2, v3 and, where it is written, v0 go in, v0 comes out ---- */

struct row {
    const char *line;
    uint32_t a, b, c, expected;
};

static void check_rows(const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct machine *m = machine_begin(32);
        for (uint32_t lane = 0; lane < 32; lane++) {
            m->wave.v[0][lane] = 7;
            m->wave.v[1][lane] = rows[i].a;
            m->wave.v[2][lane] = rows[i].b;
            m->wave.v[3][lane] = rows[i].c;
        }
        m->wave.s[5] = rows[i].b;
        m->wave.s[AMD_EXEC] = 0x7fffffff;
        machine_run(m, rows[i].line);
        if (m->wave.v[0][3] != rows[i].expected || m->wave.v[0][30] != rows[i].expected) {
            fail_msg("%s of %#x, %#x, %#x: %#x, expected %#x", rows[i].line, rows[i].a, rows[i].b,
                     rows[i].c, m->wave.v[0][3], rows[i].expected);
        }
        assert_int_equal(m->wave.v[0][31], 7); /* an inactive lane stays */
    }
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])
#define ONE         0x3f800000u
#define TWO         0x40000000u
#define INFINITE    0x7f800000u
#define NEGATIVE    0x80000000u

static void floats(void **state) {
    static const struct row rows[] = {
        {"v_add_f32_e32 v0, v1, v2", ONE, TWO, 0, 0x40400000},
        {"v_sub_f32_e32 v0, v1, v2", ONE, TWO, 0, 0xbf800000},
        {"v_subrev_f32_e32 v0, v1, v2", ONE, TWO, 0, ONE},
        {"v_mul_f32_e32 v0, v1, v2", 0x40400000, 0xc0000000, 0, 0xc0c00000},
        {"v_mul_f32_e32 v0, 0.5, v2", 0, 0x40400000, 0, 0x3fc00000},
        {"v_mul_f32_e64 v0, -v1, |v2|", 0x40400000, 0xc0000000, 0, 0xc0c00000},
        {"v_add_f32_e32 v0, 0x3dcccccd, v2", 0, 0, 0, 0x3dcccccd},
        {"v_add_f32_e64 v0, v1, v2 mul:2", ONE, TWO, 0, 0x40c00000},
        {"v_add_f32_e64 v0, v1, v2 div:2", ONE, ONE, 0, ONE},
        {"v_add_f32_e64 v0, v1, v2 clamp", ONE, TWO, 0, ONE},
        {"v_add_f32_e64 v0, v1, v2 clamp", 0xbf800000, 0, 0, 0},
        /* subnormal operands and results are zeros of their sign */
        {"v_add_f32_e32 v0, v1, v2", 0x00400000, 0, 0, 0},
        {"v_mul_f32_e32 v0, v1, v2", 0x80800000, 0x3f000000, 0, NEGATIVE},
        {"v_mul_f32_e32 v0, v1, v2", 0x00ffffff, 0x3f000000, 0, 0}, /* 2^-126 - 2^-150 */
        /* 2^-126 (1 - 2^-26): rounded first, it is no subnormal */
        {"v_mul_f32_e32 v0, v1, v2", 0x3a800400, 0x057ff800, 0, 0x00800000},
        {"v_fma_f32 v0, v1, v2, v3", 0x3a800400, 0x057ff800, 0, 0x00800000},
        {"v_fma_f32 v0, v1, -v2, v3", 0x00ffffff, 0x3f000000, 0, NEGATIVE},
        {"v_mad_f32 v0, v1, v2, v3", 0x00ffffff, 0x3f000000, ONE, ONE},
        /* infinities, and NaNs: the first operand's, made quiet; of none the default one */
        {"v_sub_f32_e32 v0, v1, v2", INFINITE, INFINITE, 0, 0x7fc00000},
        {"v_add_f32_e32 v0, v1, v2", 0x7f800001, 0x7fc00005, 0, 0x7fc00001},
        {"v_add_f32_e32 v0, v1, v2", ONE, 0xffc00005, 0, 0xffc00005},
        /* 2^24 + 1 is no float: to even */
        {"v_add_f32_e32 v0, v1, v2", 0x4b800000, ONE, 0, 0x4b800000},
        {"v_add_f32_e32 v0, v1, v2", 0x4b800001, ONE, 0, 0x4b800002},
        /* (1 + 2^-23)^2 - (1 + 2^-22) is 2^-46: fused it stays, apart it is lost */
        {"v_fma_f32 v0, v1, v2, v3", 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},
        {"v_mad_f32 v0, v1, v2, v3", 0x3f800001, 0x3f800001, 0xbf800002, 0},
        {"v_fma_f32 v0, v1, v2, -v3", 0x3f800001, 0x3f800001, 0x3f800002, 0x28800000},
        {"v_fmaak_f32 v0, v1, v2, 0x3f800000", TWO, TWO, 0, 0x40a00000},
        {"v_fmamk_f32 v0, v1, 0x40000000, v3", TWO, 0, ONE, 0x40a00000},
        {"v_mov_b32_e32 v0, v3\nv_fmac_f32_e32 v0, v1, v2", TWO, TWO, ONE, 0x40a00000},
        {"v_max_f32_e32 v0, v1, v2", 0x80000000, 0, 0, 0},
        {"v_min_f32_e32 v0, v1, v2", 0, 0x80000000, 0, NEGATIVE},
        {"v_max_f32_e32 v0, v1, v2", 0x7fc00000, ONE, 0, ONE},
        {"v_max_f32_e32 v0, v1, v2", 0x7f800001, ONE, 0, 0x7fc00001}, /* signaling, in IEEE mode */
        {"v_min_f32_e32 v0, v1, v2", ONE, 0xff800000, 0, 0xff800000},
        {"v_max3_f32 v0, v1, v2, v3", ONE, 0x40400000, TWO, 0x40400000},
        {"v_min3_f32 v0, v1, v2, v3", ONE, 0x40400000, 0xc0000000, 0xc0000000},
        {"v_maxmin_f32 v0, v1, v2, v3", ONE, 0x40400000, TWO, TWO},
        {"v_minmax_f32 v0, v1, v2, v3", ONE, 0x40400000, TWO, TWO},
        {"v_med3_f32 v0, v1, v2, v3", ONE, 0x40400000, TWO, TWO},
        {"v_rndne_f32_e32 v0, v1", 0x3f000000, 0, 0, 0},
        {"v_rndne_f32_e32 v0, v1", 0x3fc00000, 0, 0, TWO},
        {"v_trunc_f32_e32 v0, v1", 0xbfc00000, 0, 0, 0xbf800000},
        {"v_floor_f32_e32 v0, v1", 0xbfc00000, 0, 0, 0xc0000000},
        {"v_ceil_f32_e32 v0, v1", 0x3fc00000, 0, 0, TWO},
        {"v_fract_f32_e32 v0, v1", 0xbfc00000, 0, 0, 0x3f000000},
        {"v_ldexp_f32 v0, v1, v2", ONE, 5, 0, 0x42000000},
        {"v_frexp_mant_f32_e32 v0, v1", 0x40400000, 0, 0, 0x3f400000},
        {"v_frexp_exp_i32_f32_e32 v0, v1", 0x40400000, 0, 0, 2},
        {"v_rcp_iflag_f32_e32 v0, v1", 0x40800000, 0, 0, 0x3e800000},
        {"v_rcp_f32_e32 v0, v1", 0, 0, 0, INFINITE}};
    (void)state;
    CHECK(rows);
}

static void conversions(void **state) {
    static const struct row rows[] = {
        {"v_cvt_f32_u32_e32 v0, v1", 0xffffffff, 0, 0, 0x4f800000},
        {"v_cvt_f32_i32_e32 v0, v1", 0xffffffff, 0, 0, 0xbf800000},
        {"v_cvt_f32_ubyte2_e32 v0, v1", 0x00050000, 0, 0, 0x40a00000},
        {"v_cvt_u32_f32_e32 v0, v1", 0xbf800000, 0, 0, 0}, /* out of range: the nearest */
        {"v_cvt_u32_f32_e32 v0, v1", 0x4f800000, 0, 0, 0xffffffff},
        {"v_cvt_u32_f32_e32 v0, v1", 0x40f80000, 0, 0, 7}, /* 7.75 */
        {"v_cvt_u32_f32_e32 v0, v1", 0x7fc00000, 0, 0, 0},
        {"v_cvt_i32_f32_e32 v0, v1", 0xc0f80000, 0, 0, 0xfffffff9},
        {"v_cvt_i32_f32_e32 v0, v1", 0xff800000, 0, 0, NEGATIVE},
        {"v_cvt_flr_i32_f32_e32 v0, v1", 0xbfc00000, 0, 0, 0xfffffffe},
        {"v_cvt_f64_f32_e32 v[4:5], v1\nv_mov_b32_e32 v0, v5", ONE, 0, 0, 0x3ff00000},
        {"v_cvt_f64_u32_e32 v[4:5], v1\nv_cvt_f32_f64_e32 v0, v[4:5]", 3, 0, 0, 0x40400000}};
    (void)state;
    CHECK(rows);
}

static void integers(void **state) {
    static const struct row rows[] = {
        {"v_add_nc_u32_e32 v0, v1, v2", 0xffffffff, 2, 0, 1},
        {"v_add_u32_e32 v0, 64, v2", 0, 2, 0, 66},
        {"v_sub_nc_u32_e32 v0, v1, v2", 1, 2, 0, 0xffffffff},
        {"v_subrev_nc_u32_e32 v0, s5, v1", 9, 2, 0, 7},
        {"v_sub_nc_u32_e64 v0, v1, v2 clamp", 1, 2, 0, 0}, /* the nearest that there is */
        {"v_add_nc_u32_e64 v0, v1, v2 clamp", 0xffffffff, 2, 0, 0xffffffff},
        {"v_add_nc_i32 v0, v1, v2 clamp", 0x7fffffff, 2, 0, 0x7fffffff},
        {"v_lshlrev_b32_e32 v0, 2, v2", 0, 0x40000001, 0, 4},
        {"v_lshrrev_b32_e32 v0, v1, v2", 33, 0x80000000, 0, 0x40000000}, /* modulo 32 */
        {"v_ashrrev_i32_e32 v0, v1, v2", 31, 0x80000000, 0, 0xffffffff},
        {"v_mul_lo_u32 v0, v1, v2", 0x10001, 0x10001, 0, 0x20001},
        {"v_mul_hi_u32 v0, v1, v2", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
        {"v_mul_hi_i32 v0, v1, v2", 0xffffffff, 2, 0, 0xffffffff},
        {"v_mul_u32_u24_e32 v0, v1, v2", 0xff000003, 4, 0, 12},
        {"v_mul_i32_i24_e32 v0, v1, v2", 0x00ffffff, 4, 0, 0xfffffffc},
        {"v_mad_u32_u24 v0, v1, v2, v3", 3, 4, 5, 17},
        {"v_mad_i32_i24 v0, v1, v2, v3", 0x00ffffff, 4, 5, 1},
        {"v_lshl_add_u32 v0, v1, v2, v3", 3, 2, 1, 13},
        {"v_add_lshl_u32 v0, v1, v2, v3", 3, 2, 1, 10},
        {"v_lshl_or_b32 v0, v1, 4, v3", 1, 0, 2, 0x12},
        {"v_and_or_b32 v0, v1, v2, v3", 6, 3, 8, 10},
        {"v_or3_b32 v0, v1, v2, v3", 1, 2, 4, 7},
        {"v_add3_u32 v0, v1, v2, v3", 1, 2, 4, 7},
        {"v_xad_u32 v0, v1, v2, v3", 5, 3, 10, 16},
        {"v_bfi_b32 v0, v1, v2, v3", 0xf0, 0xab, 0xcd, 0xad},
        {"v_bfe_u32 v0, v1, v2, v3", 0xabcd1234, 8, 12, 0xd12},
        {"v_bfe_i32 v0, v1, v2, v3", 0xabcd1234, 8, 12, 0xfffffd12},
        {"v_bfe_i32 v0, v1, v2, v3", 0xabcd1234, 28, 8, 0xfffffffa},
        {"v_bfe_u32 v0, v1, v2, v3", 0xabcd1234, 8, 32, 0}, /* width modulo 32 */
        {"v_alignbit_b32 v0, v1, v2, v3", 0x12, 0x34000000, 24, 0x1234},
        {"v_alignbyte_b32 v0, v1, v2, v3", 0x12, 0x34000000, 3, 0x1234},
        {"v_perm_b32 v0, v1, v2, v3", 0x44332211, 0x88776655, 0x0c0d0007, 0x00ff5544},
        {"v_max_u32_e32 v0, v1, v2", 1, 0xffffffff, 0, 0xffffffff},
        {"v_max_i32_e32 v0, v1, v2", 1, 0xffffffff, 0, 1},
        {"v_min_u32_e32 v0, v1, v2", 1, 0xffffffff, 0, 1},
        {"v_min_i32_e32 v0, v1, v2", 1, 0xffffffff, 0, 0xffffffff},
        {"v_max3_u32 v0, v1, v2, v3", 1, 9, 5, 9},
        {"v_max3_i32 v0, v1, v2, v3", 0xffffffff, 0xfffffffe, 0xfffffffd, 0xffffffff},
        {"v_min3_i32 v0, v1, v2, v3", 1, 0xfffffffe, 0, 0xfffffffe},
        {"v_med3_i32 v0, v1, v2, v3", 0xffffffff, 5, 3, 3},
        {"v_med3_u32 v0, v1, v2, v3", 0xffffffff, 5, 3, 5},
        {"v_maxmin_i32 v0, v1, v2, v3", 0xffffffff, 5, 3, 3},
        {"v_minmax_i32 v0, v1, v2, v3", 0xffffffff, 5, 3, 3},
        {"v_minmax_u32 v0, v1, v2, v3", 0xffffffff, 5, 3, 5},
        {"v_maxmin_u32 v0, v1, v2, v3", 0xffffffff, 5, 3, 3},
        {"v_cvt_i32_i16_e32 v0, v1", 0x18000, 0, 0, 0xffff8000},
        {"v_cvt_u32_u16_e32 v0, v1", 0x18000, 0, 0, 0x8000},
        {"v_not_b16_e32 v0, v1", 1, 0, 0, 0xfffe},
        {"v_sad_u32 v0, v1, v2, v3", 3, 9, 1, 7},
        {"v_bfrev_b32_e32 v0, v1", 1, 0, 0, NEGATIVE},
        {"v_bcnt_u32_b32 v0, v1, v2", 0xff, 2, 0, 10},
        {"v_ffbh_u32_e32 v0, v1", 0x00010000, 0, 0, 15},
        {"v_ffbh_u32_e32 v0, v1", 0, 0, 0, 0xffffffff},
        {"v_ffbl_b32_e32 v0, v1", 0x00010000, 0, 0, 16},
        {"v_ffbh_i32_e32 v0, v1", 0xffff0000, 0, 0, 16},
        {"v_xnor_b32_e32 v0, v1, v2", 0xf, 0x3, 0, 0xfffffff3},
        {"v_not_b32_e32 v0, v1", 0xf, 0, 0, 0xfffffff0},
        {"v_dot2_i32_i16 v0, v1, v2, v3", 0xffff0003, 0x00020005, 100, 113}, /* 15 - 2 */
        {"v_dot2_u32_u16 v0, v1, v2, v3", 0xffff0003, 0x00020005, 1, 0x2000e},
        {"v_dot4_i32_i8 v0, v1, v2, v3", 0xff020304, 0x01020304, 100, 128}, /* -1 + 4 + 9 + 16 */
        /* bytes 4, 3, 2 and 255 or -1, with themselves */
        {"v_dot4_i32_iu8 v0, v1, v2, v3", 0xff020304, 0xff020304, 100, 65154},
        {"v_dot4_i32_iu8 v0, v1, v2, v3 neg_lo:[1,0,0]", 0xff020304, 0xff020304, 100, 0xffffff82},
        {"v_dot4_i32_iu8 v0, v1, v2, v3 neg_lo:[1,1,0]", 0xff020304, 0xff020304, 100, 130},
        {"v_mul_lo_u16 v0, v1, v2", 0x10003, 0x8001, 0, 0x8003},
        {"v_mad_u16 v0, v1, v2, v3", 3, 4, 0xfffff, 11},
        {"v_sub_nc_u16 v0, v1, v2", 1, 2, 0, 0xffff},
        {"v_lshlrev_b16 v0, v1, v2", 15, 3, 0, 0x8000}};
    (void)state;
    CHECK(rows);
}

/* SDWA's parts of registers, and DPP's other lanes. */
static void parts_and_lanes(void **state) {
    static const struct row rows[] = {
        {"v_add_u32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 "
         "src1_sel:DWORD",
         0x1234, 1, 0, 0x13},
        {"v_add_u32_sdwa v0, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 "
         "src1_sel:DWORD",
         0xff, 3, 0, 2},
        {"v_lshlrev_b32_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD "
         "src1_sel:WORD_0",
         4, 0x50001, 0, 0x00100007},
        {"v_mov_b32_sdwa v0, v1 dst_sel:BYTE_2 dst_unused:UNUSED_PAD src0_sel:BYTE_3", 0xab000000,
         0, 0, 0x00ab0000}};
    (void)state;
    CHECK(rows);
    struct machine *m = machine_begin(32);
    for (uint32_t i = 0; i < 32; i++) {
        m->wave.v[1][i] = 100 + i;
        m->wave.v[0][i] = 7;
    }
    machine_run(m, "v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n"
                   "v_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0\n"
                   "v_mov_b32_dpp v3, v1 row_ror:4 row_mask:0x1 bank_mask:0xf");
    assert_int_equal(m->wave.v[0][4], 105);
    assert_int_equal(m->wave.v[2][0], 0);
    assert_int_equal(m->wave.v[2][17], 116);
    assert_int_equal(m->wave.v[2][16], 0);
    assert_int_equal(m->wave.v[3][0], 112);
    assert_int_equal(m->wave.v[3][16], 0); /* the row is masked out */
}

/* ---- many values, against float64 ---- */

static uint32_t next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16 | *state << 16;
}

/* Products of floats are exact in float64, and a sum of two rounds to float as the exact one does. */
static void sums_and_products(void **state) {
    uint32_t seed = 1;
    (void)state;
    for (uint32_t n = 0; n < 2000; n++) {
        struct machine *m = machine_begin(32);
        amd_mode_set(&m->wave, 0x3f0); /* subnormals are kept */
        for (uint32_t i = 0; i < 32; i++) {
            m->wave.v[1][i] = next(&seed) & 0xbfffffffu;
            m->wave.v[2][i] = next(&seed) & 0xbfffffffu;
        }
        machine_run(m, "v_add_f32_e32 v3, v1, v2\nv_mul_f32_e32 v4, v1, v2");
        for (uint32_t i = 0; i < 32; i++) {
            const double a = amd_f32(m->wave.v[1][i]), b = amd_f32(m->wave.v[2][i]);
            assert_int_equal(m->wave.v[3][i], amd_bits((float)(a + b)));
            assert_int_equal(m->wave.v[4][i], amd_bits((float)(a * b)));
        }
    }
}

/* The mode register's rounding, of 1 + 2^-24: half a unit above 1. */
static void rounding(void **state) {
    static const uint32_t expected[4] = {ONE, 0x3f800001, ONE, ONE};
    (void)state;
    for (uint32_t mode = 0; mode < 4; mode++) {
        struct machine *m = machine_begin(32);
        m->wave.s[0] = mode;
        m->wave.v[1][0] = ONE;
        m->wave.v[2][0] = 0x33800000;
        m->wave.v[5][0] = 0xbf800000;
        machine_run(m, "s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s0\nv_add_f32_e32 v3, v1, v2\n"
                       "v_sub_f32_e32 v4, v5, v2");
        assert_int_equal(m->wave.v[3][0], expected[mode]);
        assert_int_equal(m->wave.v[4][0], mode == 2 ? 0xbf800001 : 0xbf800000);
    }
}

/* s_denorm_mode 3: nothing is flushed. */
static void subnormals(void **state) {
    struct machine *m = machine_begin(32);
    (void)state;
    m->wave.v[1][0] = 0x00400000;
    m->wave.v[2][0] = 0x00400001;
    machine_run(m, "v_add_f32_e32 v3, v1, v2\ns_denorm_mode 15\nv_add_f32_e32 v4, v1, v2\n"
                   "s_denorm_mode 13\nv_add_f32_e32 v5, v1, v1\nv_mul_f32_e32 v6, 1.0, v1");
    assert_int_equal(m->wave.v[3][0], 0);
    assert_int_equal(m->wave.v[4][0], 0x00800001);
    assert_int_equal(m->wave.v[5][0], 0x00800000); /* only results: this one is normal */
    assert_int_equal(m->wave.v[6][0], 0);
}

/* Judged before rounding, 2^-126 (1 - 2^-26) is subnormal. */
static void tiny_before(void **state) {
    struct machine *m = machine_begin(32);
    (void)state;
    m->dispatch.tiny_before = true;
    amd_mode_set(&m->wave, 0x3c0);
    m->wave.v[1][0] = 0x3a800400;
    m->wave.v[2][0] = 0x057ff800;
    machine_run(m, "v_mul_f32_e32 v3, v1, v2\nv_fma_f32 v4, v1, v2, 0");
    assert_int_equal(m->wave.v[3][0], 0);
    assert_int_equal(m->wave.v[4][0], 0);
}

static void of_64_bits(void **state) {
    struct machine *m = machine_begin(32);
    (void)state;
    m->wave.v[2][0] = 0x00000001;
    m->wave.v[3][0] = 0x80000000;
    m->wave.v[7][0] = 0x3ff80000; /* 1.5 */
    machine_run(m, "v_lshlrev_b64 v[4:5], 1, v[2:3]\nv_ashrrev_i64 v[8:9], 63, v[2:3]\n"
                   "v_lshrrev_b64 v[12:13], 31, v[2:3]\nv_fma_f64 v[10:11], v[6:7], v[6:7], 1.0\n"
                   "v_add_f64 v[14:15], v[6:7], -v[6:7]\nv_mul_f64 v[16:17], v[6:7], 0x40080000");
    assert_int_equal(m->wave.v[4][0], 2);
    assert_int_equal(m->wave.v[5][0], 0);
    assert_int_equal(m->wave.v[8][0], 0xffffffff);
    assert_int_equal(m->wave.v[13][0], 1);
    assert_int_equal(m->wave.v[12][0], 0);
    assert_int_equal(m->wave.v[11][0], 0x400a0000); /* 3.25 */
    assert_int_equal(m->wave.v[15][0], 0);
    assert_int_equal(m->wave.v[17][0], 0x40120000); /* 4.5 */
}

/* ---- masks ---- */

static void comparisons(void **state) {
    struct machine *m = machine_begin(32);
    (void)state;
    for (uint32_t i = 0; i < 32; i++) {
        m->wave.v[1][i] = i;
        m->wave.v[2][i] = i == 3 ? 0x7fc00000 : i == 4 ? 0x80000000 : amd_bits((float)i - 5);
    }
    m->wave.s[AMD_EXEC] = 0xff;
    machine_run(m, "v_cmp_gt_u32_e32 vcc_lo, 4, v1\nv_cmp_lt_f32_e64 s0, v2, 0\n"
                   "v_cmp_nlt_f32_e64 s1, v2, 0\nv_cmp_u_f32_e64 s2, v2, v2\n"
                   "v_cmp_class_f32_e64 s3, v2, 32\nv_cndmask_b32_e32 v3, -1, v1, vcc_lo\n"
                   "v_cmp_gt_i32_e64 s4, 0, -1\nv_cmpx_ne_u32_e32 2, v1");
    assert_int_equal(m->wave.s[AMD_VCC], 0x0f);
    assert_int_equal(m->wave.s[0], 0x07); /* -5, -4, -3; NaN, -0, 0, 1, 2 */
    assert_int_equal(m->wave.s[1], 0xf8);
    assert_int_equal(m->wave.s[2], 0x08);
    assert_int_equal(m->wave.s[3], 0x10); /* negative zero */
    assert_int_equal(m->wave.s[4], 0xff);
    assert_int_equal(m->wave.v[3][3], 3);
    assert_int_equal(m->wave.v[3][4], 0xffffffff);
    assert_int_equal(m->wave.s[AMD_EXEC], 0xfb);
    m = machine_begin(64);
    m->wave.v[1][40] = 1;
    machine_run(m, "v_cmpx_eq_u32_e32 vcc, 1, v1");
    assert_int_equal(m->wave.s[AMD_VCC + 1], 0x100);
    assert_int_equal(m->wave.s[AMD_EXEC + 1], 0x100);
    assert_int_equal(m->wave.s[AMD_EXEC], 0);
}

/* A bit of the mask for each class: a signaling NaN, a quiet one, and from -infinity to +infinity. */
static void classes_of_16_bits(void **state) {
    static const struct {
        uint32_t bits, mask;
    } rows[] = {{0x7c01, 1 << 0}, {0x7e00, 1 << 1}, {0xfc00, 1 << 2}, {0xbc00, 1 << 3},
                {0x8001, 1 << 4}, {0x8000, 1 << 5}, {0x0000, 1 << 6}, {0x03ff, 1 << 7},
                {0x0400, 1 << 8}, {0x7c00, 1 << 9}};
    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct machine *m = machine_begin(64);
        m->wave.v[1][0] = m->wave.v[1][1] = rows[i].bits;
        m->wave.v[2][0] = rows[i].mask;
        m->wave.v[2][1] = 0x3ff & ~rows[i].mask;
        machine_run(m, "v_cmp_class_f16_e32 vcc, v1, v2\nv_cmp_class_f16_e64 s[0:1], 0x7c01, v2");
        assert_int_equal(m->wave.s[AMD_VCC] & 3u, 1);
        assert_int_equal(m->wave.s[0] & 3u, i == 0 ? 1 : 2);
    }
}

static void carries(void **state) {
    struct machine *m = machine_begin(32);
    (void)state;
    m->wave.v[1][0] = 0xffffffff;
    m->wave.v[2][0] = 2;
    m->wave.v[1][1] = 5;
    m->wave.v[2][1] = 7;
    machine_run(m,
                "v_add_co_u32 v3, vcc_lo, v1, v2\nv_add_co_ci_u32_e32 v4, vcc_lo, 0, v1, vcc_lo\n"
                "v_sub_co_u32 v5, s0, v1, v2\nv_sub_co_ci_u32_e64 v6, s1, v2, v2, s0\n"
                "v_mad_u64_u32 v[8:9], s2, v1, v2, v[2:3]");
    assert_int_equal(m->wave.v[3][0], 1);
    assert_int_equal(m->wave.v[4][0], 0); /* 0xffffffff and the carry */
    assert_int_equal(m->wave.s[AMD_VCC], 1);
    assert_int_equal(m->wave.v[3][1], 12);
    assert_int_equal(m->wave.v[4][1], 5);
    assert_int_equal(m->wave.v[5][1], 0xfffffffe);
    assert_int_equal(m->wave.s[0], 2);
    assert_int_equal(m->wave.v[6][1], 0xffffffff);
    assert_int_equal(m->wave.s[1], 2);
    assert_int_equal(m->wave.v[8][0], 0); /* 2 * (2^32 - 1) + 2 + 2^32 = 3 * 2^32 */
    assert_int_equal(m->wave.v[9][0], 3);
    assert_int_equal(m->wave.v[8][1], 42);
    assert_int_equal(m->wave.v[9][1], 12);
}

static void single_lanes(void **state) {
    struct machine *m = machine_begin(32);
    (void)state;
    for (uint32_t i = 0; i < 32; i++) {
        m->wave.v[1][i] = 10 + i;
        m->wave.v[2][i] = 50 + i;
    }
    m->wave.s[AMD_EXEC] = 0x18;
    m->wave.s[AMD_M0] = 1;
    machine_run(m,
                "v_readfirstlane_b32 s0, v1\nv_readlane_b32 s1, v1, 33\nv_writelane_b32 v5, s1, 7\n"
                "v_mbcnt_lo_u32_b32 v6, -1, 2\nv_movrels_b32_e32 v7, v1\nv_movreld_b32_e32 v7, v1\n"
                "v_swap_b32 v1, v2");
    assert_int_equal(m->wave.s[0], 13);
    assert_int_equal(m->wave.s[1], 11); /* lane 33 modulo 32 */
    assert_int_equal(m->wave.v[5][7], 11);
    assert_int_equal(m->wave.v[6][4], 6);
    assert_int_equal(m->wave.v[7][3], 53);
    assert_int_equal(m->wave.v[8][3], 13);
    assert_int_equal(m->wave.v[1][3], 53);
    assert_int_equal(m->wave.v[2][3], 13);
    m = machine_begin(64);
    m->wave.s[4] = 2;
    m->wave.v[3][9] = 77;
    machine_run(m, "s_set_gpr_idx_on s4, gpr_idx(SRC0)\nv_mov_b32_e32 v10, v1\ns_set_gpr_idx_off\n"
                   "s_set_gpr_idx_on s4, gpr_idx(DST)\nv_mov_b32_e32 v11, v3\ns_set_gpr_idx_off");
    assert_int_equal(m->wave.v[10][9], 77);
    assert_int_equal(m->wave.v[13][9], 77);
}

/* Sums of 16 products of bytes, by rows and columns; the second factor has no signs. */
static void matrices_of_bytes(void **state) {
    uint32_t seed = 3;
    (void)state;
    struct machine *m = machine_begin(32);
    for (uint32_t i = 0; i < 32; i++) {
        for (uint32_t r = 0; r < 4; r++) {
            m->wave.v[r][i] = i < 16 ? next(&seed) : m->wave.v[r][i - 16];
            m->wave.v[4 + r][i] = i < 16 ? next(&seed) : m->wave.v[4 + r][i - 16];
        }
        for (uint32_t r = 0; r < 8; r++) {
            m->wave.v[8 + r][i] = next(&seed);
        }
    }
    m->wave.s[AMD_EXEC] = 1; /* is ignored */
    machine_run(m, "v_wmma_i32_16x16x16_iu8 v[16:23], v[0:3], v[4:7], v[8:15] neg_lo:[1,0,0]\n"
                   "v_wmma_i32_16x16x16_iu8 v[24:31], v[0:3], v[4:7], 0");
    for (uint32_t row = 0; row < 16; row++) {
        for (uint32_t column = 0; column < 16; column++) {
            const uint32_t r = row / 2, lane = row % 2 * 16 + column;
            uint32_t mixed = m->wave.v[8 + r][lane], plain = 0;
            for (uint32_t k = 0; k < 16; k++) {
                const uint32_t a = m->wave.v[k / 4][row] >> (k % 4 * 8) & 255u;
                const uint32_t b = m->wave.v[4 + k / 4][column] >> (k % 4 * 8) & 255u;
                mixed += (uint32_t)((int32_t)(int8_t)a * (int32_t)b);
                plain += a * b;
            }
            assert_int_equal(m->wave.v[16 + r][lane], mixed);
            assert_int_equal(m->wave.v[24 + r][lane], plain);
        }
    }
    m->wave.v[1][20]++;
    machine_refuses(m, "v_wmma_i32_16x16x16_iu8 v[16:23], v[0:3], v[4:7], v[8:15]",
                    "lanes 4 and 20");
    m = machine_begin(64);
    machine_refuses(m, "v_wmma_i32_16x16x16_iu8 v[16:23], v[0:3], v[4:7], v[8:15]", "of 64");
}

/* Nothing that is not known is passed over. */
static void refusals(void **state) {
    struct amd_instruction unused;
    char error[AMD_TEXT];
    (void)state;
    static const char *const lines[][2] = {{"v_exp_f32_e32 v0, v1", "v_exp_f32"},
                                           {"v_sqrt_f32_e32 v0, v1", "v_sqrt_f32"},
                                           {"v_mov_b32_e32 v0, src_shared_base", NULL},
                                           {"v_add_f32_e32 v0, v1, v2 wave_ror:1", "wave_ror"},
                                           {"v_mad_u16 v0, v1, v2, v3 op_sel:[0,1,0,0]", "op_sel"},
                                           {"v_dot4_i32_i8 v0, v1, v2, v3 op_sel_hi:[1,1,1]", NULL},
                                           {"image_sample v0, v1", "image_sample"}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const bool parses = amd_parse(&unused, lines[i][0], error);
        assert_int_equal(parses, lines[i][1] == NULL);
        assert_true(parses || strstr(error, lines[i][1]));
    }
    struct machine *m = machine_begin(32);
    machine_refuses(m, "v_mov_b32_e32 v0, src_shared_base", "no scalar (v_mov_b32 at byte 0");
    machine_refuses(m, "v_mov_b32_e32 v64, 0", "v64, and the wave has 64 registers");
    machine_refuses(m, "v_dot4_i32_i8 v0, v1, v2, v3 clamp", "clamp");
}

const struct CMUnitTest amd_vector_tests[] = {cmocka_unit_test(floats),
                                              cmocka_unit_test(conversions),
                                              cmocka_unit_test(integers),
                                              cmocka_unit_test(parts_and_lanes),
                                              cmocka_unit_test(sums_and_products),
                                              cmocka_unit_test(rounding),
                                              cmocka_unit_test(subnormals),
                                              cmocka_unit_test(of_64_bits),
                                              cmocka_unit_test(tiny_before),
                                              cmocka_unit_test(comparisons),
                                              cmocka_unit_test(classes_of_16_bits),
                                              cmocka_unit_test(carries),
                                              cmocka_unit_test(single_lanes),
                                              cmocka_unit_test(matrices_of_bytes),
                                              cmocka_unit_test(refusals)};
const size_t amd_vector_count = sizeof amd_vector_tests / sizeof amd_vector_tests[0];
