/* SPDX-License-Identifier: MIT */
/* The small Whisper of tests/data/whisper, and sounds for it. Includes cli/command.h. */
#ifndef WEFT_TESTS_CLI_WHISPER_FOLDER_H
#define WEFT_TESTS_CLI_WHISPER_FOLDER_H

#include "cli/command.h"

#define WHISPER WEFT_SOURCE_DIR "/tests/data/whisper"

enum { RATE = 16000, WINDOW = RATE, HEADER = 44 };

static inline void put_number(uint8_t *at, uint32_t number, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(number >> (8 * i));
    }
}

/* One sample of 16 bits at a time, as `sound` of tests/reference/make_speech_golden.py has them. */
static inline void put_sound(uint8_t *at, uint32_t start, uint32_t count) {
    uint32_t state = start;
    for (uint32_t i = 0; i < count; i++) {
        if (i % (1 + start % 11) == 0) {
            state = (state * 1103515245U + 12345U) & 0x7FFFFFFFU;
        }
        const uint32_t loudness = 500 + 1500 * (i / 800 * (start + 3) % 7);
        put_number(&at[(size_t)2 * i], (state >> 16) % (2 * loudness + 1) - loudness, 2);
    }
}

/** Writes folder/name, a WAV file of `count` samples of 16 bits; returns its path. */
static inline char *write_wav(const char *folder, const char *name, uint32_t start, uint32_t count,
                              uint32_t rate) {
    const uint32_t size = 2 * count;
    uint8_t *file = weft_test_keep(HEADER + (size_t)size);
    memcpy(file, "RIFF....WAVEfmt ", 16);
    memcpy(file + 36, "data", 4);
    put_number(file + 4, HEADER - 8 + size, 4);
    put_number(file + 16, 16, 4); /* bytes of what follows up to "data" */
    put_number(file + 20, 1, 2);  /* PCM */
    put_number(file + 22, 1, 2);  /* channels */
    put_number(file + 24, rate, 4);
    put_number(file + 28, 2 * rate, 4);
    put_number(file + 32, 2, 2);
    put_number(file + 34, 16, 2);
    put_number(file + 40, size, 4);
    put_sound(file + HEADER, start, count);
    return weft_test_write(folder, name, file, HEADER + (size_t)size);
}

#endif
