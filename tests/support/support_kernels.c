/* SPDX-License-Identifier: MIT */
#include "support_kernels.h"

#include "device/device.h"
#include "shader/glsl.h"
#include "support_spirv.h"
#include "verify/evaluator/evaluator.h"

/* ---- kernels ---- */

#define LINE WEFT_TEST_KERNEL_LINE

/* Every invocation has its own words: at(i) is the i-th of four. */
#define HEAD                                                                            \
    "#version 450\n%s#extension GL_GOOGLE_include_directive : require\n"                \
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

const struct weft_test_kernel weft_test_kernels[] = {
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
    {"elements two, three and four apart, of all lanes and of some", LINE,
     "void main() { uint l = lane(), g = gl_WorkGroupID.x * 5;\n"
     "out_(0, given[l * 2 + g] ^ given[l * 3 + 1] * 3); out_(1, given[l * 4 + g + 3] + "
     "fours[l].y);\n"
     "uint t = 7; if ((in_(0) & 1) != 0) { t = given[l * 2 + 1] + given[l * 3 + g] * 5 + given[l * "
     "4]; "
     "}\n"
     "out_(2, t); if (l < 50) { t += given[1023 - 49 * 2 + l * 2]; } out_(3, t); }"},
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
    {"sums of products of bytes", LINE,
     "#include \"dot4.glsl\"\n"
     "void main() { uint a = in_(0), b = in_(1), u = push.b;\n"
     "int s = weft_dot4(a, b, int(in_(2))), t = weft_dot4_mixed(a, b, 0), sums[3] = {7, -9, 0};\n"
     "for (uint i = 0; i < 5; i++) { uint w = given[i * 3 + push.a], x = given[(lane() + 64 * i) % "
     "1024];\n"
     "  sums[0] = weft_dot4(w, x, sums[0]); sums[1] = weft_dot4_mixed(w, x, sums[1]); sums[2] = "
     "weft_dot4_mixed(x, w, sums[2]); }\n"
     "out_(0, uint(s) ^ uint(weft_dot4(u, given[push.a], 3)) * 3u + uint(weft_dot4_mixed(u, "
     "given[3], "
     "push.c)));\n"
     "out_(1, uint(t)); out_(2, uint(sums[0])); out_(3, uint(sums[1]) * 5u + uint(sums[2]) * 3u +\n"
     "uint(weft_dot4(0x80808080u, a, 0) - weft_dot4(a, 0x7f807f80u, 0)) * 11u); }"},
    {"extreme bytes", LINE,
     "#include \"dot4.glsl\"\n"
     "uint word(uint i) { uint w = 0; for (uint k = 0; k < 4; k++) {\n"
     "  uint e = (i >> 2 * k) & 3; w |= (e == 0 ? 0x80u : e == 1 ? 0x7fu : e == 2 ? 0xffu : "
     "0x81u) << 8 * k; } return w; }\n"
     "void main() { uint a = word(me()), b = word(in_(0)), c = word(push.b);\n"
     "out_(0, uint(weft_dot4(a, b, 0))); out_(1, uint(weft_dot4_mixed(a, b, -1)));\n"
     "out_(2, uint(weft_dot4(a, c, int(in_(1))))); out_(3, uint(weft_dot4_mixed(c, weft_bias4(a), "
     "0))); }"},
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
    {"barriers that part nothing, and what they keep", "local_size_x = 96",
     "shared uint a[96]; void main() { uint x = in_(0); uint y = in_(1); uint z = 5; barrier();\n"
     "a[lane()] = x; y += x; barrier(); x = a[95 - lane()]; barrier();\n"
     "if (lane() % 3 == 0) { z = x; x = y; } a[lane()] = x + 1; barrier(); y = a[(lane() + 7) % "
     "96];\n"
     "if (push.a == 7) { barrier(); a[lane()] = y ^ z; barrier(); z += a[(lane() + 50) % 96]; }\n"
     "barrier(); a[(lane() * 5) % 96] = z; barrier(); out_(0, a[lane()] + y); x = lane(); out_(1, "
     "x * z); }"},
    {"barriers before and behind a loop", "local_size_x = 64",
     "shared uint a[64]; void main() { uint x = in_(0); uint sum = 0; barrier(); a[lane()] = x;\n"
     "for (uint k = 0; k < 5 + push.a % 2; k++) { barrier(); uint y = a[(lane() + k) % 64];\n"
     "barrier(); a[lane()] = y + sum; sum += y; } barrier(); if (push.b == 9999) return;\n"
     "barrier(); a[63 - lane()] = sum; barrier(); out_(0, a[lane()]); out_(1, sum); }"},
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
    {"what processors have instructions for", LINE,
     "#include \"math.glsl\"\n"
     "void main() { uint a = in_(0), b = in_(1), k = in_(2); float x = uintBitsToFloat(a);\n"
     "uint ends[4] = uint[](0x7f800000u, 0x00800000u, 0x7e800000u, (a & 0x7f800000u) | 1u);\n"
     "float y = uintBitsToFloat(k % 3 == 0 ? ends[b % 4] ^ (k & 0x80000000u) : b);\n"
     "float near = uintBitsToFloat((b & 0x807fffffu) | (a & 0x7f800000u));\n"
     "out_(0, weft_div(x, y)); out_(1, k % 2 == 0 ? weft_div(near, x) : weft_div(y, push.d));\n"
     "out_(2, k % 3 == 0 ? weft_rcp(y) : k % 3 == 1 ? weft_flush(weft_flush(x) * weft_flush(y)) : "
     "weft_div(x, 1.0));\n"
     "out_(3, k % 4 == 0 ? weft_sqrt(y) : k % 4 == 1 ? weft_flush(x * 1.0) : weft_sqrt(abs(x))); "
     "}"},
};

const size_t weft_test_kernel_count = sizeof weft_test_kernels / sizeof weft_test_kernels[0];

const struct weft_test_other_kernel weft_test_other_kernels[] = {
    {{"floats that are exact everywhere", LINE,
      "void main() { float a = real(0) * 0.37, b = real(1); vec2 h = unpackHalf2x16(in_(2));\n"
      "out_(0, floor(a) + ceil(b) * 3.0 + trunc(a) - fract(b)); out_(1, min(a, b) + max(a, 1.5) * "
      "2.0 + clamp(a, -2.0, 3.0));\n"
      "out_(2, sign(a) + roundEven(b * 0.3) + sqrt(abs(a)) / (abs(b) + 1.0));\n"
      "out_(3, isnan(h.x) ? 7u : floatBitsToUint(h.x) ^ (isinf(h.y) ? 5u : 6u)); }"},
     ""},
    {{"integers of other sizes", LINE,
      "layout(std430, binding = 0) readonly buffer Bytes { uint8_t bytes[]; };\n"
      "layout(std430, binding = 0) readonly buffer Halves { int16_t halves[]; };\n"
      "layout(std430, binding = 0) readonly buffer Longs { u64vec2 longs[]; };\n"
      "layout(std430, binding = 2) buffer Written { uint64_t written[]; };\n"
      "void main() { int64_t a = int64_t(int(in_(0))) * 1000003L + int64_t(in_(1)); uint t[4];\n"
      "uint64_t u = uint64_t(a) ^ (uint64_t(in_(2)) << 32), v = longs[me() % 200].y + longs[3].x;\n"
      "int16_t s = int16_t(in_(3)) * halves[me()]; uint8_t c = uint8_t(in_(0) >> 3) + bytes[me() * "
      "3];\n"
      "for (int i = 0; i < 4; i++) t[i] = uint(a >> (i * 9)); t[in_(1) % 4] ^= uint(v);\n"
      "if (a < 0L) { u = u / uint64_t(in_(1) | 1u) + uint64_t(a % 12345L); s = s / 7S; }\n"
      "written[me() * 2 % 512] = uint64_t(t[in_(2) % 4]) + min(u, v) + uint64_t(c * uint8_t(7));\n"
      "out_(2, uint(int(s)) + uint(u > v ? 1 : 2) + uint(float(a) < float(u) ? 4 : 8) + uint(c) * "
      "65536u);\n"
      "out_(3, uint(u >> (in_(0) % 64)) ^ uint(int64_t(real(0) * 1e9)) ^ uint(~v & u | 5UL)); }"},
     "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
     "#extension GL_EXT_shader_8bit_storage : require\n"
     "#extension GL_EXT_shader_16bit_storage : require\n"},
    {{"subgroups", LINE,
      "void main() { uint a = in_(0), b = subgroupAdd(a), c = 0; float f = subgroupMax(real(1));\n"
      "if (lane() % 3 != 0) { c = subgroupExclusiveAdd(a & 255) + subgroupInclusiveMul(a | 1u) * 3 "
      "+ "
      "subgroupMin(a);\n"
      "  c ^= subgroupElect() ? 1u << 20 : 0; b ^= subgroupOr(a & 7) + uint(subgroupAny(a % 5 == "
      "0)) "
      "* 16; }\n"
      "out_(0, b); out_(1, c + subgroupBroadcast(a, 5) + subgroupBroadcastFirst(a)); out_(2, f + "
      "subgroupInclusiveAdd(real(2)));\n"
      "out_(3, gl_SubgroupInvocationID + gl_SubgroupID * 100 + gl_SubgroupSize * 10000 + "
      "gl_NumSubgroups * 1000000 +\n"
      "uint(subgroupAll(a > 9)) + uint(subgroupAllEqual(lane() / 8)) * 2); }"},
     "#extension GL_KHR_shader_subgroup_arithmetic : require\n"
     "#extension GL_KHR_shader_subgroup_vote : require\n"
     "#extension GL_KHR_shader_subgroup_ballot : require\n"},
};

const size_t weft_test_other_kernel_count =
    sizeof weft_test_other_kernels / sizeof weft_test_other_kernels[0];

const struct weft_test_kernel weft_test_kernel_far = {
    "wild", LINE,
    "void main() { uint i = in_(0); result[i] = 5; results[i / 4] = uvec4(6); result[me()] = "
    "given[i + me()] | given[i | 0xfffffff0u] |\n"
    "fours[0x7fffffu + lane()].x | given[push.b]; if (push.b > 2000u) result[push.b] = 3; "
    "results[me() * 3] = uvec4(1); }"};

const struct weft_test_kernel weft_test_kernel_lost = {
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

/* ---- running them ---- */

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

struct weft_test_kernel_module weft_test_kernel_compile(const struct weft_test_kernel *kernel,
                                                        const char *extensions) {
    weft_device device = {.math = WEFT_MATH_REPRODUCIBLE}; /* no driver is involved */
    char text[32768];
    const int length =
        snprintf(text, sizeof text, HEAD "%s\n", extensions, kernel->size, kernel->body);
    assert_in_range(length, 1, sizeof text - 1);
    struct words source = {0};
    assert_ok(weft_glsl_compile(&source.data, &source.size, &device, kernel->what, text));
    const struct words made = weft_test_make_reproducible(source);
    weft_free(NULL, source.data);
    return (struct weft_test_kernel_module){.words = made.data, .size = made.size};
}

struct weft_test_kernel_given weft_test_kernel_given(uint32_t seed) {
    static const uint32_t edges[] = {0, 1, 2, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, 0xFFFEu, 64};
    struct weft_test_kernel_given given;
    uint32_t state = seed * 2654435761u + 1;
    for (uint32_t i = 0; i < WEFT_TEST_KERNEL_WORDS; i++) {
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

struct weft_test_kernel_given weft_test_kernel_far_given(void) {
    struct weft_test_kernel_given given = weft_test_kernel_given(5);
    for (uint32_t i = 0; i < WEFT_TEST_KERNEL_WORDS; i++) {
        given.words[i] |= 0x10000; /* all far outside */
    }
    given.push[1] |= 0x40000000;
    return given;
}

struct weft_test_kernel_given weft_test_kernel_lost_given(void) {
    struct weft_test_kernel_given given = weft_test_kernel_given(6);
    for (uint32_t i = 0; i < WEFT_TEST_KERNEL_WORDS; i++) {
        given.words[i] = (given.words[i] & 0x07ffffff) | 0x10000;
    }
    given.push[1] = (given.push[1] & 0x07ffffff) | 0x20000;
    return given;
}

void weft_test_kernel_expect_found(const uint32_t *result) {
    enum { RUNNING = 64, EACH = 4 };
    for (uint32_t i = 0; i < RUNNING; i++) {
        assert_int_equal(result[EACH * i], RUNNING - 1 - i + 9);
        assert_int_equal(result[EACH * i + 1], 0);
        assert_int_equal(result[EACH * i + 2], 1105);
        assert_int_equal(result[EACH * i + 3], i % 4 + 1 + 1105);
    }
}

void weft_test_kernel_evaluate(uint32_t *result, const struct weft_test_kernel_module *module,
                               const struct weft_test_kernel_given *given, uint32_t groups) {
    char text[WEFT_EVALUATOR_TEXT] = "";
    struct weft_test_kernel_given copy = *given;
    const struct weft_evaluated_dispatch dispatch = {
        .label = "kernel",
        .words = module->words,
        .size = module->size,
        .specialization = given->specialization,
        .specialization_count = 2,
        .push = (const uint8_t *)given->push,
        .push_size = sizeof given->push,
        .groups = {groups, 1, 1},
        .range = {{.data = (uint8_t *)copy.words, .size = WEFT_TEST_KERNEL_BYTES},
                  {0},
                  {.data = (uint8_t *)result, .size = WEFT_TEST_KERNEL_BYTES, .writable = true}}};
    weft_evaluator *evaluator = weft_evaluator_create(NULL);
    assert_non_null(evaluator);
    if (weft_evaluate_dispatch(text, evaluator, &dispatch) != WEFT_OK) {
        fail_msg("the evaluator: %s", text);
    }
    weft_evaluator_destroy(&evaluator);
}

void weft_test_kernel_compare(const struct weft_test_kernel *kernel, const char *where,
                              uint32_t seed, const uint32_t *expected, const uint32_t *result) {
    for (uint32_t i = 0; i < WEFT_TEST_KERNEL_WORDS; i++) {
        if (expected[i] != result[i]) {
            fail_msg("%s, %s, seed %u: word %u is 0x%08x, expected 0x%08x", kernel->what, where,
                     seed, i, result[i], expected[i]);
        }
    }
}
