/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/** Element `index` of a stream of uniform words. */
static uint32_t random_word(uint64_t seed, uint64_t stream, uint64_t index) {
    const uint64_t block = index / 4;
    uint32_t c[] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream,
                    (uint32_t)(stream >> 32)};
    uint32_t key[] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        const uint64_t p = UINT64_C(0xD2511F53) * c[0];
        const uint64_t q = UINT64_C(0xCD9E8D57) * c[2];
        c[0] = (uint32_t)(q >> 32) ^ c[1] ^ key[0];
        c[1] = (uint32_t)q;
        c[2] = (uint32_t)(p >> 32) ^ c[3] ^ key[1];
        c[3] = (uint32_t)p;
        key[0] += UINT32_C(0x9E3779B9);
        key[1] += UINT32_C(0xBB67AE85);
    }
    return c[index % 4];
}

/* The streams that decide how the values of a stream are changed, and into what. */
#define CHANGES(stream) ((stream) + (UINT64_C(1) << 32))
#define BITS(stream)    ((stream) + (UINT64_C(2) << 32))

static uint32_t below(uint32_t word, uint32_t limit) {
    return (uint32_t)((uint64_t)word * limit >> 32);
}

/** Of either sign, its leading bit anywhere. */
static float subnormal(uint32_t bits, uint32_t choice) {
    const uint32_t fraction = (bits & UINT32_C(0x007fffff)) >> choice % 23;
    const uint32_t word = (bits & UINT32_C(0x80000000)) | (fraction ? fraction : 1);
    float number;
    memcpy(&number, &word, sizeof number);
    return number;
}

static float changed(float number, size_t index, values kind, uint64_t seed, uint64_t stream) {
    const uint32_t choice = random_word(seed, CHANGES(stream), index);
    switch (kind) {
    case TENS:
        return 16.0F * number;
    case LARGE:
        return 0x1p40F * number;
    case SMALL:
        return 0x1p-40F * number;
    case MIXED:
        return ldexpf(number, (int)below(choice, 25) - 12);
    case ZEROS:
        return below(choice, 3) == 0 ? -0.0F : below(choice, 3) == 1 ? 0.0F : number;
    case EQUAL:
        return 0.5F;
    case IMPULSE:
        return index == 0 ? 1.0F : 0.0F;
    case SUBNORMAL:
        return choice % 3 ? number : subnormal(random_word(seed, BITS(stream), index), choice / 3);
    default:
        return number;
    }
}

void fill(float *data, size_t count, values kind, uint64_t seed, uint64_t stream) {
    for (size_t i = 0; i < count; i++) {
        const int32_t integer = (int32_t)(random_word(seed, stream, i) >> 8) - (1 << 23);
        data[i] = changed((float)integer * 0x1p-23F, i, kind, seed, stream);
    }
}

double value_of(float number) {
    return fabsf(number) < 0x1p-126F ? copysign(0.0, (double)number) : (double)number;
}

uint32_t word_of(float number) {
    uint32_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

bool same_bits(const float *a, const float *b, size_t count) {
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* ---- a watched host ---- */

static void keep_log(void *user, weft_log_level level, const char *message) {
    struct watch *watch = user;
    const size_t used = strlen(watch->log);
    if (level <= WEFT_LOG_WARNING && used < sizeof watch->log) {
        snprintf(watch->log + used, sizeof watch->log - used, "%s\n", message);
    }
}

static void *count_blocks(void *user, void *pointer, size_t size) {
    struct watch *watch = user;
    if (size == 0) {
        watch->blocks -= pointer != NULL;
        free(pointer);
        return NULL;
    }
    void *result = realloc(pointer, size);
    watch->blocks += result && !pointer;
    return result;
}

void watch_begin(struct watch *watch) {
    *watch = (struct watch){.host = {.log = keep_log,
                                     .log_user = watch,
                                     .reallocate = count_blocks,
                                     .allocator_user = watch}};
}

weft_status watch_open(weft_device **device, struct watch *watch, weft_math math) {
    return weft_device_open(device,
                            weft_device_params(.host = watch->host, .math = math, .cache_dir = ""));
}

bool watch_close(weft_device **device, struct watch *watch) {
    weft_device_stats stats = {0};
    const bool known = weft_device_get_stats(*device, &stats) == WEFT_OK;
    weft_device_destroy(device);
    if (!known || stats.validation_messages > 0 || watch->blocks != 0) {
        fprintf(stderr, "%u validation messages, %ld blocks of memory are left\n%s",
                (unsigned)stats.validation_messages, watch->blocks, watch->log);
        return false;
    }
    return true;
}
