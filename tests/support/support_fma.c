/* SPDX-License-Identifier: MIT */
#include "support_fma.h"

#include <math.h>
#include <string.h>

#include "core/math/philox.h"

#define SIGN     UINT32_C(0x80000000)
#define INFINITE UINT32_C(0x7F800000)
#define FRACTION UINT32_C(0x007FFFFF)

bool weft_test_is_nan(uint32_t word) {
    return (word & ~SIGN) > INFINITE;
}

/* ---- exact numbers: multiples of 2^-298 ---- */

#define LIMBS 20
#define UNIT  298

struct exact {
    uint32_t limb[LIMBS]; /* the lowest first */
};

static struct exact shifted(uint64_t value, uint32_t count) {
    struct exact made = {{0}};
    for (uint32_t i = 0; i < 64; i++) {
        if ((value >> i & 1) != 0) {
            made.limb[(i + count) / 32] |= UINT32_C(1) << (i + count) % 32;
        }
    }
    return made;
}

static int compare(const struct exact *x, const struct exact *y) {
    for (int i = LIMBS - 1; i >= 0; i--) {
        if (x->limb[i] != y->limb[i]) {
            return x->limb[i] < y->limb[i] ? -1 : 1;
        }
    }
    return 0;
}

/* x + y, or x - y for x >= y. */
static struct exact combine(const struct exact *x, const struct exact *y, bool subtract) {
    struct exact made;
    int64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (int64_t)x->limb[i] + (subtract ? -(int64_t)y->limb[i] : (int64_t)y->limb[i]);
        made.limb[i] = (uint32_t)(carry & INT64_C(0xFFFFFFFF));
        carry = carry < 0 ? -1 : carry >> 32;
    }
    return made;
}

static bool bit_of(const struct exact *x, int place) {
    return place >= 0 && (x->limb[place / 32] >> place % 32 & 1) != 0;
}

static uint32_t rounded(const struct exact *x, uint32_t sign) {
    int top = 32 * LIMBS - 1;
    while (top >= 0 && !bit_of(x, top)) {
        top--;
    }
    if (top < 0) {
        return sign;
    }
    uint32_t kept = 0;
    bool below = false;
    for (int i = 0; i < 24; i++) {
        kept = kept << 1 | bit_of(x, top - i);
    }
    for (int place = top - 25; place >= 0; place--) {
        below = below || bit_of(x, place);
    }
    if (bit_of(x, top - 24) && (below || (kept & 1) != 0)) {
        kept++;
    }
    int exponent = top - UNIT;
    if (kept >> 24 != 0) {
        kept >>= 1;
        exponent++;
    }
    return exponent < -126  ? sign
           : exponent > 127 ? sign | INFINITE
                            : sign | (uint32_t)(exponent + 127) << 23 | (kept & FRACTION);
}

/* ---- the function ---- */

static uint32_t flushed(uint32_t x) {
    return (x & INFINITE) == 0 ? x & SIGN : x;
}

static uint64_t significand(uint32_t x) {
    return (x & INFINITE) == 0 ? 0 : (x & FRACTION) | (FRACTION + 1);
}

static float float_of(uint32_t word) {
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static uint32_t word_of(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* With infinities and NaN, which doubles treat alike. */
static uint32_t special(uint32_t a, uint32_t b, uint32_t c) {
    volatile double product = (double)float_of(a) * (double)float_of(b);
    volatile double sum = product + (double)float_of(c);
    return isnan(sum) ? UINT32_C(0x7FC00000) : word_of((float)sum);
}

uint32_t weft_test_fma(uint32_t a, uint32_t b, uint32_t c) {
    a = flushed(a);
    b = flushed(b);
    c = flushed(c);
    const uint32_t ea = a >> 23 & 255, eb = b >> 23 & 255, ec = c >> 23 & 255;
    if (ea == 255 || eb == 255 || ec == 255) {
        return special(a, b, c);
    }
    const uint64_t wide = significand(a) * significand(b);
    const struct exact product = wide == 0 ? (struct exact){{0}} : shifted(wide, ea + eb - 2);
    const struct exact addend =
        ec == 0 ? (struct exact){{0}} : shifted(significand(c), ec + UNIT - 150);
    const uint32_t sign = (a ^ b) & SIGN;
    if (sign == (c & SIGN)) {
        const struct exact sum = combine(&product, &addend, false);
        return rounded(&sum, sign);
    }
    const int order = compare(&product, &addend);
    if (order == 0) {
        return 0;
    }
    const struct exact rest =
        order > 0 ? combine(&product, &addend, true) : combine(&addend, &product, true);
    return rounded(&rest, order > 0 ? sign : c & SIGN);
}

uint32_t weft_test_unfused(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t product = weft_test_fma(a, b, (a ^ b) & SIGN);
    return weft_test_fma(product, UINT32_C(0x3F800000), c);
}

/* ---- triples ---- */

struct numbers {
    uint64_t index;
    uint32_t next;
};

static uint32_t any(struct numbers *numbers) {
    return weft_philox_u32(UINT64_C(0x747269706c65), numbers->index, numbers->next++);
}

static int between(struct numbers *numbers, int low, int high) {
    return low + (int)(any(numbers) % (uint32_t)(high - low + 1));
}

static uint32_t made_of(uint32_t bits, int exponent) {
    return (bits & (SIGN | FRACTION)) | (uint32_t)(exponent + 127) << 23;
}

static uint32_t any_float(struct numbers *numbers, int low, int high) {
    const int exponent = between(numbers, low, high);
    return made_of(any(numbers), exponent);
}

static int exponent_of(uint32_t word) {
    return (int)(word >> 23 & 255) - 127;
}

/* A significand with one bit set, near its end or not, or with all set from there on up. */
static uint32_t nearly_power(struct numbers *numbers, int exponent) {
    const uint32_t bit = UINT32_C(1) << between(numbers, 0, 22);
    const uint32_t kind = any(numbers) % 3;
    const uint32_t fraction = kind == 0 ? 0 : kind == 1 ? bit : FRACTION & ~(bit - 1);
    return made_of(fraction | (any(numbers) & SIGN), exponent);
}

static void make_cancelling(uint32_t x[3], struct numbers *numbers, int low, int high) {
    const int exponent = between(numbers, low, high);
    x[0] = any_float(numbers, exponent / 2 - 10, exponent / 2 + 10);
    x[1] = made_of(any(numbers), exponent - exponent_of(x[0]));
    const uint32_t product = weft_test_fma(x[0], x[1], (x[0] ^ x[1]) & SIGN);
    x[2] = (product ^ SIGN) + (uint32_t)between(numbers, -9, 9);
}

static void make_tied(uint32_t x[3], struct numbers *numbers, int low, int high) {
    const int exponent = between(numbers, low, high);
    const int first = between(numbers, exponent / 2 - 10, exponent / 2 + 10);
    x[0] = nearly_power(numbers, first);
    x[1] = nearly_power(numbers, exponent - first);
    x[2] = any(numbers) % 2 == 0 ? nearly_power(numbers, exponent + between(numbers, 22, 27))
                                 : any_float(numbers, exponent + 22, exponent + 27);
}

static void make_special(uint32_t x[3], struct numbers *numbers) {
    static const uint32_t values[] = {0,          SIGN,       INFINITE,   SIGN | INFINITE,
                                      0x7FC00000, 0xFFC12345, 0x00800000, 0x80800000,
                                      0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0xBF800000,
                                      0x00000001, 0x807FFFFF, 0x34000000};
    for (int i = 0; i < 3; i++) {
        const uint32_t which = any(numbers) % (uint32_t)(sizeof values / sizeof values[0] + 2);
        x[i] = which < sizeof values / sizeof values[0] ? values[which]
                                                        : any_float(numbers, -126, 127);
    }
}

void weft_test_fma_triple(uint32_t x[3], uint64_t index) {
    struct numbers numbers = {.index = index};
    switch (index % 8) {
    case 0:
        for (int i = 0; i < 3; i++) {
            x[i] = any(&numbers);
            x[i] = weft_test_is_nan(x[i]) ? x[i] | UINT32_C(0x00400000) : x[i]; /* quiet */
        }
        return;
    case 1:
        x[0] = any_float(&numbers, -30, 30);
        x[1] = any_float(&numbers, -30, 30);
        x[2] = any_float(&numbers, -60, 60);
        return;
    case 2:
        make_cancelling(x, &numbers, -60, 60);
        return;
    case 3:
        make_tied(x, &numbers, -60, 60);
        return;
    case 4: /* overflow, which the addend brings back or not */
        make_cancelling(x, &numbers, 125, 127);
        x[1] = made_of(x[1], exponent_of(x[1]) + between(&numbers, 0, 2));
        x[2] = made_of(x[2], between(&numbers, 124, 127));
        return;
    case 5: /* about the least normal number */
        if (any(&numbers) % 2 == 0) {
            make_cancelling(x, &numbers, -125, -102);
        } else {
            make_tied(x, &numbers, -153, -149);
            x[2] = made_of((any(&numbers) & SIGN) | any(&numbers) % 3, -126);
        }
        return;
    case 6:
        make_tied(x, &numbers, -130, -124);
        x[any(&numbers) % 3] &= SIGN | FRACTION;
        return;
    default:
        make_special(x, &numbers);
    }
}
