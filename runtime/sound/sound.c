/* SPDX-License-Identifier: MIT */
/* Sounds out of files. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <weft/speech.h>

#include "core/bytes.h"
#include "core/given.h"
#include "core/system/kept_file.h"
#include "sound/wav.h"

#define BLOCK          ((size_t)16 << 10) /* bytes that are read at once */
#define BLOCKS_AT_ONCE 256u               /* between two looks whether to go on */

/* ---- samples ---- */

/* Half of the range of an integer: what stands for 1. */
static double full_scale(const struct weft_wav_format *format) {
    return format->is_float ? 1.0 : (double)(UINT64_C(1) << (8 * format->bytes - 1));
}

/* Those of a byte are without a sign, as they begin at -128. */
static double load_integer(const uint8_t *bytes, uint32_t size) {
    const uint64_t half = UINT64_C(1) << (8 * size - 1);
    const uint64_t word = weft_load_bytes(bytes, size) ^ (size > 1 ? half : 0);
    return (double)((int64_t)word - (int64_t)half);
}

static double load_float(const uint8_t *bytes, uint32_t size) {
    const uint64_t word = weft_load_bytes(bytes, size);
    const uint32_t low = (uint32_t)word;
    double value;
    float narrow;
    memcpy(&value, &word, sizeof value);
    memcpy(&narrow, &low, sizeof narrow);
    return size == sizeof narrow ? (double)narrow : value;
}

/*
 * The mean of a frame. The sum of integers is exact, and the mean of floats of one channel is that float to the last bit. The quotient
 * is rounded to a double, and that to a float. `bad`: the first channel that is not finite; their number for a mean that is no float.
 */
static float mean(const struct weft_wav_format *format, const uint8_t *frame, double scale,
                  uint32_t *bad) {
    double sum = -0.0; /* to which -0 adds nothing */
    *bad = UINT32_MAX;
    for (uint32_t channel = 0; channel < format->channels; channel++) {
        const uint8_t *bytes = frame + (size_t)channel * format->bytes;
        const double value = format->is_float ? load_float(bytes, format->bytes)
                                              : load_integer(bytes, format->bytes);
        if (!isfinite(value) && *bad == UINT32_MAX) {
            *bad = channel;
        }
        sum += value;
    }
    const double result = sum / scale;
    if (!(fabs(result) <= (double)FLT_MAX) && *bad == UINT32_MAX) {
        *bad = format->channels;
    }
    return *bad == UINT32_MAX ? (float)result : 0.0F;
}

static weft_status fail_sample(const weft_kept_file *file, const struct weft_wav_format *format,
                               uint64_t frame, const uint8_t *bytes, uint32_t channel) {
    const weft_host *host = weft_kept_file_host(file);
    if (channel == format->channels) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: chunk data: frame %" PRIu64
                         ": expected a mean of at most %g, found more",
                         weft_kept_file_name(file), frame, (double)FLT_MAX);
    }
    const double value = load_float(bytes + (size_t)channel * format->bytes, format->bytes);
    return weft_fail(host, WEFT_BAD_FILE,
                     "%s: chunk data: frame %" PRIu64
                     ", channel %u: expected a finite number, found %s",
                     weft_kept_file_name(file), frame, channel,
                     isnan(value) ? "NaN"
                     : value > 0  ? "infinity"
                                  : "-infinity");
}

static weft_status read_samples(float *samples, const struct weft_wav *wav,
                                const weft_kept_file *file) {
    const struct weft_wav_format *format = &wav->format;
    const double scale = full_scale(format) * format->channels;
    const uint64_t at_once = BLOCK / format->frame;
    uint8_t bytes[BLOCK];
    uint32_t bad = 0;
    for (uint64_t first = 0; first < wav->frames; first += at_once) {
        const uint64_t left = wav->frames - first, count = left < at_once ? left : at_once;
        if (first / at_once % BLOCKS_AT_ONCE == 0) {
            WEFT_TRY(weft_interrupted(weft_kept_file_host(file)));
        }
        WEFT_TRY(weft_kept_file_read(file, wav->begin + first * format->frame, bytes,
                                     (size_t)count * format->frame, "chunk data"));
        for (uint64_t i = 0; i < count; i++) {
            const uint8_t *frame = bytes + (size_t)i * format->frame;
            samples[first + i] = mean(format, frame, scale, &bad);
            if (bad != UINT32_MAX) {
                return fail_sample(file, format, first + i, frame, bad);
            }
        }
    }
    return WEFT_OK;
}

/* ---- sounds ---- */

static weft_status read_file(weft_sound *sound, const weft_kept_file *file, const weft_host *host) {
    struct weft_wav wav = {.frames = 0};
    weft_sound result = {.samples = NULL};
    WEFT_TRY(weft_wav_find(&wav, file));
    if (wav.frames > 0) {
        result.samples = wav.frames <= SIZE_MAX / sizeof(float)
                             ? weft_alloc(host, (size_t)wav.frames * sizeof(float))
                             : NULL;
        if (!result.samples) {
            return weft_fail_memory(host, weft_kept_file_name(file));
        }
    }
    result.count = wav.frames;
    result.rate = wav.format.rate;
    const weft_status status = read_samples(result.samples, &wav, file);
    if (status != WEFT_OK) {
        weft_free(host, result.samples);
        return status;
    }
    *sound = result;
    return WEFT_OK;
}

weft_status weft_sound_read(weft_sound *sound, const char *path, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, sound, path);
    weft_kept_file *file = NULL;
    WEFT_TRY(weft_kept_file_open(&file, path, host));
    const weft_status status = read_file(sound, file, host);
    weft_kept_file_close(&file);
    return status;
}

weft_status weft_sound_read_memory(weft_sound *sound, const void *data, size_t size,
                                   const char *name, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, sound, name);
    WEFT_GIVEN_LIST(host, data, size);
    weft_kept_file *file = NULL;
    WEFT_TRY(weft_kept_file_of_memory(&file, data, size, name, host));
    const weft_status status = read_file(sound, file, host);
    weft_kept_file_close(&file);
    return status;
}

void weft_sound_clear(weft_sound *sound, const weft_host *host) {
    WEFT_ENTER;
    if (sound) {
        weft_free(host, sound->samples);
        *sound = (weft_sound){.samples = NULL};
    }
}
