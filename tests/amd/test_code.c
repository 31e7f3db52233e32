/* SPDX-License-Identifier: MIT */
/* Code: from encodings, by clang from OpenCL C, damaged, and as waves and workgroups. */
#include <stdlib.h>
#include <string.h>

#include "code_object.h"
#include "compile.h"
#include "test_amd.h"

/* ---- encodings, of AMD's documents: the same operation in three of them ---- */

static void check_encoding(const char *gpu, const uint32_t *words, size_t size, uint32_t a,
                           uint32_t b, uint32_t expected) {
    char error[AMD_TEXT];
    struct machine *m = machine_begin(32);
    struct amd_program program = {.gpu = amd_gpu_find(gpu), .code_size = size, .size = size};
    program.bytes = malloc(size);
    program.of_word = calloc(size / 4, sizeof *program.of_word);
    assert_non_null(program.bytes);
    assert_non_null(program.of_word);
    memcpy(program.bytes, words, size);
    if (!amd_decode(&program, 0, size, error) || !amd_decode_end(&program, error)) {
        fail_msg("%s: %s", gpu, error);
    }
    m->wave.program = &program;
    m->wave.v[1][0] = a;
    m->wave.v[2][0] = b;
    amd_wave_run(&m->wave);
    assert_string_equal(m->dispatch.error, "");
    assert_int_equal(m->wave.v[0][0], expected);
    amd_program_free(&program);
}

static void encodings(void **state) {
    /* VOP2 with its 6-bit operation: v_mul_f32 is 8 on RDNA and 5 on GCN; then s_endpgm */
    static const uint32_t rdna[] = {0x10000501, 0xbf810000}, gcn[] = {0x0a000501, 0xbf810000};
    /* VOP3, v_lshl_or_b32 v0, v1, 6, v2 */
    static const uint32_t lshl_or[] = {0xd76f0000, 0x04090d01, 0xbf810000};
    /* s_branch over v_mov_b32 v0, 1 to v_mov_b32 v0, v2; RDNA 3's s_endpgm */
    static const uint32_t branch[] = {0xbfa00001, 0x7e000281, 0x7e000302, 0xbfb00000};
    (void)state;
    check_encoding("gfx1030", rdna, sizeof rdna, 0x40400000, 0x40000000, 0x40c00000);
    check_encoding("gfx906", gcn, sizeof gcn, 0x40400000, 0x40000000, 0x40c00000);
    check_encoding("gfx1030", lshl_or, sizeof lshl_or, 1, 3, 0x43);
    check_encoding("gfx1100", branch, sizeof branch, 5, 9, 9);
}

/* ---- compiled ---- */

/* Each invocation reverses its workgroup's words through shared memory, and says where it is. */
static const char kernel[] =
    "typedef struct { uint base[3]; uint more; } weft_arguments;\n"
    "uint weft_twice(uint a) { return a * 2u; }\n"
    "__kernel __attribute__((reqd_work_group_size(24, 4, 2)))\n"
    "void weft_main(weft_arguments a, __global uchar *b0, __global uchar *b1) {\n"
    "    __local uint m[192] __attribute__((aligned(16)));\n"
    "    __global uint *p0 = (__global uint *)b0, *p1 = (__global uint *)b1;\n"
    "    uint at = get_local_id(0) + 24u * (get_local_id(1) + 4u * get_local_id(2));\n"
    "    uint group = get_group_id(0) + 2u * get_group_id(1);\n"
    "    m[at] = p0[192u * group + at] / a.more;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    p1[192u * group + at] = m[191u - at] + weft_twice(a.base[1]);\n"
    "}\n";

static void load(struct amd_program *program, const char *gpu, const char *text) {
    char error[AMD_TEXT] = "";
    struct amd_compiled made;
    if (!amd_compile(&made, gpu, text, strlen(text), false)) {
        fail_msg("%s", made.log ? made.log : "clang does not run");
    }
    if (!amd_program_load(program, amd_gpu_find(gpu), made.object, made.size, "weft_main", error)) {
        fail_msg("%s: %s", gpu, error);
    }
    free(made.object);
    free(made.log);
}

enum { WORDS = 192 * 2 * 3 };

static uint32_t from[WORDS], to[WORDS];

/* Two buffers and 2 x 3 workgroups. */
static void begin_dispatch(struct amd_dispatch *dispatch, struct amd_program *program,
                           uint64_t arguments[4]) {
    const uint32_t base_1 = 50, more = 7;
    for (uint32_t i = 0; i < WORDS; i++) {
        from[i] = i * 2654435761u;
        to[i] = 0;
    }
    memcpy((uint8_t *)arguments + 4, &base_1, 4);
    memcpy((uint8_t *)arguments + 12, &more, 4);
    arguments[2] = AMD_ADDRESS(AMD_REGION_BUFFERS);
    arguments[3] = AMD_ADDRESS(AMD_REGION_BUFFERS + 1);
    *dispatch = (struct amd_dispatch){.program = program, .groups = {2, 3, 1}};
    dispatch->regions[AMD_REGION_PROGRAM] =
        (struct amd_region){program->bytes, program->size, false};
    dispatch->regions[AMD_REGION_ARGUMENTS] = (struct amd_region){(uint8_t *)arguments, 32, false};
    dispatch->regions[AMD_REGION_BUFFERS] =
        (struct amd_region){(uint8_t *)from, sizeof from, false};
    dispatch->regions[AMD_REGION_BUFFERS + 1] = (struct amd_region){(uint8_t *)to, sizeof to, true};
}

/* How many words are wrong. */
static uint32_t run(const char *gpu, const char *text, int32_t side, bool last_first) {
    struct amd_program program;
    struct amd_dispatch dispatch;
    uint64_t arguments[4] = {0};
    uint32_t wrong = 0;
    load(&program, gpu, text);
    assert_int_equal(program.local_size[0], 24);
    assert_int_equal(program.argument_count, 3);
    assert_int_equal(program.arguments[2].offset, 24);
    assert_int_equal(program.lds, 192 * 4);
    begin_dispatch(&dispatch, &program, arguments);
    dispatch.side = side;
    dispatch.last_first = last_first;
    if (!amd_dispatch_run(&dispatch)) {
        fail_msg("%s: %s", gpu, dispatch.error);
    }
    for (uint32_t i = 0; i < WORDS; i++) {
        wrong += to[i] != from[i / 192 * 192 + 191 - i % 192] / 7 + 100;
    }
    dispatch.regions[AMD_REGION_BUFFERS].size -= 4; /* the last word is missing */
    assert_false(amd_dispatch_run(&dispatch));
    assert_non_null(strstr(dispatch.error, "4 bytes at 0x300000011fc are outside"));
    amd_program_free(&program);
    return wrong;
}

static void workgroups(void **state) {
    static const char *const gpus[] = {"gfx1030", "gfx1100", "gfx906"};
    (void)state;
    for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
        assert_int_equal(run(gpus[i], kernel, 0, false), 0);
    }
    /* integer divisions do not notice which approximation of a reciprocal they get, nor barriers which wave comes first */
    assert_int_equal(run("gfx1030", kernel, 1, true), 0);
    assert_int_equal(run("gfx1030", kernel, -1, false), 0);
}

/* Where nobody says how long code is: behind an s_endpgm that no branch goes past. And waves of 64 on RDNA. */
static void open_ended(void **state) {
    /* s_branch over s_endpgm to v_cmp_eq_u32 vcc, 0, v1 and s_endpgm, then what is no code */
    static const uint32_t words[] = {0xbf820001, 0xbf810000, 0x7d840280, 0xbf810000, 0xffffffff};
    struct amd_gpu gpu = *amd_gpu_find("gfx1030");
    char error[AMD_TEXT] = "";
    size_t end = 0;
    (void)state;
    gpu.wave_size = 64;
    struct amd_program program = {.gpu = &gpu, .size = sizeof words, .code_size = sizeof words};
    program.bytes = malloc(sizeof words);
    program.of_word = malloc(sizeof words);
    assert_non_null(program.bytes);
    assert_non_null(program.of_word);
    memcpy(program.bytes, words, sizeof words);
    memset(program.of_word, 0xff, sizeof words);
    assert_true(amd_decode_open(&program, sizeof words, &end, error));
    assert_int_equal(end, 16);
    assert_true(amd_decode_end(&program, error));
    assert_int_equal(program.instructions[0].target, 2);
    assert_int_equal(program.instructions[2].operands[0].words, 2); /* vcc, not vcc_lo */
    amd_program_free(&program);
}

/* Each invocation stores its local id, from v0, and its workgroup's information, s3, at four words for each of 100. */
static void given_registers(void **state) {
    struct machine *m = machine_begin(64);
    char error[AMD_TEXT];
    static const uint32_t user[2] = {0, (uint32_t)(AMD_ADDRESS(AMD_REGION_BUFFERS) >> 32)};
    static const char *const lines[] = {"s_mul_i32 s2, s2, 0x320",
                                        "v_lshl_add_u32 v1, v0, 3, s2",
                                        "v_mov_b32_e32 v2, v0",
                                        "v_mov_b32_e32 v3, s3",
                                        "global_store_dwordx2 v1, v[2:3], s[0:1]",
                                        "s_endpgm"};
    const uint32_t count = sizeof lines / sizeof lines[0];
    uint32_t stored[2][100][2];
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(amd_parse(&m->instructions[i], lines[i], error));
    }
    m->program.count = count;
    m->program.vgprs = 4;
    m->program.resources2 = 2u << 1 | 1u << 7 | 1u << 10;
    m->program.local_size[0] = 100;
    m->program.local_size[1] = m->program.local_size[2] = 1;
    m->dispatch.user = user;
    m->dispatch.first[0] = 1;
    m->dispatch.groups[0] = 3;
    m->dispatch.groups[1] = m->dispatch.groups[2] = 1;
    m->dispatch.last_size[0] = 30;
    if (!amd_dispatch_run(&m->dispatch)) {
        fail_msg("%s", m->dispatch.error);
    }
    memcpy(stored, m->memory + 800, sizeof stored); /* group 0 was left out */
    assert_int_equal(m->memory[0], 0);
    assert_int_equal(stored[0][99][0], 99);
    assert_int_equal(stored[0][63][1], 2);          /* of two waves the first */
    assert_int_equal(stored[0][64][1], 2 | 1 << 6); /* the second */
    assert_int_equal(stored[1][29][0], 29);
    assert_int_equal(stored[1][29][1], 1);
    assert_int_equal(stored[1][30][0], 0); /* the last group has 30 */
}

/* Without its barrier a wave reads what others have not written. */
static void lost_barrier(void **state) {
    static const char barrier[] = "barrier(CLK_LOCAL_MEM_FENCE);";
    char text[sizeof kernel];
    (void)state;
    memcpy(text, kernel, sizeof kernel);
    memset(strstr(text, barrier), ' ', sizeof barrier - 1);
    assert_int_not_equal(run("gfx1030", text, 0, false), 0);
    assert_int_not_equal(run("gfx906", text, 0, true), 0);
}

/* A damaged code object is refused, or runs as another program: nothing else happens. */
static void damaged(void **state) {
    char error[AMD_TEXT];
    struct amd_compiled made;
    (void)state;
    assert_true(amd_compile(&made, "gfx1030", kernel, strlen(kernel), false));
    for (size_t size = 0; size < made.size; size += 61) {
        struct amd_program program;
        (void)amd_program_load(&program, amd_gpu_find("gfx1030"), made.object, size, "weft_main",
                               error);
        amd_program_free(&program);
    }
    for (size_t at = 0; at < made.size; at += 13) {
        struct amd_program program;
        made.object[at] ^= 0x55;
        (void)amd_program_load(&program, amd_gpu_find("gfx1030"), made.object, made.size,
                               "weft_main", error);
        amd_program_free(&program);
        made.object[at] ^= 0x55;
    }
    struct amd_program program;
    assert_false(amd_program_load(&program, amd_gpu_find("gfx906"), made.object, made.size,
                                  "weft_main", error));
    assert_non_null(strstr(error, "other waves"));
    amd_program_free(&program);
    assert_false(amd_program_load(&program, amd_gpu_find("gfx1030"), made.object, made.size,
                                  "weft_other", error));
    amd_program_free(&program);
    free(made.object);
    free(made.log);
    assert_false(amd_compile(&made, "gfx1030", "kernel void", 11, false));
    assert_non_null(strstr(made.log, "error"));
    free(made.log);
    assert_null(amd_gpu_find("gfx90a"));
}

/* RDNA 3's two at once: both read before one writes. */
static void pairs(void **state) {
    /* v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0, then s_endpgm */
    struct machine *m = machine_begin(32);
    char error[AMD_TEXT];
    (void)state;
    assert_true(amd_parse(&m->instructions[0], "v_dual_mov_b32 v0, v1", error));
    assert_true(amd_parse(&m->instructions[1], "v_dual_mov_b32 v1, v0", error));
    assert_true(amd_parse(&m->instructions[2], "s_endpgm", error));
    m->instructions[0].is_pair = true;
    m->program.count = 3;
    m->wave.v[0][5] = 10;
    m->wave.v[1][5] = 20;
    amd_wave_run(&m->wave);
    assert_int_equal(m->wave.v[0][5], 20);
    assert_int_equal(m->wave.v[1][5], 10);
}

const struct CMUnitTest amd_code_tests[] = {
    cmocka_unit_test(encodings),  cmocka_unit_test(open_ended),   cmocka_unit_test(given_registers),
    cmocka_unit_test(workgroups), cmocka_unit_test(lost_barrier), cmocka_unit_test(damaged),
    cmocka_unit_test(pairs)};
const size_t amd_code_count = sizeof amd_code_tests / sizeof amd_code_tests[0];
