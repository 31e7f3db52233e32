/* SPDX-License-Identifier: MIT */
/* Sounds at another rate: against the formula in double precision, and against the sines that they are of. */
#include <math.h>

#include <weft/speech.h>

#include "core/math/philox.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define PI           3.14159265358979323846

struct rates {
    uint32_t from, to;
};

/* Up and down, by small ratios, large ones, and ones of which no table is kept. */
static const struct rates rates[] = {
    {44100, 16000}, {48000, 16000}, {22050, 16000},   {11025, 16000},
    {8000, 16000},  {16000, 44100}, {44099, 16000},   {16000, 44099},
    {7, 5},         {5, 7},         {1, 3},           {3, 1},
    {1, 768000},    {768000, 1},    {767999, 768000}, {768000, 767999}};

/* ---- sounds ---- */

static weft_sound make_sound(uint64_t count, uint32_t rate) {
    weft_sound sound = {.count = count, .rate = rate};
    sound.samples = malloc((count + 1) * sizeof(float)); /* a host without an allocator frees it */
    assert_non_null(sound.samples);
    return sound;
}

/* -1 to 1. */
static weft_sound make_noise(uint64_t count, uint32_t rate) {
    weft_sound sound = make_sound(count, rate);
    for (uint64_t i = 0; i < count; i++) {
        sound.samples[i] = (float)(int32_t)weft_philox_u32(5, 6, i) * 0x1p-31F;
    }
    return sound;
}

static float *copy_of(const weft_sound *sound) {
    float *copy = malloc((sound->count + 1) * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, sound->samples, sound->count * sizeof *copy);
    return copy;
}

static uint64_t count_at(uint64_t count, struct rates r) {
    return (count * r.to + r.from - 1) / r.from;
}

/* ---- the formula ---- */

static double bessel(double x) {
    double term = 1.0, sum = 1.0;
    for (int k = 1; term > sum * 1e-18; k++) {
        term *= x / 2.0 / k * (x / 2.0 / k);
        sum += term;
    }
    return sum;
}

static double curve(double z) {
    const double part = z / 32.0;
    if (fabs(part) >= 1.0) {
        return 0.0;
    }
    const double window = bessel(10.0 * sqrt(1.0 - part * part)) / bessel(10.0);
    return z == 0.0 ? 1.0 : sin(PI * z) / (PI * z) * window;
}

static double scale_of(struct rates r) {
    return 0.945 * (r.to < r.from ? (double)r.to / r.from : 1.0);
}

/* Sample k; `position` is exact, as counts are small. */
static double formula(const float *samples, uint64_t count, struct rates r, uint64_t k) {
    const double s = scale_of(r), reach = 32.0 / s;
    const uint64_t whole = k * r.from / r.to, rest = k * r.from % r.to;
    const double begin = (double)whole - reach - 1.0, end = (double)whole + reach + 2.0;
    double sum = 0.0;
    for (uint64_t n = begin > 0.0 ? (uint64_t)begin : 0; n < count && (double)n < end; n++) {
        const double behind = (double)((int64_t)whole - (int64_t)n) + (double)rest / r.to;
        sum += (double)samples[n] * s * curve(s * behind);
    }
    return sum;
}

/*
 * The filter is a table with a cubic between its values, within 5e-11 for each tap. The rest is the rounding to a float, of numbers
 * below 2.
 */
WEFT_TEST(sounds_are_as_the_formula_has_them) {
    for (size_t i = 0; i < COUNT(rates); i++) {
        const struct rates r = rates[i];
        weft_sound sound = make_noise(r.to / r.from > 100 ? 3 : 600, r.from);
        const uint64_t count = sound.count;
        float *samples = copy_of(&sound);
        assert_ok(weft_sound_resample(&sound, r.to, NULL));
        assert_int_equal(sound.count, count_at(count, r));
        assert_int_equal(sound.rate, r.to);
        const uint64_t step = 1 + sound.count / 2000;
        for (uint64_t k = 0; k < sound.count; k += step) {
            const double expected = formula(samples, count, r, k);
            if (!(fabs((double)sound.samples[k] - expected) <=
                  0x1p-24 * fmax(1.0, fabs(expected)) + 2e-9)) {
                fail_msg("%u to %u, sample %u: expected %.10g, found %.10g", r.from, r.to,
                         (unsigned)k, expected, (double)sound.samples[k]);
            }
        }
        free(samples);
        weft_sound_clear(&sound, NULL);
    }
}

/* One sample alone, in the middle and at both ends: what comes of it stands around its time, and is the curve. */
WEFT_TEST(an_impulse_becomes_the_curve) {
    static const struct rates some[] = {{44100, 16000}, {16000, 44100}, {3, 2}, {2, 3}};
    static const uint64_t places[] = {0, 150, 299};
    for (size_t i = 0; i < COUNT(some); i++) {
        for (size_t place = 0; place < COUNT(places); place++) {
            const struct rates r = some[i];
            const double s = scale_of(r);
            weft_sound sound = make_sound(300, r.from);
            memset(sound.samples, 0, 300 * sizeof(float));
            sound.samples[places[place]] = 1.0F;
            assert_ok(weft_sound_resample(&sound, r.to, NULL));
            for (uint64_t k = 0; k < sound.count; k++) {
                const double at =
                    (double)((int64_t)(k * r.from) - (int64_t)(places[place] * r.to)) / r.to;
                assert_true(fabs((double)sound.samples[k] - s * curve(s * at)) < 4e-8);
            }
            weft_sound_clear(&sound, NULL);
        }
    }
}

/* ---- sines ---- */

/* The largest difference from the sine itself, away from the ends; of frequencies that the new rate cannot have, from nothing. */
static double error_of_sine(struct rates r, double frequency) {
    const uint64_t count = (uint64_t)(600.0 * fmax(1.0, (double)r.from / r.to));
    const bool is_kept = frequency < r.to / 2.0;
    weft_sound sound = make_sound(count, r.from);
    double error = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        sound.samples[i] = (float)sin(2.0 * PI * frequency * (double)i / r.from + 0.3);
    }
    assert_ok(weft_sound_resample(&sound, r.to, NULL));
    for (uint64_t k = sound.count / 4; k < sound.count * 3 / 4; k++) {
        const double sine = is_kept ? sin(2.0 * PI * frequency * (double)k / r.to + 0.3) : 0.0;
        error = fmax(error, fabs((double)sound.samples[k] - sine));
    }
    weft_sound_clear(&sound, NULL);
    return error;
}

/* Up to 0.85 of what both rates can have. -98 dB of ripple, and what the samples' own rounding adds. */
WEFT_TEST(sines_stay_what_they_are) {
    static const struct rates some[] = {{44100, 16000}, {48000, 16000}, {22050, 16000},
                                        {11025, 16000}, {8000, 16000},  {16000, 44100},
                                        {44099, 16000}, {96000, 16000}};
    static const double parts[] = {0.001, 0.1, 0.35, 0.5, 0.7, 0.8, 0.84, 0.85};
    for (size_t i = 0; i < COUNT(some); i++) {
        for (size_t part = 0; part < COUNT(parts); part++) {
            const double most = fmin(some[i].from, some[i].to) / 2.0;
            const double error = error_of_sine(some[i], parts[part] * most);
            if (!(error < 1.3e-5)) {
                fail_msg("%u to %u, %g Hz: error %.3g", some[i].from, some[i].to,
                         parts[part] * most, error);
            }
        }
    }
}

/* From 1.04 of the half of the new rate on, at most -99 dB are left. */
WEFT_TEST(sines_that_do_not_fit_are_gone) {
    static const struct rates some[] = {{44100, 16000}, {48000, 16000}, {44099, 16000}};
    static const double parts[] = {1.04, 1.05, 1.1, 1.3, 1.6, 2.0, 2.3, 2.7};
    for (size_t i = 0; i < COUNT(some); i++) {
        for (size_t part = 0; part < COUNT(parts); part++) {
            const double error = error_of_sine(some[i], parts[part] * some[i].to / 2.0);
            if (!(error < 1.2e-5)) {
                fail_msg("%u to %u, %g Hz: %.3g is left", some[i].from, some[i].to,
                         parts[part] * some[i].to / 2.0, error);
            }
        }
    }
}

/* ---- bits ---- */

/* A short sound has no table of taps, a long one has: what both have in common has the same bits. */
WEFT_TEST(sounds_of_all_lengths_have_the_same_bits) {
    static const struct rates some[] = {{44100, 16000}, {16000, 44100}, {11025, 16000}};
    for (size_t i = 0; i < COUNT(some); i++) {
        const uint64_t reach = (uint64_t)(32.0 / scale_of(some[i])) + 2;
        const uint64_t brief = reach + 60;
        weft_sound sound = make_noise(5000, some[i].from);
        weft_sound start = make_sound(brief, some[i].from);
        memcpy(start.samples, sound.samples, brief * sizeof(float));
        assert_ok(weft_sound_resample(&sound, some[i].to, NULL));
        assert_ok(weft_sound_resample(&start, some[i].to, NULL));
        const uint64_t same = count_at(brief - reach, some[i]);
        const uint64_t phases = i == 0 ? 160 : i == 1 ? 441 : 640; /* of a table */
        assert_true(same > 20 && start.count < phases && sound.count >= phases);
        assert_memory_equal(sound.samples, start.samples, same * sizeof(float));
        weft_sound_clear(&sound, NULL);
        weft_sound_clear(&start, NULL);
    }
}

/* ---- counts ---- */

WEFT_TEST(counts_are_rounded_up) {
    static const uint64_t counts[] = {1, 2, 3, 159, 160, 161, 441, 442};
    for (size_t i = 0; i < COUNT(rates); i++) {
        for (size_t k = 0; k < COUNT(counts); k++) {
            const uint64_t count = count_at(counts[k], rates[i]);
            if (count > 2000000) {
                continue;
            }
            weft_sound sound = make_noise(counts[k], rates[i].from);
            assert_ok(weft_sound_resample(&sound, rates[i].to, NULL));
            assert_int_equal(sound.count, count);
            weft_sound_clear(&sound, NULL);
        }
    }
}

WEFT_TEST(sounds_without_samples_get_their_rate) {
    weft_sound sound = {.rate = 44100};
    assert_ok(weft_sound_resample(&sound, 16000, NULL));
    assert_true(sound.samples == NULL && sound.count == 0 && sound.rate == 16000);
    sound = (weft_sound){.rate = 0};
    assert_ok(weft_sound_resample(&sound, 8000, NULL));
    assert_true(sound.samples == NULL && sound.count == 0 && sound.rate == 8000);
}

WEFT_TEST(the_same_rate_changes_nothing) {
    weft_sound sound = make_noise(100, 22050);
    float *samples = sound.samples, *copy = copy_of(&sound);
    assert_ok(weft_sound_resample(&sound, 22050, NULL));
    assert_true(sound.samples == samples && sound.count == 100 && sound.rate == 22050);
    assert_memory_equal(samples, copy, 100 * sizeof(float));
    free(copy);
    weft_sound_clear(&sound, NULL);
}

/* ---- what fails ---- */

WEFT_TEST_ON_HOST(rates_out_of_range_are_refused, test) {
    weft_sound sound = make_noise(10, 22050);
    const weft_sound before = sound;
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT, weft_sound_resample(&sound, 0, &test->host),
                        "rate: expected 1 to 768000 samples a second, found 0");
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT,
                        weft_sound_resample(&sound, 768001, &test->host),
                        "rate: expected 1 to 768000 samples a second, found 768001");
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT, weft_sound_resample(NULL, 8000, &test->host),
                        "sound is null");
    assert_memory_equal(&sound, &before, sizeof sound);
    sound.rate = 0;
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT, weft_sound_resample(&sound, 1, &test->host),
                        "sound.rate: expected 1 to 768000 samples a second, found 0");
    sound.rate = UINT32_MAX;
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT, weft_sound_resample(&sound, 1, &test->host),
                        "sound.rate: expected 1 to 768000 samples a second, found 4294967295");
    sound = (weft_sound){.count = 3, .rate = 1};
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT, weft_sound_resample(&sound, 2, &test->host),
                        "sound.samples is null");
    free(before.samples);
}

/* A sound of the host's memory, as weft_sound_read makes it. */
static weft_sound make_hosted(const struct weft_test_host *test, uint64_t count, uint32_t rate) {
    weft_sound noise = make_noise(count, rate), sound = noise;
    sound.samples = test->host.reallocate(test->host.allocator_user, NULL, count * sizeof(float));
    assert_non_null(sound.samples);
    memcpy(sound.samples, noise.samples, count * sizeof(float));
    weft_sound_clear(&noise, NULL);
    return sound;
}

WEFT_TEST_ON_HOST(running_out_of_memory_changes_nothing, test) {
    weft_sound sound = make_hosted(test, 1000, 44100);
    const weft_sound before = sound;
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(test, status)) {
        assert_memory_equal(&sound, &before, sizeof sound);
        status = weft_sound_resample(&sound, 16000, &test->host);
    }
    assert_int_equal(test->failures, 3); /* the curve, the samples, the rows */
    assert_true(sound.count == 363 && sound.rate == 16000);
    weft_sound_clear(&sound, &test->host);
    assert_int_equal(test->live, 0);

    /* More samples than memory has addresses. */
    sound = (weft_sound){.samples = &(float){0}, .count = UINT64_MAX / 4, .rate = 1};
    WEFT_EXPECT_REFUSED(test, WEFT_OUT_OF_HOST_MEMORY,
                        weft_sound_resample(&sound, 768000, &test->host),
                        "a sound of another rate");
}

static bool always(void *user) {
    (void)user;
    return true;
}

WEFT_TEST_ON_HOST(long_resamplings_can_be_cancelled, test) {
    weft_sound sound = make_hosted(test, 300000, 44100);
    const weft_sound before = sound;
    weft_host host = test->host;
    host.interrupted = always;
    WEFT_EXPECT_REFUSED(test, WEFT_CANCELLED, weft_sound_resample(&sound, 16000, &host),
                        "interrupted");
    assert_memory_equal(&sound, &before, sizeof sound);
    weft_sound_clear(&sound, &test->host);
}
