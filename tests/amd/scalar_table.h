/* SPDX-License-Identifier: MIT */
/* ROW(name, function, words of the result, of the first operand, of the second, what SCC becomes), for scalar.c, which takes it twice. */
/* clang-format off */
#define BOTH_BITWISE(name, function)                                                               \
    ROW(s_##name##_b32, function, 1, 1, 1, SCC_NOT_ZERO)                                           \
    ROW(s_##name##_b64, function, 2, 2, 2, SCC_NOT_ZERO)
#define COMPARISON(name, function) ROW(s_cmp_##name, function, 0, 1, 1, SCC_SET)

ROW(s_add_u32, add_u32, 1, 1, 1, SCC_SET) ROW(s_sub_u32, sub_u32, 1, 1, 1, SCC_SET)
ROW(s_addc_u32, addc_u32, 1, 1, 1, SCC_SET) ROW(s_subb_u32, subb_u32, 1, 1, 1, SCC_SET)
ROW(s_add_i32, add_i32, 1, 1, 1, SCC_SET) ROW(s_sub_i32, sub_i32, 1, 1, 1, SCC_SET)
ROW(s_mul_i32, mul_i32, 1, 1, 1, SCC_STAYS) ROW(s_mul_hi_u32, mul_hi_u32, 1, 1, 1, SCC_STAYS)
ROW(s_mul_hi_i32, mul_hi_i32, 1, 1, 1, SCC_STAYS) ROW(s_absdiff_i32, absdiff, 1, 1, 1, SCC_SET)
ROW(s_abs_i32, abs_i32, 1, 1, 0, SCC_SET)
ROW(s_lshl1_add_u32, lshl1_add, 1, 1, 1, SCC_SET) ROW(s_lshl2_add_u32, lshl2_add, 1, 1, 1, SCC_SET)
ROW(s_lshl3_add_u32, lshl3_add, 1, 1, 1, SCC_SET) ROW(s_lshl4_add_u32, lshl4_add, 1, 1, 1, SCC_SET)
ROW(s_min_i32, min_i32, 1, 1, 1, SCC_SET) ROW(s_max_i32, max_i32, 1, 1, 1, SCC_SET)
ROW(s_min_u32, min_u32, 1, 1, 1, SCC_SET) ROW(s_max_u32, max_u32, 1, 1, 1, SCC_SET)
ROW(s_mov_b32, mov, 1, 1, 0, SCC_STAYS) ROW(s_mov_b64, mov, 2, 2, 0, SCC_STAYS)
ROW(s_not_b32, not_, 1, 1, 0, SCC_NOT_ZERO) ROW(s_not_b64, not_, 2, 2, 0, SCC_NOT_ZERO)
BOTH_BITWISE(and, and_) BOTH_BITWISE(or, or_) BOTH_BITWISE(xor, xor_) BOTH_BITWISE(andn2, andn2)
BOTH_BITWISE(orn2, orn2) BOTH_BITWISE(nand, nand) BOTH_BITWISE(nor, nor) BOTH_BITWISE(xnor, xnor)
ROW(s_lshl_b32, lshl32, 1, 1, 1, SCC_NOT_ZERO) ROW(s_lshl_b64, lshl64, 2, 2, 1, SCC_NOT_ZERO)
ROW(s_lshr_b32, lshr32, 1, 1, 1, SCC_NOT_ZERO) ROW(s_lshr_b64, lshr64, 2, 2, 1, SCC_NOT_ZERO)
ROW(s_ashr_i32, ashr32, 1, 1, 1, SCC_NOT_ZERO) ROW(s_ashr_i64, ashr64, 2, 2, 1, SCC_NOT_ZERO)
ROW(s_bfm_b32, bfm32, 1, 1, 1, SCC_STAYS) ROW(s_bfm_b64, bfm64, 2, 1, 1, SCC_STAYS)
ROW(s_bfe_u32, bfe_u32, 1, 1, 1, SCC_NOT_ZERO) ROW(s_bfe_i32, bfe_i32, 1, 1, 1, SCC_NOT_ZERO)
ROW(s_bfe_u64, bfe_u64, 2, 2, 1, SCC_NOT_ZERO) ROW(s_bfe_i64, bfe_i64, 2, 2, 1, SCC_NOT_ZERO)
ROW(s_pack_ll_b32_b16, pack_ll, 1, 1, 1, SCC_STAYS) ROW(s_pack_lh_b32_b16, pack_lh, 1, 1, 1, SCC_STAYS)
ROW(s_pack_hh_b32_b16, pack_hh, 1, 1, 1, SCC_STAYS)
ROW(s_sext_i32_i8, sext8, 1, 1, 0, SCC_STAYS) ROW(s_sext_i32_i16, sext16, 1, 1, 0, SCC_STAYS)
ROW(s_cselect_b32, cselect, 1, 1, 1, SCC_STAYS) ROW(s_cselect_b64, cselect, 2, 2, 2, SCC_STAYS)
ROW(s_brev_b32, brev32, 1, 1, 0, SCC_STAYS) ROW(s_brev_b64, brev64, 2, 2, 0, SCC_STAYS)
ROW(s_bcnt1_i32_b32, bcnt1, 1, 1, 0, SCC_NOT_ZERO) ROW(s_bcnt1_i32_b64, bcnt1, 1, 2, 0, SCC_NOT_ZERO)
ROW(s_bcnt0_i32_b32, bcnt0_32, 1, 1, 0, SCC_NOT_ZERO) ROW(s_bcnt0_i32_b64, bcnt0_64, 1, 2, 0, SCC_NOT_ZERO)
ROW(s_ff1_i32_b32, ff1, 1, 1, 0, SCC_STAYS) ROW(s_ff1_i32_b64, ff1, 1, 2, 0, SCC_STAYS)
ROW(s_ff0_i32_b32, ff0, 1, 1, 0, SCC_STAYS)
ROW(s_flbit_i32_b32, flbit32, 1, 1, 0, SCC_STAYS) ROW(s_flbit_i32_b64, flbit64, 1, 2, 0, SCC_STAYS)
ROW(s_flbit_i32, flbit_i32, 1, 1, 0, SCC_STAYS)
ROW(s_wqm_b32, wqm, 1, 1, 0, SCC_NOT_ZERO) ROW(s_wqm_b64, wqm, 2, 2, 0, SCC_NOT_ZERO)
COMPARISON(eq_u32, eq) COMPARISON(eq_i32, eq) COMPARISON(lg_u32, lg) COMPARISON(lg_i32, lg)
COMPARISON(gt_u32, gt_u) COMPARISON(ge_u32, ge_u) COMPARISON(lt_u32, lt_u) COMPARISON(le_u32, le_u)
COMPARISON(gt_i32, gt_i) COMPARISON(ge_i32, ge_i) COMPARISON(lt_i32, lt_i) COMPARISON(le_i32, le_i)
ROW(s_cmp_eq_u64, eq, 0, 2, 2, SCC_SET) ROW(s_cmp_lg_u64, lg, 0, 2, 2, SCC_SET)
ROW(s_bitcmp0_b32, bitcmp0, 0, 1, 1, SCC_SET) ROW(s_bitcmp1_b32, bitcmp1, 0, 1, 1, SCC_SET)
ROW(s_bitcmp0_b64, bitcmp0_64, 0, 2, 1, SCC_SET) ROW(s_bitcmp1_b64, bitcmp1_64, 0, 2, 1, SCC_SET)
/* clang-format on */
#undef BOTH_BITWISE
#undef COMPARISON
