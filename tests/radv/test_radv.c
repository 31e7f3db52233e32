/* SPDX-License-Identifier: MIT */
/* Command streams, buffers and synchronization, without a driver. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kmd.h"

#define PACKET(opcode, words) (3u << 30 | ((words)-1u) << 16 | (uint32_t)(opcode) << 8)
#define LOW(address)          (uint32_t)(address), (uint32_t)((uint64_t)(address) >> 32)

enum { SHADER_ENABLED = 1, FROM_ZERO = 4 };

static const uint64_t code_at = UINT64_C(0xffff800000200000), data_at = UINT64_C(0x100000000),
                      stream_at = UINT64_C(0x200000000);
static uint8_t *code;
static uint32_t *data, *stream;

static void *buffer_at(uint64_t address, uint64_t size) {
    struct kmd *kmd = kmd_device();
    const uint32_t handle = kmd_buffer_create(kmd, size, 4, 0);
    assert_int_not_equal(handle, 0);
    assert_true(kmd_map(handle, address, 0, size));
    return kmd_bytes(kmd, address, size);
}

static int begin(void **state) {
    (void)state;
    code = buffer_at(code_at, 4096);
    data = buffer_at(data_at, 8192);
    stream = buffer_at(stream_at, 8192);
    return code && data && stream ? 0 : -1;
}

static bool run(const uint32_t *words, size_t size) {
    memcpy(stream, words, size);
    return kmd_run(kmd_device(), stream_at, size);
}
#define RUN(...) run((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}))

/* ---- memory ---- */

static void copies(void **state) {
    (void)state;
    memset(data, 0, 8192);
    assert_true(RUN(PACKET(0x50, 6), 2u << 29, 0x01020304, 0, LOW(data_at), 64, /* 16 words */
                    PACKET(0x50, 6), 3u << 29 | 3u << 20, LOW(data_at), LOW(data_at + 256), 32,
                    PACKET(0x37, 5), 5u << 8, LOW(data_at + 512), 7, 8,       /* two numbers */
                    PACKET(0x40, 5), 5u | 5u << 8, 99, 0, LOW(data_at + 520), /* a number */
                    PACKET(0x40, 5), 1u | 5u << 8 | 1u << 16, LOW(data_at + 512),
                    LOW(data_at + 528), PACKET(0x49, 7), 0, 2u << 29, LOW(data_at + 536), 5, 6,
                    0)); /* at the end */
    assert_int_equal(data[15], 0x01020304);
    assert_int_equal(data[16], 0);
    assert_int_equal(data[64 + 7], 0x01020304);
    assert_int_equal(data[64 + 8], 0);
    assert_int_equal(data[128], 7);
    assert_int_equal(data[129], 8);
    assert_int_equal(data[130], 99);
    assert_int_equal(data[132], 7);
    assert_int_equal(data[133], 8);
    assert_int_equal(data[134], 5);
    assert_int_equal(data[135], 6);
}

/* Another stream, after which this one goes on, and one in place of the rest. */
static void streams(void **state) {
    uint32_t *others = data + 1024;
    (void)state;
    const uint32_t first[] = {PACKET(0x37, 4), 5u << 8, LOW(data_at), 1};
    const uint32_t second[] = {PACKET(0x37, 4), 5u << 8, LOW(data_at + 8), 3};
    memset(data, 0, 64);
    memcpy(others, first, sizeof first);
    memcpy(others + 64, second, sizeof second);
    assert_true(RUN(PACKET(0x3f, 3), LOW(data_at + 4096), 5,                  /* and back */
                    PACKET(0x37, 4), 5u << 8, LOW(data_at + 4), 2,            /* */
                    PACKET(0x3f, 3), LOW(data_at + 4096 + 256), 5 | 1u << 20, /* for good */
                    PACKET(0x37, 4), 5u << 8, LOW(data_at), 9));
    assert_int_equal(data[0], 1);
    assert_int_equal(data[1], 2);
    assert_int_equal(data[2], 3);
}

static void refusals(void **state) {
    (void)state;
    assert_false(RUN(PACKET(0x99, 1), 0));                               /* no such packet */
    assert_false(RUN(PACKET(0x37, 4), 5u << 8, LOW(0x700000000), 1));    /* nothing is there */
    assert_false(RUN(PACKET(0x37, 4), 5u << 8, LOW(data_at + 8190), 1)); /* half of it */
    assert_false(RUN(PACKET(0x76, 3), 1023, 1, 2));                      /* no such register */
    assert_false(RUN(PACKET(0x37, 4) | 1, 5u << 8, LOW(data_at), 1));    /* by a predicate */
    assert_false(RUN(PACKET(0x37, 9), 5u << 8, LOW(data_at), 1));        /* cut off */
    data[0] = 4;
    assert_false(RUN(PACKET(0x3c, 6), 3u | 1u << 4, LOW(data_at), 5, 0xffffffff, 0));
    assert_true(RUN(PACKET(0x3c, 6), 3u | 1u << 4, LOW(data_at), 4, 0xffffffff, 0));
    assert_false(kmd_run(kmd_device(), UINT64_C(0x700000000), 64));
}

/* ---- dispatches ---- */

/* gfx1030: each invocation stores its local id at s[0:1] */
static const uint32_t program[] = {0x34020082,             /* v_lshlrev_b32 v1, 2, v0 */
                                   0xdc708000, 0x00000001, /* global_store_dword v1, v0, s[0:1] */
                                   0xbf810000};            /* s_endpgm */

static bool dispatch(uint32_t how) {
    memset(data, 0xff, 1024);
    return RUN(PACKET(0x76, 3), (0xb830 - 0xb000) / 4, (uint32_t)(code_at >> 8),
               (uint32_t)(code_at >> 40),                                  /* where the code is */
               PACKET(0x76, 3), (0xb848 - 0xb000) / 4, 0, 2u << 1,         /* two user registers */
               PACKET(0x76, 4), (0xb81c - 0xb000) / 4, 100u | 36u << 16,   /* invocations */
               1, 1, PACKET(0x76, 3), (0xb900 - 0xb000) / 4, LOW(data_at), /* */
               PACKET(0x15, 4), 1, 1, 1, SHADER_ENABLED | how);
}

static void dispatches(void **state) {
    (void)state;
    memcpy(code, program, sizeof program);
    assert_true(dispatch(FROM_ZERO)); /* two waves of 64 */
    assert_int_equal(data[0], 0);
    assert_int_equal(data[99], 99);
    assert_int_equal(data[100], 0xffffffff);
    assert_true(dispatch(FROM_ZERO | 1 << 15)); /* of 32 */
    assert_int_equal(data[99], 99);
    assert_true(dispatch(FROM_ZERO | 1 << 1)); /* the last group is smaller */
    assert_int_equal(data[35], 35);
    assert_int_equal(data[36], 0xffffffff);
    assert_false(dispatch(FROM_ZERO | 1 << 5)); /* counts of invocations */
    ((uint32_t *)(void *)code)[0] = 0x34020084; /* other code at the same place: shifted by 4 */
    assert_true(dispatch(FROM_ZERO));
    assert_int_equal(data[1], 0xffffffff);
    assert_int_equal(data[4], 1);
    ((uint32_t *)(void *)code)[0] = 0xffffffff;
    assert_false(dispatch(FROM_ZERO));
}

/* ---- what a kernel keeps ---- */

static void buffers(void **state) {
    struct kmd *kmd = kmd_device();
    const uint64_t at = UINT64_C(0x400000000);
    (void)state;
    const uint32_t handle = kmd_buffer_create(kmd, 5000, 4, 0);
    assert_int_equal(kmd_buffer_find(handle)->size, 8192);
    assert_false(kmd_map(handle, at, 4096, 8192)); /* not the buffer's */
    assert_true(kmd_map(handle, at, 4096, 4096));
    assert_false(kmd_map(handle, at + 100, 0, 4096)); /* not free */
    assert_non_null(kmd_bytes(kmd, at + 4095, 1));
    assert_null(kmd_bytes(kmd, at + 4095, 2));
    assert_int_equal(kmd_extent(at + 96), 4000);
    *kmd_bytes(kmd, at, 1) = 1;
    kmd_unmap(at, 4096);
    assert_null(kmd_bytes(kmd, at, 1));
    assert_true(kmd_map(handle, at, 4096, 4096));
    assert_int_equal(*kmd_bytes(kmd, at, 1), 1);
    kmd_unmap(at, 4096);
    assert_true(kmd_buffer_close(kmd, handle));
    assert_false(kmd_buffer_close(kmd, handle));
    assert_int_equal(kmd_buffer_create(kmd, UINT64_C(1) << 60, 4, 0), 0);
}

/* By ioctls, as a driver asks: of drm.h, of which the number in the lowest byte says which. */
static void synchronization(void **state) {
    struct kmd *kmd = kmd_device();
    uint32_t made[2] = {0, 0};
    uint64_t point = 3, told = 0;
    (void)state;
    assert_int_equal(kmd_ioctl(kmd, 0xbf, made), 0);
    const uint64_t handles = (uint64_t)(uintptr_t)made, points = (uint64_t)(uintptr_t)&point;
    uint64_t wait[5] = {handles, points, 0, 1 | UINT64_C(2) << 32, 0}; /* until it is submitted */
    uint64_t signal[3] = {handles, points, 1}, query[3] = {handles, (uint64_t)(uintptr_t)&told, 1};
    assert_int_equal(kmd_ioctl(kmd, 0xca, wait), ETIME);
    assert_int_equal(kmd_ioctl(kmd, 0xcd, signal), 0);
    assert_int_equal(kmd_ioctl(kmd, 0xca, wait), 0);
    assert_int_equal(kmd_ioctl(kmd, 0xcb, query), 0);
    assert_int_equal(told, 3);
    point = 4;
    assert_int_equal(kmd_ioctl(kmd, 0xca, wait), ETIME);
    assert_int_equal(kmd_ioctl(kmd, 0xc0, made), 0);
    assert_int_equal(kmd_ioctl(kmd, 0xca, wait), ENOENT);
    assert_int_equal(kmd_ioctl(kmd, 0xfe, wait), ENOTTY);
}

/* AMDGPU_CS with commands, and an object that is signaled when they are done: not where they fail. */
static void submissions(void **state) {
    struct kmd *kmd = kmd_device();
    uint32_t made[2] = {0, 0};
    (void)state;
    assert_int_equal(kmd_ioctl(kmd, 0xbf, made), 0);
    const uint32_t words[] = {PACKET(0x37, 4), 5u << 8, LOW(data_at), 77};
    memcpy(stream, words, sizeof words);
    const uint64_t commands[4] = {0, stream_at, sizeof words, 0};
    const uint32_t signals[1] = {made[0]};
    const uint64_t chunk_1[2] = {1 | UINT64_C(8) << 32, (uint64_t)(uintptr_t)commands};
    const uint64_t chunk_2[2] = {5 | UINT64_C(1) << 32, (uint64_t)(uintptr_t)signals};
    const uint64_t list[2] = {(uint64_t)(uintptr_t)chunk_2, (uint64_t)(uintptr_t)chunk_1};
    uint64_t submission[3] = {0, 2, (uint64_t)(uintptr_t)list};
    stream[0] = PACKET(0x99, 4);
    assert_int_equal(kmd_ioctl(kmd, 0x44, submission), ECANCELED);
    assert_false(kmd_sync_is_reached(made[0], 0));
    stream[0] = words[0];
    submission[0] = 0;
    assert_int_equal(kmd_ioctl(kmd, 0x44, submission), 0);
    assert_int_equal(data[0], 77);
    assert_true(kmd_sync_is_reached(made[0], 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),     cmocka_unit_test(streams), cmocka_unit_test(refusals),
        cmocka_unit_test(dispatches), cmocka_unit_test(buffers), cmocka_unit_test(synchronization),
        cmocka_unit_test(submissions)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
