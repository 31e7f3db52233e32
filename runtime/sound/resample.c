/* SPDX-License-Identifier: MIT */
/*
 * Another rate for a sound: J. O. Smith, "Digital audio resampling", https://ccrma.stanford.edu/~jos/resample/, with the window of
 * J. F. Kaiser. Sample k of the result stands at the time k / to, and is
 *
 *     y[k] = Σ x[n] s g(s (k from / to - n)),   g(z) = sinc(z) I0(β √(1 - (z/Z)²)) / I0(β) for |z| < Z, else 0,
 *
 * with Z = 32, β = 10 and s = 0.945 min(1, to / from), and zeros for x before and behind the sound.
 *
 * Measured, in parts of half the lower rate: up to 0.85 of it frequencies are within 1.1e-5 (0.0001 dB) of what they were, 0.945 has
 * -6 dB, and from 1.04 on there are at most -99.5 dB. What is left between, -31 dB at 1, folds back to no less than 0.96. A second costs
 * 68 multiplications for each sample of the higher rate: 2 ms for 44.1 to 16 kHz, on one thread. Beside the result it takes up to 4.2 MiB
 * of memory.
 */
#include <math.h>
#include <weft/speech.h>

#include "core/given.h"
#include "core/math/trig.h"
#include "sound/wav.h"

#define CROSSINGS 32   /* Z: of g with zero, on each side */
#define STEPS     512u /* of the curve between two of these */
#define ROLLOFF   0.945
#define BETA      10.0

#define CURVE        (CROSSINGS * STEPS) /* values */
#define MOST_TAPS    ((uint64_t)1 << 19) /* kept for all phases: 4 MiB */
#define LANES        4u
#define BLOCK        256u /* taps that are computed at once where none are kept: a multiple of LANES */
#define WORK_AT_ONCE ((uint64_t)1 << 24) /* taps between two looks whether to go on */

struct filter {
    const weft_host *host;
    double *curve; /* g at -1 / STEPS, 0, 1 / STEPS … (CURVE + 2) / STEPS */
    double *rows;  /* `width` taps for each phase; null: they are computed where they are needed */
    uint64_t up, down; /* to and from, without common factors: sample k stands at k · down / up */
    double scale;      /* s */
    uint64_t half;     /* samples before and behind a place that may count */
    uint64_t width;    /* 2 · half */
};

/* ---- the curve ---- */

/* I0(2 √q) of |q| ≤ 26: the first term left out is below 1e-20. */
static double bessel(double q) {
    double term = 1.0, sum = 1.0;
    for (int k = 1; k <= 32; k++) {
        term *= q / (double)(k * k);
        sum += term;
    }
    return sum;
}

/* A little beyond Z, too, for the cubic through four values: there I0 of an imaginary number goes on. */
static double curve_at(uint64_t step, double peak) {
    const double pi = 3.14159265358979323846;
    const double z = (double)step / STEPS, part = z / CROSSINGS;
    double cosine, sine;
    weft_unit_root(&cosine, &sine, step, 2 * (uint64_t)STEPS);
    const double window = bessel(BETA * BETA / 4.0 * (1.0 - part * part)) / peak;
    return step == 0 ? 1.0 : sine / (pi * z) * window;
}

/* s g(z), by the cubic through the values around z: within 5e-11 of the formula. */
static double tap_at(const struct filter *filter, double z) {
    const double at = fabs(z) * STEPS;
    if (!(at < (double)CURVE)) {
        return 0.0;
    }
    const uint32_t step = (uint32_t)at;
    const double f = at - step, *around = filter->curve + step; /* at step - 1, and so on */
    const double sum = around[0] * (f * (f - 1.0) * (2.0 - f)) +
                       around[1] * (3.0 * (f + 1.0) * (f - 1.0) * (f - 2.0)) +
                       around[2] * (3.0 * (f + 1.0) * f * (2.0 - f)) +
                       around[3] * ((f + 1.0) * f * (f - 1.0));
    return filter->scale * sum / 6.0;
}

/* Taps `first` and on of the row of a phase: tap t is that of the sample t - half + 1 behind the one that is at the place, or before it. */
static void fill_taps(double *taps, const struct filter *filter, uint64_t phase, uint64_t first,
                      uint64_t count) {
    const double part = (double)phase / (double)filter->up;
    for (uint64_t i = 0; i < count; i++) {
        const int64_t behind = (int64_t)(filter->half - 1) - (int64_t)(first + i);
        taps[i] = tap_at(filter, filter->scale * ((double)behind + part));
    }
}

/* ---- the filter ---- */

static uint64_t common_factor(uint64_t a, uint64_t b) {
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Rows are for ratios that come back to each phase soon, as nearly all that are used do. */
static weft_status make_rows(struct filter *filter, uint64_t outputs) {
    if (filter->up > MOST_TAPS / filter->width || filter->up > outputs) {
        return WEFT_OK;
    }
    filter->rows = weft_alloc(filter->host, (size_t)(filter->up * filter->width) * sizeof(double));
    if (!filter->rows) {
        return weft_fail_memory(filter->host, "the taps of a resampling");
    }
    for (uint64_t phase = 0; phase < filter->up; phase++) {
        fill_taps(filter->rows + phase * filter->width, filter, phase, 0, filter->width);
    }
    return WEFT_OK;
}

static weft_status make_filter(struct filter *filter, uint32_t from, uint32_t to) {
    const uint64_t factor = common_factor(from, to);
    filter->up = to / factor;
    filter->down = from / factor;
    filter->scale = to < from ? ROLLOFF * (double)to / (double)from : ROLLOFF;
    filter->half = (uint64_t)(CROSSINGS / filter->scale) + 1;
    filter->width = 2 * filter->half;
    filter->curve = weft_alloc(filter->host, (CURVE + 4) * sizeof(double));
    if (!filter->curve) {
        return weft_fail_memory(filter->host, "the curve of a resampling");
    }
    const double peak = bessel(BETA * BETA / 4.0);
    for (uint64_t step = 0; step < CURVE + 3; step++) {
        filter->curve[step + 1] = curve_at(step, peak);
    }
    filter->curve[0] = filter->curve[2];
    return WEFT_OK;
}

static void drop_filter(struct filter *filter) {
    weft_free(filter->host, filter->curve);
    weft_free(filter->host, filter->rows);
}

/* ---- sums ---- */

/* Four sums, of every fourth product each, as one would wait for itself at each addition. */
static void add_products(double lanes[LANES], const double *taps, const float *samples,
                         size_t count) {
    size_t i = 0;
    for (; count - i >= LANES; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            lanes[lane] += taps[i + lane] * (double)samples[i + lane];
        }
    }
    for (size_t lane = 0; i < count; i++, lane++) {
        lanes[lane] += taps[i] * (double)samples[i];
    }
}

/* The value `phase` / up behind sample `whole`. Adds the number of its taps to *work. The same bits with rows and without. */
static float value_at(const struct filter *filter, const weft_sound *sound, uint64_t whole,
                      uint64_t phase, uint64_t *work) {
    const uint64_t before = filter->half - 1 < whole ? filter->half - 1 : whole;
    const uint64_t first = filter->half - 1 - before; /* tap of the first sample that there is */
    const uint64_t left = sound->count - (whole - before), right = filter->width - first;
    const uint64_t count = left < right ? left : right;
    const float *samples = sound->samples + (whole - before);
    double lanes[LANES] = {0.0}, taps[BLOCK];
    if (filter->rows) {
        add_products(lanes, filter->rows + phase * filter->width + first, samples, (size_t)count);
    }
    for (uint64_t at = 0; !filter->rows && at < count; at += BLOCK) {
        const uint64_t some = count - at < BLOCK ? count - at : BLOCK;
        fill_taps(taps, filter, phase, first + at, some);
        add_products(lanes, taps, samples + at, (size_t)some);
    }
    *work += count;
    return (float)((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
}

static weft_status compute(const struct filter *filter, const weft_sound *sound,
                           weft_sound *result) {
    uint64_t whole = 0, phase = 0, work = 0;
    for (uint64_t k = 0; k < result->count; k++) {
        result->samples[k] = value_at(filter, sound, whole, phase, &work);
        phase += filter->down;
        whole += phase / filter->up;
        phase %= filter->up;
        if (work >= WORK_AT_ONCE) {
            work = 0;
            WEFT_TRY(weft_interrupted(filter->host));
        }
    }
    return WEFT_OK;
}

/* ---- sounds ---- */

/* ceil(count · up / down), all of whose samples stand before the end of the sound; false where no memory has so many. */
static bool count_outputs(uint64_t *outputs, uint64_t count, const struct filter *filter) {
    const uint64_t most = SIZE_MAX / sizeof(float), whole = count / filter->down;
    const uint64_t rest = (count % filter->down * filter->up + filter->down - 1) / filter->down;
    *outputs = whole * filter->up + rest;
    return whole <= (most - rest) / filter->up;
}

static weft_status resample(weft_sound *result, const weft_sound *sound, struct filter *filter) {
    WEFT_TRY(make_filter(filter, sound->rate, result->rate));
    if (count_outputs(&result->count, sound->count, filter)) {
        result->samples = weft_alloc(filter->host, (size_t)result->count * sizeof(float));
    }
    if (!result->samples) {
        return weft_fail_memory(filter->host, "a sound of another rate");
    }
    WEFT_TRY(make_rows(filter, result->count));
    return compute(filter, sound, result);
}

static weft_status check_rate(const char *what, uint32_t rate, const weft_host *host) {
    return rate >= 1 && rate <= WEFT_SOUND_MOST_RATE
               ? WEFT_OK
               : weft_fail(host, WEFT_INVALID_ARGUMENT,
                           "weft_sound_resample: %s: expected 1 to %u samples a second, found %u",
                           what, WEFT_SOUND_MOST_RATE, rate);
}

weft_status weft_sound_resample(weft_sound *sound, uint32_t rate, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, sound);
    WEFT_TRY(check_rate("rate", rate, host));
    if (sound->count > 0) {
        WEFT_GIVEN_AS(host, "sound.samples", sound->samples);
        WEFT_TRY(check_rate("sound.rate", sound->rate, host));
    }
    if (sound->count == 0 || sound->rate == rate) {
        sound->rate = rate;
        return WEFT_OK;
    }
    struct filter filter = {.host = host};
    weft_sound result = {.rate = rate};
    const weft_status status = resample(&result, sound, &filter);
    drop_filter(&filter);
    if (status != WEFT_OK) {
        weft_free(host, result.samples);
        return status;
    }
    weft_free(host, sound->samples);
    *sound = result;
    return WEFT_OK;
}
