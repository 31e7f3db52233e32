/* SPDX-License-Identifier: MIT */
/*
 * WAV files: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft, 1991), "Multiple channel audio data
 * and WAVE files" (Microsoft, 2007) for WAVE_FORMAT_EXTENSIBLE, and EBU Tech 3306 for RF64, which ITU-R BS.2088 calls BW64.
 */
#ifndef WEFT_SOUND_WAV_H
#define WEFT_SOUND_WAV_H

#include "core/system/kept_file.h"

/* A small file of one sample a second would be days of sound. */
#define WEFT_SOUND_LEAST_RATE    1000u
#define WEFT_SOUND_MOST_RATE     768000u
#define WEFT_SOUND_MOST_CHANNELS 64u
#define WEFT_SOUND_MOST_FRAME    (WEFT_SOUND_MOST_CHANNELS * 8u) /* bytes */

/** What makes a WAV file of everything else. */
#define WEFT_SOUND_WAY_OUT "ffmpeg -i IN -ar 16000 -ac 1 OUT.wav"

/** How samples stand in a file. */
struct weft_wav_format {
    uint32_t rate;
    uint32_t channels;
    uint32_t bytes; /* of a sample */
    uint32_t frame; /* bytes: a sample of each channel */
    bool is_float;
};

struct weft_wav {
    struct weft_wav_format format;
    uint64_t begin, frames; /* where the samples stand */
};

/**
 * Finds the samples of a file, and looks that all of it holds together. Errors, logged: WEFT_UNSUPPORTED for other formats by their
 * names, WEFT_BAD_FILE, WEFT_IO_ERROR.
 */
weft_status weft_wav_find(struct weft_wav *wav, const weft_kept_file *file);

/** A file's first bytes. */
#define WEFT_WAV_START 12u

/** WEFT_UNSUPPORTED by its name for what is no WAV file, else WEFT_BAD_FILE. `size`: of all these that there are. */
weft_status weft_wav_fail_other(const uint8_t *start, size_t size, const char *name,
                                const weft_host *host);

/** The most bytes of a chunk `fmt ` that are looked at. */
#define WEFT_WAV_MOST_FORMAT 40u

/** The chunk `fmt ` of `size` bytes, of which the first WEFT_WAV_MOST_FORMAT are there, or all. */
weft_status weft_wav_read_format(struct weft_wav_format *format, const uint8_t *bytes,
                                 uint64_t size, const char *name, const weft_host *host);

#endif
