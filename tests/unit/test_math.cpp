// SPDX-License-Identifier: MIT
/* weft-test: posix */ // mingw-w64's sine and cosine are no measure
/* weft-test: long */
//
// shaders/include/math.glsl and activation.glsl, compiled as C++ and compared with the C library in
// double, whose error (below 2^-28 float ulp) does not show in the figures.
//
// Each function is evaluated on every 1009th float32 bit pattern and on the inputs where it is most
// likely to go wrong; with WEFT_EXHAUSTIVE=1 in the environment, on all 2^32 (more than an hour).
// The measured maxima are printed. Compile with -ffp-contract=off.

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>

extern "C" {
#include <cmocka.h>
}

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "glsl_shim.hpp"

namespace glsl::reproducible {
inline float fma(float a, float b, float c) {
    return rounded_twice(a, b, c);
}
#include "../../shaders/include/activation.glsl"
} // namespace glsl::reproducible

#undef WEFT_INCLUDE_MATH_GLSL
#undef WEFT_INCLUDE_ACTIVATION_GLSL
namespace glsl::fused {
inline float fma(float a, float b, float c) {
    return rounded_once(a, b, c);
}
#include "../../shaders/include/activation.glsl"
} // namespace glsl::fused

#undef WEFT_INCLUDE_MATH_GLSL
#undef WEFT_INCLUDE_ACTIVATION_GLSL
#define WEFT_MATH_FAST
namespace glsl::fast {
inline float fma(float a, float b, float c) {
    return rounded_once(a, b, c);
}
#include "../../shaders/include/activation.glsl"
} // namespace glsl::fast

namespace {

namespace repro = glsl::reproducible;
namespace fused = glsl::fused;

using glsl::floatBitsToUint;
using glsl::uintBitsToFloat;
using unary = float (*)(float);
using batch = void (*)(const float *x, float *y, std::size_t n);
using reference = double (*)(double);

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double min_normal = 0x1p-126;
constexpr std::size_t block = 4096;
constexpr std::uint64_t patterns = std::uint64_t{1} << 32;

bool exhaustive() {
    const char *value = std::getenv("WEFT_EXHAUSTIVE");
    return value != nullptr && value[0] == '1' && value[1] == '\0';
}

std::uint64_t stride() {
    return exhaustive() ? 1 : 1009;
}

// The float32 as the contract of math.glsl sees it: a subnormal is a zero.
double seen(std::uint32_t bits) {
    const bool subnormal = (bits & 0x7f800000u) == 0u;
    return static_cast<double>(uintBitsToFloat(subnormal ? bits & 0x80000000u : bits));
}

// Canonical float32 nearest to an exact value.
std::uint32_t rounded(double exact) {
    if (std::isnan(exact)) {
        return 0x7fc00000u;
    }
    if (std::fabs(exact) < min_normal) {
        return std::signbit(exact) ? 0x80000000u : 0u;
    }
    return floatBitsToUint(static_cast<float>(exact));
}

// |got - exact| in units of the last place of the exact value; got is not a NaN, exact is in the
// range of normal numbers or beyond it. Infinity counts as 2^128, zero as the number below 2^-126.
double ulps(float got, double exact) {
    double value = static_cast<double>(got);
    if (std::isinf(value)) {
        value = std::copysign(0x1p128, value);
    }
    if (std::fabs(exact) > 0x1p128) {
        exact = std::copysign(0x1p128, exact);
    }
    if (value == 0.0) {
        value = std::copysign(min_normal * (1.0 - 0x1p-24), exact);
    }
    // 2^(23 - exponent of the exact value) by its bits: the library's ldexp would dominate the run.
    std::uint64_t bits;
    std::memcpy(&bits, &exact, sizeof bits);
    std::uint64_t exponent = (bits >> 52) & 0x7ffu;
    exponent = exponent > 1023u + 127u ? 1023u + 127u : exponent;
    bits = (2u * 1023u + 23u - exponent) << 52;
    double inverse;
    std::memcpy(&inverse, &bits, sizeof inverse);
    return std::fabs(value - exact) * inverse;
}

struct worst {
    double error;
    std::uint32_t bits;

    void see(double e, std::uint32_t at) {
        if (e > error) {
            error = e;
            bits = at;
        }
    }
};

// F on n inputs; a function of its own for each F, so that the compiler can use vectors.
template <unary F> [[gnu::noinline]] void each(const float *x, float *y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        y[i] = F(x[i]);
    }
}

float once(batch f, std::uint32_t bits) {
    const float x = uintBitsToFloat(bits);
    float y;
    f(&x, &y, 1);
    return y;
}

// Fails unless f gives the same bits whether the processor flushes subnormal results, subnormal
// operands, both or neither.
void check_flushing(const char *name, batch f, const float *x, const float *y, std::size_t n) {
#ifdef __SSE__
    constexpr unsigned flush_results = 0x8000u;
    constexpr unsigned flush_operands = 0x0040u;
    for (const unsigned mode : {flush_results, flush_operands, flush_results | flush_operands}) {
        float again[block];
        const unsigned saved = _mm_getcsr();
        _mm_setcsr(saved | mode);
        f(x, again, n);
        _mm_setcsr(saved);
        for (std::size_t i = 0; i < n; ++i) {
            if (floatBitsToUint(again[i]) != floatBitsToUint(y[i])) {
                fail_msg("%s(0x%08x) is 0x%08x, but 0x%08x with MXCSR bits 0x%04x set", name,
                         floatBitsToUint(x[i]), floatBitsToUint(y[i]), floatBitsToUint(again[i]),
                         mode);
            }
        }
    }
#else
    (void)name, (void)f, (void)x, (void)y, (void)n;
#endif
}

// Calls check(bits, result) for the swept inputs of f, which must not depend on flushing.
template <typename Check> void sweep(const char *name, batch f, Check check) {
    const std::uint64_t step = stride();
    float x[block];
    float y[block];
    std::uint64_t next = 0;
    while (next < patterns) {
        std::size_t n = 0;
        for (; n < block && next < patterns; ++n, next += step) {
            x[n] = uintBitsToFloat(static_cast<std::uint32_t>(next));
        }
        f(x, y, n);
        check_flushing(name, f, x, y, n);
        for (std::size_t i = 0; i < n; ++i) {
            check(floatBitsToUint(x[i]), y[i]);
        }
    }
}

// Inputs that a stride can miss: the ends of every range and the neighbourhood of each threshold in
// math.glsl and activation.glsl.
const std::uint32_t edges[] = {
    0x00000000u, 0x00000001u, 0x00400000u, 0x007fffffu, 0x00800000u, 0x00800001u, 0x00ffffffu,
    0x01000000u, 0x33800000u, 0x39800000u, 0x3f3504f3u, 0x3f490fdbu, 0x3f6be76du, 0x3f800000u,
    0x3fc90fdbu, 0x40000000u, 0x40490fdbu, 0x407ccccdu, 0x407fffffu, 0x41200000u, 0x4121999au,
    0x41280000u, 0x41500000u, 0x41580000u, 0x41900000u, 0x42aeac4fu, 0x42b17217u, 0x42b70000u,
    0x42b80000u, 0x45800000u, 0x4b000000u, 0x7e800000u, 0x7f000000u, 0x7f7fffffu, 0x7f800000u,
    0x7f800001u, 0x7fbfffffu, 0x7fc00000u, 0x7fffffffu,
};

// For each exponent from 2^12 to 2^127 the float32 closest to a multiple of pi/2, from the
// continued fraction of 2^e * 2/pi: what the reduction of large angles needs all its bits for.
const std::uint32_t hard_angles[] = {
    0x458be628u, 0x460be628u, 0x468be628u, 0x474d246fu, 0x47cd246fu, 0x484d246fu, 0x4882665eu,
    0x4902665eu, 0x4982665eu, 0x4a2562aeu, 0x4aa562aeu, 0x4b2562aeu, 0x4bf3b47bu, 0x4c2332e9u,
    0x4ca332e9u, 0x4d2332e9u, 0x4d847661u, 0x4e13d4a5u, 0x4e93d4a5u, 0x4f0ffd14u, 0x4fdbd32fu,
    0x507fd274u, 0x50a3e87fu, 0x5123e87fu, 0x51a3e87fu, 0x5223e87fu, 0x52a3e87fu, 0x5323e87fu,
    0x53b146a6u, 0x543146a6u, 0x54b146a6u, 0x553146a6u, 0x55b146a6u, 0x56787577u, 0x56f87577u,
    0x57787577u, 0x57b82989u, 0x58382989u, 0x58dc36c9u, 0x596e3d69u, 0x59f740b9u, 0x5a7bc261u,
    0x5afe0335u, 0x5b7f239fu, 0x5bffb3d4u, 0x5c07bcd0u, 0x5c87bcd0u, 0x5d07bcd0u, 0x5d87bcd0u,
    0x5e07bcd0u, 0x5e87bcd0u, 0x5f07bcd0u, 0x5fe4112cu, 0x6064112cu, 0x60ab0ce1u, 0x617c556bu,
    0x61d3b126u, 0x6253b126u, 0x62ec1b4au, 0x636c1b4au, 0x63e600c1u, 0x642e0733u, 0x64ae0733u,
    0x652e0733u, 0x65898498u, 0x66098498u, 0x66898498u, 0x67098498u, 0x67898498u, 0x68098498u,
    0x68898498u, 0x6946e3bbu, 0x69c6e3bbu, 0x6a1976f1u, 0x6a9976f1u, 0x6b1976f1u, 0x6b9976f1u,
    0x6c55da58u, 0x6cd5da58u, 0x6d2063c2u, 0x6d85a877u, 0x6e05a877u, 0x6e85a877u, 0x6f79be45u,
    0x6ff9be45u, 0x7079be45u, 0x70f9be45u, 0x7179be45u, 0x71f9be45u, 0x723fa09au, 0x72bfa09au,
    0x733fa09au, 0x73e61c18u, 0x7452de59u, 0x74d2de59u, 0x756fa1dcu, 0x75949471u, 0x76507ce8u,
    0x76a426ebu, 0x77584625u, 0x77d84625u, 0x78584625u, 0x78a8b883u, 0x79407f54u, 0x79c07f54u,
    0x7a105f7fu, 0x7afccbabu, 0x7b1675c0u, 0x7b9675c0u, 0x7c6c3305u, 0x7cff01bdu, 0x7d7f01bdu,
    0x7dff01bdu, 0x7e7f01bdu, 0x7ebdcda0u, 0x7f3dcda0u,
};

template <typename Check> void visit_edges(batch f, Check check) {
    for (const std::uint32_t edge : edges) {
        for (std::uint32_t offset = 0; offset < 9; ++offset) {
            for (const std::uint32_t sign : {0u, 0x80000000u}) {
                const std::uint32_t bits = ((edge + offset - 4u) & 0x7fffffffu) | sign;
                check(bits, once(f, bits));
            }
        }
    }
    for (const std::uint32_t bits : hard_angles) {
        check(bits, once(f, bits));
    }
}

template <typename Check> void visit(const char *name, batch f, Check check) {
    visit_edges(f, check);
    sweep(name, f, check);
}

// A function in one of the two modes of equal bits, its definition in double, and the maximum error in ulp that its comment states;
// 0.5 demands the correctly rounded value.
struct function {
    const char *name;
    batch f;
    reference exact;
    double limit;
};

void check_function(const function &fn) {
    worst most = {0.0, 0u};
    visit(fn.name, fn.f, [&](std::uint32_t bits, float got) {
        const double exact = fn.exact(seen(bits));
        const std::uint32_t got_bits = floatBitsToUint(got);
        const bool normal = !std::isnan(exact) && std::fabs(exact) >= min_normal;
        if (fn.limit == 0.5 || !normal) {
            if (got_bits != rounded(exact)) {
                fail_msg("%s(0x%08x) is 0x%08x, expected 0x%08x", fn.name, bits, got_bits,
                         rounded(exact));
            }
            return;
        }
        if (std::isinf(exact) || std::isnan(got)) {
            if (got_bits != rounded(exact)) {
                fail_msg("%s(0x%08x) is 0x%08x, expected %g", fn.name, bits, got_bits, exact);
            }
            return;
        }
        most.see(ulps(got, exact), bits);
    });
    if (fn.limit != 0.5) {
        std::printf("%-11s max %.4f ulp at 0x%08x\n", fn.name, most.error, most.bits);
        std::fflush(stdout);
    }
    if (most.error > fn.limit) {
        fail_msg("%s(0x%08x) is off by %.4f ulp, stated %.4f", fn.name, most.bits, most.error,
                 fn.limit);
    }
}

double exact_rcp(double x) {
    return 1.0 / x;
}
double exact_rsqrt(double x) {
    return 1.0 / std::sqrt(x);
}
double exact_exp(double x) {
    return std::exp(x);
}
double exact_log(double x) {
    return std::log(x);
}
double exact_sin(double x) {
    return std::sin(x);
}
double exact_cos(double x) {
    return std::cos(x);
}
double exact_tanh(double x) {
    return std::tanh(x);
}
double exact_erf(double x) {
    return std::erf(x);
}
double exact_sqrt(double x) {
    return std::sqrt(x);
}
double exact_expm1(double x) {
    return std::expm1(x);
}
double exact_log1p(double x) {
    return std::log1p(x);
}
double exact_round(double x) {
    return std::nearbyint(x);
}
double exact_trunc(double x) {
    return std::trunc(x);
}
double exact_floor(double x) {
    return std::floor(x);
}
double exact_ceil(double x) {
    return std::ceil(x);
}

const function functions[] = {
    {"exp", each<repro::weft_exp>, exact_exp, 0.899},
    {"log", each<repro::weft_log>, exact_log, 0.861},
    {"sin", each<repro::weft_sin>, exact_sin, 1.562},
    {"cos", each<repro::weft_cos>, exact_cos, 1.555},
    {"tanh", each<repro::weft_tanh>, exact_tanh, 1.911},
    {"erf", each<repro::weft_erf>, exact_erf, 1.566},
    {"rsqrt", each<repro::weft_rsqrt>, exact_rsqrt, 0.505},
    {"sqrt", each<repro::weft_sqrt>, exact_sqrt, 0.5},
    {"rcp", each<repro::weft_rcp>, exact_rcp, 0.5},
    {"expm1", each<repro::weft_expm1>, exact_expm1, 1.5},
    {"log1p", each<repro::weft_log1p>, exact_log1p, 1.5},
    {"round", each<repro::weft_round>, exact_round, 0.5},
    {"trunc", each<repro::weft_trunc>, exact_trunc, 0.5},
    {"floor", each<repro::weft_floor>, exact_floor, 0.5},
    {"ceil", each<repro::weft_ceil>, exact_ceil, 0.5},
    {"fused exp", each<fused::weft_exp>, exact_exp, 0.877},
    {"fused log", each<fused::weft_log>, exact_log, 0.851},
    {"fused sin", each<fused::weft_sin>, exact_sin, 1.535},
    {"fused cos", each<fused::weft_cos>, exact_cos, 1.555},
    {"fused tanh", each<fused::weft_tanh>, exact_tanh, 1.503},
    {"fused erf", each<fused::weft_erf>, exact_erf, 1.566},
    {"fused rsqrt", each<fused::weft_rsqrt>, exact_rsqrt, 0.505},
    {"fused sqrt", each<fused::weft_sqrt>, exact_sqrt, 0.5},
    {"fused rcp", each<fused::weft_rcp>, exact_rcp, 0.5},
    {"fused expm1", each<fused::weft_expm1>, exact_expm1, 1.5},
    {"fused log1p", each<fused::weft_log1p>, exact_log1p, 1.5},
    {"fused round", each<fused::weft_round>, exact_round, 0.5},
    {"fused trunc", each<fused::weft_trunc>, exact_trunc, 0.5},
    {"fused floor", each<fused::weft_floor>, exact_floor, 0.5},
    {"fused ceil", each<fused::weft_ceil>, exact_ceil, 0.5},
};

void test_function(void **state) {
    check_function(*static_cast<const function *>(*state));
}

// Activations: relative error, except that below 1e-30 an absolute error of 1e-37 is accepted.
struct activation {
    const char *name;
    batch f;
    reference exact;
    double limit;
};

// The gates of GELU are 0 below -40 and 1 above 40, to double; at infinity the formulas fail.
double exact_gelu_tanh(double x) {
    if (std::fabs(x) > 40.0) {
        return x > 0.0 ? x : 0.0;
    }
    const double c = 2.0 * std::sqrt(2.0 / std::acos(-1.0));
    return x / (1.0 + std::exp(-c * (x + 0.044715 * x * x * x)));
}

double exact_gelu_erf(double x) {
    if (std::fabs(x) > 40.0) {
        return x > 0.0 ? x : 0.0;
    }
    return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}

double exact_sigmoid(double x) {
    return 1.0 / (1.0 + std::exp(-x));
}
double exact_silu(double x) {
    return std::isinf(x) ? (x > 0.0 ? x : 0.0) : x * exact_sigmoid(x);
}
double exact_elu1(double x) {
    return x > 0.0 ? x + 1.0 : std::exp(x);
}
double exact_relu(double x) {
    return x > 0.0 || std::isnan(x) ? x : 0.0;
}
double exact_none(double x) {
    return x;
}

template <int Kind> float activate(float x) {
    return repro::weft_activate(Kind, x);
}

template <int Kind> float activate_fused(float x) {
    return fused::weft_activate(Kind, x);
}

const activation activations[] = {
    {"act_none", each<activate<WEFT_ACTIVATION_NONE>>, exact_none, 0.0},
    {"act_gelu_tanh", each<activate<WEFT_ACTIVATION_GELU_TANH>>, exact_gelu_tanh, 2.9e-7},
    {"act_gelu_erf", each<activate<WEFT_ACTIVATION_GELU_ERF>>, exact_gelu_erf, 5.7e-7},
    {"act_tanh", each<activate<WEFT_ACTIVATION_TANH>>, exact_tanh, 2.3e-7},
    {"act_relu", each<activate<WEFT_ACTIVATION_RELU>>, exact_relu, 0.0},
    {"act_sigmoid", each<activate<WEFT_ACTIVATION_SIGMOID>>, exact_sigmoid, 2.4e-7},
    {"act_silu", each<activate<WEFT_ACTIVATION_SILU>>, exact_silu, 2.9e-7},
    {"act_elu1", each<activate<WEFT_ACTIVATION_ELU1>>, exact_elu1, 2e-7},
    {"act_exp", each<activate<WEFT_ACTIVATION_EXP>>, exact_exp, 2e-7},
    {"fused act_none", each<activate_fused<WEFT_ACTIVATION_NONE>>, exact_none, 0.0},
    {"fused act_gelu_tanh", each<activate_fused<WEFT_ACTIVATION_GELU_TANH>>, exact_gelu_tanh,
     2.9e-7},
    {"fused act_gelu_erf", each<activate_fused<WEFT_ACTIVATION_GELU_ERF>>, exact_gelu_erf, 5.7e-7},
    {"fused act_tanh", each<activate_fused<WEFT_ACTIVATION_TANH>>, exact_tanh, 2.3e-7},
    {"fused act_relu", each<activate_fused<WEFT_ACTIVATION_RELU>>, exact_relu, 0.0},
    {"fused act_sigmoid", each<activate_fused<WEFT_ACTIVATION_SIGMOID>>, exact_sigmoid, 2.4e-7},
    {"fused act_silu", each<activate_fused<WEFT_ACTIVATION_SILU>>, exact_silu, 2.9e-7},
    {"fused act_elu1", each<activate_fused<WEFT_ACTIVATION_ELU1>>, exact_elu1, 2e-7},
    {"fused act_exp", each<activate_fused<WEFT_ACTIVATION_EXP>>, exact_exp, 2e-7},
};

bool canonical(std::uint32_t bits) {
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    return magnitude == 0u || (magnitude >= 0x00800000u && magnitude <= 0x7f800000u) ||
           bits == 0x7fc00000u;
}

void check_activation(const activation &act) {
    worst relative = {0.0, 0u};
    worst absolute = {0.0, 0u};
    visit(act.name, act.f, [&](std::uint32_t bits, float got) {
        const double exact = act.exact(seen(bits));
        const double value = static_cast<double>(got);
        if (!canonical(floatBitsToUint(got)) || std::isnan(exact) != std::isnan(value)) {
            fail_msg("%s(0x%08x) is 0x%08x, expected %g", act.name, bits, floatBitsToUint(got),
                     exact);
        }
        if (std::isnan(exact) || value == exact) {
            return;
        }
        if (std::isinf(value)) {
            relative.see(exact < 0x1.ffffffp127 ? infinity : 0.0, bits); // rounds to infinity above
            return;
        }
        const double error = std::fabs(value - exact);
        if (std::fabs(exact) <= 1e-30 && error <= 1e-37) {
            absolute.see(error, bits);
        } else {
            relative.see(error / std::fabs(exact), bits);
        }
    });
    std::printf("%-19s max relative %.3g at 0x%08x, absolute %.3g at 0x%08x\n", act.name,
                relative.error, relative.bits, absolute.error, absolute.bits);
    std::fflush(stdout);
    if (relative.error > act.limit) {
        fail_msg("%s(0x%08x) has relative error %g, limit %g", act.name, relative.bits,
                 relative.error, act.limit);
    }
}

void test_activation(void **state) {
    check_activation(*static_cast<const activation *>(*state));
}

using binary = float (*)(float, float);

std::uint32_t bits_of(binary f, std::uint32_t a, std::uint32_t b) {
    return floatBitsToUint(f(uintBitsToFloat(a), uintBitsToFloat(b)));
}

// The quotient of two float32 rounded to double and then to float32 is correctly rounded
// (53 >= 2 * 24 + 2).
void check_div_by(binary div, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t got = bits_of(div, a, b);
    const std::uint32_t want = rounded(seen(a) / seen(b));
    if (got != want) {
        fail_msg("div(0x%08x, 0x%08x) is 0x%08x, expected 0x%08x", a, b, got, want);
    }
#ifdef __SSE__
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040u);
    const std::uint32_t flushed = bits_of(div, a, b);
    _mm_setcsr(saved);
    if (flushed != got) {
        fail_msg("div(0x%08x, 0x%08x) is 0x%08x, but 0x%08x with flushing", a, b, got, flushed);
    }
#endif
}

void check_div(std::uint32_t a, std::uint32_t b) {
    check_div_by(repro::weft_div, a, b);
    check_div_by(fused::weft_div, a, b);
}

// Marsaglia's xorshift64.
std::uint64_t next_random(std::uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void test_div(void **) {
    for (const std::uint32_t a : edges) {
        for (const std::uint32_t b : edges) {
            for (const std::uint32_t sign : {0u, 0x80000000u}) {
                check_div(a, b | sign);
                check_div(a | sign, b);
                check_div(a + 1u, b | sign);
                check_div(a - 1u, b + 1u);
            }
        }
    }
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    const std::uint64_t pairs = exhaustive() ? patterns / 8 : 3000000u;
    for (std::uint64_t i = 0; i < pairs; ++i) {
        const std::uint64_t random = next_random(&state);
        const auto a = static_cast<std::uint32_t>(random);
        const auto b = static_cast<std::uint32_t>(random >> 32);
        check_div(a, b);
        // Quotients near 1 and near the powers of two, and full ranges of one operand's fraction.
        check_div((a & 0x007fffffu) | 0x3f800000u, (b & 0x007fffffu) | 0x3f800000u);
        check_div((a & 0x007fffffu) | 0x3f800000u, ((a + (b >> 28)) & 0x007fffffu) | 0x3f800000u);
    }
}

// The float32 that C's functions of the exact operands give.
double exact_modulo(double a, double b) {
    const double rest = std::fmod(a, b);
    const double held = std::fabs(rest) < min_normal ? std::copysign(0.0, rest) : rest;
    return held != 0.0 && std::signbit(held) != std::signbit(b) ? held + b : std::copysign(held, b);
}

void check_modulo(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t expected = rounded(exact_modulo(seen(a), seen(b)));
    for (const binary modulo : {repro::weft_modulo, fused::weft_modulo}) {
        const std::uint32_t got = bits_of(modulo, a, b);
        if (got != expected) {
            fail_msg("modulo(0x%08x, 0x%08x) is 0x%08x, expected 0x%08x", a, b, got, expected);
        }
    }
}

void check_pow_by(binary pow, worst *most, std::uint32_t a, std::uint32_t b) {
    const float got = pow(uintBitsToFloat(a), uintBitsToFloat(b));
    const double exact = std::pow(seen(a), seen(b));
    const std::uint32_t wanted = rounded(exact);
    const bool ordinary = std::isfinite(exact) && std::fabs(exact) >= min_normal;
    const bool at_edge = std::fabs(exact) > min_normal * (1.0 - 0x1p-20) &&
                         std::fabs(exact) < 0x1p128 * (1.0 + 0x1p-20);
    if (ordinary || (at_edge && exact != 0.0)) {
        most->see(ulps(got, exact), a);
    } else if (floatBitsToUint(got) != wanted) {
        fail_msg("pow(0x%08x, 0x%08x) is 0x%08x, expected 0x%08x", a, b, floatBitsToUint(got),
                 wanted);
    }
}

// Of both modes.
struct worst_pow {
    worst reproducible;
    worst fused;
};

void check_pow(worst_pow *most, std::uint32_t a, std::uint32_t b) {
    check_pow_by(repro::weft_pow, &most->reproducible, a, b);
    check_pow_by(fused::weft_pow, &most->fused, a, b);
}

void report_pow(const char *name, const worst &most) {
    std::printf("%-11s max %.4f ulp at 0x%08x\n", name, most.error, most.bits);
    assert_true(most.error <= 1.0);
}

// Operands of both at the edges, of any bits, and of powers that are numbers.
void test_pairs(void **) {
    worst_pow most = {{0.0, 0u}, {0.0, 0u}};
    for (const std::uint32_t a : edges) {
        for (const std::uint32_t b : edges) {
            for (const std::uint32_t sign : {0u, 0x80000000u}) {
                check_modulo(a, b | sign);
                check_modulo(a | sign, b);
                check_pow(&most, a, b | sign);
                check_pow(&most, a | sign, b);
                check_pow(&most, a | 0x80000000u, b | 0x80000000u);
            }
        }
    }
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    for (std::uint64_t i = 0; i < 2000000u; ++i) {
        const std::uint64_t random = next_random(&state);
        const auto a = static_cast<std::uint32_t>(random);
        const auto b = static_cast<std::uint32_t>(random >> 32);
        check_modulo(a, b);
        check_modulo(a, (a ^ (b & 0x8fffffffu)));
        check_pow(&most, a, b);
        const double base = seen(a & 0x7fffffffu);
        const double power = (static_cast<double>(b) * 0x1p-31 - 1.0) * 88.0 / std::log(base);
        check_pow(&most, a & 0x7fffffffu, floatBitsToUint(static_cast<float>(power)));
        const double whole = static_cast<double>(b % 41u) - 20.0;
        check_pow(&most, (a & 0x83ffffffu) | 0x3c000000u,
                  floatBitsToUint(static_cast<float>(whole)));
    }
    report_pow("pow", most.reproducible);
    report_pow("fused pow", most.fused);
    for (int x = 2; x < 64; ++x) { // what float32 has exactly
        for (int y = 0; std::pow(x, y) < 0x1p24; ++y) {
            for (const binary pow : {repro::weft_pow, fused::weft_pow}) {
                const float power = pow(static_cast<float>(x), static_cast<float>(y));
                assert_true(static_cast<double>(power) == std::pow(x, y));
            }
        }
    }
}

/* floor(a / b) in whole numbers, for quotients below 2^63 of numbers whose exponents differ by so little. */
double floor_of_quotient(std::uint32_t a, std::uint32_t b) {
    const auto significand = [](std::uint32_t x) {
        return std::int64_t{(x & 0x7fffffu) | 0x800000u};
    };
    const auto exponent = [](std::uint32_t x) { return static_cast<int>(x >> 23 & 0xffu); };
    const int shift = exponent(a) - exponent(b);
    const std::int64_t above = significand(a) << std::max(shift, 0);
    const std::int64_t below = shift < -31 ? INT64_MAX : significand(b) << std::max(-shift, 0);
    const std::int64_t whole =
        above / below + (((a ^ b) >> 31 != 0u && above % below != 0) ? 1 : 0);
    return (a ^ b) >> 31 != 0u ? -static_cast<double>(whole) : static_cast<double>(whole);
}

void check_floor_divide(std::uint32_t a, std::uint32_t b) {
    const auto expected = static_cast<float>(floor_of_quotient(a, b));
    for (const binary divide : {repro::weft_floor_divide, fused::weft_floor_divide}) {
        const float got = divide(uintBitsToFloat(a), uintBitsToFloat(b));
        if (floatBitsToUint(got) != floatBitsToUint(expected)) {
            fail_msg("floor_divide(0x%08x, 0x%08x) is %g, expected %g", a, b,
                     static_cast<double>(got), static_cast<double>(expected));
        }
    }
}

void test_floor_divide(void **) {
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    for (std::uint64_t i = 0; i < 2000000u; ++i) {
        const std::uint64_t random = next_random(&state);
        const auto a = static_cast<std::uint32_t>(random),
                   b = static_cast<std::uint32_t>(random >> 32);
        check_floor_divide((a & 0x87ffffffu) | 0x38000000u, (b & 0x83ffffffu) | 0x3c000000u);
        check_floor_divide((a & 0x8fffffffu) | 0x40000000u,
                           (b & 0x80ffffffu) | 0x40000000u); // to 2^31
        check_floor_divide((a & 0x80fffff0u) | 0x4c000000u,
                           (b & 0x80780000u) | 0x40000000u); // ties
    }
}

struct special {
    batch f;
    std::uint32_t x;
    std::uint32_t y;
};

constexpr std::uint32_t plus_inf = 0x7f800000u;
constexpr std::uint32_t minus_inf = 0xff800000u;
constexpr std::uint32_t minus_zero = 0x80000000u;
constexpr std::uint32_t one = 0x3f800000u;
constexpr std::uint32_t minus_one = 0xbf800000u;
constexpr std::uint32_t nan_bits = 0x7fc00000u;
constexpr std::uint32_t plus_subnormal = 0x007fffffu;
constexpr std::uint32_t minus_subnormal = 0x80000001u;

const special specials[] = {
    {each<repro::weft_exp>, plus_inf, plus_inf},
    {each<repro::weft_exp>, minus_inf, 0u},
    {each<repro::weft_exp>, 0u, one},
    {each<repro::weft_exp>, minus_subnormal, one},
    {each<repro::weft_exp>, 0x42b17217u, 0x7f7fff84u},
    {each<repro::weft_exp>, 0x42b17218u, plus_inf},
    {each<repro::weft_exp>, 0xc2aeac50u, 0u},
    {each<repro::weft_log>, 0u, minus_inf},
    {each<repro::weft_log>, minus_subnormal, minus_inf},
    {each<repro::weft_log>, one, 0u},
    {each<repro::weft_log>, minus_one, nan_bits},
    {each<repro::weft_log>, minus_inf, nan_bits},
    {each<repro::weft_log>, plus_inf, plus_inf},
    {each<repro::weft_sin>, minus_zero, minus_zero},
    {each<repro::weft_sin>, minus_subnormal, minus_zero},
    {each<repro::weft_sin>, plus_inf, nan_bits},
    {each<repro::weft_sin>, 0x00800000u, 0x00800000u},
    {each<repro::weft_cos>, minus_inf, nan_bits},
    {each<repro::weft_cos>, minus_zero, one},
    {each<repro::weft_tanh>, minus_inf, minus_one},
    {each<repro::weft_tanh>, minus_zero, minus_zero},
    {each<repro::weft_tanh>, 0x80800000u, 0x80800000u},
    {each<repro::weft_erf>, plus_inf, one},
    {each<repro::weft_erf>, minus_subnormal, minus_zero},
    {each<repro::weft_rcp>, minus_zero, minus_inf},
    {each<repro::weft_rcp>, plus_subnormal, plus_inf},
    {each<repro::weft_rcp>, minus_inf, minus_zero},
    {each<repro::weft_rcp>, 0x7e800000u, 0x00800000u},
    {each<repro::weft_rcp>, 0x7e800001u, 0u},
    {each<repro::weft_rsqrt>, minus_zero, minus_inf},
    {each<repro::weft_rsqrt>, plus_subnormal, plus_inf},
    {each<repro::weft_rsqrt>, plus_inf, 0u},
    {each<repro::weft_rsqrt>, minus_inf, nan_bits},
    {each<repro::weft_sqrt>, minus_zero, minus_zero},
    {each<repro::weft_sqrt>, plus_subnormal, 0u},
    {each<repro::weft_sqrt>, minus_one, nan_bits},
    {each<repro::weft_sqrt>, plus_inf, plus_inf},
    {each<repro::weft_flush>, minus_subnormal, minus_zero},
    {each<repro::weft_flush>, 0xffffffffu, nan_bits},
    {each<repro::weft_flush>, minus_inf, minus_inf},
    {each<activate<WEFT_ACTIVATION_NONE>>, minus_zero, minus_zero},
    {each<activate<WEFT_ACTIVATION_GELU_TANH>>, minus_inf, 0u},
    {each<activate<WEFT_ACTIVATION_GELU_TANH>>, 0xc2c80000u, 0u},
    {each<activate<WEFT_ACTIVATION_GELU_TANH>>, plus_inf, plus_inf},
    {each<activate<WEFT_ACTIVATION_GELU_TANH>>, minus_zero, minus_zero},
    {each<activate<WEFT_ACTIVATION_GELU_TANH>>, 0x7f7fffffu, 0x7f7fffffu},
    {each<activate<WEFT_ACTIVATION_GELU_ERF>>, minus_inf, 0u},
    {each<activate<WEFT_ACTIVATION_GELU_ERF>>, plus_inf, plus_inf},
    {each<activate<WEFT_ACTIVATION_GELU_ERF>>, 0x81000000u, 0x80800000u},
    {each<activate<WEFT_ACTIVATION_GELU_ERF>>, 0x80ffffffu, minus_zero},
    {each<activate<WEFT_ACTIVATION_RELU>>, minus_zero, 0u},
    {each<activate<WEFT_ACTIVATION_RELU>>, minus_inf, 0u},
    {each<activate<WEFT_ACTIVATION_RELU>>, plus_subnormal, 0u},
    {each<activate<WEFT_ACTIVATION_RELU>>, plus_inf, plus_inf},
    {each<activate<WEFT_ACTIVATION_SIGMOID>>, minus_inf, 0u},
    {each<activate<WEFT_ACTIVATION_SIGMOID>>, plus_inf, one},
    {each<activate<WEFT_ACTIVATION_SIGMOID>>, minus_zero, 0x3f000000u},
    {each<activate<WEFT_ACTIVATION_SILU>>, minus_inf, 0u},
    {each<activate<WEFT_ACTIVATION_SILU>>, plus_inf, plus_inf},
    {each<activate<WEFT_ACTIVATION_ELU1>>, minus_inf, 0u},
    {each<activate<WEFT_ACTIVATION_ELU1>>, plus_inf, plus_inf},
    {each<activate<WEFT_ACTIVATION_ELU1>>, plus_subnormal, one},
    {each<fused::weft_exp>, plus_inf, plus_inf},
    {each<fused::weft_exp>, minus_inf, 0u},
    {each<fused::weft_exp>, 0u, one},
    {each<fused::weft_exp>, minus_subnormal, one},
    {each<fused::weft_exp>, 0x42b17217u, 0x7f7fff84u},
    {each<fused::weft_exp>, 0x42b17218u, plus_inf},
    {each<fused::weft_exp>, 0xc2aeac50u, 0u},
    {each<fused::weft_log>, 0u, minus_inf},
    {each<fused::weft_log>, minus_subnormal, minus_inf},
    {each<fused::weft_log>, one, 0u},
    {each<fused::weft_log>, minus_one, nan_bits},
    {each<fused::weft_log>, minus_inf, nan_bits},
    {each<fused::weft_log>, plus_inf, plus_inf},
    {each<fused::weft_sin>, minus_zero, minus_zero},
    {each<fused::weft_sin>, minus_subnormal, minus_zero},
    {each<fused::weft_sin>, plus_inf, nan_bits},
    {each<fused::weft_sin>, 0x00800000u, 0x00800000u},
    {each<fused::weft_cos>, minus_inf, nan_bits},
    {each<fused::weft_cos>, minus_zero, one},
    {each<fused::weft_tanh>, minus_inf, minus_one},
    {each<fused::weft_tanh>, minus_zero, minus_zero},
    {each<fused::weft_tanh>, 0x80800000u, 0x80800000u},
    {each<fused::weft_erf>, plus_inf, one},
    {each<fused::weft_erf>, minus_subnormal, minus_zero},
    {each<fused::weft_rcp>, minus_zero, minus_inf},
    {each<fused::weft_rcp>, plus_subnormal, plus_inf},
    {each<fused::weft_rcp>, minus_inf, minus_zero},
    {each<fused::weft_rcp>, 0x7e800000u, 0x00800000u},
    {each<fused::weft_rcp>, 0x7e800001u, 0u},
    {each<fused::weft_rsqrt>, minus_zero, minus_inf},
    {each<fused::weft_rsqrt>, plus_subnormal, plus_inf},
    {each<fused::weft_rsqrt>, plus_inf, 0u},
    {each<fused::weft_rsqrt>, minus_inf, nan_bits},
    {each<fused::weft_sqrt>, minus_zero, minus_zero},
    {each<fused::weft_sqrt>, plus_subnormal, 0u},
    {each<fused::weft_sqrt>, minus_one, nan_bits},
    {each<fused::weft_sqrt>, plus_inf, plus_inf},
    {each<fused::weft_flush>, minus_subnormal, minus_zero},
    {each<fused::weft_flush>, 0xffffffffu, nan_bits},
    {each<fused::weft_flush>, minus_inf, minus_inf},
    {each<activate_fused<WEFT_ACTIVATION_NONE>>, minus_zero, minus_zero},
    {each<activate_fused<WEFT_ACTIVATION_GELU_TANH>>, minus_inf, 0u},
    {each<activate_fused<WEFT_ACTIVATION_GELU_TANH>>, 0xc2c80000u, 0u},
    {each<activate_fused<WEFT_ACTIVATION_GELU_TANH>>, plus_inf, plus_inf},
    {each<activate_fused<WEFT_ACTIVATION_GELU_TANH>>, minus_zero, minus_zero},
    {each<activate_fused<WEFT_ACTIVATION_GELU_TANH>>, 0x7f7fffffu, 0x7f7fffffu},
    {each<activate_fused<WEFT_ACTIVATION_GELU_ERF>>, minus_inf, 0u},
    {each<activate_fused<WEFT_ACTIVATION_GELU_ERF>>, plus_inf, plus_inf},
    {each<activate_fused<WEFT_ACTIVATION_GELU_ERF>>, 0x81000000u, 0x80800000u},
    {each<activate_fused<WEFT_ACTIVATION_GELU_ERF>>, 0x80ffffffu, minus_zero},
    {each<activate_fused<WEFT_ACTIVATION_RELU>>, minus_zero, 0u},
    {each<activate_fused<WEFT_ACTIVATION_RELU>>, minus_inf, 0u},
    {each<activate_fused<WEFT_ACTIVATION_RELU>>, plus_subnormal, 0u},
    {each<activate_fused<WEFT_ACTIVATION_RELU>>, plus_inf, plus_inf},
    {each<activate_fused<WEFT_ACTIVATION_SIGMOID>>, minus_inf, 0u},
    {each<activate_fused<WEFT_ACTIVATION_SIGMOID>>, plus_inf, one},
    {each<activate_fused<WEFT_ACTIVATION_SIGMOID>>, minus_zero, 0x3f000000u},
    {each<activate_fused<WEFT_ACTIVATION_SILU>>, minus_inf, 0u},
    {each<activate_fused<WEFT_ACTIVATION_SILU>>, plus_inf, plus_inf},
    {each<activate_fused<WEFT_ACTIVATION_ELU1>>, minus_inf, 0u},
    {each<activate_fused<WEFT_ACTIVATION_ELU1>>, plus_inf, plus_inf},
    {each<activate_fused<WEFT_ACTIVATION_ELU1>>, plus_subnormal, one},
};

void test_specials(void **) {
    for (const special &s : specials) {
        const std::uint32_t got = floatBitsToUint(once(s.f, s.x));
        if (got != s.y) {
            fail_msg("row %d: f(0x%08x) is 0x%08x, expected 0x%08x",
                     static_cast<int>(&s - specials), s.x, got, s.y);
        }
    }
    for (const std::uint32_t nan : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffc00000u}) {
        for (const function &fn : functions) {
            assert_int_equal(floatBitsToUint(once(fn.f, nan)), nan_bits);
        }
        for (const activation &act : activations) {
            assert_int_equal(floatBitsToUint(once(act.f, nan)), nan_bits);
        }
    }
}

void test_flush(void **) {
    visit("flush", each<repro::weft_flush>, [](std::uint32_t bits, float got) {
        assert_int_equal(floatBitsToUint(got), rounded(seen(bits)));
    });
}

// The fast mode's formulas, with the C library as the driver.
void test_fast(void **) {
    namespace fast = glsl::fast;
    const function fast_functions[] = {
        {"exp", each<fast::weft_exp>, exact_exp, 0.0},
        {"log", each<fast::weft_log>, exact_log, 0.0},
        {"sin", each<fast::weft_sin>, exact_sin, 0.0},
        {"cos", each<fast::weft_cos>, exact_cos, 0.0},
        {"tanh", each<fast::weft_tanh>, exact_tanh, 0.0},
        {"erf", each<fast::weft_erf>, exact_erf, 0.0},
        {"rcp", each<fast::weft_rcp>, exact_rcp, 0.0},
        {"sqrt", each<fast::weft_sqrt>, exact_sqrt, 0.0},
        {"rsqrt", each<fast::weft_rsqrt>, exact_rsqrt, 0.0},
        {"expm1", each<fast::weft_expm1>, exact_expm1, 0.0},
        {"round", each<fast::weft_round>, exact_round, 0.0},
        {"floor", each<fast::weft_floor>, exact_floor, 0.0},
    };
    for (int i = 1; i < 20000; ++i) {
        const float x = static_cast<float>(i) * 0.001f;
        for (const function &fn : fast_functions) {
            const bool even_domain =
                fn.exact == exact_log || fn.exact == exact_sqrt || fn.exact == exact_rsqrt;
            for (const float v : {x, even_domain ? x : -x}) {
                const double exact = fn.exact(static_cast<double>(v));
                const double error =
                    std::fabs(static_cast<double>(once(fn.f, floatBitsToUint(v))) - exact);
                if (!(error <= 1e-6 * std::fabs(exact))) {
                    fail_msg("fast %s(%g) is off by %g", fn.name, static_cast<double>(v), error);
                }
            }
        }
        for (int kind = WEFT_ACTIVATION_NONE; kind <= WEFT_ACTIVATION_EXP; ++kind) {
            for (const float v : {x, -x}) {
                const double exact = activations[kind].exact(static_cast<double>(v));
                const double got = static_cast<double>(fast::weft_activate(kind, v));
                if (!(std::fabs(got - exact) <= 1e-6 * std::fabs(exact) + 5e-7)) {
                    fail_msg("fast %s(%g) is %g, expected %g", activations[kind].name,
                             static_cast<double>(v), got, exact);
                }
            }
        }
    }
    for (const int kind :
         {WEFT_ACTIVATION_GELU_TANH, WEFT_ACTIVATION_GELU_ERF, WEFT_ACTIVATION_SILU}) {
        assert_true(fast::weft_activate(kind, -3e38f) == 0.0f);
        assert_true(fast::weft_activate(kind, 3e38f) == 3e38f);
    }
    for (int i = 1; i < 20000; ++i) {
        const float x = static_cast<float>(i) * 0.0005f;
        for (const float y : {x, -0.09f * x}) {
            const double exact = std::log1p(static_cast<double>(y));
            const double got = static_cast<double>(fast::weft_log1p(y));
            assert_true(std::fabs(got - exact) <= 1e-6 * std::fabs(exact));
        }
        const double exact = std::pow(static_cast<double>(x), 2.5);
        const double got = static_cast<double>(fast::weft_pow(x, 2.5f));
        assert_true(std::fabs(got - exact) <= 4e-6 * exact);
    }
    assert_true(fast::weft_pow(-2.0f, 3.0f) == -8.0f);
    assert_true(fast::weft_pow(-2.0f, 2.0f) == 4.0f);
    assert_true(std::isnan(fast::weft_pow(-2.0f, 0.5f)));
    assert_true(fast::weft_pow(0.0f, 0.0f) == 1.0f);
    assert_true(fast::weft_div(3.0f, 4.0f) == 0.75f);
    assert_true(fast::weft_flush(2.0f) == 2.0f);
}

CMUnitTest case_of(const char *name, CMUnitTestFunction run, const void *state) {
    return CMUnitTest{name, run, nullptr, nullptr, const_cast<void *>(state)};
}

} // namespace

int main() {
    constexpr std::size_t function_count = sizeof functions / sizeof functions[0];
    constexpr std::size_t activation_count = sizeof activations / sizeof activations[0];
    CMUnitTest tests[function_count + activation_count + 6];
    std::size_t n = 0;
    tests[n++] = case_of("specials", test_specials, nullptr);
    tests[n++] = case_of("flush", test_flush, nullptr);
    tests[n++] = case_of("fast", test_fast, nullptr);
    tests[n++] = case_of("div", test_div, nullptr);
    tests[n++] = case_of("pairs", test_pairs, nullptr);
    tests[n++] = case_of("floor_divide", test_floor_divide, nullptr);
    for (const function &fn : functions) {
        tests[n++] = case_of(fn.name, test_function, &fn);
    }
    for (const activation &act : activations) {
        tests[n++] = case_of(act.name, test_activation, &act);
    }
    return cmocka_run_group_tests_name("math", tests, nullptr, nullptr);
}
