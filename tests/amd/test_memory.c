/* SPDX-License-Identifier: MIT */
/* Memory of the device, of workgroups and of invocations. */
#include <string.h>

#include "test_amd.h"

static uint32_t word_at(const uint8_t *bytes, uint32_t at) {
    uint32_t word;
    memcpy(&word, bytes + at, sizeof word);
    return word;
}

/* Memory counts bytes; lane i has the address of byte 16 i in v[2:3], and 16 i in v4. */
static struct machine *begin(void) {
    struct machine *m = machine_begin(32);
    for (uint32_t i = 0; i < sizeof m->memory; i++) {
        m->memory[i] = (uint8_t)(i * 7 + (i >> 8));
    }
    for (uint32_t i = 0; i < sizeof m->local; i++) {
        m->local[i] = (uint8_t)(i * 5 + (i >> 8));
    }
    for (uint32_t i = 0; i < 32; i++) {
        const uint64_t address = AMD_ADDRESS(AMD_REGION_BUFFERS) + 16 * i;
        m->wave.v[2][i] = (uint32_t)address;
        m->wave.v[3][i] = (uint32_t)(address >> 32);
        m->wave.v[4][i] = 16 * i;
    }
    m->wave.s[0] = (uint32_t)AMD_ADDRESS(AMD_REGION_BUFFERS);
    m->wave.s[1] = (uint32_t)(AMD_ADDRESS(AMD_REGION_BUFFERS) >> 32);
    return m;
}

static void device_loads(void **state) {
    struct machine *m = begin();
    (void)state;
    m->wave.v[20][9] = 7;
    m->wave.s[AMD_EXEC] = ~(1u << 9);
    machine_run(
        m, "global_load_dword v20, v[2:3], off offset:4\nglobal_load_dwordx4 v[24:27], v4, s[0:1]\n"
           "global_load_ubyte v21, v[2:3], off offset:3\nglobal_load_sbyte v22, v[2:3], off "
           "offset:19\n"
           "flat_load_ushort v23, v[2:3]\nglobal_load_dwordx2 v[2:3], v[2:3], off offset:8");
    assert_int_equal(m->wave.v[20][5], word_at(m->memory, 84));
    assert_int_equal(m->wave.v[20][9], 7);
    for (uint32_t w = 0; w < 4; w++) {
        assert_int_equal(m->wave.v[24 + w][31], word_at(m->memory, 496 + 4 * w));
    }
    assert_int_equal(m->wave.v[21][5], m->memory[83]);
    assert_int_equal(m->wave.v[22][0], (uint32_t)(int32_t)(int8_t)m->memory[19]);
    assert_int_equal(m->wave.v[23][5], word_at(m->memory, 80) & 0xffff);
    assert_int_equal(m->wave.v[2][5], word_at(m->memory, 88)); /* over the address itself */
    assert_int_equal(m->wave.v[3][5], word_at(m->memory, 92));
}

static void device_stores(void **state) {
    struct machine *m = begin();
    (void)state;
    for (uint32_t w = 0; w < 4; w++) {
        m->wave.v[10 + w][6] = 0x11223344 * (w + 1);
    }
    m->wave.s[AMD_EXEC] = 1u << 6;
    const uint8_t before = m->memory[98];
    machine_run(m,
                "global_store_byte v[2:3], v10, off\nglobal_store_short v[2:3], v11, off offset:4\n"
                "global_store_dwordx3 v4, v[10:12], s[0:1] offset:512\n"
                "global_store_b128 v4, v[10:13], s[0:1] offset:1024");
    assert_int_equal(m->memory[96], 0x44);
    assert_int_equal(m->memory[98], before);
    assert_int_equal(word_at(m->memory, 100) & 0xffff, 0x6688);
    assert_int_equal(word_at(m->memory, 96 + 512 + 8), m->wave.v[12][6]);
    assert_int_equal(word_at(m->memory, 96 + 1024 + 12), m->wave.v[13][6]);
    machine_refuses(m, "global_store_dword v4, v10, s[0:1] offset:4000",
                    "4 bytes at 0x30000001000 are outside");
    m->dispatch.regions[AMD_REGION_BUFFERS].writable = false;
    machine_refuses(m, "global_store_dword v[2:3], v10, off", "which is read only");
}

static void atomics(void **state) {
    struct machine *m = begin();
    (void)state;
    memset(m->memory, 0, sizeof m->memory);
    memset(m->local, 0, sizeof m->local);
    for (uint32_t i = 0; i < 32; i++) {
        m->wave.v[5][i] = 0;
        m->wave.v[6][i] = i;
        m->wave.v[7][i] = i == 4 ? 496 : 1; /* of cmpswap: what to compare with */
    }
    machine_run(
        m,
        "global_atomic_add v5, v6, s[0:1]\nglobal_atomic_umax v5, v6, s[0:1] offset:4\n"
        "global_atomic_smin v5, v6, s[0:1] offset:8\n"
        "global_atomic_add v9, v5, v6, s[0:1] offset:12 glc\n"
        "global_atomic_cmpswap v5, v[6:7], s[0:1]\n"
        "ds_add_u32 v5, v6\nds_max_rtn_i32 v10, v5, v6 offset:4\nds_cmpst_rtn_b32 v11, v5, v7, v6");
    assert_int_equal(word_at(m->memory, 4), 31);
    assert_int_equal(word_at(m->memory, 8), 0);
    assert_int_equal(word_at(m->memory, 12), 496);
    assert_int_equal(m->wave.v[9][3], 3); /* 0 + 1 + 2 */
    assert_int_equal(word_at(m->memory, 0), 4);
    assert_int_equal(m->wave.v[10][8], 7);
    assert_int_equal(m->wave.v[11][4], 496);
    assert_int_equal(word_at(m->local, 0), 4);
    assert_int_equal(word_at(m->local, 4), 31);
}

static void shared(void **state) {
    struct machine *m = begin();
    (void)state;
    machine_run(
        m,
        "ds_read_b32 v20, v4 offset:4\nds_read_b128 v[24:27], v4\nds_read_u8 v21, v4 offset:1\n"
        "ds_read2_b32 v[30:31], v4 offset0:1 offset1:3\nds_read2st64_b32 v[32:33], v4 offset1:1\n"
        "ds_load_2addr_b64 v[36:39], v4 offset1:1\n"
        "ds_write2_b32 v4, v20, v4 offset0:120 offset1:121\nds_write_b64 v4, v[30:31] offset:512");
    assert_int_equal(m->wave.v[25][3], 0x130e0904);
    assert_int_equal(m->wave.v[20][3], m->wave.v[25][3]);
    assert_int_equal(m->wave.v[21][3], (uint8_t)(49 * 5));
    assert_int_equal(m->wave.v[30][3], m->wave.v[25][3]);
    assert_int_equal(m->wave.v[31][3], m->wave.v[27][3]);
    assert_int_equal(m->wave.v[32][3], m->wave.v[24][3]);
    assert_int_equal(m->wave.v[39][3], m->wave.v[27][3]);
    assert_int_equal(word_at(m->local, 480), m->wave.v[20][0]);
    assert_int_equal(word_at(m->local, 484), 0);
    assert_int_equal(word_at(m->local, 516 + 16 * 31), m->wave.v[31][31]);
    machine_refuses(m, "ds_read_b32 v20, v4 offset:600", "of shared memory, which has 1024");
    for (uint32_t i = 0; i < 32; i++) {
        m->wave.v[5][i] = 4 * (31 - i);
    }
    machine_run(m, "ds_bpermute_b32 v6, v5, v4");
    assert_int_equal(m->wave.v[6][2], 16 * 29);
}

/* Each invocation has its own, whichever way it is reached. */
static void private_memory(void **state) {
    struct machine *m = begin();
    (void)state;
    m->wave.s[8] = (uint32_t)AMD_SCRATCH_ADDRESS;
    m->wave.s[9] = (uint32_t)(AMD_SCRATCH_ADDRESS >> 32);
    m->wave.s[12] = 32 * 8;
    m->wave.v[5][2] = 4;
    machine_run(m, "buffer_store_dword v4, off, s[8:11], 0 offset:12\nscratch_load_dword v6, off, "
                   "off offset:12\n"
                   "buffer_load_dword v7, off, s[8:11], s12 offset:4\n"
                   "buffer_load_dword v8, v5, s[8:11], 0 offen offset:8\n"
                   "s_mov_b32 s13, 12\nscratch_load_b32 v9, off, s13");
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(m->wave.v[6][i], 16 * i);
        assert_int_equal(m->wave.v[7][i], 16 * i);
        assert_int_equal(m->wave.v[9][i], 16 * i);
    }
    assert_int_equal(m->wave.v[8][2], 32);
    machine_refuses(m, "buffer_store_dword v4, off, s[8:11], 0 offset:256",
                    "private memory, which has 256");
}

/* Of a resource with 200 bytes that begins at byte 64 of the first buffer. */
static void resources(void **state) {
    struct machine *m = begin();
    (void)state;
    m->wave.s[0] += 64;
    m->wave.s[2] = 200;
    m->wave.s[3] = 0x31014fac; /* format and selections, as RADV has them */
    m->wave.s[9] = 8;
    for (uint32_t i = 0; i < 32; i++) {
        m->wave.v[5][i] = 4 * i;
        m->wave.v[6][i] = 100 + i;
    }
    machine_run(m, "buffer_load_dword v20, v5, s[0:3], 0 offen offset:16\n"
                   "buffer_load_dwordx2 v[21:22], off, s[0:3], s9 offset:4\n"
                   "buffer_load_b32 v23, v5, s[0:3], s9 offen glc");
    assert_int_equal(m->wave.v[20][3], word_at(m->memory, 64 + 12 + 16));
    assert_int_equal(m->wave.v[22][7], word_at(m->memory, 64 + 8 + 4 + 4));
    assert_int_equal(m->wave.v[23][31], word_at(m->memory, 64 + 8 + 124));
    machine_run(m, "buffer_store_dword v6, v5, s[0:3], 4 offen offset:64");
    assert_int_equal(word_at(m->memory, 64 + 4 + 64 + 4 * 31), 131);
    m->wave.v[7][0] = 0xfffffffc; /* -4 */
    m->wave.s[AMD_EXEC] = 1;
    machine_run(m, "buffer_load_dword v24, v7, s[0:3], 0 offen offset:12");
    assert_int_equal(m->wave.v[24][0], word_at(m->memory, 64 + 8));
    m->wave.s[AMD_EXEC] = UINT32_MAX;
    machine_refuses(m, "buffer_load_dword v20, v5, s[0:3], 0 offen offset:80",
                    "4 bytes at 0xc8 of a buffer of 0xc8"); /* lane 30 is behind the end */
    machine_refuses(m, "buffer_store_dwordx2 v[20:21], off, s[0:3], 0 offset:196",
                    "8 bytes at 0xc4 of a buffer of 0xc8");
    m->wave.s[1] |= 16u << 16;
    machine_refuses(m, "buffer_load_dword v20, off, s[0:3], 0", "a buffer with a stride");
}

const struct CMUnitTest amd_memory_tests[] = {
    cmocka_unit_test(device_loads), cmocka_unit_test(device_stores),  cmocka_unit_test(atomics),
    cmocka_unit_test(shared),       cmocka_unit_test(private_memory), cmocka_unit_test(resources)};
const size_t amd_memory_count = sizeof amd_memory_tests / sizeof amd_memory_tests[0];
