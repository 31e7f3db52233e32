/* SPDX-License-Identifier: MIT */
/* Names of what is no WAV file, by its first bytes. */
#include <stdio.h>
#include <string.h>

#include "sound/wav.h"

/* `mask`: bits of a byte that count, null for all. The first that fits counts. */
static const struct {
    const char *name;
    size_t at, size;
    const char *bytes, *mask;
} formats[] = {
    {"MP3", 0, 3, "ID3", NULL},
    {"FLAC", 0, 4, "fLaC", NULL},
    {"Ogg", 0, 4, "OggS", NULL},
    {"MP4 or M4A", 4, 4, "ftyp", NULL},
    {"AIFF", 0, 12, "FORM\0\0\0\0AIFF", "\377\377\377\377\0\0\0\0\377\377\377\377"},
    {"AIFF-C", 0, 12, "FORM\0\0\0\0AIFC", "\377\377\377\377\0\0\0\0\377\377\377\377"},
    {"WebM or Matroska", 0, 4, "\x1a\x45\xdf\xa3", NULL},
    {"WAV with its bytes the other way round (RIFX)", 0, 4, "RIFX", NULL},
    {"AVI", 8, 4, "AVI ", NULL},
    {"Wave64", 0, 4, "riff", NULL},
    {"AU", 0, 4, ".snd", NULL},
    {"CAF", 0, 4, "caff", NULL},
    {"AMR", 0, 5, "#!AMR", NULL},
    {"WavPack", 0, 4, "wvpk", NULL},
    {"Monkey's Audio", 0, 4, "MAC ", NULL},
    {"WMA or ASF", 0, 4, "\x30\x26\xb2\x75", NULL},
    /* A frame's 12 bits of ones, and two that say which layer: none is AAC's. */
    {"AAC", 0, 2, "\xff\xf0", "\xff\xf6"},
    {"MP3", 0, 2, "\xff\xe2", "\xff\xe6"},
    {"MPEG audio", 0, 2, "\xff\xe4", "\xff\xe6"},
};

static bool fits(const uint8_t *start, size_t size, size_t index) {
    const size_t at = formats[index].at;
    for (size_t i = 0; i < formats[index].size; i++) {
        const uint8_t mask = formats[index].mask ? (uint8_t)formats[index].mask[i] : 0xff;
        if (at + i >= size || (start[at + i] & mask) != (uint8_t)formats[index].bytes[i]) {
            return false;
        }
    }
    return true;
}

weft_status weft_wav_fail_other(const uint8_t *start, size_t size, const char *name,
                                const weft_host *host) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (fits(start, size, i)) {
            return weft_fail(host, WEFT_UNSUPPORTED,
                             "%s: expected a WAV file, found %s. This makes one: %s", name,
                             formats[i].name, WEFT_SOUND_WAY_OUT);
        }
    }
    char text[3 * WEFT_WAV_START + 1] = "";
    for (size_t i = 0; i < size; i++) {
        snprintf(text + 3 * i, sizeof text - 3 * i, " %02x", start[i]);
    }
    return weft_fail(host, WEFT_BAD_FILE,
                     "%s: expected a WAV file, which begins with RIFF or RF64, a size and WAVE, "
                     "found %zu bytes%s%s",
                     name, size, size > 0 ? ":" : "", text);
}
