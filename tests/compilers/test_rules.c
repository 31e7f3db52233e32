/* SPDX-License-Identifier: MIT */
/*
 * Lines of machine code, written by hand in the words of each vendor's instructions, that the rules have to let pass or to refuse: a
 * checker that sees nothing would pass everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "listing.h"
#include "modes.h"
#include "multiply_adds.h"
#include "ocloc_text.h"
#include "rules.h"
#include "sass_text.h"

struct sample {
    const char *code;
    const char *refused; /* how the words begin that say why; null: it is no breach */
};

static void check(const char *driver, weft_math math, const char *before,
                  const struct sample *samples, size_t count) {
    const struct weft_isa *isa = weft_isa_of(driver);
    assert_non_null(isa);
    for (size_t i = 0; i < count; i++) {
        char code[2048], why[256] = "";
        snprintf(code, sizeof code, "%s%s", before, samples[i].code);
        const bool breaks = weft_isa_breaks(isa, why, sizeof why, math, code);
        const char *refused = samples[i].refused;
        if (breaks != (refused != NULL) ||
            (refused && strncmp(why, refused, strlen(refused)) != 0)) {
            fail_msg("%s: \"%s\" is %s (%s)", driver, samples[i].code,
                     breaks ? "refused" : "let pass", why);
        }
    }
}

#define CHECK(driver, before, samples) \
    check(driver, WEFT_MATH_REPRODUCIBLE, before, samples, sizeof(samples) / sizeof(samples)[0])

static void test_amd(void **state) {
    (void)state;
    static const struct sample samples[] = {
        {"\tv_add_f32_e32 v1, v2, v3                    ; 06020702\n", NULL},
        {"\tv_mul_f32_e64 v1, s2, v3\n\tv_sub_f32_e32 v1, v1, v4\n", NULL},
        {"\tv_mad_f32 v1, v2, v3, v4\n\tv_mac_f32_e32 v1, v2, v3\n", NULL}, /* both are rounded */
        {"\tv_madak_f32 v1, v2, v3, 0x3f800000\n", NULL},
        {"\tv_fma_f32 v1, v2, v3, v4\n", "v_fma_f32"},
        {"\tv_fmac_f32_e32 v1, v2, v3\n", "v_fmac_f32"},
        {"\tv_fmaak_f32 v1, v2, v3, 0x3f800000\n", "v_fmaak_f32"},
        {"\tv_fmamk_f32 v1, v2, 0x3f800000, v3\n", "v_fmamk_f32"},
        {"\tv_pk_fma_f16 v1, v2, v3, v4\n", "v_pk_fma_f16"},
        {"\tv_fma_mix_f32 v1, v2, v3, v4\n", "v_fma_mix_f32"},
        {"\tv_dot2_f32_f16 v1, v2, v3, v4\n", "v_dot2_f32_f16"},
        {"\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]\n", "v_wmma"},
        {"\tv_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[12:15], v[0:7] neg_lo:[1,1,0]\n", NULL},
        {"\tv_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[12:15], v[0:7] clamp\n", "v_wmma"},
        {"\tv_dual_add_f32 v1, v2, v3 :: v_dual_mul_f32 v4, v5, v6\n", NULL},
        {"\tv_dual_add_f32 v1, v2, v3 :: v_dual_fmac_f32 v4, v5, v6\n", "v_dual_fmac_f32"},
        {"\tv_dual_fmac_f32 v1, v2, v3 :: v_dual_mul_f32 v4, v5, v6\n", "v_dual_fmac_f32"},
        {"\tv_exp_f32_e32 v1, v2\n", "v_exp_f32"},
        {"\tv_log_f32_e32 v1, v2\n", "v_log_f32"},
        {"\tv_rsq_f32_e32 v1, v2\n", "v_rsq_f32"},
        {"\tv_sqrt_f32_e32 v1, v2\n", "v_sqrt_f32"},
        {"\tv_sin_f32_e32 v1, v2\n", "v_sin_f32"},
        {"\tv_rcp_f32_e32 v1, v2\n", "v_rcp_f32"},
        {"\tv_cvt_f32_u32_e32 v2, v3\n\tv_rcp_iflag_f32_e32 v1, v3\n", "v_rcp_iflag_f32"},
        {"\tv_cvt_f32_u32_e32 v2, v3\n\tv_rcp_f32_e32 v1, v2\n", NULL},
        {"\tv_cvt_f32_u32_e32 v2, v3\n\tv_add_f32_e32 v2, v2, v3\n\tv_rcp_f32_e32 v1, v2\n",
         "v_rcp_f32"},
        {"\tv_mul_f32_e64 v1, v2, v3 mul:2\n", "v_mul_f32"},
        {"\ts_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0\n", "s_setreg"},
        {"\ts_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s0\n", NULL}, /* where it spills to */
        {"\ts_denorm_mode 15\n", "s_denorm_mode"},
        {"\ts_round_mode 3\n", "s_round_mode"},
        {"BB3:\n\ts_mul_i32 s1, s2, s3\n\ts_cbranch_scc1 BB3\n", NULL},
    };
    CHECK("radv", "", samples);
}

static void test_intel(void **state) {
    (void)state;
    static const char modes[] = "(W)     and (1)   cr0   cr0<0>   0xffffff4f   {A@1}\n";
    static const struct sample samples[] = {
        {"        add (16)   r12:f   r14:f   r16:f   {F@1}\n", NULL},
        {"(W&f0.0) mul (8)   r12:f   r14<0>:f   r16:f\n", NULL},
        {"        mad (16)   r12:d   r14:d   r16:d   r18:d\n", NULL},
        {"        mad (16)   r12:f   r14:f   r16:f   r18:f\n", "mad"},
        {"        mad.sat (16)   r12:hf   r14:hf   r16:hf   r18:hf\n", "mad"},
        {"        dpas.8x8 (8)   r12   r14   r16   r18\n", "dpas"},
        {"        dpas.8x8 (8)   r12:f   r14:f   r16:hf   r18:hf\n", "dpas"},
        {"        dpas.8x8 (8)   r12:d   r14:d   r16:b   r18:b\n", NULL},
        {"        dpas.8x8.sat (8)   r12:d   r14:d   r16:b   r18:b\n", "dpas"},
        {"        math.exp (16)   r12:f   r14:f   null:f\n", "math.exp"},
        {"        math.sqt (16)   r12:f   r14:f   null:f\n", "math.sqt"},
        {"        math.intdiv (8)   r12   r14   r16\n", NULL},
        {"        math.inv (16)   r12:f   r14:f   null:f\n", "math.inv"},
        {"        mov (16)   r14:f   r10\n        math.inv (16)   r12:f   r14:f   null:f\n", NULL},
        {"        mov (16)   r14:f   r10:f\n        math.inv (16)   r12:f   r14:f   null:f\n",
         "math.inv"},
        {"(W)     or (1)   cr0   cr0<0>   0x00000080\n", "or"},   /* keeps subnormals */
        {"(W)     and (1)   cr0   cr0<0>   0xffffffcf\n", "and"}, /* as they were */
        {"(W)     mov (1)   cr0   0x00000030\n", "mov"},          /* towards zero */
    };
    CHECK("Intel open-source Mesa driver", modes, samples);
    const struct weft_isa *isa = weft_isa_of("Intel open-source Mesa driver");
    assert_false(weft_isa_lacks_modes(isa, modes));
    assert_true(weft_isa_lacks_modes(isa, samples[0].code));
    assert_false(weft_isa_lacks_modes(weft_isa_of("radv"), "\ts_endpgm\n"));
}

static void test_nvidia(void **state) {
    (void)state;
    static const struct sample samples[] = {
        {"    r1 = fadd.ftz r2 -r3 // delay=4\n", NULL},
        {"    @p0 r1 = fmul.ftz r2 0x40000000 // delay=4\n", NULL},
        {"    r1 = fadd r2 r3\n", "fadd"}, /* keeps subnormals */
        {"    r1 = fmul r2 r3\n", "fmul"},
        {"    r1 = fadd.ftz.rz r2 r3\n", "fadd.ftz.rz"},
        {"    r1 = fmul.rm.ftz r2 r3\n", "fmul.rm.ftz"},
        {"    r1 = fadd.rp.ftz r2 r3\n", "fadd.rp.ftz"},
        {"    r1 = ffma.ftz r2 r3 r4\n", "ffma"},
        {"    r1 = hfma2 r2 r3 r4\n", "hfma2"},
        {"    r0..4 = hmma.m16n8k16.f32 r4..8 r8..10 r0..4\n", "hmma"},
        {"    r1 = imad r2 r3 r4\n", NULL},
        {"    r1 = mufu.exp2.f32 r2\n", "mufu.exp2"},
        {"    r1 = mufu.rcp.f32 r2\n", "mufu.rcp"},
        {"    r2 = i2f.f32.u32 r3\n    r1 = mufu.rcp.f32 r2\n", NULL},
        {"    ur2 = i2f.f32.u32 ur3\n    r1 = mufu.rcp.f32 r2\n", "mufu.rcp"},
    };
    CHECK("NVK", "", samples);
}

static void test_ptxas(void **state) {
    (void)state;
    static const struct sample samples[] = {
        {"FADD.FTZ R1, R2, -R3\n", NULL},
        {"@!P0 FMUL.FTZ R1, R2, c[0x0][0x160]\n", NULL},
        {"FADD R1, R2, R3\n", "FADD"}, /* keeps subnormals */
        {"@P0 FMUL R1, R2, R3\n", "FMUL"},
        {"FMNMX R1, R2, R3, !PT\n", "FMNMX"},
        {"FMNMX.FTZ R1, R2, R3, !PT\n", NULL},
        {"FSETP.GT.AND P0, PT, R1, R2, PT\n", "FSETP"},
        {"FSETP.GT.FTZ.AND P0, PT, R1, R2, PT\n", NULL},
        {"FSETP.GEU.OR P2, PT, |R29|, 2.3509887016445750159e-38, !P0\n", NULL},
        {"FSETP.GEU.OR P2, PT, |R29|, 1.0e-39, !P0\n", "FSETP"},
        {"FMNMX.NAN R3, R3, 1, PT\n", NULL},
        {"FMNMX.NAN R3, R3, RZ, PT\n", "FMNMX"},
        {"FRND.FTZ R1, R2\n", NULL},
        {"FADD.FTZ.RZ R1, R2, R3\n", "FADD.FTZ.RZ"},
        {"FMUL.FTZ.RM R1, R2, R3\n", "FMUL.FTZ.RM"},
        {"FADD.FTZ.RP R1, R2, R3\n", "FADD.FTZ.RP"},
        {"FADD.FTZ.SAT R1, R2, R3\n", "FADD.FTZ.SAT"},
        {"FFMA.FTZ R1, R2, R3, R4\n", "FFMA"},
        {"FFMA2.FTZ R2, R4, R6, R8\n", "FFMA2"},
        {"UFFMA.FTZ UR1, UR2, UR3, UR4\n", "FFMA"},
        {"UFADD.FTZ UR1, UR2, UR3\n", NULL},
        {"HFMA2 R1, R2, R3, R4\n", "HFMA2"},
        {"HFMA2 R1, -RZ, RZ, 1.875, 0\n", NULL}, /* moves */
        {"HFMA2.MMA R1, -RZ, RZ, R4, R5\n", NULL},
        {"HFMA2 R1, -RZ, R2, 1.875, 0\n", "HFMA2"},
        {"DFMA R2, R4, R6, R8\n", "DFMA"},
        {"HMMA.16816.F32 R0, R4, R8, R0\n", "HMMA"},
        {"IMMA.16832.S8.S8 R0, R4.ROW, R8.COL, R0\n", NULL},
        {"IMMA.16832.S8.S8.SAT R0, R4.ROW, R8.COL, R0\n", "IMMA"},
        {"IMAD.HI.U32 R1, R2, R3, R4\n", NULL},
        {"MUFU.EX2 R1, R2\n", "MUFU.EX2"},
        {"MUFU.RCP R1, R2\n", "MUFU.RCP"},
        {"I2F.U32.RP R2, R3\nMUFU.RCP R1, R2\n", NULL},
        {"UI2F.U32.RP UR2, UR3\nMUFU.RCP R1, UR2\n", NULL},
        {"I2F.U32.RP R2, R3\nMUFU.RCP R1, UR2\n", "MUFU.RCP"},
        {"I2F.U32 R2, R3\nMUFU.RCP R1, R2\n", "MUFU.RCP"}, /* a float, which is divided by */
        {"I2F.U32.RP R3, R4\nLDG.E.64 R2, [R6]\nMUFU.RCP R1, R3\n", "MUFU.RCP"},
        {"I2F.U32.RP R3, R4\nLDG.E.128 R0, [R6]\nMUFU.RCP R1, R3\n", "MUFU.RCP"},
    };
    CHECK("ptxas", ".L_x_1:\n", samples);
}

/* Intel's own compiler, which divides whole numbers while it rounds towards zero. */
static void test_ocloc(void **state) {
    (void)state;
#define TOGGLE "(W)     xor (1|M0)  cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x30:uw     {A@1}\n"
#define DIVIDE_BY(constant)                                             \
    TOGGLE "(W)     mov (1|M0)  r4.0<1>:f   r9.0<0;1,0>:ud\n"           \
           "(W)     mov (1|M0)  r4.1<1>:" constant "\n"                 \
           "(W)     math.inv (1|M0)  r4.2<1>:f   r4.0<0;1,0>:f  {$3}\n" \
           "(W)     mad (1|M0)  r4.3<1>:f   r4.2<0;0>:f   r4.1<0;0>:f   -r4.2<0>:f\n"
#define DIVIDE DIVIDE_BY("f   0xB4C00000:f")
    static const char modes[] =
        "// register bytes: 32\n"
        "(W)     or (1|M0)  cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x40:uw   {A@1}\n";
    static const struct sample samples[] = {
        {"        add (16|M0)  r12.0<1>:f   r14.0<1;1,0>:f   -r16.0<1;1,0>:f   {F@1}\n", NULL},
        {"(W&f0.0) mul (1|M0)  r12.3<1>:f   r14.0<0;1,0>:f   r16.0<0;1,0>:f\n", NULL},
        {"(W)     mad (1|M0)  r12.0<1>:ud  r12.2<0;0>:ud   r2.0<0;0>:uw   0xC0:uw\n", NULL},
        {"        mach (8|M0)  r12.0<1>:d   r14.0<0;1,0>:d   r16.0<0;1,0>:d\n", NULL},
        {"        mad (16|M0)  r12.0<1>:f   r14.0<1;0>:f   r16.0<1;0>:f   r18.0<1>:f\n", "mad"},
        {"        mac (16|M0)  r12.0<1>:f   r14.0<1;1,0>:f   r16.0<1;1,0>:f\n", "mac"},
        {"        math.inv (16|M0)  r12.0<1>:f   r14.0<1;1,0>:f   {$1}\n", "math.inv"},
        {"        math.exp (16|M0)  r12.0<1>:f   r14.0<1;1,0>:f   {$1}\n", "math.exp"},
        {"        add (16|M0)  (sat)r12.0<1>:f   r14.0<1;1,0>:f   r16.0<1;1,0>:f\n", "add"},
        {"(W)     or (1|M0)  cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x40000040:ud\n", NULL},
        {"(W)     or (1|M0)  cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x4C0:uw\n",
         "or"}, /* keeps subnormals */
        {"(W)     or (1|M0)  cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x30:uw\n", "or"},
        {"(W)     xor (1|M0)  cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x10:uw\n", "xor"}, /* up */
        {DIVIDE TOGGLE "        mov (1|M0)  r5.0<1>:ud   r4.3<0;1,0>:f\n", NULL},
        {DIVIDE_BY("ud   0xB4C00000:ud") TOGGLE, NULL}, /* the same as a word */
        {DIVIDE_BY("ud   r9.1<0;1,0>:ud") TOGGLE, "mad of other numbers"},
        {DIVIDE_BY("f   r[a0.0]<0;1,0>:f") TOGGLE, "mad of other numbers"},
        {DIVIDE TOGGLE
         "        bfn.0xF8 (1|M0)  r4.3<1>:ud   r6.0<0;0>:ud   r7.0<0;0>:ud   r8.0<0>:ud\n"
         "        mul (1|M0)  r5.0<1>:f   r4.3<0;1,0>:f   r8.0<0;1,0>:f\n",
         NULL}, /* combined of words since */
        {DIVIDE "        add (16|M0)  r5.0<1>:d   r6.0<1;1,0>:d   r8.0<1;1,0>:d\n" TOGGLE, NULL},
        {DIVIDE "        mul (16|M0)  r20.0<1>:f   r22.0<1;1,0>:f   r22.0<1;1,0>:f\n" TOGGLE,
         "mul of other numbers"},
        {DIVIDE "        mul (1|M0)  r20.0<1>:f   r4.3<0;1,0>:f   r4.4<0;1,0>:f\n" TOGGLE,
         "mul of other numbers"},
        {DIVIDE "        math.exp (1|M0)  r20.0<1>:f   r4.3<0;1,0>:f\n" TOGGLE, "math.exp"},
        {DIVIDE "L400:\n" TOGGLE, " a label"},
        {DIVIDE "(f0.0)  goto (32|M0)   L24   L24\n" TOGGLE, "goto"},
        {DIVIDE TOGGLE "L400:\n" TOGGLE
                       "        mul (1|M0)  r5.0<1>:f   r4.3<0;1,0>:f   r4.0<0;1,0>:f\n" TOGGLE,
         NULL}, /* by the same number */
        {DIVIDE TOGGLE "L400:\n        mul (1|M0)  r5.0<1>:f   r4.3<0;1,0>:f   r4.0<0;1,0>:f\n",
         "mul of what was rounded"},
        {DIVIDE TOGGLE "        mov (1|M0)  r7.0<1>:f   r4.3<0;1,0>:f\n"
                       "        mul (1|M0)  r5.0<1>:f   r7.0<0;1,0>:f   r8.0<0;1,0>:f\n",
         "mul of what was rounded"}, /* a copy */
        {DIVIDE TOGGLE
         "        send.ugm (32|M0)  r4  r20  null:0  0x0  0x08200580  {$3} // wr:4+0, rd:2; load\n"
         "        mul (1|M0)  r5.0<1>:f   r4.3<0;1,0>:f   r8.0<0;1,0>:f\n",
         NULL}, /* loaded since */
        {DIVIDE
         "        mov (8|M0)  r7.0<1>:f   r9.0<1;1,0>:ud\n" TOGGLE
         "        send.ugm (8|M0)  null  r20  r7:1  0x0  0x08200580  {$3} // wr:1+1, rd:0; store\n",
         "send.ugm of what was rounded"},
        {TOGGLE "        mov (16|M0)  r20.0<1>:f   r9.0<1;1,0>:ud\n" TOGGLE
                "        add (8|M0)  r5.0<1>:f   r21.0<1;1,0>:f   r6.0<1;1,0>:f\n",
         "add of what was rounded"}, /* r20 and r21 */
        {DIVIDE, "rounding stays"},
        {TOGGLE "(W)     mov (1|M0)  r4.0<1>:f   r9.0<0;1,0>:ud\n" TOGGLE
                "(W)     add (1|M0)  r5.0<1>:f   r4.0<0;1,0>:f   r6.0<0;1,0>:f\n",
         "add of what was rounded"}, /* the kernel's own */
        {DIVIDE TOGGLE TOGGLE
         "        mul (1|M0)  r5.0<1>:f   r4.3<0;1,0>:f   r4.3<0;1,0>:f\n" TOGGLE,
         NULL}, /* its second half */
        {DIVIDE TOGGLE "        add (1|M0)  r5.0<1>:f   r4.0<0;1,0>:f   r6.0<0;1,0>:f\n",
         "add of what was rounded"},
        {DIVIDE TOGGLE "        add (1|M0)  r5.0<1>:f   r4.1<0;1,0>:f   r6.0<0;1,0>:f\n",
         NULL}, /* the constant */
        {DIVIDE TOGGLE "        mov (1|M0)  r4.0<1>:ud   r9.0<0;1,0>:ud\n"
                       "        add (1|M0)  r5.0<1>:f   r4.0<0;1,0>:f   r6.0<0;1,0>:f\n",
         NULL},
        {DIVIDE TOGGLE "        mov (1|M0)  r4.0<1>:uw   r9.0<0;1,0>:uw\n"
                       "        add (1|M0)  r5.0<1>:f   r4.0<0;1,0>:f   r6.0<0;1,0>:f\n",
         NULL},
        {DIVIDE TOGGLE "        add (8|M0)  r5.0<1>:f   r3.0<1;1,0>:f   r6.0<1;1,0>:f\n", NULL},
        {DIVIDE TOGGLE "        add (16|M0)  r5.0<1>:f   r3.0<1;1,0>:f   r6.0<1;1,0>:f\n",
         NULL}, /* not all of r3 and r4 */
    };
    CHECK("ocloc", modes, samples);
    const struct weft_isa *isa = weft_isa_of("ocloc");
    assert_false(weft_isa_lacks_modes(isa, modes));
    assert_true(weft_isa_lacks_modes(isa, samples[0].code));
    /* registers of 64 bytes: 16 lanes are one */
    check("ocloc", WEFT_MATH_REPRODUCIBLE, "// register bytes: 64\n",
          &(const struct sample){TOGGLE
                                 "        mov (16|M0)  r20.0<1>:f   r9.0<1;1,0>:ud\n" TOGGLE
                                 "        add (8|M0)  r5.0<1>:f   r21.0<1;1,0>:f   r6.0<1;1,0>:f\n",
                                 NULL},
          1);
    static const char told[] =
        "    execution_env:\n      grf_count:       128\n      simd_size:       16\n";
    assert_int_equal(weft_ocloc_told(told, "grf_count:"), 128);
    assert_int_equal(weft_ocloc_told(told, "simd_size:"), 16);
    assert_int_equal(weft_ocloc_told(told, "spill_size:"), 0);
}

/* What nvdisasm prints, with what is left of it; and what ptxas tells. */
static void test_ptxas_words(void **state) {
    (void)state;
    static const char told[] =
        "ptxas info    : Compiling entry function 'weft_0_main' for 'sm_75'\n"
        "    8 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
        "ptxas info    : Used 26 registers, used 1 barriers, 384 bytes smem\n"
        "ptxas info    : Compiling entry function 'weft_1_main' for 'sm_75'\n"
        "ptxas info    : Used 30 registers\n";
    char listing[] = "\t.target\tsm_75\n\n\t.section\t.text.a,\"ax\",@progbits\n.text.a:\n"
                     "        /*0010*/              @!P0 BRA `(.L_x_2) ;\n"
                     "        /*0020*/                   FADD.FTZ R1, R2.reuse, -R3.reuse ;\n"
                     ".L_x_2:\n        /*0030*/                   EXIT ;\n.L_x_3:";
    weft_sass_clean(listing);
    assert_string_equal(
        listing, ".text.a:\n@!P0 BRA `(.L_x_2)\nFADD.FTZ R1, R2, -R3\n.L_x_2:\nEXIT\n.L_x_3:");
    assert_int_equal(weft_ptxas_told(told, " registers"), 26);
    assert_int_equal(weft_ptxas_told(told, " bytes spill stores"), 4);
    assert_int_equal(weft_ptxas_told(told, " bytes smem"), 384);
    assert_int_equal(weft_ptxas_told(told, " bytes lmem"), 0);
    char *second = weft_listing_part(told, "'weft_1_main'", "Compiling entry", NULL);
    assert_int_equal(weft_ptxas_told(second, " registers"), 30);
    weft_free(NULL, second);
    char *first = weft_listing_part(told, "'weft_0_main'", "Compiling entry", NULL);
    assert_null(strstr(first, "30 registers"));
    weft_free(NULL, first);
    assert_null(weft_listing_part(told, "'weft_2_main'", "Compiling entry", NULL));
}

static void test_qualcomm(void **state) {
    (void)state;
    static const struct sample samples[] = {
        {"(sy)(nop3) add.f r1.x, r2.y, (neg)r3.z\n", NULL},
        {"(rpt1)mul.f r1.x, (r)r2.y, c3.z\n", NULL},
        {"mad.f32 r1.x, r2.y, r3.z, c4.w\n", NULL}, /* rounds both */
        {"mad.f16 hr1.x, hr2.y, hr3.z, hr4.w\n", "mad.f16"},
        {"(ss)rsq r1.x, r2.y, r3.z\n", "rsq"},
        {"exp2 r1.x, r2.y, r3.z\n", "exp2"},
        {"cov.u32f32 r2.y, r1.x, r0.x\nrcp r1.x, r2.y, r0.x\n", NULL},
        {"cov.u32f32 r2.x, r1.x, r0.x\nrcp r1.x, r2.y, r0.x\n", "rcp"},
    };
    CHECK("turnip Mesa driver", "", samples);
}

static void test_broadcom(void **state) {
    (void)state;
    static const struct sample samples[] = {
        {"fadd rf1, rf2, rf3            ; fmul rf4, rf5, rf6          ; ldunifrf.rf7\n", NULL},
        {"fsub.ifa rf1, rf2, rf3        ; nop                         ; thrsw; ldunif\n", NULL},
        {"and rf6, rf3, rf0             ; umul24 rf10, rf8, rf0\n", NULL},
        {"recip rf1, rf2                ; nop\n", "recip"},
        {"rsqrt rf1, rf2                ; nop\n", "rsqrt"},
        {"rsqrt2 rf1, rf2               ; nop\n", "rsqrt2"},
        {"exp rf1, rf2                  ; fmul rf4, rf5, rf6\n", "exp"},
        {"log rf1, rf2                  ; nop\n", "log"},
        {"sin rf1, rf2                  ; nop\n", "sin"},
        {"nop                           ; mov recip, rf2\n", "mov recip"}, /* as 4.2 asks for it */
        {"utof rf2, rf3                 ; nop\nrecip rf1, rf2 ; nop\n", NULL},
        {"utof rf2, rf3 ; nop ; ldunifrf.rf2\nrecip rf1, rf2 ; nop\n", "recip"},
        {"utof rf2, rf3 ; nop\nnop ; fmul rf2, rf2, rf4\nrecip rf1, rf2 ; nop\n", "recip"},
    };
    CHECK("V3DV Mesa", "", samples);
}

static void test_arm(void **state) {
    (void)state;
    static const struct sample samples[] = {
        {"   FADD.f32 r1, ^r2, r3.neg\n", NULL},
        {"   FADD_IMM.f32 r1, r2, #0x3F800000\n", NULL},
        {"   FMA.f32 r1, ^r2, u3, 0x0.neg\n", NULL},  /* a product */
        {"   FMA.f32 r1, ^r2, u3, 0x0\n", "FMA.f32"}, /* loses the sign of a product that is -0 */
        {"   FMA.f32 r1, r2, r3, ^r4\n", "FMA.f32"},
        {"   FMA.f32 r1, r2, r3, ^r4.neg\n", "FMA.f32"},
        {"   FMA.v2f16 r1, r2, r3, r4\n", "FMA.v2f16"},
        {"   FMA_RSCALE.f32 r1, r2, r3, 0x0.neg, r4\n", "FMA_RSCALE"},
        {"   FADD.f32.rtz r1, r2, r3\n", "FADD.f32.rtz"},
        {"   FMA.f32.rtp r1, r2, r3, 0x0.neg\n", "FMA.f32.rtp"},
        {"   F32_TO_U32.rtz r1, r2\n", NULL},
        {"   FRSQ.f32 r1, r2\n", "FRSQ"},
        {"   FEXP.f32 r1, r2, r3\n", "FEXP"},
        {"   FLOGD.f32 r1, r2\n", "FLOGD"},
        {"   FSIN_TABLE.u6 r1, r2\n", "FSIN"},
        {"   FRCP.f32 r1, ^r2\n", "FRCP"},
        {"   U32_TO_F32 r2, u7\n   FRCP.f32 r1, ^r2\n", NULL},
        {"   U32_TO_F32 r2, u7\n   LD_BUFFER.i64.unsigned.slot0.wait0 @r1:r2, r0, 0x0\n"
         "   FRCP.f32 r3, ^r2\n",
         "FRCP"},
    };
    CHECK("panvk", "", samples);
}

/* In fused math, what multiplies and adds float32 with one rounding, and nothing else that is refused otherwise. */
static void test_fused(void **state) {
    (void)state;
    static const struct {
        const char *driver, *code, *refused;
    } samples[] = {
        {"radv", "\tv_fma_f32 v1, v2, v3, v4\n", NULL},
        {"radv", "\tv_fmac_f32_e32 v1, v2, v3\n", NULL},
        {"radv", "\tv_fmaak_f32 v1, v2, v3, 0x3f800000\n", NULL},
        {"radv", "\tv_dual_fmac_f32 v1, v2, v3 :: v_dual_mul_f32 v4, v5, v6\n", NULL},
        {"radv", "\tv_fma_f32 v1, v2, v3, v4 mul:2\n", "v_fma_f32"},
        {"radv", "\tv_fma_f16 v1, v2, v3, v4\n", "v_fma_f16"},
        {"radv", "\tv_fma_mix_f32 v1, v2, v3, v4\n", "v_fma_mix_f32"},
        {"radv", "\tv_exp_f32_e32 v1, v2\n", "v_exp_f32"},
        {"Intel open-source Mesa driver", "   mad (16)   r12:f   r14:f   r16:f   r18:f\n", NULL},
        {"Intel open-source Mesa driver", "   mad (16)   r12:hf   r14:hf   r16:hf   r18:hf\n",
         "mad"},
        {"Intel open-source Mesa driver", "   mad.sat (16)   r12:f   r14:f   r16:f   r18:f\n",
         "mad.sat"},
        {"ocloc", "   mad (16|M0)   r12.0<1>:f   r14.0<1;0>:f   r16.0<1;0>:f   r18.0<1>:f\n", NULL},
        {"ocloc", "   mad (16|M0)   r12.0<1>:hf   r14.0<1;0>:hf   r16.0<1;0>:hf   r18.0<1>:hf\n",
         "mad"},
        {"ocloc", "   mad (8|M0)   (sat)r12.0<1>:f   r14.0<1;0>:f   r16.0<1;0>:f   r18.0<1>:f\n",
         "mad"},
        {"NVK", "    r1 = ffma.ftz r2 r3 r4\n", NULL},
        {"NVK", "    r1 = ffma r2 r3 r4\n", "ffma"}, /* keeps subnormals */
        {"NVK", "    r1 = ffma.rz.ftz r2 r3 r4\n", "ffma"},
        {"NVK", "    r1 = hfma2 r2 r3 r4\n", "hfma2"},
        {"ptxas", "FFMA.FTZ R1, R2, R3, R4\n", NULL},
        {"ptxas", "FFMA2.FTZ R2, R4, R6, R8\n", NULL},
        {"ptxas", "FFMA R1, R2, R3, R4\n", "FFMA"}, /* keeps subnormals */
        {"ptxas", "FFMA.FTZ.RZ R1, R2, R3, R4\n", "FFMA"},
        {"ptxas", "HFMA2 R1, R2, R3, R4\n", "HFMA2"},
        {"ptxas", "MUFU.RCP R1, R2\n", "MUFU.RCP"},
        {"turnip Mesa driver", "mad.f16 hr1.x, hr2.y, hr3.z, hr4.w\n", "mad.f16"},
        {"V3DV Mesa", "recip rf1, rf2 ; fmul rf4, rf5, rf6\n", "recip"},
        {"panvk", "   FMA.f32 r1, r2, r3, ^r4.neg\n", NULL},
        {"panvk", "   FMA.f32.rtp r1, r2, r3, r4\n", "FMA.f32.rtp"},
        {"panvk", "   FMA.v2f16 r1, r2, r3, r4\n", "FMA.v2f16"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const struct sample sample = {samples[i].code, samples[i].refused};
        check(samples[i].driver, WEFT_MATH_FUSED, "", &sample, 1);
    }
}

static void test_multiply_adds(void **state) {
    (void)state;
    static const struct {
        const char *driver, *code;
        uint32_t kept, apart;
    } samples[] = {
        {"radv",
         "\tv_fma_f32 v1, v2, v3, v4 ; 06\n\tv_dual_fmac_f32 v1, v2, v3 :: v_dual_fmac_f32 v4, v5, "
         "v6\n",
         3, 0},
        {"radv", "\tv_mul_f32_e32 v1, v2, v3\n\tv_sub_f32_e64 v5, v4, -v1\n", 0, 1},
        {"radv",
         "\tv_mul_f32_e32 v1, v2, v3\n\tv_max_f32_e32 v1, v1, v2\n\tv_add_f32_e32 v5, v1, v4\n", 0,
         0},
        {"radv", "\tv_mul_f32_e32 v1, v2, v3\nBB3:\n\tv_add_f32_e32 v5, v1, v4\n", 0, 0},
        {"radv", "\tv_mac_f32_e32 v1, v2, v3\n", 0, 1}, /* rounds both */
        {"radv", "\tv_mul_f32_e32 v1, 2.0, v3\n\tv_add_f32_e32 v5, v1, v4\n", 0, 0}, /* v3 + v3 */
        {"radv",
         "\tv_mul_f32_e32 v9, v2, v3\n\tds_load_2addr_b64 v[8:11], v1 offset0:48\n\tv_add_f32_e32 "
         "v5, v9, v4\n",
         0, 0},
        {"radv",
         "\tv_mul_f32_e32 v9, v2, v3\n\tv_wmma_f32_16x16x16_f16 v[8:15], v[0:7], v[0:7], "
         "v[8:15]\n\tv_add_f32_e32 v5, v9, v4\n",
         0, 0},
        {"Intel open-source Mesa driver",
         "        mul (16)   r12:f   r14<0>:f   r16:f   {F@1}\n"
         "(W)     add (16)   r18:f   r14:f   -r12<8>:f\n",
         0, 1},
        {"Intel open-source Mesa driver", "   mad (8)   r12:d   r14:d   r16:d   r18:d\n", 0, 0},
        {"Intel open-source Mesa driver", "   mad (8)   r12:f   r14:f   r16:f   r18:f\n", 1, 0},
        {"ocloc",
         "        mul (16|M0)   r12.0<1>:f   r14.0<0;1,0>:f   r16.0<1;1,0>:f   {F@1}\n"
         "(W)     add (1|M0)   r18.0<1>:f   r14.0<0;1,0>:f   -r12.0<0;1,0>:f\n",
         0, 1},
        {"ocloc", "   mad (8|M0)   r12.0<1>:f   r14.0<1;0>:f   r16.0<1;0>:f   r18.0<1>:f\n", 1, 0},
        {"NVK", "    @p0 r1 = fmul.ftz r2 r3 // delay=4\n    r4 = fadd.ftz r5 -r1\n", 0, 1},
        {"NVK", "    r1 = ffma.ftz r2 r3 r4\n    r4 = fadd.ftz r5 r1\n", 1, 0},
        {"NVK", "    r1 = fmul.ftz r2 r3\n    r4 = fadd.ftz -rZ -r1\n", 0, 0},
        {"ptxas", "@P0 FMUL.FTZ R1, R2, R3\nFADD.FTZ R4, R5, -R1\n", 0, 1},
        {"ptxas", "FFMA.FTZ R1, R2, R3, R4\nFADD.FTZ R4, R5, R1\n", 1, 0},
        {"ptxas", "FMUL.FTZ R1, R2, R3\nFADD.FTZ R4, -R1, -RZ\n", 0, 0},
        {"ptxas", "FMUL.FTZ R1, R2, R3\nLDG.E.64 R0, [R8]\nFADD.FTZ R4, R5, R1\n", 0, 0},
        {"ptxas", "FMUL.FTZ R1, R2, R3\n.L_x_1:\nFADD.FTZ R4, R5, R1\n", 0, 0},
        {"turnip Mesa driver", "(sy)(rpt1)mad.f32 r1.x, r2.y, r3.z, c4.w\n", 0, 1},
        {"turnip Mesa driver", "mul.f r1.x, r2.y, r3.z\n(nop3) add.f r1.y, (neg)r1.x, c4.w\n", 0,
         1},
        {"turnip Mesa driver", /* two are written */
         "mul.f r22.x, r1.y, r2.x\n(rpt1)not.b r21.w, (r)r21.w\nadd.f r1.w, r1.w, r22.x\n", 0, 0},
        {"turnip Mesa driver",
         "(rpt1)mul.f r21.w, (r)r1.y, r2.x\nnot.b r21.w, r21.w\nadd.f r1.w, r1.w, r22.x\n", 0, 1},
        {"V3DV Mesa",
         "fadd rf1, rf2, rf3 ; fmul rf4, rf5, rf6 ; ldunif\nfsub rf1, rf4, rf2 ; nop\n", 0, 1},
        {"panvk", "   FMA.f32 r1, ^r2, u3, 0x0.neg\n   FADD.f32 r2, ^r1.neg, r4\n", 0, 1},
        {"panvk", "   FMA.f32 r1, ^r2, u3, r7\n   FADD.f32 r2, ^r1, r4\n", 1, 0},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const struct weft_multiply_adds found =
            weft_multiply_adds_of(samples[i].driver, samples[i].code);
        if (found.kept != samples[i].kept || found.apart != samples[i].apart) {
            fail_msg("%s: \"%s\" has %u fused and %u apart", samples[i].driver, samples[i].code,
                     found.kept, found.apart);
        }
    }
}

/* Bits as Mesa's enum float_controls numbers them: before version 26 flush 13, preserve 10, nearest 16, zero 19; since 4, 1, 7, 10. */
static void test_modes(void **state) {
    (void)state;
    static const struct {
        const char *modes;
        bool flushes, breaks;
    } samples[] = {
        {"0x00012092", true, false},  {"0x00012092", false, false}, {"0x00010092", false, false},
        {"0x00010092", true, true},   {"0x00010492", true, true},   {"0x00002092", true, true},
        {"0x00082092", true, true},   {"0x00000090", true, false},  {"0x00000082", true, true},
        {"0x00000080", false, false}, {"0x00000080", true, true},   {"0x00000410", true, true},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char text[128], why[256];
        snprintf(text, sizeof text,
                 "shader: MESA_SHADER_COMPUTE\nfloat_controls_execution_mode: %s\n",
                 samples[i].modes);
        assert_true(weft_float_modes_are_told(text));
        assert_int_equal(weft_float_modes_break(why, sizeof why, text, samples[i].flushes),
                         samples[i].breaks);
    }
    assert_false(weft_float_modes_are_told("shader: MESA_SHADER_COMPUTE\n"));
}

static void test_unknown(void **state) {
    (void)state;
    assert_null(weft_isa_of("llvmpipe"));
    assert_true(weft_isa_is(weft_isa_of("V3DV Mesa"), "QPU (MESA_SHADER_COMPUTE)"));
    assert_false(weft_isa_is(weft_isa_of("radv"), "ACO IR"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amd),      cmocka_unit_test(test_intel),
        cmocka_unit_test(test_nvidia),   cmocka_unit_test(test_qualcomm),
        cmocka_unit_test(test_ptxas),    cmocka_unit_test(test_ptxas_words),
        cmocka_unit_test(test_broadcom), cmocka_unit_test(test_arm),
        cmocka_unit_test(test_fused),    cmocka_unit_test(test_multiply_adds),
        cmocka_unit_test(test_modes),    cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_ocloc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
