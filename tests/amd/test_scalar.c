/* SPDX-License-Identifier: MIT */
/* Scalar operations, branches and scalar loads against the formulas of AMD's documents. */
#include <string.h>

#include "test_amd.h"

/* s[2:3] and s[4:5] and SCC go in, s[0:1] and SCC come out. */
struct row {
    const char *line;
    uint64_t a, b;
    bool scc;
    uint64_t expected;
    bool then;
};

static uint64_t pair_at(const struct machine *m, uint32_t at) {
    return m->wave.s[at] | (uint64_t)m->wave.s[at + 1] << 32;
}

static void put_pair(struct machine *m, uint32_t at, uint64_t value) {
    m->wave.s[at] = (uint32_t)value;
    m->wave.s[at + 1] = (uint32_t)(value >> 32);
}

static void check_rows(const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct machine *m = machine_begin(64);
        put_pair(m, 2, rows[i].a);
        put_pair(m, 4, rows[i].b);
        m->wave.scc = rows[i].scc;
        machine_run(m, rows[i].line);
        if (pair_at(m, 0) != rows[i].expected || m->wave.scc != rows[i].then) {
            fail_msg("%s: %#llx and SCC %d, expected %#llx and %d", rows[i].line,
                     (unsigned long long)pair_at(m, 0), m->wave.scc,
                     (unsigned long long)rows[i].expected, rows[i].then);
        }
    }
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])

static void sums(void **state) {
    static const struct row rows[] = {
        {"s_add_u32 s0, s2, s4", 0xffffffff, 2, false, 1, true},
        {"s_addc_u32 s0, s2, s4", 0xffffffff, 0, true, 0, true},
        {"s_addc_u32 s0, s2, s4", 1, 2, false, 3, false},
        {"s_sub_u32 s0, s2, s4", 1, 2, false, 0xffffffff, true},
        {"s_subb_u32 s0, s2, s4", 2, 2, true, 0xffffffff, true},
        {"s_add_i32 s0, s2, s4", 0x7fffffff, 1, false, 0x80000000, true},
        {"s_add_i32 s0, s2, -1", 5, 0, true, 4, false},
        {"s_sub_i32 s0, s2, s4", 0x80000000, 1, false, 0x7fffffff, true},
        {"s_mul_i32 s0, s2, s4", 0xffffffff, 3, true, 0xfffffffd, true},
        {"s_mul_hi_u32 s0, s2, s4", 0xffffffff, 3, false, 2, false},
        {"s_mul_hi_i32 s0, s2, s4", 0xffffffff, 3, false, 0xffffffff, false},
        {"s_lshl2_add_u32 s0, s2, s4", 3, 5, false, 17, false},
        {"s_lshl1_add_u32 s0, s2, s4", 0x80000000, 1, false, 1, true},
        {"s_abs_i32 s0, s2", 0xfffffffe, 0, false, 2, true},
        {"s_absdiff_i32 s0, s2, s4", 3, 5, false, 2, true},
        {"s_min_i32 s0, s2, s4", 0xffffffff, 1, false, 0xffffffff, true},
        {"s_min_u32 s0, s2, s4", 0xffffffff, 1, true, 1, false},
        {"s_max_u32 s0, s2, s4", 0xffffffff, 1, false, 0xffffffff, true},
        {"s_max_i32 s0, s2, s4", 0xffffffff, 1, true, 1, false},
        {"s_movk_i32 s0, 0xfffe", 0, 0, true, 0xfffffffe, true},
        {"s_mov_b32 s0, 7\ns_addk_i32 s0, 0xffff", 0, 0, true, 6, false},
        {"s_mov_b32 s0, 7\ns_mulk_i32 s0, 0xffff", 0, 0, true, 0xfffffff9, true}};
    (void)state;
    CHECK(rows);
}

static void bits(void **state) {
    static const uint64_t wide = UINT64_C(0x8000000000000001);
    static const struct row rows[] = {
        {"s_and_b32 s0, s2, s4", 6, 9, true, 0, false},
        {"s_and_b64 s[0:1], s[2:3], s[4:5]", wide, UINT64_C(1) << 63, false, UINT64_C(1) << 63,
         true},
        {"s_or_b64 s[0:1], s[2:3], 1.0", 0, 0, false, UINT64_C(0x3ff0000000000000), true},
        {"s_xor_b32 s0, s2, -1", 5, 0, false, 0xfffffffa, true},
        {"s_andn2_b32 s0, s2, s4", 7, 2, false, 5, true},
        {"s_and_not1_b32 s0, s2, s4", 7, 2, false, 5, true},
        {"s_orn2_b32 s0, s2, s4", 1, 0xfffffff0, false, 0xf, true},
        {"s_nand_b32 s0, s2, s4", 7, 2, false, 0xfffffffd, true},
        {"s_nor_b32 s0, s2, s4", 7, 8, false, 0xfffffff0, true},
        {"s_xnor_b64 s[0:1], s[2:3], s[4:5]", 1, 1, false, UINT64_MAX, true},
        {"s_not_b64 s[0:1], s[2:3]", UINT64_MAX, 0, true, 0, false},
        {"s_lshl_b32 s0, s2, s4", 1, 33, false, 2, true},
        {"s_lshl_b64 s[0:1], s[2:3], s4", 1, 63, false, UINT64_C(1) << 63, true},
        {"s_lshr_b64 s[0:1], s[2:3], s4", wide, 63, false, 1, true},
        {"s_ashr_i32 s0, s2, 31", 0x80000000, 0, false, 0xffffffff, true},
        {"s_ashr_i64 s[0:1], s[2:3], 63", wide, 0, false, UINT64_MAX, true},
        {"s_bfe_u32 s0, s2, 0x80004", 0xabcd, 0, false, 0xbc, true},
        {"s_bfe_i32 s0, s2, 0x80004", 0xabcd, 0, false, 0xffffffbc, true},
        {"s_bfe_u64 s[0:1], s[2:3], 0x1003f", wide, 0, false, 1, true},
        {"s_bfe_i64 s[0:1], s[2:3], 0x1003f", wide, 0, false, UINT64_MAX, true},
        {"s_bfm_b32 s0, 4, 8", 0, 0, false, 0xf00, false},
        {"s_bitreplicate_b64_b32 s[0:1], s2", 0x80000005, 0, false, 0xc000000000000033, false},
        {"s_brev_b32 s0, s2", 1, 0, false, 0x80000000, false},
        {"s_bcnt1_i32_b64 s0, s[2:3]", wide, 0, false, 2, true},
        {"s_ff1_i32_b32 s0, s2", 0x100, 0, false, 8, false},
        {"s_ff1_i32_b64 s0, s[2:3]", UINT64_C(1) << 40, 0, false, 40, false},
        {"s_flbit_i32_b32 s0, s2", 0x100, 0, false, 23, false},
        {"s_flbit_i32_b32 s0, s2", 0, 0, false, 0xffffffff, false},
        {"s_flbit_i32 s0, s2", 0xfffffff0, 0, false, 28, false},
        {"s_sext_i32_i8 s0, s2", 0x80, 0, false, 0xffffff80, false},
        {"s_sext_i32_i16 s0, s2", 0x8000, 0, false, 0xffff8000, false},
        {"s_pack_ll_b32_b16 s0, s2, s4", 0x11112222, 0x33334444, false, 0x44442222, false},
        {"s_pack_lh_b32_b16 s0, s2, s4", 0x11112222, 0x33334444, false, 0x33332222, false},
        {"s_pack_hh_b32_b16 s0, s2, s4", 0x11112222, 0x33334444, false, 0x33331111, false},
        {"s_cselect_b32 s0, s2, s4", 1, 2, true, 1, true},
        {"s_cselect_b64 s[0:1], s[2:3], s[4:5]", 1, 2, false, 2, false},
        {"s_cmov_b32 s0, s2", 5, 0, false, 0, false},
        {"s_bitset1_b32 s0, 5", 0, 0, false, 32, false},
        {"s_mov_b32 s0, -1\ns_bitset0_b32 s0, 31", 0, 0, false, 0x7fffffff, false},
        {"s_wqm_b64 s[0:1], s[2:3]", 0x20, 0, false, 0xf0, true}};
    (void)state;
    CHECK(rows);
}

static void comparisons(void **state) {
    static const struct row rows[] = {
        {"s_cmp_gt_i32 s2, s4", 1, 0xffffffff, false, 0, true},
        {"s_cmp_gt_u32 s2, s4", 1, 0xffffffff, true, 0, false},
        {"s_cmp_le_i32 s2, s4", 0xffffffff, 1, false, 0, true},
        {"s_cmp_lt_u32 s2, s4", 1, 1, true, 0, false},
        {"s_cmp_ge_u32 s2, s4", 1, 1, false, 0, true},
        {"s_cmp_eq_u64 s[2:3], s[4:5]", UINT64_C(1) << 32, 0, true, 0, false},
        {"s_cmp_lg_u64 s[2:3], 0", UINT64_C(1) << 32, 0, false, 0, true},
        {"s_bitcmp1_b32 s2, 5", 32, 0, false, 0, true},
        {"s_bitcmp0_b32 s2, 5", 32, 0, true, 0, false},
        {"s_cmpk_eq_i32 s2, 0xffff", 0xffffffff, 0, false, 0, true}, /* a sign */
        {"s_cmpk_eq_u32 s2, 0xffff", 0xffffffff, 0, true, 0, false},
        {"s_cmpk_lt_i32 s2, 0xffff", 0xfffffffe, 0, false, 0, true},
        {"s_cmpk_gt_u32 s2, 0xffff", 0x10000, 0, false, 0, true}};
    (void)state;
    CHECK(rows);
}

static void saving(void **state) {
    struct machine *m = machine_begin(64);
    (void)state;
    m->wave.s[AMD_VCC] = 0xf0;
    m->wave.s[AMD_VCC + 1] = 1;
    put_pair(m, AMD_EXEC, 0x3c);
    machine_run(m, "s_and_saveexec_b64 s[0:1], vcc\ns_or_saveexec_b64 s[2:3], s[0:1]\n"
                   "s_andn2_saveexec_b64 s[4:5], vcc");
    assert_int_equal(pair_at(m, 0), 0x3c);
    assert_int_equal(pair_at(m, 2), 0x30);
    assert_int_equal(pair_at(m, 4), 0x3c);
    assert_true(pair_at(m, AMD_EXEC) == (UINT64_C(0x1000000f0) & ~UINT64_C(0x3c)));
    m = machine_begin(32);
    m->wave.s[0] = 6;
    m->wave.s[AMD_EXEC] = 3;
    machine_run(m, "s_xor_saveexec_b32 s1, s0\ns_mov_b32 exec_lo, s1");
    assert_int_equal(m->wave.s[1], 3);
    assert_int_equal(m->wave.s[AMD_EXEC], 3);
    m = machine_begin(32);
    m->wave.s[0] = 4;
    m->wave.s[AMD_EXEC] = 3;
    machine_run(m, "s_and_saveexec_b32 s1, s0");
    assert_int_equal(m->wave.s[AMD_EXEC], 0);
    assert_false(m->wave.scc);
}

static void relative(void **state) {
    struct machine *m = machine_begin(32);
    (void)state;
    m->wave.s[AMD_M0] = 3;
    m->wave.s[5] = 55;
    machine_run(
        m, "s_movrels_b32 s0, s2\ns_movreld_b32 s1, s0\ns_getreg_b32 s6, hwreg(HW_REG_MODE, 8, 2)");
    assert_int_equal(m->wave.s[0], 55);
    assert_int_equal(m->wave.s[4], 55);
    assert_int_equal(m->wave.s[6], 3);
    m->wave.s[AMD_M0] = 200;
    machine_refuses(m, "s_movrels_b32 s0, s2", "with 200 in M0");
    machine_refuses(m, "s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 2), s0", "hwreg(HW_REG_TRAPSTS");
}

static void loads(void **state) {
    struct machine *m = machine_begin(32);
    (void)state;
    for (uint32_t i = 0; i < 64; i++) {
        memcpy(m->memory + 4 * (size_t)i, &i, 4);
    }
    put_pair(m, 2, AMD_ADDRESS(AMD_REGION_BUFFERS) + 16);
    m->wave.s[9] = 8;
    machine_run(m, "s_load_dword s0, s[2:3], 0x4\ns_load_dwordx4 s[4:7], s[2:3], s9\n"
                   "s_load_b64 s[10:11], s[2:3], null\ns_load_dwordx8 s[12:19], s[2:3], -0x10");
    assert_int_equal(m->wave.s[0], 5);
    assert_int_equal(m->wave.s[7], 9);
    assert_int_equal(m->wave.s[11], 5);
    assert_int_equal(m->wave.s[12], 0);
    assert_int_equal(m->wave.s[19], 7);
    put_pair(m, 2, AMD_ADDRESS(AMD_REGION_BUFFERS) + sizeof m->memory - 4);
    machine_run(m, "s_load_dword s0, s[2:3], 0x0");
    machine_refuses(m, "s_load_dwordx2 s[0:1], s[2:3], 0x0",
                    "are outside of what the dispatch has");
}

/* Of a resource of 22 bytes: what is not wholly inside reads 0. */
static void buffer_loads(void **state) {
    struct machine *m = machine_begin(64);
    (void)state;
    for (uint32_t i = 0; i < 64; i++) {
        const uint32_t word = 100 + i;
        memcpy(m->memory + 4 * (size_t)i, &word, 4);
    }
    put_pair(m, 4, AMD_ADDRESS(AMD_REGION_BUFFERS) + 16);
    m->wave.s[6] = 22;
    m->wave.s[9] = 4;
    machine_run(m, "s_buffer_load_dword s0, s[4:7], 0x4\n"
                   "s_buffer_load_dwordx4 s[12:15], s[4:7], s9 offset:0x8\n"
                   "s_buffer_load_b64 s[16:17], s[4:7], s9");
    assert_int_equal(m->wave.s[0], 105);
    assert_int_equal(m->wave.s[12], 107);
    assert_int_equal(m->wave.s[13], 108);
    assert_int_equal(m->wave.s[14], 0);
    assert_int_equal(m->wave.s[15], 0);
    assert_int_equal(m->wave.s[17], 106);
    m->wave.s[5] |= 4u << 16;
    machine_refuses(m, "s_buffer_load_dword s0, s[4:7], 0x0", "a buffer with a stride");
}

const struct CMUnitTest amd_scalar_tests[] = {
    cmocka_unit_test(sums),        cmocka_unit_test(bits),     cmocka_unit_test(comparisons),
    cmocka_unit_test(saving),      cmocka_unit_test(relative), cmocka_unit_test(loads),
    cmocka_unit_test(buffer_loads)};
const size_t amd_scalar_count = sizeof amd_scalar_tests / sizeof amd_scalar_tests[0];
