/* SPDX-License-Identifier: MIT */
/*
 * The pass that takes contraction out of a module, and what it does with words that are no module.
 */
#include "core/math/philox.h"
#include "spirv/check.h"
#include "support_spirv.h"

static const char kernel_text[] =
    "#version 450\n"
    "layout(local_size_x = 4, local_size_y = 3, local_size_z = 2) in;\n"
    "layout(set = 0, binding = 0) buffer A { float x[]; };\n"
    "layout(set = 0, binding = 1) buffer B { vec4 v[]; };\n"
    "layout(set = 0, binding = 2) buffer C { dvec2 d[]; };\n"
    "float inner(float a, float b, float c) {\n"
    "    return fma(a, b, c) * fma(c, b, a);\n"
    "}\n"
    "void main() {\n"
    "    uint i = gl_GlobalInvocationID.x;\n"
    "    float s = x[i];\n"
    "    precise float p = x[i + 1] * s + x[i + 2];\n"
    "    for (uint k = 0; k < 5u; ++k) {\n"
    "        s = fma(s, x[k], -p) / 3.0 - mod(s, 2.0);\n"
    "        if (s > 10.0) {\n"
    "            s = inner(s, p, float(k));\n"
    "        }\n"
    "    }\n"
    "    precise vec4 exact = fma(v[i], v[i + 1], v[i + 2]);\n"
    "    vec4 w = fma(v[i], exact, v[i + 3]) * s;\n"
    "    mat4 m = mat4(w, w, w, w) * s;\n"
    "    w = m * w + w * m - (m * m)[1];\n"
    "    m += outerProduct(w, w);\n"
    "    v[i] = w * dot(w, m[2]);\n"
    "    d[i] = fma(d[i], d[i + 1], dvec2(0.5)) + d[i];\n"
    "    x[i] = s + p;\n"
    "}\n";

/* ---- an independent reading of a module: what the tests count ---- */

#define MAX_IDS 4096

struct census {
    uint32_t fmas;
    uint32_t decorated_fmas;
    uint32_t arithmetic;
    uint32_t decorated_arithmetic;
    uint32_t decorations;        /* NoContraction, on anything */
    uint32_t products_into_sums; /* FAdd whose first operand is the FMul right before it */
    uint32_t late_decorations;   /* behind the first type declaration */
    uint32_t max_id;
};

static bool is_counted(uint32_t opcode) {
    static const uint16_t counted[] = {127, 129, 131, 133, 136, 140, 141,
                                       142, 143, 144, 145, 146, 147, 148};
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        if (counted[i] == opcode) {
            return true;
        }
    }
    return false;
}

static void take_instruction(struct census *census, const uint32_t *at, const uint32_t *before,
                             uint8_t *decorated, uint8_t *glsl, bool *types) {
    uint32_t opcode = at[0] & 0xFFFF;
    if (opcode == 11 && memcmp(at + 2, "GLSL.std.450", 13) == 0) {
        glsl[at[1]] = 1;
    } else if (opcode == 71 && at[2] == 42) {
        decorated[at[1]]++;
        census->decorations++;
        census->late_decorations += *types;
    } else if (opcode >= 19 && opcode <= 33) {
        *types = true;
    } else if (opcode == 12 && glsl[at[3]] && at[4] == 50) {
        census->fmas++;
        census->decorated_fmas += decorated[at[2]] == 1;
    } else if (is_counted(opcode)) {
        assert_in_range(at[2], 1, MAX_IDS - 1);
        census->arithmetic++;
        census->decorated_arithmetic += decorated[at[2]] == 1;
        census->max_id = at[2] > census->max_id ? at[2] : census->max_id;
        census->products_into_sums +=
            opcode == 129 && before && (before[0] & 0xFFFF) == 133 && before[2] == at[3];
    }
}

static struct census take_census(struct words words) {
    struct census census = {0};
    uint8_t decorated[MAX_IDS] = {0};
    uint8_t glsl[MAX_IDS] = {0};
    bool types = false;
    const uint32_t *before = NULL;
    assert_in_range(words.data[3], 1, MAX_IDS);
    for (size_t at = 5; at < words.size / 4; at += words.data[at] >> 16) {
        take_instruction(&census, words.data + at, before, decorated, glsl, &types);
        before = words.data + at;
    }
    return census;
}

WEFT_TEST(test_every_operation_is_decorated) {
    struct words source = weft_test_compile(kernel_text);
    struct words result = weft_test_make_reproducible(source);
    struct census before = take_census(source);
    struct census after = take_census(result);
    assert_int_equal(before.fmas, 6);
    assert_in_range(before.decorated_arithmetic, 1, before.arithmetic - 1);
    assert_int_equal(after.fmas, 0);
    assert_int_equal(after.arithmetic, before.arithmetic + 2 * before.fmas);
    assert_int_equal(after.decorated_arithmetic, after.arithmetic);
    assert_int_equal(after.decorations - before.decorations,
                     after.arithmetic - before.decorated_arithmetic - before.decorated_fmas);
    assert_int_equal(after.products_into_sums, before.products_into_sums + before.fmas);
    assert_int_equal(after.late_decorations, 0);
    assert_int_equal(result.data[3], source.data[3] + before.fmas);
    assert_true(after.max_id < result.data[3]);
    free(source.data);
    free(result.data);
}

WEFT_TEST(test_idempotent) {
    struct words source = weft_test_compile(kernel_text);
    struct words once = weft_test_make_reproducible(source);
    struct words twice = weft_test_make_reproducible(once);
    weft_test_expect_same(twice, once);
    free(source.data);
    free(once.data);
    free(twice.data);
}

WEFT_TEST(test_spirv_val) {
    if (!weft_test_has_spirv_val()) {
        skip();
    }
    struct words source = weft_test_compile(kernel_text);
    struct words result = weft_test_make_reproducible(source);
    weft_test_expect_valid(result, "the kernel");
    free(source.data);
    free(result.data);
}

/* ---- modules put together by hand, for what no compiler emits ---- */

struct assembler {
    uint32_t words[1024];
    size_t count;
};

static void op(struct assembler *module, uint32_t opcode, size_t operands, const uint32_t *values) {
    assert_true(module->count + operands + 1 <= 1024);
    module->words[module->count++] = (uint32_t)(operands + 1) << 16 | opcode;
    for (size_t i = 0; i < operands; i++) {
        module->words[module->count++] = values[i];
    }
}

#define OP(module, opcode, ...) \
    op(module, opcode, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

/* "GLSL.std.450" and "main" as literals. */
#define GLSL_STD_450 0x4C534C47, 0x6474732E, 0x3035342E, 0
#define OTHER_SET    0x6E6F4E, 0
#define MAIN         0x6E69616D, 0

enum {
    ID_SET = 1,
    ID_SET_TOO,
    ID_OTHER_SET,
    ID_MAIN,
    ID_VOID,
    ID_FUNCTION,
    ID_FLOAT,
    ID_ONE,
    ID_GROUP,
    ID_LABEL,
    ID_PRODUCT,
    ID_SUM,
    ID_FMA,
    ID_FMA_TOO,
    ID_NO_FMA,
    ID_UINT,
    ID_VEC3,
    ID_X,
    ID_Y,
    ID_Z,
    ID_SIZE,
    ID_FILE,
    ID_BOUND
};

enum size_from { SIZE_NONE, SIZE_LITERAL, SIZE_ID, SIZE_CONSTANT, SIZE_SPEC_CONSTANT };

static void put_preamble(struct assembler *module, enum size_from size_from) {
    const uint32_t header[5] = {0x07230203, 0x10500, 0, ID_BOUND, 0};
    memcpy(module->words, header, sizeof header);
    module->count = 5;
    OP(module, 17, 1);
    OP(module, 11, ID_SET, GLSL_STD_450);
    OP(module, 11, ID_SET_TOO, GLSL_STD_450);
    OP(module, 11, ID_OTHER_SET, OTHER_SET);
    OP(module, 14, 0, 1);
    OP(module, 15, 5, ID_MAIN, MAIN);
    if (size_from == SIZE_ID) {
        OP(module, 331, ID_MAIN, 38, ID_X, ID_Y, ID_Z);
    } else if (size_from != SIZE_NONE) {
        OP(module, 16, ID_MAIN, 17, 9, 8, 7);
    }
    OP(module, 7, ID_FILE, MAIN);
    OP(module, 5, ID_MAIN, MAIN);
}

static void put_annotations_and_types(struct assembler *module, enum size_from size_from) {
    OP(module, 71, ID_GROUP, 42);
    OP(module, 73, ID_GROUP);
    OP(module, 74, ID_GROUP, ID_PRODUCT, ID_FMA);
    if (size_from >= SIZE_CONSTANT) {
        OP(module, 71, ID_SIZE, 11, 25);
    }
    OP(module, 71, ID_X, 1, 0);
    OP(module, 71, ID_Z, 1, 2);
    OP(module, 19, ID_VOID);
    OP(module, 33, ID_FUNCTION, ID_VOID);
    OP(module, 22, ID_FLOAT, 32);
    OP(module, 43, ID_FLOAT, ID_ONE, 0x3F800000);
    OP(module, 21, ID_UINT, 32, 0);
    OP(module, 23, ID_VEC3, ID_UINT, 3);
    OP(module, 50, ID_UINT, ID_X, 16);
    OP(module, 43, ID_UINT, ID_Y, 4);
    OP(module, 50, ID_UINT, ID_Z, 2);
    OP(module, size_from == SIZE_SPEC_CONSTANT ? 51 : 44, ID_VEC3, ID_SIZE, ID_X, ID_Y, ID_Z);
}

static void put_function(struct assembler *module) {
    OP(module, 54, ID_VOID, ID_MAIN, 0, ID_FUNCTION);
    OP(module, 248, ID_LABEL);
    OP(module, 8, ID_FILE, 1, 1);
    OP(module, 133, ID_FLOAT, ID_PRODUCT, ID_ONE, ID_ONE);
    OP(module, 129, ID_FLOAT, ID_SUM, ID_PRODUCT, ID_ONE);
    OP(module, 12, ID_FLOAT, ID_FMA, ID_SET, 50, ID_SUM, ID_ONE, ID_PRODUCT);
    OP(module, 12, ID_FLOAT, ID_FMA_TOO, ID_SET_TOO, 50, ID_FMA, ID_ONE, ID_SUM);
    /* Number 50 of another set is something else. */
    OP(module, 12, ID_FLOAT, ID_NO_FMA, ID_OTHER_SET, 50, ID_FMA, ID_ONE, ID_SUM);
    op(module, 253, 0, NULL);
    op(module, 56, 0, NULL);
}

static struct words assemble(struct assembler *module, enum size_from size_from) {
    put_preamble(module, size_from);
    put_annotations_and_types(module, size_from);
    put_function(module);
    return (struct words){module->words, module->count * 4};
}

WEFT_TEST(test_groups_and_sets) {
    struct assembler module = {0};
    struct words result = weft_test_make_reproducible(assemble(&module, SIZE_LITERAL));
    struct census census = take_census(result);
    assert_int_equal(census.fmas, 0);
    assert_int_equal(census.arithmetic, 6); /* two of each Fma's, one product, one sum */
    assert_int_equal(result.data[3], ID_BOUND + 2);
    /* The group's own, and what the group does not cover: sum, second Fma, two products. */
    assert_int_equal(census.decorations, 1 + 4);
    bool other_set_kept = false;
    for (size_t at = 5; at < result.size / 4; at += result.data[at] >> 16) {
        other_set_kept |= (result.data[at] & 0xFFFF) == 12 && result.data[at + 2] == ID_NO_FMA;
    }
    assert_true(other_set_kept);
    free(result.data);
}

WEFT_TEST(test_split_keeps_operands) {
    struct assembler module = {0};
    struct words result = weft_test_make_reproducible(assemble(&module, SIZE_LITERAL));
    const uint32_t expected[10] = {5u << 16 | 133, ID_FLOAT, ID_BOUND, ID_SUM,   ID_ONE,
                                   5u << 16 | 129, ID_FLOAT, ID_FMA,   ID_BOUND, ID_PRODUCT};
    bool found = false;
    for (size_t at = 5; at + 10 <= result.size / 4; at += result.data[at] >> 16) {
        found |= memcmp(result.data + at, expected, sizeof expected) == 0;
    }
    assert_true(found);
    free(result.data);
}

static void read_local_size(uint32_t size[3], struct words words, const uint32_t *specialization,
                            uint32_t count) {
    struct weft_spirv_module module;
    assert_ok(weft_spirv_read(&module, words.data, words.size, NULL));
    weft_spirv_local_size(size, &module, specialization, count);
    weft_spirv_module_free(&module);
}

static void assert_local_size(struct words words, uint32_t x, uint32_t y, uint32_t z) {
    uint32_t size[3] = {99, 99, 99};
    read_local_size(size, words, NULL, 0);
    assert_int_equal(size[0], x);
    assert_int_equal(size[1], y);
    assert_int_equal(size[2], z);
}

WEFT_TEST(test_local_size) {
    struct assembler module = {0};
    assert_local_size(assemble(&module, SIZE_NONE), 0, 0, 0);
    assert_local_size(assemble(&module, SIZE_LITERAL), 9, 8, 7);
    assert_local_size(assemble(&module, SIZE_ID), 16, 4, 2);
    assert_local_size(assemble(&module, SIZE_CONSTANT), 16, 4, 2);
    struct words words = assemble(&module, SIZE_SPEC_CONSTANT);
    assert_local_size(words, 16, 4, 2);
    const uint32_t specialization[3] = {32, 55, 66};
    uint32_t size[3];
    read_local_size(size, words, specialization, 2);
    assert_true(size[0] == 32 && size[1] == 4 && size[2] == 2);
    read_local_size(size, words, specialization, 3);
    assert_true(size[0] == 32 && size[1] == 4 && size[2] == 66);
    assert_local_size((struct words){words.data, 20}, 0, 0, 0);
}

WEFT_TEST(test_local_size_of_compiled) {
    struct words words = weft_test_compile(kernel_text);
    assert_local_size(words, 4, 3, 2);
    free(words.data);
    words =
        weft_test_compile("#version 450\n"
                          "layout(local_size_x_id = 1, local_size_y = 2, local_size_z_id = 0) in;\n"
                          "void main() {}\n");
    const uint32_t specialization[2] = {5, 64};
    uint32_t size[3];
    read_local_size(size, words, specialization, 2);
    assert_true(size[0] == 64 && size[1] == 2 && size[2] == 5);
    free(words.data);
}

/* ---- words that are no module ---- */

static const struct weft_spirv_needs needs = {.no_contraction = 1};

/* A copy of exactly `size` bytes, so that the address sanitizer sees a read behind them. */
static weft_status try_words(const uint32_t *words, size_t size) {
    uint32_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, words, size);
    struct weft_spirv_edit made;
    const weft_status status = weft_spirv_rewrite(&made, copy, size, &needs, NULL);
    if (status == WEFT_OK) {
        uint32_t local_size[3];
        weft_spirv_local_size(local_size, &made.module, NULL, 0);
        assert_ok(weft_spirv_check(made.words, made.module.count * sizeof *made.words, NULL));
        (void)weft_spirv_find_compute(&made.module, "main");
        weft_spirv_edit_free(&made);
    } else {
        assert_int_equal(status, WEFT_COMPILE_ERROR);
        assert_null(made.words);
    }
    free(copy);
    return status;
}

WEFT_TEST(test_truncation) {
    struct words words = weft_test_compile(kernel_text);
    assert_ok(try_words(words.data, words.size));
    for (size_t size = 0; size < words.size; size++) {
        assert_int_equal(try_words(words.data, size), WEFT_COMPILE_ERROR);
    }
    free(words.data);
}

WEFT_TEST(test_header) {
    static const struct {
        uint32_t at, value;
    } cases[] = {{0, 0x03022307}, {0, 0},          {1, 0x10700}, {1, 0},
                 {1, 0x10501},    {1, 0xFFFFFFFF}, {3, 0},       {3, 1},
                 {3, 0x400000},   {3, 0xFFFFFFFF}, {4, 1}};
    struct assembler module = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct words words = assemble(&module, SIZE_LITERAL);
        assert_ok(try_words(words.data, words.size));
        words.data[cases[i].at] = cases[i].value;
        assert_int_equal(try_words(words.data, words.size), WEFT_COMPILE_ERROR);
    }
}

/* Changes the first instruction `opcode` and expects refusal. */
static void assert_refused(uint32_t opcode, uint32_t word, uint32_t value) {
    struct assembler module = {0};
    struct words words = assemble(&module, SIZE_LITERAL);
    size_t at = 5;
    while ((words.data[at] & 0xFFFF) != opcode) {
        at += words.data[at] >> 16;
        assert_true(at < words.size / 4);
    }
    words.data[at + word] = value;
    assert_int_equal(try_words(words.data, words.size), WEFT_COMPILE_ERROR);
}

WEFT_TEST(test_malformed) {
    assert_refused(133, 0, 133);                 /* an instruction of no words */
    assert_refused(133, 0, 0x7FFFu << 16 | 133); /* one that reaches beyond the end */
    assert_refused(133, 0, 4u << 16 | 133);      /* one that is too short */
    assert_refused(133, 2, 0);                   /* id 0 */
    assert_refused(133, 2, ID_BOUND);            /* an id outside the bound */
    assert_refused(133, 2, ID_SUM);              /* an id that is defined twice */
    assert_refused(133, 3, ID_BOUND);            /* an operand outside the bound */
    assert_refused(129, 3, 0xFFFFFFFF);
    assert_refused(19, 1, ID_BOUND - 1); /* and with it, a use of what is not defined */
    assert_refused(11, 5, 0x31313131);   /* a string without an end */
    assert_refused(15, 2, ID_FLOAT);     /* an entry point that is a type */
}

/* A group's decorations are gone through for each id that it is applied to: there must not be more than anybody needs. */
WEFT_TEST(test_long_groups) {
    for (uint32_t more = 127; more <= 128; more++) {
        struct assembler module = {0};
        put_preamble(&module, SIZE_LITERAL);
        for (uint32_t i = 0; i < more; i++) {
            OP(&module, 71, ID_GROUP, 42);
        }
        put_annotations_and_types(&module, SIZE_LITERAL);
        put_function(&module);
        assert_int_equal(try_words(module.words, module.count * 4),
                         more == 127 ? WEFT_OK : WEFT_COMPILE_ERROR);
    }
}

/* Readers tell types, constants and atomics by ranges of opcodes: none in there may have ids that nobody checked. */
WEFT_TEST(test_ranges_of_opcodes) {
    static const uint32_t ranges[][2] = {{19, 33}, {41, 52}, {227, 242}};
    static const uint32_t outside[] = {ID_BOUND, ID_BOUND, ID_BOUND, ID_BOUND,
                                       ID_BOUND, ID_BOUND, ID_BOUND, ID_BOUND};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        for (uint32_t opcode = ranges[i][0]; opcode <= ranges[i][1]; opcode++) {
            struct assembler module = {0};
            put_preamble(&module, SIZE_LITERAL);
            put_annotations_and_types(&module, SIZE_LITERAL);
            op(&module, opcode, 8, outside);
            OP(&module, 54, ID_VOID, ID_MAIN, 0, ID_FUNCTION);
            OP(&module, 248, ID_LABEL);
            op(&module, 253, 0, NULL);
            op(&module, 56, 0, NULL);
            assert_int_equal(try_words(module.words, module.count * 4), WEFT_COMPILE_ERROR);
        }
    }
}

/* An Fma with an operand too few or too many has the right shape for the table, and no meaning. */
WEFT_TEST(test_malformed_fma) {
    for (uint32_t operands = 0; operands < 6; operands++) {
        struct assembler module = {0};
        put_preamble(&module, SIZE_LITERAL);
        put_annotations_and_types(&module, SIZE_LITERAL);
        OP(&module, 54, ID_VOID, ID_MAIN, 0, ID_FUNCTION);
        OP(&module, 248, ID_LABEL);
        OP(&module, 133, ID_FLOAT, ID_PRODUCT, ID_ONE, ID_ONE);
        const uint32_t fma[] = {ID_FLOAT, ID_FMA, ID_SET, 50,    ID_ONE,
                                ID_ONE,   ID_ONE, ID_ONE, ID_ONE};
        op(&module, 12, 4 + operands, fma);
        op(&module, 253, 0, NULL);
        op(&module, 56, 0, NULL);
        assert_int_equal(try_words(module.words, module.count * 4),
                         operands == 3 ? WEFT_OK : WEFT_COMPILE_ERROR);
    }
}

WEFT_TEST(test_function_structure) {
    struct assembler module = {0};
    struct words words = assemble(&module, SIZE_LITERAL);
    op(&module, 56, 0, NULL); /* ends a function that has not started */
    assert_int_equal(try_words(words.data, module.count * 4), WEFT_COMPILE_ERROR);
    module.count--;
    OP(&module, 14, 0, 1); /* a second memory model */
    assert_int_equal(try_words(words.data, module.count * 4), WEFT_COMPILE_ERROR);
    module.count -= 3;
    OP(&module, 17, 1); /* a capability behind the instructions that it is for */
    assert_int_equal(try_words(words.data, module.count * 4), WEFT_COMPILE_ERROR);
}

WEFT_TEST(test_unknown_instruction) {
    /* What an extension adds is carried along, and its result may be used. */
    struct assembler module = {0};
    put_preamble(&module, SIZE_LITERAL);
    put_annotations_and_types(&module, SIZE_LITERAL);
    OP(&module, 54, ID_VOID, ID_MAIN, 0, ID_FUNCTION);
    OP(&module, 248, ID_LABEL);
    OP(&module, 6035, ID_FLOAT, ID_SUM, ID_ONE, ID_ONE, ID_ONE, ID_ONE);
    OP(&module, 133, ID_FLOAT, ID_PRODUCT, ID_SUM, ID_ONE);
    OP(&module, 12, ID_FLOAT, ID_FMA, ID_SET, 50, ID_SUM, ID_ONE, ID_PRODUCT);
    op(&module, 253, 0, NULL);
    op(&module, 56, 0, NULL);
    assert_ok(try_words(module.words, module.count * 4));
}

WEFT_TEST(test_no_ids_left) {
    struct assembler module = {0};
    struct words words = assemble(&module, SIZE_LITERAL);
    words = weft_test_with_bound(words, WEFT_SPIRV_MAX_BOUND - 2); /* two Fma's need two */
    assert_ok(try_words(words.data, words.size));
    words.data[3]++;
    assert_int_equal(try_words(words.data, words.size), WEFT_COMPILE_ERROR);
    free(words.data);
}

/* A bound costs memory in every reader: it has to be in keeping with what is there. */
WEFT_TEST_ON_HOST(test_a_bound_without_instructions, test) {
    struct assembler module = {0};
    struct words words = assemble(&module, SIZE_LITERAL);
    const uint32_t most = 65536 + 8 * (uint32_t)(words.size / 4);
    words.data[3] = most;
    assert_ok(weft_spirv_check(words.data, words.size, &test->host));
    const uint32_t beyond[] = {most + 1, WEFT_SPIRV_MAX_BOUND, UINT32_MAX};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        words.data[3] = beyond[i];
        WEFT_EXPECT_REFUSED(test, WEFT_COMPILE_ERROR,
                            weft_spirv_check(words.data, words.size, &test->host),
                            weft_test_text("bound %u, expected 1 to %u", beyond[i], most));
        assert_int_equal(test->allocations, 0); /* but for the message, which is not the host's */
    }
    struct words large = weft_test_with_bound(words, WEFT_SPIRV_MAX_BOUND);
    assert_ok(weft_spirv_check(large.data, large.size, &test->host));
    large.data[3]++;
    assert_status(weft_spirv_check(large.data, large.size, &test->host), WEFT_COMPILE_ERROR);
    free(large.data);
}

static void mutate(struct words words, uint32_t round) {
    for (uint32_t i = 0; i <= round % 3; i++) {
        size_t at = weft_philox_u32(1, round, 3 * i) % (words.size / 4);
        uint32_t random = weft_philox_u32(1, round, 3 * i + 1);
        switch (weft_philox_u32(1, round, 3 * i + 2) % 4) {
        case 0:
            words.data[at] = random;
            break;
        case 1:
            words.data[at] ^= 1u << random % 32;
            break;
        case 2:
            words.data[at] = random % 512; /* ids, lengths of zero */
            break;
        default:
            words.data[at] = words.data[random % (words.size / 4)];
            break;
        }
    }
}

/* Whatever happens to the words, the outcome is a module that holds together or a refusal. */
WEFT_TEST(test_mutations) {
    struct words source = weft_test_compile(kernel_text);
    struct words mutant = {malloc(source.size), source.size};
    assert_non_null(mutant.data);
    uint32_t refused = 0;
    const uint32_t rounds = 10000;
    for (uint32_t round = 0; round < rounds; round++) {
        memcpy(mutant.data, source.data, source.size);
        mutate(mutant, round);
        refused += try_words(mutant.data, mutant.size) != WEFT_OK;
    }
    assert_in_range(refused, rounds / 2, rounds - 1);
    free(mutant.data);
    free(source.data);
}

WEFT_TEST_ON_HOST(test_out_of_memory, test) {
    struct assembler module = {0};
    struct words source = assemble(&module, SIZE_LITERAL);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    test->fail_rest = true;
    while (weft_test_next_failure(test, status)) {
        struct words result;
        status = weft_test_try_rewrite(&result, source, &needs, &test->host);
        assert_int_equal(result.data != NULL, status == WEFT_OK);
        weft_free(&test->host, result.data);
    }
    assert_in_range(test->failures, 3, 30);
}
