/* SPDX-License-Identifier: MIT */
/* What weft bench puts into inputs: numbers that are never all zeros, and tokens of the vocabulary. */
#include "bench/graph.h"
#include "bench/ports.h"
#include "support.h"

#define COUNT      4096
#define VOCABULARY 7

static weft_port_info port(const char *name, weft_dtype dtype) {
    return (weft_port_info){.name = name, .dtype = dtype, .bytes = COUNT * sizeof(float)};
}

WEFT_TEST(numbers_fill_their_range) {
    static float x[COUNT];
    static float beta[COUNT];
    const weft_bench_case none = {.name = "none"};
    const weft_port_info ports[] = {port("x", WEFT_F32), port(WEFT_BENCH_UNIT_INPUT, WEFT_F32)};
    assert_ok(weft_bench_fill_input(x, &ports[0], 0, &none, NULL));
    assert_ok(weft_bench_fill_input(beta, &ports[1], 0, &none, NULL));
    uint32_t below = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        below += x[i] < -0.5F;
        assert_true(x[i] >= -1.0F && x[i] < 1.0F);
        assert_true(beta[i] >= 0.0F && beta[i] < 1.0F);
    }
    assert_in_range(below, COUNT / 5, COUNT / 3);
}

WEFT_TEST(tokens_are_of_the_vocabulary) {
    static int32_t tokens[COUNT];
    static int32_t others[COUNT];
    const weft_bench_case some = {.name = "some", .vocabulary = VOCABULARY};
    const weft_port_info info = port("tokens", WEFT_I32);
    assert_ok(weft_bench_fill_input(tokens, &info, 0, &some, NULL));
    assert_ok(weft_bench_fill_input(others, &info, 1, &some, NULL));
    uint32_t seen[VOCABULARY] = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_in_range(tokens[i], 0, VOCABULARY - 1);
        seen[tokens[i]]++;
    }
    for (uint32_t i = 0; i < VOCABULARY; i++) {
        assert_in_range(seen[i], COUNT / (VOCABULARY + 1), COUNT / (VOCABULARY - 1));
    }
    assert_memory_not_equal(tokens, others, sizeof tokens);
}

WEFT_TEST(tokens_need_a_vocabulary) {
    int32_t tokens[COUNT];
    const weft_bench_case none = {.name = "none"};
    const weft_port_info info = port("tokens", WEFT_I32);
    assert_int_equal(weft_bench_fill_input(tokens, &info, 0, &none, NULL), WEFT_INVALID_ARGUMENT);
}
