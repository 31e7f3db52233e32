/* SPDX-License-Identifier: MIT */
/*
 * Speech to text, by models of the family "whisper": Radford et al., "Robust speech recognition via large-scale weak
 * supervision", 2022.
 *
 *   weft_sound_read → weft_sound_resample → weft_transcriber_create → weft_transcriber_begin → until `done`:
 *   weft_transcriber_step, weft_transcriber_get_segment of the new ones → weft_transcriber_destroy, weft_sound_clear
 */
#ifndef WEFT_SPEECH_H
#define WEFT_SPEECH_H

#include <weft/generate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sound ---- */

/** Samples of one channel, -1 to 1 where they came from integers. Zeros are a sound without samples. */
typedef struct weft_sound {
    float *samples; /**< of the host's memory; null without samples */
    uint64_t count;
    uint32_t rate; /**< samples a second */
} weft_sound;

/**
 * Reads a WAV file (RIFF, or RF64 beyond 4 GB): PCM of 8, 16, 24 and 32 bits, and floats of 32 and 64, also as WAVE_FORMAT_EXTENSIBLE, of 1 to
 * 64 channels and 1,000 to 768,000 samples a second. An integer of -2^(bits - 1), of 8 bits 0, is -1. Of several channels a sample is the
 * mean, rounded to a float. Where the writer did not know how many samples there would be (ffmpeg's, GStreamer's and SoX's files out of
 * pipes), all to the end of the file count. Takes 4 bytes a sample, which is at most four times the file. host may be null.
 * Errors, naming file, field, expected and found: WEFT_NOT_FOUND, WEFT_IO_ERROR; WEFT_UNSUPPORTED for another format, by its name,
 * with the way out, and for other numbers of channels and samples a second; WEFT_BAD_FILE for a file that is cut or contradicts itself, and for
 * samples that are not finite; WEFT_OUT_OF_HOST_MEMORY, WEFT_CANCELLED. *sound is untouched on failure. A sound that it had is not freed.
 */
WEFT_API weft_status weft_sound_read(weft_sound *sound, const char *path, const weft_host *host);
/** The same of bytes in memory; `name` stands in messages in the path's place. */
WEFT_API weft_status weft_sound_read_memory(weft_sound *sound, const void *data, size_t size,
                                            const char *name, const weft_host *host);
/**
 * Gives a sound another rate, by band-limited interpolation (a windowed sinc, as in J. O. Smith's "Digital audio resampling"): sample k of
 * count · rate / sound->rate, rounded up, stands at k / rate seconds. Up to 0.85 of half the lower rate, frequencies stay within 0.0001 dB;
 * those that do not fit, from 1.04 of it on, have at most -99 dB. Before and behind the sound is silence. The bits are the same on every
 * machine. With the rate that it has, nothing changes. host: that of the samples.
 * Errors: WEFT_INVALID_ARGUMENT for a rate, of the sound or new, of 0 or beyond 768,000; WEFT_OUT_OF_HOST_MEMORY, WEFT_CANCELLED. The
 * sound is untouched on failure.
 */
WEFT_API weft_status weft_sound_resample(weft_sound *sound, uint32_t rate, const weft_host *host);
/** Frees the samples, and zeroes the sound. Also of null. */
WEFT_API void weft_sound_clear(weft_sound *sound, const weft_host *host);

/* ---- transcripts ---- */

/** Writes down what is said in a sound, window by window. One thread at a time. Model and device must outlive it. */
typedef struct weft_transcriber weft_transcriber;

/**
 * plan: or null; its texts must outlive the transcriber. Nothing is run yet.
 * Errors: WEFT_UNSUPPORTED for a model that does not read speech, or was loaded without preprocessor_config.json,
 * generation_config.json or a tokenizer; those of weft_generator_create.
 */
WEFT_API weft_status weft_transcriber_create(weft_transcriber **transcriber, weft_model *model,
                                             weft_device *device, const weft_plan_params *plan);
WEFT_API void weft_transcriber_destroy(weft_transcriber **transcriber);

typedef struct weft_transcriber_info {
    uint32_t rate;           /**< samples a second that the model reads */
    uint32_t window;         /**< samples that it reads at once: 30 seconds */
    uint32_t bands;          /**< of the spectrum that its encoder reads */
    uint32_t language_count; /**< 0: it writes one language, and cannot translate */
} weft_transcriber_info;

WEFT_API weft_status weft_transcriber_get_info(const weft_transcriber *transcriber,
                                               weft_transcriber_info *info);
/** A language's code, such as "en"; null past the last. Lives as long as the model. */
WEFT_API const char *weft_transcriber_language(const weft_transcriber *transcriber, uint32_t index);

typedef struct weft_transcript_params {
    const float
        *samples;   /**< at the model's rate, all finite; they must live until the last step */
    uint64_t count; /**< at least 1 */
    const char *language; /**< a code; null: found in the first window */
    bool translates;      /**< the text is English, whatever is spoken */
    bool without_times;   /**< the model writes no time stamps: each window is one segment */
    uint32_t tokens;      /**< most for a window; 0: as many as the model has positions */
} weft_transcript_params;

#ifndef __cplusplus
#define weft_transcript_params(...) (&(weft_transcript_params){__VA_ARGS__})
#endif

/**
 * Begins a transcript; an earlier one is forgotten. The model's time stamps part a window's text into segments, and the next window begins
 * behind the last whole one. Without them a sound that is longer than a window is cut where it is quietest in the last sixth of each window: what
 * is said there may be lost. Tokens are the most likely ones, by the rules of transformers for time stamps; suppress_tokens and
 * begin_suppress_tokens of generation_config.json are never written. A window is read by itself: its spectrum's loudest part is its own, and it
 * knows no earlier text.
 * Errors: WEFT_INVALID_ARGUMENT naming the parameter (samples, language, translates, without_times, tokens).
 */
WEFT_API weft_status weft_transcriber_begin(weft_transcriber *transcriber,
                                            const weft_transcript_params *params);
/**
 * Writes down the next window: one or more segments. *done is true after the last.
 * Errors: those of weft_generator_step; the segments made so far remain readable, and further steps fail, too.
 */
WEFT_API weft_status weft_transcriber_step(weft_transcriber *transcriber, bool *done);

/** What is said in a window, or a part of it. The arrays live until the transcriber's next weft_transcriber_begin. */
typedef struct weft_segment {
    uint64_t begin, end;  /**< samples; from one time stamp to another */
    uint64_t window;      /**< sample at which the window begins in which it is said */
    const char *language; /**< its code; null where the model writes one language */
    const char *text;     /**< zero-terminated UTF-8 */
    const int32_t *
        tokens; /**< with its time stamps; without those that a window begins with, and the one that ends it */
    uint32_t token_count;
    bool is_cut; /**< it has as many tokens as it may, and goes on */
} weft_segment;

/** WEFT_NOT_FOUND past the last segment made so far. */
WEFT_API weft_status weft_transcriber_get_segment(const weft_transcriber *transcriber,
                                                  uint32_t index, weft_segment *segment);

/**
 * The logarithmic spectrum that the encoder reads of a window, computed on the device: features[window / hop, bands], a row for each
 * 10 ms, as transformers' WhisperFeatureExtractor has it (transposed). `count` is at most the window; silence follows.
 */
WEFT_API weft_status weft_transcriber_spectrum(weft_transcriber *transcriber, const float *samples,
                                               uint64_t count, float *features);

#ifdef __cplusplus
}
#endif

#endif
