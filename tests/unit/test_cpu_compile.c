/* SPDX-License-Identifier: MIT */
/* weft-test: long */
/*
 * Kernels compiled for the processor, at every vector width, against the plain-C evaluation of the same modules, which
 * shares no code with the compiler. No device.
 */
#include <stdlib.h>

#include "core/float_state.h"
#include "native/kernel.h"
#include "native/memory.h"
#include "shader/glsl.h"
#include "shader/spirv_pass.h"
#include "spirv/module.h"
#include "support.h"
#include "support_glsl.h"
#include "verify/evaluator/evaluator.h"

#define WORDS  1024u
#define GROUPS 3u
#define BYTES  (4 * WORDS)

struct kernel {
    const char *what;
    const char *size; /* of a workgroup, as layout(…) in */
    const char *body; /* functions, and main */
};

/* ---- kernels ---- */

#define LINE "local_size_x = 64"

/* Every invocation has its own words: at(i) is the i-th of four. */
#define HEAD                                                                            \
    "#version 450\n"                                                                    \
    "layout(%s) in;\n"                                                                  \
    "layout(std430, binding = 2) buffer Result { uint result[]; };\n"                   \
    "layout(std430, binding = 0) readonly buffer Given { uint given[]; };\n"            \
    "layout(std430, binding = 0) readonly buffer Fours { uvec4 fours[]; };\n"           \
    "layout(std430, binding = 2) buffer Results { uvec4 results[]; };\n"                \
    "layout(push_constant) uniform Push { uint a; uint b; int c; float d; } push;\n"    \
    "layout(constant_id = 0) const uint CHOICE = 0;\n"                                  \
    "layout(constant_id = 1) const uint COUNT = 1;\n"                                   \
    "uint lane() { return gl_LocalInvocationIndex; }\n"                                 \
    "uint me() { return gl_WorkGroupID.x * gl_WorkGroupSize.x * gl_WorkGroupSize.y *\n" \
    "                   gl_WorkGroupSize.z + lane(); }\n"                               \
    "uint in_(uint i) { return given[(me() * 4 + i) %% 1024]; }\n"                      \
    "float real(uint i) { return float(int(in_(i) & 0xffff) - 32768) * 0.015625; }\n"   \
    "void out_(uint i, uint x) { result[(me() * 4 + i) %% 1024] = x; }\n"               \
    "void out_(uint i, float x) { out_(i, floatBitsToUint(x)); }\n"

static const struct kernel kernels[] = {
    {"integers", LINE,
     "void main() { uint a = in_(0), b = in_(1);\n"
     "out_(0, (a + b) * (a - b) ^ (a << (b & 31)) ^ (a >> (b & 31)) ^ uint(int(a) >> int(b & "
     "31)));\n"
     "out_(1, (a & b) | ~a); out_(2, uint(-int(a)) + min(a, b) * 3 + max(a, b));\n"
     "out_(3, uint(min(int(a), int(b)) ^ max(int(a), int(b)) + abs(int(a) >> 1))); }"},
    {"divisions and comparisons that bounds decide, or just not", LINE,
     "void main() { uint l = lane(), w = gl_LocalInvocationID.x, m = in_(0) % 7, s = in_(1) >> "
     "28;\n"
     "out_(0, (l % 63) + ((l + 64) % 127) * 64 + ((w + 64) % 128) * 8192 + (w / 64) * 3 + (w / 63) "
     "* 5);\n"
     "out_(1, m % 7 + (m % 6) * 8 + (m / 7) * 64 + (m / 6) * 128 + s % 16 * 256 + s % 15 * 4096 + "
     "(s & 9) % 10 * 65536);\n"
     "uint t = 0; if (l < 64) t |= 1; if (l < 63) t |= 2; if (w + 1 > 64) t |= 4; if (w >= 63) t "
     "|= 8; if (m <= 6) t |= 16;\n"
     "if (m <= 5) t |= 32; if (int(l) < 64) t |= 64; if (int(l) - 64 < 0) t |= 128; if (l - 1u < "
     "64) t |= 256;\n"
     "if (int(s | 0x80000000u) < 3) t |= 512; if ((s | m) > 15) t |= 1024; if ((s ^ 16) <= 30) t "
     "|= 2048; if (s * 2 + 1 <= 31) t |= 4096;\n"
     "out_(2, t); out_(3, (max(m, s) % 16) + (min(m, s) % 7) * 16 + ((m << 2) % 25) * 128 + ((m << "
     "30) % 25) * 4096 + (m * 0x30000000u) % 0x20000000u); }"},
    {"rows that are shorter than a vector", "local_size_x = 2, local_size_y = 32",
     "void main() { uint c = gl_LocalInvocationID.x, r = gl_LocalInvocationID.y;\n"
     "uint a = given[(r * 9 + c) % 1024], b = given[(r * 16 + c * 4 + gl_WorkGroupID.x) % 1024]; "
     "uvec4 f = fours[r * 4 + c];\n"
     "uint l = lane(); uint d = given[l % 2 + l / 2 * 5 + 3], e = given[(l / 2 + 40) % 37 + l % 2 "
     "* 100];\n"
     "out_(0, a * 3 + b); out_(1, f.x ^ f.w + d); out_(2, e + (r < 17 ? c : r) + (l < 33 ? 1 : "
     "2)); out_(3, r * 1000 + c * 77 + l); }"},
    {"rows that are shorter than a vector, through shared memory",
     "local_size_x = 4, local_size_y = 16",
     "shared vec2 row[64]; shared uvec4 wide[64]; shared float one[80];\n"
     "void main() { uint c = gl_LocalInvocationID.x, r = gl_LocalInvocationID.y;\n"
     "row[(r * 4 % 64) + c] = vec2(real(0), real(1)); wide[(15 - r) * 4 + c] = uvec4(in_(0), "
     "in_(1), r, c); one[r * 5 + c] = real(2);\n"
     "barrier(); vec2 v = row[(r % 4) * 16 + (r / 4) * 4 + c]; uvec4 w = wide[r * 4 + 3 - c]; "
     "barrier();\n"
     "if (r > 6) { row[r * 4 + c].x = v.y; if (c == 3) { one[r * 5 + 4] = v.y + real(3); } }\n"
     "barrier(); out_(0, v.x + one[r * 5 + c]); out_(1, w.x + w.y * w.z); out_(2, row[c * 16 + "
     "r].x); out_(3, r > 6 ? one[r * 5 + 4] : v.y); }"},
    {"a variable that one line sets to constants of two calls", LINE,
     "uint total; void keep(uint n) { total = n; }\n"
     "void main() { uint s = 0; keep(1); for (uint i = 0; i < 3; i++) { s = s * 10 + total; "
     "keep(5); } out_(0, s); out_(1, total); }"},
    {"variables that are set again and again", LINE,
     "uint kept; void bump(uint by) { kept += by; }\n"
     "void main() { uint at = in_(0); kept = at; uint first = at; at = at * 3 + kept; bump(at); "
     "uvec2 pair = uvec2(at, kept);\n"
     "pair.x = pair.y; pair.y = 7; if ((first & 1) != 0) { at = pair.x; kept = 1; pair.x = at + "
     "kept; } else { bump(2); at ^= kept; }\n"
     "uint row[3]; row[0] = at; row[1] = kept; row[2] = 5; row[first % 3] = 9; uint seen = row[0]; "
     "row[0] = 1; seen += row[0] * 4;\n"
     "for (uint i = 0; i < (first & 3); i++) { seen += at; at = i; seen ^= at << 3; kept = at; }\n"
     "out_(0, seen); out_(1, kept); out_(2, pair.x + pair.y * 11); out_(3, row[0] + row[1] + "
     "row[2]); }"},
    {"arrays that are alike for all lanes, read by an index that is not", LINE,
     "void main() { uint table[5], rows[5]; for (uint i = 0; i < 5; i++) { table[i] = push.a + i * "
     "push.b; rows[i] = i + lane(); }\n"
     "out_(0, table[in_(0) % 5]); out_(1, table[lane() % 5]); out_(2, rows[in_(1) % 5]); }"},
    {"divisions", LINE,
     "void main() { uint a = in_(0), b = in_(1) | 1u, c = push.a;\n"
     "out_(0, a / b + a % b * 5); out_(1, a / c ^ a % c); out_(2, a / 10 + a % 7 + a / 64 + a % "
     "64);\n"
     "int s = int(a), t = int(in_(2) & 0xff) + 2;\n"
     "out_(3, uint(s / t) ^ uint(s - s / t * t) ^ uint((s & 0xffff) % t) ^ uint(s / push.c)); }"},
    {"bits", LINE,
     "void main() { uint a = in_(0), b = in_(1), o = in_(2) % 32, n = in_(3) % (33 - o);\n"
     "out_(0, bitfieldExtract(a, int(o), int(n)) ^ uint(bitfieldExtract(int(a), int(o), "
     "int(n))));\n"
     "out_(1, bitfieldInsert(a, b, int(o), int(n)));\n"
     "out_(2, uint(bitCount(a)) + uint(findMSB(b)) * 3 + uint(findLSB(a)) * 5 + bitfieldReverse(b) "
     "+\n"
     "        uint(findMSB(int(a))) * 7);\n"
     "uint carry, borrow, high, low; uint sum = uaddCarry(a, b, carry), d = usubBorrow(a, b, "
     "borrow);\n"
     "umulExtended(a, b, high, low); int h, l; imulExtended(int(a), int(b), h, l);\n"
     "out_(3, sum ^ carry ^ d * 3 ^ borrow * 5 ^ high * 7 ^ low ^ uint(h) * 11); }"},
    {"floats", LINE,
     "void main() { float a = real(0), b = real(1), c = real(2);\n"
     "out_(0, a * b + c); out_(1, a - b * 0.3 + push.d); out_(2, abs(-a) + float(a < b) + float(b "
     ">= c));\n"
     "out_(3, uint(int(a)) + uint(abs(b)) + uint(a == b ? 1 : 2) + floatBitsToUint(float(in_(3) >> "
     "9))); }"},
    {"both sides of a branch", LINE,
     "void main() { uint a = in_(0), r = 1;\n"
     "if ((a & 1) != 0) { r = a * 3; if ((a & 2) != 0) { r += in_(1); } else { r ^= in_(2); } }\n"
     "else if ((a & 4) != 0) { r = in_(3); out_(3, r); } out_(0, r);\n"
     "if (lane() < 5) out_(1, a); if (push.a > 2) out_(2, r + 1); else out_(2, r + 2); }"},
    {"short circuits and choices", LINE,
     "bool odd(uint x) { return (x & 1) != 0; }\n"
     "void main() { uint a = in_(0), b = in_(1); bool p = odd(a) && odd(b >> a % 7), q = odd(a >> "
     "3) || p;\n"
     "out_(0, uint(p) + 2 * uint(q)); out_(1, p ? a : q ? b : a ^ b);\n"
     "out_(2, uint(p != q) + uint(p == odd(b)) * 4 + uint(!p) * 8); }"},
    {"loops that lanes leave one by one", LINE,
     "void main() { uint n = in_(0) % 23, s = 0, i = 0;\n"
     "for (uint k = 0; k < n; k++) { if (((in_(1) >> (k & 31)) & 1) != 0) continue; s = s * 5 + "
     "k;\n"
     "  if (s > 1000000u) break; }\n"
     "out_(0, s); while (i < in_(2) % 9) { i += 2; s ^= i; } out_(1, s + i);\n"
     "do { s = s / 3 + 1; i++; } while (s > 10 && i < 40); out_(2, s * 64 + i); }"},
    {"loops in loops", LINE,
     "void main() { uint s = 0; for (uint i = 0; i < in_(0) % 7; i++) { for (uint j = i; j < 6; "
     "j++) {\n"
     "  if (((in_(1) >> (i * 4 + j) % 32) & 1) != 0) break; s += i * 10 + j;\n"
     "  if (s > 60) { s += 1000; break; } if (j == 4) continue; s ^= 3; } if (s > 900) break; s += "
     "7; }\n"
     "out_(0, s); uint t = 0; for (uint k = lane(); k < 200; k += 64) t += given[k]; out_(1, t); "
     "}"},
    {"loops within branches that lanes take differently", LINE,
     "void main() { uint s = 0, u = in_(0) % 5; for (uint round = 0; round < 3; round++) {\n"
     "  if (lane() < 3 + in_(1) % 60) { uint t = round; for (uint i = 0; i < 6; i++) { t += "
     "given[i "
     "* 64 + lane()]; for (uint j = i; j < 4; j++) t ^= j << i; }\n"
     "    s += t; if (u > round) { for (uint k = u; k < 9; k++) { if (k == 7) break; s ^= in_(k) * "
     "k; } } }\n"
     "  for (uint i = round; i < 4; i++) s += i * u; }\n"
     "out_(0, s); out_(1, u); }"},
    {"functions that return early", LINE,
     "uint find(uint x, uint y) { for (uint i = 0; i < 12; i++) { if ((x >> i & 7) == 5) { if ((y "
     "& 1) != 0)\n"
     "  return i; y >>= 1; } if (i > y % 16) return 100 + i; } return 77; }\n"
     "uint pick(uint x) { if (x % 3 == 0) return x * 2; x++; if (x % 5 == 0) return x + find(x, "
     "9); return 4; }\n"
     "void bump(inout uint x, out uint y) { y = x; x += 3; if (x % 2 == 0) return; x *= 2; }\n"
     "void main() { uint a = in_(0), b; out_(0, find(a, in_(1))); out_(1, pick(a)); bump(a, b); "
     "out_(2, a ^ b);\n"
     "if (in_(3) % 2 == 0) return; out_(3, a + 1); }"},
    {"switches", LINE,
     "void main() { uint r = 0; switch (in_(0) % 7) { case 0: r = 1; break; case 1: r = 2; case 2: "
     "r += 10; break;\n"
     "case 3: case 4: if (in_(1) % 2 == 0) break; r = 9; break; default: r = 5; } out_(0, r);\n"
     "switch (push.a) { case 3: r += 1; break; case 7: r += 2; break; default: r += 3; } out_(1, "
     "r);\n"
     "for (uint i = 0; i < 4; i++) { switch (in_(2) >> i & 3) { case 1: continue; case 2: r += 50; "
     "} r += 1; }\n"
     "out_(2, r); }"},
    {"specialization", LINE,
     "uint f(uint x) { if (CHOICE == 2) { return x + 1; } return x * 2; }\n"
     "void main() { uint s = 0; for (uint i = 0; i < COUNT; i++) { s += f(in_(i)); }\n"
     "if (CHOICE == 1) { out_(1, s); return; } out_(0, s); if (CHOICE != 0) out_(2, s ^ 1); }"},
    {"arrays of an invocation's own", LINE,
     "void main() { uint a[9]; for (uint i = 0; i < 9; i++) a[i] = in_(i % 4) >> i; uint s = 0;\n"
     "for (uint i = 0; i < 20; i++) { uint k = (in_(i % 4) + i) % 9; s = s * 3 + a[k]; a[(k * 2 + "
     "1) % 9] ^= s; }\n"
     "out_(0, s); out_(1, a[push.a % 9]); if (lane() % 3 == 0) a[lane() % 9] = 5; out_(2, a[2] + "
     "a[lane() % 9]); }"},
    {"structures, vectors and matrices", LINE,
     "struct S { uint n; vec3 v; uint a[3]; }; uint total; float kept[4];\n"
     "S make(uint x) { S s; s.n = x; s.v = vec3(real(0), real(1), real(2)); s.a = uint[3](x, x + "
     "1, x + 2); return s; }\n"
     "void main() { total = 7; S s = make(in_(0)); s.v.zx = s.v.xy; S t = s; t.a[in_(1) % 3] = 9; "
     "vec3 w = t.v; w[in_(2) % 3] += 1.0;\n"
     "mat2 m = mat2(real(0), real(1), real(2), real(3)); m[1].x = w.y; kept[in_(3) % 4] = "
     "m[0][1];\n"
     "out_(0, s.n + t.a[0] + t.a[1] * 3 + t.a[2] * 5 + total); out_(1, w.x); out_(2, m[1].x - "
     "w.z); out_(3, m[0][1]); }"},
    {"vectors in memory", LINE,
     "void main() { uvec4 x = fours[me() % 256]; uvec4 y = fours[(me() + 3) % 256]; uvec4 z = "
     "fours[gl_WorkGroupID.x];\n"
     "uvec4 w = uvec4(x.wzy, y.x) + z; if (lane() % 5 != 0) results[me() % 256] = w; else "
     "result[me() * 4 % 1024 + 1] = x.y; }"},
    {"strides", LINE,
     "void main() { uint i = me(); uint s = given[i % 1024] + given[2 * i % 1024] * 3 + given[1023 "
     "- i % 1024] * 5 +\n"
     "given[(i / 16) % 1024] * 7 + given[i % 16] * 11 + given[(i % 16) * 64 + i / 16 % 64] * 13 + "
     "given[gl_WorkGroupID.x * 8 + (lane() & 7)] * 17 +\n"
     "given[given[i % 1024] % 1024] * 19; result[1023 - i % 1024] = s; }"},
    {"workgroups of two dimensions", "local_size_x = 16, local_size_y = 8",
     "shared uint tile[8][17]; void main() { uvec3 l = gl_LocalInvocationID, g = "
     "gl_GlobalInvocationID;\n"
     "tile[l.y][l.x] = in_(0) + l.x * 100 + l.y; barrier();\n"
     "out_(0, tile[l.x % 8][l.y * 2 + l.x / 8]); out_(1, g.x * 1000 + g.y * 100 + g.z); out_(2, "
     "tile[l.y][(l.x + 1) % 16]); }"},
    {"odd workgroups of three dimensions", "local_size_x = 5, local_size_y = 3, local_size_z = 2",
     "shared uint sums[30]; void main() { uvec3 l = gl_LocalInvocationID; sums[lane()] = in_(0); "
     "barrier();\n"
     "uint s = 0; for (uint i = 0; i <= lane(); i++) s += sums[i]; out_(0, s); out_(1, l.x * 100 + "
     "l.y * 10 + l.z);\n"
     "if (l.y == 1) { out_(2, sums[29 - lane()]); return; } out_(3, s ^ 1); }"},
    {"one invocation", "local_size_x = 1",
     "void main() { out_(0, in_(1)); out_(1, gl_NumWorkGroups.x); }"},
    {"barriers in loops", "local_size_x = 100",
     "shared uint a[100]; uint step_(uint x, uint k) { a[lane()] = x; barrier(); uint y = "
     "a[(lane() + k) % 100]; barrier(); return y; }\n"
     "void main() { uint x = in_(0), s = 0; for (uint k = 1; k < 6; k++) { if (k == 4) continue; "
     "uint y = step_(x, k);\n"
     "  if (lane() % 2 == 0) { s += y; } else { x ^= y; } if (k > push.a) break; }\n"
     "out_(0, s); out_(1, x); if (lane() > 70) return; out_(2, s + x); }"},
    {"trees of sums", "local_size_x = 128",
     "shared float t[128]; void main() { t[lane()] = real(0); float mine = real(1); barrier();\n"
     "for (uint s = 64; s > 0; s >>= 1) { if (lane() < s) t[lane()] += t[lane() + s]; barrier(); "
     "}\n"
     "out_(0, t[0] + mine); if (push.a == 7) { barrier(); mine += t[lane() % 2]; } out_(1, mine); "
     "}"},
    {"a return of the whole workgroup", LINE,
     "shared uint a[64]; void main() { if (gl_WorkGroupID.x >= 2) return; a[lane()] = in_(0); "
     "barrier();\n"
     "out_(0, a[63 - lane()]); }"},
    {"atomics", "local_size_x = 96",
     "shared uint n, least; void main() { if (lane() == 0) { n = 0; least = ~0u; } barrier(); if "
     "(in_(0) % 3 == 0) atomicAdd(n, in_(1) & 15);\n"
     "atomicMin(least, in_(2)); barrier(); out_(0, n); out_(1, least); }"},
    {"flags and halves in shared memory", LINE,
     "shared bool on[64]; struct P { uint x; vec2 y; }; shared P pairs[64]; void main() { "
     "on[lane()] = in_(0) % 2 == 0;\n"
     "pairs[lane()].x = in_(1); pairs[63 - lane()].y = vec2(real(0), real(1)); barrier(); P p = "
     "pairs[(lane() * 7) % 64];\n"
     "out_(0, uint(on[63 - lane()]) + p.x); out_(1, p.y.x); out_(2, p.y.y); out_(3, "
     "uint(given.length()) + uint(fours.length())); }"},
};

/* ---- running them ---- */

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

struct program {
    uint32_t *words;
    size_t size;
};

static struct program compile_glsl(const struct kernel *kernel) {
    weft_device device = {.math = WEFT_MATH_REPRODUCIBLE}; /* no driver is involved */
    char text[32768];
    const int length = snprintf(text, sizeof text, HEAD "%s\n", kernel->size, kernel->body);
    assert_in_range(length, 1, sizeof text - 1);
    uint32_t *words = NULL;
    size_t size = 0;
    assert_ok(weft_glsl_compile(&words, &size, &device, kernel->what, text));
    struct program program = {0};
    assert_ok(weft_spirv_make_reproducible(&program.words, &program.size, words, size, NULL));
    weft_free(NULL, words);
    return program;
}

struct given {
    uint32_t words[WORDS];
    uint32_t push[4];
    uint32_t specialization[2];
};

static struct given make_given(uint32_t seed) {
    static const uint32_t edges[] = {0, 1, 2, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, 0xFFFEu, 64};
    struct given given;
    uint32_t state = seed * 2654435761u + 1;
    for (uint32_t i = 0; i < WORDS; i++) {
        given.words[i] = next_random(&state);
        if (given.words[i] % 8 == 0) {
            given.words[i] = edges[next_random(&state) % 8];
        }
    }
    const float real = 0.75F * (float)seed;
    given.push[0] = seed == 1 ? 3 : seed == 2 ? 7 : next_random(&state) % 1000 + 1;
    given.push[1] = next_random(&state);
    given.push[2] = seed % 2 == 0 ? 13 : (uint32_t)-5;
    memcpy(&given.push[3], &real, sizeof real);
    given.specialization[0] = seed % 3;
    given.specialization[1] = seed % 4 + 1;
    return given;
}

static void evaluate(uint32_t *result, const struct program *program, const struct given *given) {
    char text[WEFT_EVALUATOR_TEXT] = "";
    struct given copy = *given;
    const struct weft_evaluated_dispatch dispatch = {
        .label = "kernel",
        .words = program->words,
        .size = program->size,
        .specialization = given->specialization,
        .specialization_count = 2,
        .push = (const uint8_t *)given->push,
        .push_size = sizeof given->push,
        .groups = {GROUPS, 1, 1},
        .range = {{.data = (uint8_t *)copy.words, .size = BYTES},
                  {0},
                  {.data = (uint8_t *)result, .size = BYTES, .writable = true}}};
    weft_evaluator *evaluator = weft_evaluator_create(NULL);
    assert_non_null(evaluator);
    if (weft_evaluate_dispatch(text, evaluator, &dispatch) != WEFT_OK) {
        fail_msg("the evaluator: %s", text);
    }
    weft_evaluator_destroy(&evaluator);
}

static struct weft_cpu_kernel *compile_native(const char *what, const struct program *program,
                                              const struct given *given, uint32_t lanes,
                                              bool checked) {
    const struct weft_ir_specialization constants[] = {
        {.id = 0, .size = 4, .value = &given->specialization[0]},
        {.id = 1, .size = 4, .value = &given->specialization[1]}};
    const struct weft_ir_source source = {.words = program->words,
                                          .size = program->size,
                                          .entry_point = "main",
                                          .constants = constants,
                                          .constant_count = 2,
                                          .lanes = lanes,
                                          .checked = checked};
    struct weft_cpu_object object = {0};
    struct weft_cpu_kernel *kernel = NULL;
    struct weft_test_host host;
    weft_test_host_begin(&host);
    if (weft_cpu_compile(&object, &source, &host.host) != WEFT_OK) {
        fail_msg("%s: %s", what, weft_test_log(&host));
    }
    assert_ok(weft_cpu_kernel_load(&kernel, object.bytes, object.size, NULL));
    weft_free(&host.host, object.bytes);
    weft_test_host_end(&host);
    return kernel;
}

/* sizes: of the binding of results; what is beyond must stay as it is. */
static void run_native(uint32_t *result, const struct weft_cpu_kernel *kernel,
                       const struct given *given, uint64_t size) {
    const struct weft_cpu_interface *interface = &kernel->interface;
    const size_t scratch_size = ((size_t)interface->scratch_size + 64) / 64 * 64;
    uint8_t *scratch = weft_cpu_bytes_allocate(scratch_size);
    assert_non_null(scratch);
    memset(scratch, 0xFF, scratch_size);
    struct given copy = *given;
    struct weft_cpu_range ranges[WEFT_CPU_MAX_BINDINGS] = {{0}};
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        const bool given_range = interface->bindings[i].binding == 0;
        ranges[i] = (struct weft_cpu_range){.data = given_range ? copy.words : result,
                                            .size = given_range ? BYTES : size};
    }
    const atomic_uint_least32_t halt = 0;
    const struct weft_cpu_call call = {.ranges = ranges,
                                       .push = given->push,
                                       .scratch = scratch,
                                       .groups = {GROUPS, 1, 1},
                                       .halt = &halt};
    const weft_float_state state = weft_float_state_kernel();
    kernel->entry(&call, 0, 0, 0, 1);
    kernel->entry(&call, 1, 0, 0, GROUPS - 1);
    weft_float_state_restore(&state);
    weft_cpu_bytes_free(scratch);
}

static void compare(const struct kernel *kernel, uint32_t lanes, bool checked, uint32_t seed,
                    const uint32_t *expected, const uint32_t *result) {
    for (uint32_t i = 0; i < WORDS; i++) {
        if (expected[i] != result[i]) {
            fail_msg("%s, %u lanes%s, seed %u: word %u is 0x%08x, expected 0x%08x", kernel->what,
                     lanes, checked ? ", checked" : "", seed, i, result[i], expected[i]);
        }
    }
}

/* At all widths, with and without checks where `both`, else by turns. */
static void run_program(const struct kernel *kernel, const struct program *program, uint32_t seed,
                        bool both) {
    static const uint32_t widths[] = {4, 8, 16};
    const struct given given = make_given(seed);
    uint32_t expected[WORDS];
    memset(expected, 0xAB, sizeof expected);
    evaluate(expected, program, &given);
    for (uint32_t k = 0; k < (both ? 6 : 3); k++) {
        const bool checked = both ? k >= 3 : (seed + k) % 2 == 0;
        uint32_t result[WORDS];
        memset(result, 0xAB, sizeof result);
        struct weft_cpu_kernel *native =
            compile_native(kernel->what, program, &given, widths[k % 3], checked);
        run_native(result, native, &given, BYTES);
        weft_cpu_kernel_unload(&native, NULL);
        compare(kernel, widths[k % 3], checked, seed, expected, result);
    }
}

static void run_kernel(const struct kernel *kernel) {
    const struct program program = compile_glsl(kernel);
    for (uint32_t seed = 1; seed <= 3; seed++) {
        run_program(kernel, &program, seed, seed == 1);
    }
    weft_free(NULL, program.words);
}

WEFT_TEST(kernels_give_the_bits_of_their_evaluation) {
    if (!weft_cpu_can_compile()) {
        skip();
    }
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        run_kernel(&kernels[i]);
    }
}

WEFT_TEST(kernels_by_chance_give_the_bits_of_their_evaluation) {
    enum { KERNELS = 16 };
    static const char *const sizes[] = {LINE, "local_size_x = 20",
                                        "local_size_x = 3, local_size_y = 11"};
    if (!weft_cpu_can_compile()) {
        skip();
    }
    char body[24576], what[32];
    for (uint32_t seed = 0; seed < KERNELS; seed++) {
        weft_test_random_kernel(body, sizeof body, seed);
        (void)snprintf(what, sizeof what, "by chance %u", seed);
        const struct kernel kernel = {what, sizes[seed % 3], body};
        const struct program program = compile_glsl(&kernel);
        run_program(&kernel, &program, 1 + seed, false);
        weft_free(NULL, program.words);
    }
}

/* Reads 0, writes nothing, and nothing else changes. */
WEFT_TEST(accesses_out_of_bounds_are_harmless_where_they_are_checked) {
    static const struct kernel wild = {
        "wild", LINE,
        "void main() { uint i = in_(0); result[i] = 5; results[i / 4] = uvec4(6); result[me()] = "
        "given[i + me()] | given[i | 0xfffffff0u] |\n"
        "fours[0x7fffffu + lane()].x | given[push.b]; if (push.b > 2000u) result[push.b] = 3; "
        "results[me() * 3] = uvec4(1); }"};
    if (!weft_cpu_can_compile()) {
        skip();
    }
    const struct program program = compile_glsl(&wild);
    struct given given = make_given(5);
    for (uint32_t i = 0; i < WORDS; i++) {
        given.words[i] |= 0x10000; /* all far outside */
    }
    given.push[1] |= 0x40000000;
    uint32_t result[WORDS];
    memset(result, 0xAB, sizeof result);
    struct weft_cpu_kernel *native = compile_native(wild.what, &program, &given, 8, true);
    run_native(result, native, &given, (uint64_t)4 * 101);
    weft_cpu_kernel_unload(&native, NULL);
    for (uint32_t i = 101; i < WORDS; i++) {
        assert_int_equal(result[i], 0xABABABABu);
    }
    weft_free(NULL, program.words);
}

/* Shared memory like bindings; of an invocation's own arrays the last element. */
WEFT_TEST(a_kernel_reaches_no_memory_but_its_own_where_it_is_checked) {
    enum { RUNNING = 64, EACH = 4 };
    static const struct kernel wild = {
        "wild", LINE,
        "shared uint all[64]; shared uvec4 fours_of[8];\n"
        "void main() { uint far = in_(0), own[5] = {1, 2, 3, 4, 5};\n"
        "all[lane()] = lane(); if (lane() < 8) fours_of[lane()] = uvec4(9); barrier();\n"
        "all[far] = 7; all[push.b] = 8; all[64 + 36 * lane() + 8000] = 6; fours_of[far] = "
        "uvec4(7);\n"
        "atomicAdd(all[far + 1], 1u); own[far] += 100; own[push.b] += 1000; barrier();\n"
        "out_(0, all[63 - lane()] + fours_of[lane() / 8].w);\n"
        "out_(1, all[far] + all[push.b + lane()] + fours_of[far].y);\n"
        "out_(2, own[far]); out_(3, own[lane() % 4] + own[push.b]); }"};
    if (!weft_cpu_can_compile()) {
        skip();
    }
    const struct program program = compile_glsl(&wild);
    struct given given = make_given(6);
    for (uint32_t i = 0; i < WORDS; i++) {
        given.words[i] = (given.words[i] & 0x07ffffff) | 0x10000;
    }
    given.push[1] = (given.push[1] & 0x07ffffff) | 0x20000;
    static const uint32_t widths[] = {4, 8, 16};
    for (uint32_t k = 0; k < sizeof widths / sizeof widths[0]; k++) {
        uint32_t result[WORDS];
        struct weft_cpu_kernel *native =
            compile_native(wild.what, &program, &given, widths[k], true);
        run_native(result, native, &given, BYTES);
        weft_cpu_kernel_unload(&native, NULL);
        for (uint32_t i = 0; i < RUNNING; i++) {
            assert_int_equal(result[EACH * i], RUNNING - 1 - i + 9);
            assert_int_equal(result[EACH * i + 1], 0);
            assert_int_equal(result[EACH * i + 2], 1105);
            assert_int_equal(result[EACH * i + 3], i % 4 + 1 + 1105);
        }
    }
    weft_free(NULL, program.words);
}

/* Wherever memory ends, there is an error, nothing is left behind, and the next attempt works. */
static void fail_each_allocation(struct weft_test_host *host, const struct kernel *kernel) {
    const struct program program = compile_glsl(kernel);
    const struct weft_ir_source source = {
        .words = program.words, .size = program.size, .entry_point = "main", .lanes = 8};
    for (int rest = 0; rest < 2; rest++) {
        struct weft_cpu_object object = {0};
        weft_status status = WEFT_OUT_OF_HOST_MEMORY;
        host->fail_rest = rest != 0;
        while (weft_test_next_failure(host, status)) {
            status = weft_cpu_compile(&object, &source, &host->host);
            assert_int_equal(!object.bytes, status != WEFT_OK);
        }
        assert_in_range(host->failures, 10, 1000);
        weft_free(&host->host, object.bytes);
    }
    weft_free(NULL, program.words);
}

WEFT_TEST_ON_HOST(memory_that_ends_is_an_error, host) {
    static const char *const chosen[] = {"loops in loops", "functions that return early",
                                         "barriers in loops"};
    if (!weft_cpu_can_compile()) {
        skip();
    }
    uint32_t found = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        for (size_t k = 0; k < sizeof chosen / sizeof chosen[0]; k++) {
            if (strcmp(kernels[i].what, chosen[k]) == 0) {
                fail_each_allocation(host, &kernels[i]);
                found++;
            }
        }
    }
    assert_int_equal(found, sizeof chosen / sizeof chosen[0]);
}

static void expect_refused(const struct program *program, weft_status status, const char *message) {
    const struct weft_ir_source source = {
        .words = program->words, .size = program->size, .entry_point = "main", .lanes = 8};
    struct weft_cpu_object object = {0};
    struct weft_test_host host;
    weft_test_host_begin(&host);
    assert_int_equal(weft_cpu_compile(&object, &source, &host.host), status);
    assert_non_null(strstr(weft_test_log(&host), message));
    assert_null(object.bytes);
    weft_test_host_end(&host);
}

WEFT_TEST(what_cannot_be_compiled_is_refused_by_name) {
    static const struct {
        const char *body, *message;
    } refused[] = {
        {"shared uint a[40000]; void main() { a[lane()] = 1; out_(0, a[5]); }", "shared memory"},
        {"void main() { uint a[9000]; a[in_(0) % 9000] = 1; out_(0, a[in_(1) % 9000]); }",
         "bytes of arrays"},
        {"void main() { out_(0, sin(real(0))); }", "GLSL.std.450 13"},
        {"void main() { double x = double(real(0)); out_(0, float(exp2(float(x)) + pow(real(1), "
         "2.0))); }",
         "GLSL.std.450 26"},
    };
    if (!weft_cpu_can_compile()) {
        skip();
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const struct kernel kernel = {"refused", LINE, refused[i].body};
        const struct program program = compile_glsl(&kernel);
        expect_refused(&program, WEFT_UNSUPPORTED, refused[i].message);
        weft_free(NULL, program.words);
    }
}

/* The n-th multiplication of integers, from 0 on; glslang puts main in front of what it calls. */
static uint32_t *multiplication(const struct program *program, uint32_t n) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < program->size / 4;
         at += weft_spirv_length(program->words[at])) {
        if (weft_spirv_opcode(program->words[at]) == WEFT_OP_I_MUL && n-- == 0) {
            return program->words + at;
        }
    }
    fail_msg("no multiplication");
    return NULL;
}

WEFT_TEST(operands_that_do_not_fit_are_refused) {
    static const struct kernel kernel = {
        "refused", LINE,
        "void main() { uvec2 a = uvec2(in_(0), in_(1)) * uvec2(in_(2), in_(3));\n"
        "uvec4 b = uvec4(a, a) * uvec4(lane()); out_(0, b.x + b.w); }"};
    static const struct {
        uint32_t of, word; /* what is taken for the operand: a word of that multiplication */
        const char *message;
    } refused[] = {
        {1, 1, "is not a value"}, /* its type */
        {0, 2, "on 4 and 2 components"},
    };
    if (!weft_cpu_can_compile()) {
        skip();
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const struct program program = compile_glsl(&kernel);
        multiplication(&program, 1)[3] = multiplication(&program, refused[i].of)[refused[i].word];
        expect_refused(&program, WEFT_COMPILE_ERROR, refused[i].message);
        weft_free(NULL, program.words);
    }
}
