/* SPDX-License-Identifier: MIT */
/* What samples a WAV file says that it has. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "sound/wav.h"

#define PCM        0x0001u
#define FLOATS     0x0003u
#define EXTENSIBLE 0xfffeu

#define PLAIN_SIZE      16u
#define MORE_SIZE       18u /* with the size of what follows, which is 0 */
#define EXTENSIBLE_SIZE 40u

/* Of those that are likely: mmreg.h of Windows lists some 250. */
static const struct {
    uint32_t tag;
    const char *name;
} codecs[] = {
    {0x0002, "Microsoft ADPCM"},
    {0x0006, "A-law"},
    {0x0007, "µ-law"},
    {0x0011, "IMA ADPCM"},
    {0x0014, "G.723 ADPCM"},
    {0x0031, "GSM 6.10"},
    {0x0040, "G.721 ADPCM"},
    {0x0045, "G.726 ADPCM"},
    {0x0050, "MPEG audio"},
    {0x0055, "MP3"},
    {0x0064, "G.726 ADPCM"},
    {0x0092, "AC-3"},
    {0x00ff, "AAC"},
    {0x0160, "WMA"},
    {0x0161, "WMA"},
    {0x0162, "WMA"},
    {0x2000, "AC-3"},
    {0x2001, "DTS"},
    {0x566f, "Vorbis"},
    {0x704f, "Opus"},
    {0xf1ac, "FLAC"},
};

/* Whose fields they are, for messages. */
struct fields {
    const uint8_t *bytes;
    uint64_t size;
    const char *name;
    const weft_host *host;
};

static uint32_t load(const struct fields *fields, size_t at, size_t size) {
    return (uint32_t)weft_load_bytes(fields->bytes + at, size);
}

static weft_status expect(const struct fields *fields, const char *field, uint64_t expected,
                          uint64_t found) {
    return expected == found ? WEFT_OK
                             : weft_fail(fields->host, WEFT_BAD_FILE,
                                         "%s: chunk fmt: %s: expected %" PRIu64 ", found %" PRIu64,
                                         fields->name, field, expected, found);
}

/* Of a number that some file may have, though none that is read here. */
static weft_status expect_between(const struct fields *fields, const char *field, uint32_t least,
                                  uint32_t most, uint32_t found) {
    return found >= least && found <= most
               ? WEFT_OK
               : weft_fail(fields->host, found == 0 ? WEFT_BAD_FILE : WEFT_UNSUPPORTED,
                           "%s: chunk fmt: %s: expected %u to %u, found %u", fields->name, field,
                           least, most, found);
}

static weft_status fail_codec(const struct fields *fields, const char *codec) {
    return weft_fail(fields->host, WEFT_UNSUPPORTED,
                     "%s: chunk fmt: expected PCM or floats, found %s. This makes a file of PCM: "
                     "%s",
                     fields->name, codec, WEFT_SOUND_WAY_OUT);
}

static weft_status fail_tag(const struct fields *fields, uint32_t tag) {
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        if (codecs[i].tag == tag) {
            return fail_codec(fields, codecs[i].name);
        }
    }
    char number[32];
    snprintf(number, sizeof number, "format 0x%04x", tag);
    return fail_codec(fields, number);
}

/* The tag in a GUID of KSDATAFORMAT_SUBTYPE. */
static weft_status read_subtype(const struct fields *fields, uint32_t *tag) {
    static const uint8_t rest[14] = {0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
    if (fields->size != EXTENSIBLE_SIZE) {
        return expect(fields, "bytes of WAVE_FORMAT_EXTENSIBLE", EXTENSIBLE_SIZE, fields->size);
    }
    WEFT_TRY(
        expect(fields, "bytes of the extension", EXTENSIBLE_SIZE - MORE_SIZE, load(fields, 16, 2)));
    *tag = load(fields, 24, 2);
    return memcmp(fields->bytes + 26, rest, sizeof rest) == 0
               ? WEFT_OK
               : fail_codec(fields, "a GUID of another kind");
}

static weft_status read_kind(const struct fields *fields, bool *is_float) {
    uint32_t tag = load(fields, 0, 2);
    const bool is_extensible = tag == EXTENSIBLE;
    if (is_extensible) {
        WEFT_TRY(read_subtype(fields, &tag));
    }
    if (tag != PCM && tag != FLOATS) {
        return fail_tag(fields, tag);
    }
    *is_float = tag == FLOATS;
    if (is_extensible || fields->size == PLAIN_SIZE) {
        return WEFT_OK;
    }
    if (fields->size != MORE_SIZE) {
        return weft_fail(fields->host, WEFT_BAD_FILE,
                         "%s: chunk fmt: expected %u or %u bytes for %s, found %" PRIu64,
                         fields->name, PLAIN_SIZE, MORE_SIZE, *is_float ? "floats" : "PCM",
                         fields->size);
    }
    return expect(fields, "bytes of the extension", 0, load(fields, 16, 2));
}

/* Where fewer bits are valid than there are, they are the upper ones. */
static weft_status read_bits(const struct fields *fields, struct weft_wav_format *format) {
    const uint32_t bits = load(fields, 14, 2);
    const bool is_known = format->is_float ? bits == 32 || bits == 64
                                           : bits == 8 || bits == 16 || bits == 24 || bits == 32;
    if (!is_known) {
        return weft_fail(fields->host, WEFT_UNSUPPORTED,
                         "%s: chunk fmt: bits of a sample: expected %s, found %u", fields->name,
                         format->is_float ? "32 or 64 of floats" : "8, 16, 24 or 32 of PCM", bits);
    }
    format->bytes = bits / 8;
    const uint32_t valid = load(fields, 0, 2) == EXTENSIBLE ? load(fields, 18, 2) : bits;
    return valid <= bits && valid >= 1
               ? WEFT_OK
               : weft_fail(fields->host, WEFT_BAD_FILE,
                           "%s: chunk fmt: valid bits: expected 1 to %u, found %u", fields->name,
                           bits, valid);
}

weft_status weft_wav_read_format(struct weft_wav_format *format, const uint8_t *bytes,
                                 uint64_t size, const char *name, const weft_host *host) {
    const struct fields fields = {.bytes = bytes, .size = size, .name = name, .host = host};
    if (size < PLAIN_SIZE) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: chunk fmt: expected %u, %u or %u bytes, found %" PRIu64, name,
                         PLAIN_SIZE, MORE_SIZE, EXTENSIBLE_SIZE, size);
    }
    WEFT_TRY(read_kind(&fields, &format->is_float));
    format->channels = load(&fields, 2, 2);
    format->rate = load(&fields, 4, 4);
    WEFT_TRY(expect_between(&fields, "channels", 1, WEFT_SOUND_MOST_CHANNELS, format->channels));
    WEFT_TRY(expect_between(&fields, "samples a second", WEFT_SOUND_LEAST_RATE,
                            WEFT_SOUND_MOST_RATE, format->rate));
    WEFT_TRY(read_bits(&fields, format));
    format->frame = format->channels * format->bytes;
    WEFT_TRY(expect(&fields, "block align", format->frame, load(&fields, 12, 2)));
    return expect(&fields, "byte rate", (uint64_t)format->rate * format->frame,
                  load(&fields, 8, 4));
}
