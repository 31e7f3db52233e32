/* SPDX-License-Identifier: MIT */
/* weft-test: long */
/*
 * The lint: everything that Weft gives to drivers in reproducible math passes it, and everything
 * that could give other bits elsewhere does not. No device.
 */
#include "device/device.h"
#include "mixers/vkfft/fft_program.h"
#include "shader/embedded.h"
#include "shader/glsl.h"
#include "spirv/check.h"
#include "spirv/lint/rules.h"
#include "support.h"
#include "support_spirv.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_host *f, NULL, NULL)

/* Without weft_spirv_check, which refuses some of what is tried here. */
static weft_status lint(struct words words, struct weft_test_host *host) {
    struct weft_spirv_edit edit;
    weft_test_host_reset(host);
    weft_status status = weft_spirv_edit_begin(&edit, words.data, words.size, &host->host);
    status = status == WEFT_OK ? weft_spirv_lint(&edit) : status;
    weft_spirv_edit_free(&edit);
    return status;
}

static void expect_pass(struct words words, struct weft_test_host *host, const char *what) {
    if (lint(words, host) != WEFT_OK) {
        fail_msg("%s: %s", what, weft_test_log(host));
    }
    assert_string_equal(weft_test_log(host), "");
}

/* Refused, with a line that has both texts and the place of the instruction that `op` names. */
static void expect_refusal(struct words words, struct weft_test_host *host, const char *op,
                           const char *detail) {
    weft_status status = lint(words, host);
    if (status != WEFT_UNSUPPORTED) {
        fail_msg("%s %s: status %d, expected a refusal", op, detail, (int)status);
    }
    weft_test_expect_log(host, op, detail, "SPIR-V module, word ");
    size_t at = 0;
    assert_int_equal(sscanf(strstr(weft_test_log(host), "word "), "word %zu", &at), 1);
    assert_in_range(at, WEFT_SPIRV_HEADER_WORDS, words.size / 4 - 1);
    const struct weft_lint_rule *rule =
        weft_lint_find(WEFT_LINT_OPCODES, weft_spirv_opcode(words.data[at]));
    if (rule) {
        assert_memory_equal(op, rule->name,
                            strlen(op) < strlen(rule->name) ? strlen(op) : strlen(rule->name));
    }
}

/* ---- what drivers get ---- */

struct census {
    uint32_t undecorated; /* float arithmetic without NoContraction */
    uint32_t fast_only;   /* instructions that only fast math has */
};

#define MAX_IDS 65536

static bool is_one_of(uint32_t number, const uint16_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] == number) {
            return true;
        }
    }
    return false;
}

/* An independent reading of a module: numbers are those of the specification. */
static struct census take_census(struct words words) {
    static const uint16_t arithmetic[] = {127, 129, 131, 133, 136, 142, 148};
    static const uint16_t fast_only[] = {136, 148, 350, 355, 358};
    /* Sin, Tanh, Exp, Log, Sqrt, InverseSqrt, FMin, FMax, FClamp, FMix, Fma. */
    static const uint16_t functions[] = {13, 21, 27, 28, 31, 32, 37, 40, 43, 46, 50};
    struct census census = {0};
    uint8_t *decorated = calloc(MAX_IDS, 1);
    assert_non_null(decorated);
    assert_true(words.data[3] <= MAX_IDS);
    for (size_t at = 5; at < words.size / 4; at += words.data[at] >> 16) {
        const uint32_t *word = words.data + at;
        uint32_t opcode = word[0] & 0xFFFF;
        if (opcode == 71 && word[2] == 42) {
            decorated[word[1]] = 1;
        }
        bool counted = is_one_of(opcode, arithmetic, sizeof arithmetic / sizeof arithmetic[0]);
        census.undecorated += counted && !decorated[word[2]];
        census.fast_only +=
            is_one_of(opcode, fast_only, sizeof fast_only / sizeof fast_only[0]) ||
            (opcode == 12 && is_one_of(word[4], functions, sizeof functions / sizeof functions[0]));
    }
    free(decorated);
    return census;
}

/* Passed, with the modes that a device may be told, and for one that has none, with zeros hidden and
 * flushed. */
static void expect_all_forms_pass(struct words source, struct weft_test_host *host,
                                  const char *what) {
    const uint32_t all_modes = WEFT_FLOAT_FLUSH | WEFT_FLOAT_SPECIAL | WEFT_FLOAT_NEAREST;
    struct words passed = weft_test_make_reproducible(source);
    struct words moded =
        weft_test_rewrite(passed, (struct weft_spirv_needs){.float_modes = all_modes});
    struct words hidden = weft_test_rewrite(passed, (struct weft_spirv_needs){.hidden_zeros = 1});
    struct words flushed = weft_test_rewrite(
        hidden, (struct weft_spirv_needs){.flushes = 1, .loses_small_products = 1});
    struct words fused = weft_test_rewrite(
        source,
        (struct weft_spirv_needs){
            .no_contraction = 1, .flushes = 1, .loses_small_products = 1, .lint = 1, .fused = 1});
    free(fused.data); /* the lint was among its passes */
    expect_pass(passed, host, what);
    expect_pass(moded, host, what);
    expect_pass(hidden, host, what);
    expect_pass(flushed, host, what);
    free(passed.data);
    free(moded.data);
    free(hidden.data);
    free(flushed.data);
}

static struct words copy_of(const uint32_t *data, size_t size) {
    struct words words = {malloc(size), size};
    assert_non_null(words.data);
    memcpy(words.data, data, size);
    return words;
}

/* Also where its first arithmetic is an Fma, which without decoration not even fused math allows. */
static void expect_bare_refusal(struct words words, struct weft_test_host *host) {
    static const struct weft_spirv_needs needs = {.lint = 1, .fused = 1};
    struct words result;
    weft_test_host_reset(host);
    assert_status(weft_test_try_rewrite(&result, words, &needs, &host->host), WEFT_UNSUPPORTED);
    weft_test_expect_log(host, "without the decoration NoContraction", "SPIR-V module, word ");
    weft_test_host_reset(host);
}

TEST(test_embedded, host) {
    uint32_t bare = 0;
    for (size_t i = 0; i < weft_shader_count; i++) {
        const struct weft_shader *shader = weft_shaders[i];
        struct words words = copy_of(shader->reproducible.words, shader->reproducible.size);
        expect_all_forms_pass(words, host, shader->name);
        if (take_census(words).undecorated > 0) {
            expect_bare_refusal(words, host);
            bare++;
        }
        free(words.data);
    }
    assert_in_range(bare, 4, weft_shader_count);
}

/* The lint can fail: what our own kernels do in fast math is refused, contraction aside. */
TEST(test_embedded_fast, host) {
    uint32_t refused = 0;
    for (size_t i = 0; i < weft_shader_count; i++) {
        const struct weft_shader *shader = weft_shaders[i];
        struct words words = copy_of(shader->fast.words, shader->fast.size);
        struct words passed = weft_test_make_reproducible(words);
        if (take_census(words).fast_only > 0) {
            assert_int_equal(lint(words, host), WEFT_UNSUPPORTED);
        }
        if (take_census(passed).fast_only > 0) {
            assert_int_equal(lint(passed, host), WEFT_UNSUPPORTED);
            assert_null(strstr(weft_test_log(host), "NoContraction"));
            refused++;
        }
        free(words.data);
        free(passed.data);
    }
    assert_in_range(refused, 3, weft_shader_count);
}

/* ---- VkFFT's kernels ---- */

static void check_fft(struct weft_test_host *host, enum weft_fft_kind kind, uint32_t n,
                      uint32_t d) {
    const struct weft_fft_desc desc = {.kind = kind,
                                       .rank = n > 0 ? 2 : 1,
                                       .size = {d, n},
                                       .batch = 2,
                                       .transform_axis = {true, n > 0}};
    char what[64];
    snprintf(what, sizeof what, "FFT of kind %d, %u x %u", (int)kind, n, d);
    struct weft_fft_program *program = NULL;
    uint32_t compiled = 0;
    weft_test_host_reset(host);
    if (weft_fft_program_create(&program, &desc, NULL, &compiled, &host->host) != WEFT_OK) {
        fail_msg("%s: %s", what, weft_test_log(host));
    }
    for (uint32_t i = 0; i < program->module_count; i++) {
        struct words words = {program->modules[i].words, program->modules[i].size};
        expect_all_forms_pass(words, host, what);
        struct census census = take_census(words);
        if (census.undecorated > 0) {
            assert_int_equal(lint(words, host), WEFT_UNSUPPORTED);
        }
    }
    weft_fft_program_destroy(&program, &host->host);
}

TEST(test_fft_short, host) {
    for (uint32_t n = 1; n <= 64; n++) {
        for (int kind = n > 1 ? WEFT_FFT_C2C_FORWARD : WEFT_FFT_R2C; kind <= WEFT_FFT_C2R; kind++) {
            check_fft(host, (enum weft_fft_kind)kind, 0, n);
        }
    }
}

/* Powers of two, products, primes that take Rader's algorithm, and what takes Bluestein's; one
   pass and several. */
TEST(test_fft_long, host) {
    static const uint32_t lengths[] = {67,  101, 127, 128,  131,  243,  251,  256,  257,  500,
                                       509, 512, 521, 625,  768,  1000, 1021, 1024, 1031, 2048,
                                       343, 729, 113, 2053, 4093, 4096, 4098, 6000, 8192};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (int kind = WEFT_FFT_C2C_FORWARD; kind <= WEFT_FFT_C2R; kind++) {
            check_fft(host, (enum weft_fft_kind)kind, 0, lengths[i]);
        }
    }
    check_fft(host, WEFT_FFT_C2C_FORWARD, 0, 65536);
}

TEST(test_fft_two_axes, host) {
    static const uint32_t sizes[][2] = {{1, 8},     {13, 1},   {2, 3},   {7, 768},
                                        {512, 768}, {31, 5},   {521, 4}, {17, 17},
                                        {3, 2053},  {2053, 3}, {600, 6}, {64, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int kind = WEFT_FFT_C2C_FORWARD; kind <= WEFT_FFT_C2R; kind++) {
            check_fft(host, (enum weft_fft_kind)kind, sizes[i][0], sizes[i][1]);
        }
    }
}

/* ---- GLSL of users ---- */

static struct words compile(const char *declarations, const char *body) {
    char text[4096];
    int length = snprintf(text, sizeof text,
                          "#version 450\n%s\n"
                          "layout(local_size_x = 32) in;\n"
                          "layout(set = 0, binding = 0) buffer A { float x[]; };\n"
                          "layout(set = 0, binding = 1) buffer B { uint u[]; };\n"
                          "layout(set = 0, binding = 2) buffer C { vec4 v[]; };\n"
                          "layout(set = 0, binding = 3) buffer D { int s[]; };\n"
                          "shared uint tally[4];\n"
                          "void main() {\n"
                          "    uint i = gl_GlobalInvocationID.x;\n"
                          "    float a = x[i], b = x[i + 1u], c = x[i + 2u];\n"
                          "    vec4 f = v[i], g = v[i + 1u];\n"
                          "    uint m = u[i];\n"
                          "    int n = s[i];\n"
                          "    %s\n"
                          "}\n",
                          declarations, body);
    assert_in_range(length, 1, sizeof text - 1);
    weft_device device = {.math = WEFT_MATH_REPRODUCIBLE};
    struct words words = {0};
    assert_ok(weft_glsl_compile(&words.data, &words.size, &device, "kernel", text));
    struct words passed = weft_test_make_reproducible(words);
    free(words.data);
    return passed;
}

#define SUBGROUP(name) "#extension GL_KHR_shader_subgroup_" name " : require"
#define ATOMIC_FLOAT   "#extension GL_EXT_shader_atomic_float : require"
#define FLOAT16        "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require"

struct snippet {
    const char *declarations;
    const char *body;
    const char *op;
    const char *detail;
};

static const struct snippet forbidden[] = {
    {"", "x[i] = a / b;", "OpFDiv", "weft_div"},
    {"", "v[i] = f / g;", "OpFDiv", "2.5 ulp"},
    {"", "x[i] = mod(a, b);", "OpFMod", "quotient"},
    {"", "x[i] = dot(f, g);", "OpDot", "order"},
    {"", "v[i] = mat4(f, g, f, g) * f;", "OpMatrixTimesVector", "order"},
    {"", "v[i] = f * mat4(f, g, f, g);", "OpVectorTimesMatrix", "order"},
    {"", "v[i] = (mat4(f, g, f, g) * mat4(g, f, g, f))[1];", "OpMatrixTimesMatrix", "order"},
    {"", "v[i] = (mat4(f, g, f, g) * a)[1];", "OpMatrixTimesScalar", "subnormals"},
    {"", "v[i] = outerProduct(f, g)[1];", "OpOuterProduct", "vectors"},
    {"", "x[i] = isnan(a) ? b : a;", "OpIsNan", "bits"},
    {"", "x[i] = isinf(a) ? b : a;", "OpIsInf", "bits"},
    {"", "x[i] = exp(a);", "OpExtInst Exp", "use weft_exp of math.glsl"},
    {"", "x[i] = tanh(a);", "OpExtInst Tanh", "use weft_tanh of math.glsl"},
    {"", "x[i] = sqrt(a);", "OpExtInst Sqrt", "use weft_sqrt of math.glsl"},
    {"", "x[i] = inversesqrt(a);", "OpExtInst InverseSqrt", "2 ulp"},
    {"", "v[i] = sin(f);", "OpExtInst Sin", "use weft_sin of math.glsl"},
    {"", "x[i] = pow(a, b);", "OpExtInst Pow", "weft_log"},
    {"", "x[i] = min(a, b);", "OpExtInst FMin", "NaN"},
    {"", "x[i] = max(a, b);", "OpExtInst FMax", "NaN"},
    {"", "x[i] = clamp(a, b, c);", "OpExtInst FClamp", "NaN"},
    {"", "x[i] = mix(a, b, c);", "OpExtInst FMix", "formula"},
    {"", "x[i] = step(a, b);", "OpExtInst Step", "NaN"},
    {"", "x[i] = floor(a);", "OpExtInst Floor", "sign of a zero"},
    {"", "x[i] = roundEven(a);", "OpExtInst RoundEven", "sign of a zero"},
    {"", "x[i] = fract(a);", "OpExtInst Fract", "driver's choice"},
    {"", "x[i] = sign(a);", "OpExtInst FSign", "sign of a zero"},
    {"", "x[i] = length(f);", "OpExtInst Length", "order"},
    {"", "v[i] = normalize(f);", "OpExtInst Normalize", "weft_rsqrt"},
    {"", "v[i].xyz = cross(f.xyz, g.xyz);", "OpExtInst Cross", "contract"},
    {"", "x[i] = ldexp(a, n);", "OpExtInst Ldexp", "subnormals"},
    {"", "u[i] = packHalf2x16(f.xy);", "OpExtInst PackHalf2x16", "rounding"},
    {"", "v[i].xy = unpackHalf2x16(m);", "OpExtInst UnpackHalf2x16", "half subnormals"},
    {"", "x[i] = a + 1e-40;", "OpConstant of bits 0x000116c2", "subnormal"},
    {"layout(constant_id = 0) const float k = -1e-40;", "x[i] = a + k;", "OpSpecConstant of bits",
     "subnormal"},
    {"", "double d = a; x[i] = float(d);", "OpCapability Float64", "64-bit floats"},
    {FLOAT16, "float16_t h = float16_t(a); x[i] = float(h);", "OpCapability Float16", "probed"},
    {"", "mediump float h = a + b; x[i] = h;", "OpDecorate RelaxedPrecision", "16 bits"},
    {SUBGROUP("arithmetic"), "x[i] = subgroupAdd(a);", "OpGroupNonUniformFAdd", "order of the sum"},
    {SUBGROUP("arithmetic"), "x[i] = subgroupMul(a);", "OpGroupNonUniformFMul", "order"},
    {SUBGROUP("arithmetic"), "x[i] = subgroupMax(a);", "OpGroupNonUniformFMax", "weft_order_key"},
    {SUBGROUP("arithmetic"), "x[i] = subgroupMin(a);", "OpGroupNonUniformFMin", "NaN"},
    {SUBGROUP("arithmetic"), "u[i] = subgroupInclusiveAdd(m);", "OpGroupNonUniformIAdd as a scan",
     "driver's choice"},
    {SUBGROUP("clustered"), "u[i] = subgroupClusteredAdd(m, 4u);", "OpCapability", "Clustered"},
    {SUBGROUP("ballot"), "u[i] = subgroupBallot(a > b).x;", "OpGroupNonUniformBallot", "subgroup"},
    {SUBGROUP("shuffle"), "x[i] = subgroupShuffle(a, 3u);", "OpCapability", "Shuffle"},
    {SUBGROUP("vote"), "u[i] = subgroupAllEqual(a) ? 1u : 0u;", "OpGroupNonUniformAllEqual",
     "shared memory"},
    /* glslang gives these a reduced precision, which comes before what they are. */
    {SUBGROUP("basic"), "u[i] = gl_SubgroupInvocationID;", "OpDecorate", ""},
    {SUBGROUP("basic"), "u[i] = gl_SubgroupSize;", "OpDecorate", ""},
    {"", "u[i] = gl_NumWorkGroups.x;", "OpDecorate NumWorkgroups", "use a push constant"},
    {ATOMIC_FLOAT, "atomicAdd(x[0], a);", "OpCapability AtomicFloat32AddEXT", "order"},
    {"", "u[i] = atomicAdd(u[0], m);", "OpAtomicIAdd with a result", "which invocation"},
    {"", "if (atomicMax(tally[0], m) == 3u) u[i] = 1u;", "OpAtomicUMax with a result", "barrier"},
    {"", "switch (atomicOr(tally[0], m)) { case 3u: u[i] = 1u; }", "OpAtomicOr with a result",
     "barrier"},
    {"", "atomicExchange(u[0], m);", "OpAtomicExchange", "which invocation"},
    {"", "atomicCompSwap(u[0], m, 7u);", "OpAtomicCompareExchange", "which invocation"},
    {"layout(set = 0, binding = 4) uniform sampler2D t;", "v[i] = textureLod(t, f.xy, 0.0);",
     "OpTypeImage", "storage buffers"},
    {"layout(set = 0, binding = 4, r32f) uniform image2D t;", "v[i] = imageLoad(t, ivec2(0));",
     "OpTypeImage", "storage buffers"},
    {"#extension GL_EXT_shader_realtime_clock : require", "u[i] = clockRealtime2x32EXT().x;",
     "OpCapability capability 5055", "not on the list"},
};

TEST(test_forbidden, host) {
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        struct words words = compile(forbidden[i].declarations, forbidden[i].body);
        expect_refusal(words, host, forbidden[i].op, forbidden[i].detail);
        free(words.data);
    }
}

static const char *const allowed[][2] = {
    {"", "x[i] = a + b * c - a;"},
    {"", "x[i] = fma(a, b, c);"}, /* split */
    {"", "v[i] = fma(f, g, -f) * a;"},
    {"", "x[i] = a < b || a != a ? -c : abs(b);"},
    {"", "u[i] = floatBitsToUint(a) >> 3 ^ (m << 5 | ~m) % 7u / 3u;"},
    {"", "s[i] = -n * 3 + min(n, 4) - clamp(n, -2, 2) + abs(n) + sign(n) + findMSB(n);"},
    {"", "u[i] = bitfieldReverse(m) + bitCount(m) + findLSB(m) + max(m, 3u);"},
    {"", "uint high, low; umulExtended(m, m + 1u, high, low); u[i] = high ^ low;"},
    {"", "u[i] = uint(a); s[i] = int(b); x[i] = float(m) + float(n);"},
    {"", "v[i] = any(lessThan(f, g)) ? f.zyxw : vec4(f[m & 3u], g.yzw);"},
    {"", "vec4 t[3]; for (int k = 0; k < 3; k++) t[k] = f; v[i] = t[m % 3u];"},
    {"", "mat4 t = mat4(f, g, f, g); v[i] = transpose(t)[1];"},
    {"", "switch (m) { case 1u: x[i] = a; break; default: x[i] = b; }"},
    {"", "tally[m & 3u] = 0u; barrier(); atomicAdd(tally[1], m); barrier(); u[i] = tally[1];"},
    {"", "atomicMax(u[0], m); atomicAnd(s[0], n);"},
    {"", "u[i] = uint(x.length());"},
    {"layout(constant_id = 3) const uint k = 7u;", "uint t[k * 2u + 1u]; t[0] = m; u[i] = t[0];"},
    {"layout(constant_id = 3) const float k = 0.5;", "x[i] = a * k;"},
    {"layout(push_constant) uniform P { float scale; uint count; };", "x[i] = a * scale;"},
    {SUBGROUP("arithmetic"), "uint t = subgroupMax(m) + subgroupAdd(m);"
                             "if (subgroupElect()) atomicMax(tally[0], t);"},
    {SUBGROUP("ballot"), "u[i] = subgroupBroadcastFirst(subgroupBroadcast(7u, 0u));"},
    {"#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require",
     "uint64_t t = uint64_t(m) * m; u[i] = uint(t >> 32);"},
    {"#extension GL_GOOGLE_include_directive : require\n#include \"math.glsl\"",
     "x[i] = weft_exp(a) + weft_log(b) + weft_div(a, weft_sin(c)) + weft_sqrt(weft_erf(a));"},
};

TEST(test_allowed, host) {
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        struct words words = compile(allowed[i][0], allowed[i][1]);
        expect_pass(words, host, allowed[i][1]);
        free(words.data);
    }
}

/* ---- modules put together by hand, for what no compiler emits ---- */

enum {
    ID_SET = 1,
    ID_MAIN,
    ID_VOID,
    ID_FUNCTION,
    ID_FLOAT,
    ID_UINT,
    ID_VEC2,
    ID_ONE,
    ID_TWO,
    ID_PAIR,
    ID_GROUP,
    ID_LABEL,
    ID_SUM,
    ID_POINTER,
    ID_COUNTER,
    ID_NEW,
    ID_NEWER,
    ID_BOUND
};

/* Where the instruction under test goes. */
enum section { CAPABILITIES, MODES, ANNOTATIONS, GLOBALS, BODY };

struct assembler {
    uint32_t words[256];
    size_t count;
    enum section where;
    const uint32_t *extra;
    size_t extra_count;
};

static void put(struct assembler *module, const uint32_t *words, size_t count) {
    assert_true(module->count + count <= 256);
    memcpy(module->words + module->count, words, count * sizeof *words);
    module->count += count;
}

#define OP(module, opcode, ...)                                                                    \
    put(module,                                                                                    \
        (const uint32_t[]){(uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / 4 + 1) << 16 | (opcode), \
                           __VA_ARGS__},                                                           \
        sizeof((uint32_t[]){__VA_ARGS__}) / 4 + 1)

static void put_section(struct assembler *module, enum section section) {
    if (module->where == section && module->extra_count > 0) {
        put(module, module->extra, module->extra_count);
    }
}

/* "GLSL.std.450", another set and "main" as literals. */
#define GLSL_STD_450 0x4C534C47, 0x6474732E, 0x3035342E, 0
#define OTHER_SET    0x6E65704F, 0x732E4C43, 0x6474
#define MAIN         0x6E69616D, 0

static void put_globals(struct assembler *module) {
    OP(module, 19, ID_VOID);
    OP(module, 33, ID_FUNCTION, ID_VOID);
    OP(module, 22, ID_FLOAT, 32);
    OP(module, 21, ID_UINT, 32, 0);
    OP(module, 23, ID_VEC2, ID_FLOAT, 2);
    OP(module, 43, ID_FLOAT, ID_ONE, 0x3F800000);
    OP(module, 43, ID_UINT, ID_TWO, 2);
    OP(module, 44, ID_VEC2, ID_PAIR, ID_ONE, ID_ONE);
    OP(module, 32, ID_POINTER, 4, ID_UINT);
    OP(module, 59, ID_POINTER, ID_COUNTER, 4);
    put_section(module, GLOBALS);
}

static struct words assemble(struct assembler *module, enum section where, const uint32_t *extra,
                             size_t count) {
    const uint32_t header[5] = {0x07230203, 0x10500, 0, ID_BOUND, 0};
    *module = (struct assembler){.where = where, .extra = extra, .extra_count = count};
    put(module, header, 5);
    OP(module, 17, 1);
    put_section(module, CAPABILITIES);
    OP(module, 11, ID_SET, GLSL_STD_450);
    OP(module, 14, 0, 1);
    OP(module, 15, 5, ID_MAIN, MAIN);
    OP(module, 16, ID_MAIN, 17, 1, 1, 1);
    put_section(module, MODES);
    OP(module, 71, ID_GROUP, 42);
    put_section(module, ANNOTATIONS);
    OP(module, 73, ID_GROUP);
    OP(module, 74, ID_GROUP, ID_SUM);
    put_globals(module);
    OP(module, 54, ID_VOID, ID_MAIN, 0, ID_FUNCTION);
    OP(module, 248, ID_LABEL);
    OP(module, 129, ID_FLOAT, ID_SUM, ID_ONE, ID_ONE);
    put_section(module, BODY);
    put(module, (const uint32_t[]){1u << 16 | 253, 1u << 16 | 56}, 2);
    return (struct words){module->words, module->count * 4};
}

struct handmade {
    enum section where;
    uint32_t extra[16]; /* instructions, up to the first 0 */
    const char *op;     /* null: allowed */
    const char *detail;
};

#define I(opcode, length) ((uint32_t)(length) << 16 | (opcode))

static const struct handmade handmades[] = {
    {BODY, {I(0, 1)}, NULL, NULL},
    {BODY, {I(133, 5), ID_FLOAT, ID_NEW, ID_ONE, ID_ONE}, "OpFMul", "NoContraction"},
    {BODY, {I(131, 5), ID_FLOAT, ID_NEW, ID_ONE, ID_ONE}, "OpFSub", "NoContraction"},
    {BODY, {I(129, 5), ID_FLOAT, ID_NEW, ID_ONE, ID_ONE}, "OpFAdd", "NoContraction"},
    {BODY, {I(127, 4), ID_FLOAT, ID_NEW, ID_ONE}, "OpFNegate", "NoContraction"},
    {BODY, {I(142, 5), ID_VEC2, ID_NEW, ID_PAIR, ID_ONE}, "OpVectorTimesScalar", "NoContraction"},
    {BODY, {I(1, 3), ID_FLOAT, ID_NEW}, "OpUndef", "any bits"},
    {GLOBALS, {I(1, 3), ID_UINT, ID_NEW}, "OpUndef", "any bits"},
    {BODY, {I(79, 7), ID_VEC2, ID_NEW, ID_PAIR, ID_PAIR, 3, 0}, NULL, NULL},
    {BODY,
     {I(79, 7), ID_VEC2, ID_NEW, ID_PAIR, ID_PAIR, 3, 0xFFFFFFFF},
     "OpVectorShuffle",
     "undefined"},
    {BODY, {I(180, 5), ID_UINT, ID_NEW, ID_ONE, ID_ONE}, NULL, NULL},
    {BODY, {I(182, 5), ID_UINT, ID_NEW, ID_ONE, ID_ONE}, "OpFOrdNotEqual", "NaN"},
    {BODY, {I(185, 5), ID_UINT, ID_NEW, ID_ONE, ID_ONE}, "OpFUnordLessThan", "NaN"},
    {BODY, {I(115, 4), ID_FLOAT, ID_NEW, ID_ONE}, "OpFConvert", "rounding"},
    {BODY, {I(116, 4), ID_FLOAT, ID_NEW, ID_ONE}, "OpQuantizeToF16", "rounding"},
    {BODY, {I(140, 5), ID_FLOAT, ID_NEW, ID_ONE, ID_ONE}, "OpFRem", "quotient"},
    {BODY, {I(12, 6), ID_FLOAT, ID_NEW, ID_TWO, 4, ID_ONE}, "OpExtInst", "another set"},
    {BODY, {I(12, 6), ID_FLOAT, ID_NEW, ID_SET, 50, ID_ONE}, "OpExtInst Fma", "once or twice"},
    {BODY, {I(12, 6), ID_FLOAT, ID_NEW, ID_SET, 99, ID_ONE}, "OpExtInst function 99", "list"},
    {CAPABILITIES, {I(17, 2), 4467}, NULL, NULL},
    {CAPABILITIES, {I(17, 2), 4468}, "OpCapability RoundingModeRTZ", "RoundingModeRTE"},
    {CAPABILITIES, {I(17, 2), 9}, "OpCapability Float16", "32-bit"},
    {CAPABILITIES, {I(17, 1)}, "OpCapability capability 4294967295", "list"},
    {CAPABILITIES, {I(11, 5), ID_NEW, OTHER_SET}, "OpExtInstImport", "another set"},
    {MODES, {I(16, 4), ID_MAIN, 4460, 32}, NULL, NULL},
    {MODES, {I(16, 4), ID_MAIN, 4462, 32}, NULL, NULL},
    {MODES, {I(16, 4), ID_MAIN, 4462, 16}, "OpExecutionMode", "width other than 32"},
    {MODES, {I(16, 4), ID_MAIN, 4459, 32}, "OpExecutionMode DenormPreserve", "FlushToZero"},
    {MODES, {I(16, 4), ID_MAIN, 4463, 32}, "OpExecutionMode RoundingModeRTZ", "zero"},
    {MODES, {I(16, 3), ID_MAIN, 31}, "OpExecutionMode execution mode 31", "list"},
    {MODES, {I(331, 6), ID_MAIN, 38, ID_TWO, ID_TWO, ID_TWO}, NULL, NULL},
    {ANNOTATIONS, {I(71, 3), ID_ONE, 0}, "OpDecorate RelaxedPrecision", "16 bits"},
    {ANNOTATIONS, {I(71, 3), ID_GROUP, 0}, "OpDecorate RelaxedPrecision", "16 bits"},
    {ANNOTATIONS, {I(72, 4), ID_VEC2, 0, 0}, "OpMemberDecorate RelaxedPrecision", "16 bits"},
    {ANNOTATIONS, {I(71, 4), ID_SUM, 40, 16}, "OpDecorate FPFastMathMode", "choices"},
    {ANNOTATIONS, {I(71, 4), ID_SUM, 39, 1}, "OpDecorate FPRoundingMode", "conversions"},
    {ANNOTATIONS, {I(71, 4), ID_COUNTER, 11, 36}, "OpDecorate SubgroupSize", "subgroups"},
    {ANNOTATIONS, {I(72, 5), ID_VEC2, 0, 11, 41}, "OpMemberDecorate SubgroupLocal", "subgroups"},
    {ANNOTATIONS, {I(71, 4), ID_COUNTER, 11, 28}, NULL, NULL},
    {ANNOTATIONS, {I(71, 2), ID_COUNTER}, "OpDecorate decoration", "list"},
    {ANNOTATIONS, {I(332, 4), ID_SUM, 27, ID_TWO}, "OpDecorateId", "list"},
    {GLOBALS, {I(22, 3), ID_NEW, 16}, "OpTypeFloat of 16 bits", "32-bit"},
    {GLOBALS, {I(22, 3), ID_NEW, 64}, "OpTypeFloat of 64 bits", "32-bit"},
    {GLOBALS, {I(22, 4), ID_NEW, 32, 5}, "OpTypeFloat", "32-bit"},
    {GLOBALS, {I(43, 4), ID_FLOAT, ID_NEW, 0x007FFFFF}, "OpConstant of bits 0x007fffff", "subnorm"},
    {GLOBALS, {I(43, 4), ID_FLOAT, ID_NEW, 0x80000001}, "OpConstant of bits 0x80000001", "subnorm"},
    {GLOBALS, {I(50, 4), ID_FLOAT, ID_NEW, 0x00000001}, "OpSpecConstant of bits", "subnormal"},
    {GLOBALS, {I(43, 4), ID_UINT, ID_NEW, 0x007FFFFF}, NULL, NULL},
    {GLOBALS, {I(43, 4), ID_FLOAT, ID_NEW, 0x00800000}, NULL, NULL},
    {GLOBALS, {I(43, 4), ID_FLOAT, ID_NEW, 0x80000000}, NULL, NULL},
    {GLOBALS, {I(43, 4), ID_FLOAT, ID_NEW, 0x7FC00000}, NULL, NULL},
    {GLOBALS, {I(52, 6), ID_UINT, ID_NEW, 132, ID_TWO, ID_TWO}, NULL, NULL},
    {GLOBALS, {I(52, 6), ID_UINT, ID_NEW, 137, ID_TWO, ID_TWO}, NULL, NULL},
    {GLOBALS, {I(52, 8), ID_VEC2, ID_NEW, 79, ID_PAIR, ID_PAIR, 1, 3}, NULL, NULL},
    {GLOBALS,
     {I(52, 8), ID_VEC2, ID_NEW, 79, ID_PAIR, ID_PAIR, 1, 0xFFFFFFFF},
     "OpSpecConstantOp",
     "undefined"},
    {GLOBALS, {I(52, 5), ID_FLOAT, ID_NEW, 115, ID_ONE}, "OpSpecConstantOp OpFConvert", "rounding"},
    {GLOBALS, {I(52, 5), ID_FLOAT, ID_NEW, 127, ID_ONE}, "OpSpecConstantOp OpFNegate", "list"},
    {GLOBALS, {I(52, 6), ID_FLOAT, ID_NEW, 136, ID_ONE, ID_ONE}, "OpSpecConstantOp OpFDiv", "2.5"},
    {GLOBALS, {I(52, 4), ID_FLOAT, ID_NEW, 9999}, "OpSpecConstantOp opcode 9999", "list"},
    {BODY, {I(349, 6), ID_UINT, ID_NEW, ID_TWO, 0, ID_TWO}, NULL, NULL},
    {BODY, {I(349, 6), ID_UINT, ID_NEW, ID_TWO, 1, ID_TWO}, "OpGroupNonUniformIAdd", "scan"},
    {BODY, {I(358, 7), ID_UINT, ID_NEW, ID_TWO, 3, ID_ONE, ID_TWO}, "OpGroupNonUniformFMax", "NaN"},
    {BODY, {I(227, 6), ID_UINT, ID_NEW, ID_COUNTER, ID_TWO, ID_TWO}, "OpAtomicLoad", "first"},
    {BODY,
     {I(6035, 7), ID_FLOAT, ID_NEW, ID_COUNTER, ID_TWO, ID_TWO, ID_ONE},
     "OpAtomicFAddEXT",
     "order"},
    {BODY, {I(234, 7), ID_UINT, ID_NEW, ID_COUNTER, ID_TWO, ID_TWO, ID_TWO}, NULL, NULL},
    {BODY,
     {I(234, 7), ID_UINT, ID_NEW, ID_COUNTER, ID_TWO, ID_TWO, ID_TWO, I(62, 3), ID_COUNTER, ID_NEW},
     "OpAtomicIAdd",
     "result"},
    {BODY,
     {I(234, 7), ID_UINT, ID_NEW, ID_COUNTER, ID_TWO, ID_TWO, ID_TWO, I(83, 4), ID_UINT, ID_NEWER,
      ID_NEW},
     "OpAtomicIAdd",
     "result"},
    /* A literal that happens to be the result's number is no use of it. */
    {BODY,
     {I(234, 7), ID_UINT, ID_NEW, ID_COUNTER, ID_TWO, ID_TWO, ID_TWO, I(251, 5), ID_TWO, ID_LABEL,
      ID_NEW, ID_LABEL},
     NULL,
     NULL},
    {BODY,
     {I(234, 7), ID_UINT, ID_NEW, ID_COUNTER, ID_TWO, ID_TWO, ID_TWO, I(81, 5), ID_FLOAT, ID_NEWER,
      ID_PAIR, ID_NEW},
     NULL,
     NULL},
    {BODY, {I(5056, 4), ID_UINT, ID_NEW, ID_TWO}, "OpReadClockKHR", "time"},
    /* Cooperative matrices: of integers, whose sums wrap. */
    {GLOBALS, {I(4456, 7), ID_NEW, ID_UINT, ID_TWO, ID_TWO, ID_TWO, ID_TWO}, NULL, NULL},
    {GLOBALS,
     {I(4456, 7), ID_NEW, ID_FLOAT, ID_TWO, ID_TWO, ID_TWO, ID_TWO},
     "OpTypeCooperativeMatrixKHR of floats",
     "order and precision"},
    {BODY, {I(4459, 7), ID_UINT, ID_NEW, ID_TWO, ID_TWO, ID_TWO, 15}, NULL, NULL},
    {BODY, {I(4459, 6), ID_UINT, ID_NEW, ID_TWO, ID_TWO, ID_TWO}, NULL, NULL},
    {BODY,
     {I(4459, 7), ID_UINT, ID_NEW, ID_TWO, ID_TWO, ID_TWO, 31},
     "OpCooperativeMatrixMulAddKHR with saturation",
     "depends on its order"},
    {BODY, {I(4460, 4), ID_UINT, ID_NEW, ID_TWO}, "opcode 4460", "not on the list"},
    {BODY, {I(4999, 4), ID_UINT, ID_NEW, ID_TWO}, "opcode 4999", "not on the list"},
};

static size_t extra_count(const uint32_t *extra) {
    size_t count = 0;
    while (count < 16 && extra[count] != 0) {
        count += extra[count] >> 16;
    }
    return count;
}

TEST(test_handmade, host) {
    for (size_t i = 0; i < sizeof handmades / sizeof handmades[0]; i++) {
        const struct handmade *made = &handmades[i];
        struct assembler module;
        struct words words = assemble(&module, made->where, made->extra, extra_count(made->extra));
        if (!made->op) {
            char what[32];
            snprintf(what, sizeof what, "handmade module %zu", i);
            expect_pass(words, host, what);
        } else {
            expect_refusal(words, host, made->op, made->detail);
        }
    }
}

/* ---- the lists ---- */

WEFT_TEST(test_lists_are_sound) {
    for (int list = 0; list < WEFT_LINT_LISTS; list++) {
        size_t count = 0;
        const struct weft_lint_rule *rules = weft_lint_rules(&count, (enum weft_lint_list)list);
        assert_true(count > 0);
        for (size_t i = 0; i < count; i++) {
            /* In ascending order, so none is there twice. */
            assert_true(i == 0 || rules[i - 1].number < rules[i].number);
            assert_ptr_equal(weft_lint_find((enum weft_lint_list)list, rules[i].number), &rules[i]);
            assert_true(rules[i].verdict <= WEFT_LINT_REFUSED);
            assert_int_equal(rules[i].verdict == WEFT_LINT_CHECKED,
                             rules[i].check != WEFT_LINT_CHECK_NONE);
            assert_true(rules[i].name && strlen(rules[i].name) > 2);
            assert_true(rules[i].reason && strlen(rules[i].reason) > 10);
            assert_true(rules[i].verdict == WEFT_LINT_REFUSED || !rules[i].instead);
        }
        assert_null(weft_lint_find((enum weft_lint_list)list, 4321));
        assert_null(weft_lint_find((enum weft_lint_list)list, UINT32_MAX));
    }
}

static bool is_in_includes(const char *text) {
    for (size_t i = 0; i < weft_embedded_include_count; i++) {
        if (strstr(weft_embedded_includes[i].text, text)) {
            return true;
        }
    }
    return false;
}

/* What a list sends its reader to is there. */
WEFT_TEST(test_advice_can_be_followed) {
    uint32_t found = 0;
    for (int list = 0; list < WEFT_LINT_LISTS; list++) {
        size_t count = 0;
        const struct weft_lint_rule *rules = weft_lint_rules(&count, (enum weft_lint_list)list);
        for (size_t i = 0; i < count; i++) {
            const char *at = rules[i].instead ? rules[i].instead : "";
            while ((at = strstr(at, "weft_"))) {
                char name[64];
                assert_int_equal(sscanf(at, "%63[a-z_0-9]", name), 1);
                char called[66];
                snprintf(called, sizeof called, "%s(", name);
                at += strlen(name);
                if (!is_in_includes(called)) {
                    fail_msg("%s: there is no %s", rules[i].name, name);
                }
                found++;
            }
        }
    }
    assert_in_range(found, 20, 200);
}

/* The names are those of Khronos's headers, beside the numbers; the numbers here are the specification's. */
WEFT_TEST(test_names_of_instructions) {
    static const struct {
        uint32_t number;
        const char *name;
    } known[] = {{0, "OpNop"},
                 {61, "OpLoad"},
                 {133, "OpFMul"},
                 {358, "OpGroupNonUniformFMax"},
                 {4456, "OpTypeCooperativeMatrixKHR"},
                 {6035, "OpAtomicFAddEXT"}};
    size_t count = 0;
    (void)weft_lint_rules(&count, WEFT_LINT_OPCODES);
    assert_int_equal(count, 220);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct weft_lint_rule *rule = weft_lint_find(WEFT_LINT_OPCODES, known[i].number);
        assert_string_equal(rule ? rule->name : "no verdict", known[i].name);
    }
}

/* Puts each number in the place of an instruction's word, and compares the lint with the list. */
static void try_numbers(struct weft_test_host *host, enum weft_lint_list list, enum section where,
                        uint32_t *extra, size_t count, size_t word, uint32_t most) {
    for (uint32_t number = 0; number <= most; number++) {
        const struct weft_lint_rule *rule = weft_lint_find(list, number);
        if (rule && rule->verdict == WEFT_LINT_CHECKED) {
            continue; /* by what else the instruction says */
        }
        if (list == WEFT_LINT_OPCODES) {
            extra[0] = I(number, count);
        } else {
            extra[word] = number;
        }
        struct assembler module;
        struct words words = assemble(&module, where, extra, count);
        if (rule && rule->verdict != WEFT_LINT_REFUSED) {
            expect_pass(words, host, rule->name);
        } else {
            char text[32];
            snprintf(text, sizeof text, " %u: it is not on the list", number);
            WEFT_EXPECT_REFUSED(host, WEFT_UNSUPPORTED, lint(words, host), rule ? rule->name : text,
                                rule ? rule->reason : "");
        }
    }
}

TEST(test_every_number, host) {
    uint32_t any[] = {0, ID_UINT, ID_NEW, ID_TWO, ID_TWO, ID_TWO};
    try_numbers(host, WEFT_LINT_OPCODES, BODY, any, 6, 0, 0xFFFF);
    uint32_t function[] = {I(12, 6), ID_FLOAT, ID_NEW, ID_SET, 0, ID_ONE};
    try_numbers(host, WEFT_LINT_FUNCTIONS, BODY, function, 6, 4, 200);
    uint32_t capability[] = {I(17, 2), 0};
    try_numbers(host, WEFT_LINT_CAPABILITIES, CAPABILITIES, capability, 2, 1, 7000);
    uint32_t mode[] = {I(16, 4), ID_MAIN, 0, 32};
    try_numbers(host, WEFT_LINT_EXECUTION_MODES, MODES, mode, 4, 2, 7000);
    uint32_t decoration[] = {I(71, 4), ID_SUM, 0, 28};
    try_numbers(host, WEFT_LINT_DECORATIONS, ANNOTATIONS, decoration, 4, 2, 7000);
    uint32_t built_in[] = {I(71, 4), ID_COUNTER, 11, 0};
    try_numbers(host, WEFT_LINT_BUILT_INS, ANNOTATIONS, built_in, 4, 3, 7000);
}

/* ---- trouble ---- */

TEST(test_out_of_memory, host) {
    struct assembler module;
    struct words words = assemble(&module, BODY, NULL, 0);
    expect_pass(words, host, "the bare module");
    const struct weft_spirv_needs needs = {.lint = 1};
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(host, status)) {
        struct words result;
        status = weft_test_try_rewrite(&result, words, &needs, &host->host);
        weft_free(&host->host, result.data);
    }
    assert_in_range(host->failures, 3, 9);
}

/* Damage that weft_spirv_check lets pass gets a verdict, and nothing behind the words is read. */
TEST(test_damage, host) {
    struct words words = compile(SUBGROUP("arithmetic"),
                                 "atomicAdd(u[0], m); x[i] = fma(a, b, c) * f[subgroupMax(m) & 3u];"
                                 "switch (m) { case 1u: v[i] = f * g.zyxw; }");
    uint32_t tried = 0, refused = 0;
    for (uint64_t round = 0; round < 20000; round++) {
        size_t size = 0;
        uint8_t *bytes = weft_test_mutate((const uint8_t *)words.data, words.size, 5, round, &size);
        struct words mutated = {(uint32_t *)(void *)bytes, size};
        if (size % 4 == 0 && weft_spirv_check(mutated.data, size, NULL) == WEFT_OK) {
            weft_status status = lint(mutated, host);
            assert_true(status == WEFT_OK || status == WEFT_UNSUPPORTED);
            refused += status != WEFT_OK;
            tried++;
        }
        free(bytes);
    }
    assert_in_range(refused, 100, tried - 100);
    free(words.data);
}

static int set_up(void **state) {
    struct weft_test_host *host = calloc(1, sizeof *host);
    assert_non_null(host);
    weft_test_host_begin(host);
    *state = host;
    return 0;
}

static int tear_down(void **state) {
    weft_test_host_end(*state);
    free(*state);
    return 0;
}

WEFT_TEST_GROUP(set_up, tear_down);
