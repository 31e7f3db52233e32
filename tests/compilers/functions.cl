/* SPDX-License-Identifier: MIT */
/*
 * What kernels' OpenCL C (opencl/emit.h) uses of OpenCL's functions and types, for clang's targets for GPUs, which have none of them. It
 * stands before a kernel in the place of the compiler's own header, which only declares them. Where a kernel's invocation is, and barriers,
 * are the target's: nvptx.cl, and amdgcn.cl in tests/amd.
 */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uint uint3 __attribute__((ext_vector_type(3)));
typedef uint uint4 __attribute__((ext_vector_type(4)));

#define INLINE static inline __attribute__((overloadable, always_inline))

#define as_uint(value)   __builtin_astype(value, uint)
#define as_int(value)    __builtin_astype(value, int)
#define as_float(value)  __builtin_astype(value, float)
#define as_ulong(value)  __builtin_astype(value, ulong)
#define as_double(value) __builtin_astype(value, double)

/* ---- whole numbers ---- */

#define OF_TYPE(T, WIDE, bits)                                                                     \
    INLINE T max(T a, T b) {                                                                       \
        return a > b ? a : b;                                                                      \
    }                                                                                              \
    INLINE T min(T a, T b) {                                                                       \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    INLINE T mul_hi(T a, T b) {                                                                    \
        return (T)(((WIDE)a * (WIDE)b) >> bits);                                                   \
    }
OF_TYPE(int, long, 32)
OF_TYPE(uint, ulong, 32)
OF_TYPE(long, __int128, 64)
OF_TYPE(ulong, unsigned __int128, 64)

#define abs(a)      ((uint)__builtin_abs(a))
#define clz(a)      ((a) == 0 ? 32u : (uint)__builtin_clz(a))
#define popcount(a) ((uint)__builtin_popcount(a))

/* ---- floats ---- */

#define fma(a, b, c) __builtin_fmaf(a, b, c)
#define rint(a)      __builtin_rintf(a)
#define floor(a)     __builtin_floorf(a)
#define trunc(a)     __builtin_truncf(a)
#define ceil(a)      __builtin_ceilf(a)
#define fabs(a)      __builtin_fabsf(a)
#define fmin(a, b)   __builtin_fminf(a, b)
#define fmax(a, b)   __builtin_fmaxf(a, b)
#define isnan(a)     __builtin_isnan(a)
#define isinf(a)     __builtin_isinf(a)

/* ---- memory: vectors are aligned as their elements are ---- */

#define OF_SPACE(space)                                                                            \
    INLINE uint2 vload2(size_t at, const space uint *from) {                                       \
        return (uint2)(from[2 * at], from[2 * at + 1]);                                            \
    }                                                                                              \
    INLINE uint3 vload3(size_t at, const space uint *from) {                                       \
        return (uint3)(from[3 * at], from[3 * at + 1], from[3 * at + 2]);                          \
    }                                                                                              \
    INLINE uint4 vload4(size_t at, const space uint *from) {                                       \
        return (uint4)(from[4 * at], from[4 * at + 1], from[4 * at + 2], from[4 * at + 3]);        \
    }                                                                                              \
    INLINE void vstore2(uint2 value, size_t at, space uint *to) {                                  \
        to[2 * at] = value.x;                                                                      \
        to[2 * at + 1] = value.y;                                                                  \
    }                                                                                              \
    INLINE void vstore3(uint3 value, size_t at, space uint *to) {                                  \
        vstore2(value.xy, 0, to + 3 * at);                                                         \
        to[3 * at + 2] = value.z;                                                                  \
    }                                                                                              \
    INLINE void vstore4(uint4 value, size_t at, space uint *to) {                                  \
        vstore2(value.xy, 0, to + 4 * at);                                                         \
        vstore2(value.zw, 1, to + 4 * at);                                                         \
    }
OF_SPACE(__global)
OF_SPACE(__local)
OF_SPACE(__private)
