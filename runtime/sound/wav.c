/* SPDX-License-Identifier: MIT */
/* From chunk to chunk: an id of four letters, a size of four bytes, so many bytes, and one more where these are odd. */
#include "sound/wav.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

#define HEAD       8u /* bytes: id and size */
#define DS64       28u
#define DS64_ENTRY 12u
/* Of each there are a handful. Every chunk may be looked for among all entries. */
#define MOST_CHUNKS  4096u
#define MOST_ENTRIES 64u

/* Sizes that writers leave who do not know them and cannot go back: ffmpeg's, and SoX's, which it rounds to frames. */
#define UNKNOWN     UINT32_MAX
#define UNKNOWN_SOX UINT32_C(0x7ffff000)

struct walk {
    const weft_kept_file *file;
    struct weft_wav *wav;
    uint64_t size;       /* of the file */
    uint64_t at, end;    /* of the next chunk, and of the last, as the file's head has it */
    bool has_end;        /* else the file's end is taken for it */
    uint64_t ds64_begin; /* what RF64 has for sizes that do not fit; 0 in other files */
    uint64_t ds64_size, ds64_data;
    bool has_format, has_data;
    uint64_t data_size;
};

struct chunk {
    uint8_t id[4];
    char name[5]; /* the same for messages, without spaces behind it */
    uint64_t begin, size;
};

#define FAIL(walk, ...) \
    weft_fail(weft_kept_file_host((walk)->file), WEFT_BAD_FILE, "%s: " __VA_ARGS__)
#define NAME(walk) weft_kept_file_name((walk)->file)

static weft_status read_at(const struct walk *walk, uint64_t at, uint8_t *out, size_t size,
                           const char *what) {
    return weft_kept_file_read(walk->file, at, out, size, what);
}

static weft_status read_head(const struct walk *walk, uint64_t at, struct chunk *chunk) {
    uint8_t bytes[HEAD];
    WEFT_TRY(read_at(walk, at, bytes, HEAD, "a chunk"));
    memcpy(chunk->id, bytes, 4);
    memcpy(chunk->name, bytes, 4);
    for (size_t i = 4; i > 0 && chunk->name[i - 1] == ' '; i--) {
        chunk->name[i - 1] = '\0';
    }
    chunk->size = weft_load_bytes(bytes + 4, 4);
    chunk->begin = at + HEAD;
    return WEFT_OK;
}

static bool is(const struct chunk *chunk, const char *id) {
    return memcmp(chunk->id, id, 4) == 0;
}

/* ---- how long things are ---- */

static weft_status fail_cut(const struct walk *walk, const char *what, uint64_t expected,
                            uint64_t found) {
    return FAIL(walk, "%s: expected %" PRIu64 " bytes, found %" PRIu64 ": the file is cut",
                NAME(walk), what, expected, found);
}

static weft_status fail_chunk_cut(const struct walk *walk, const struct chunk *chunk) {
    char what[16];
    snprintf(what, sizeof what, "chunk %s", chunk->name);
    return fail_cut(walk, what, chunk->size, walk->size - chunk->begin);
}

/* Of RF64: the sizes of RIFF and data, a number of samples, and a table of further chunks. */
static weft_status read_ds64(struct walk *walk, uint64_t *riff) {
    struct chunk chunk = {.size = 0};
    uint8_t bytes[DS64];
    if (walk->size - walk->at < HEAD + DS64) {
        return fail_cut(walk, "chunk ds64", HEAD + DS64, walk->size - walk->at);
    }
    WEFT_TRY(read_head(walk, walk->at, &chunk));
    if (!is(&chunk, "ds64") || chunk.size < DS64) {
        return FAIL(walk, "expected a first chunk ds64 of %u bytes or more, found %s of %" PRIu64,
                    NAME(walk), DS64, chunk.name, chunk.size);
    }
    if (chunk.size > walk->size - chunk.begin) {
        return fail_chunk_cut(walk, &chunk);
    }
    WEFT_TRY(read_at(walk, chunk.begin, bytes, DS64, "chunk ds64"));
    *riff = weft_load_bytes(bytes, 8);
    walk->ds64_begin = chunk.begin;
    walk->ds64_data = weft_load_bytes(bytes + 8, 8);
    const uint64_t entries = weft_load_bytes(bytes + 24, 4);
    const uint64_t there = (chunk.size - DS64) / DS64_ENTRY;
    const uint64_t room = there < MOST_ENTRIES ? there : MOST_ENTRIES;
    if (entries > room) {
        return FAIL(walk,
                    "chunk ds64: expected at most %" PRIu64 " entries in %" PRIu64
                    " bytes, found %" PRIu64,
                    NAME(walk), room, chunk.size, entries);
    }
    walk->ds64_size = DS64 + entries * DS64_ENTRY;
    return WEFT_OK;
}

/* A chunk's size in the table of ds64, where its own says that it is there. */
static weft_status find_size(const struct walk *walk, struct chunk *chunk) {
    if (walk->ds64_begin == 0 || chunk->size != UNKNOWN) {
        return WEFT_OK;
    }
    if (is(chunk, "data")) {
        chunk->size = walk->ds64_data;
        return WEFT_OK;
    }
    for (uint64_t at = DS64; at < walk->ds64_size; at += DS64_ENTRY) {
        uint8_t bytes[DS64_ENTRY];
        WEFT_TRY(read_at(walk, walk->ds64_begin + at, bytes, DS64_ENTRY, "chunk ds64"));
        if (memcmp(bytes, chunk->id, 4) == 0) {
            chunk->size = weft_load_bytes(bytes + 4, 8);
            return WEFT_OK;
        }
    }
    return FAIL(walk, "chunk %s: expected its size in chunk ds64, found none", NAME(walk),
                chunk->name);
}

/* Whether data go on to the end of the file, as whoever wrote it to a pipe could not know their size. */
static bool is_streamed(const struct walk *walk, const struct chunk *chunk) {
    const bool is_last = !walk->has_end || walk->end == chunk->begin;
    return chunk->size == (walk->ds64_begin > 0 ? UINT64_MAX : UNKNOWN) ||
           (chunk->size == 0 && is_last) ||
           (chunk->size <= UNKNOWN_SOX && chunk->size > UNKNOWN_SOX - WEFT_SOUND_MOST_FRAME &&
            chunk->size > walk->size - chunk->begin);
}

static weft_status check_size(const struct walk *walk, const struct chunk *chunk) {
    if (chunk->size > walk->size - chunk->begin) {
        return fail_chunk_cut(walk, chunk);
    }
    if (chunk->begin > walk->end || chunk->size > walk->end - chunk->begin) {
        return FAIL(walk,
                    "chunk %s: expected an end at byte %" PRIu64
                    ", where RIFF ends, or before, found %" PRIu64,
                    NAME(walk), chunk->name, walk->end, chunk->begin + chunk->size);
    }
    return WEFT_OK;
}

/* ---- the walk ---- */

static weft_status begin(struct walk *walk) {
    uint8_t bytes[WEFT_WAV_START] = {0};
    const size_t size = walk->size < WEFT_WAV_START ? (size_t)walk->size : WEFT_WAV_START;
    WEFT_TRY(read_at(walk, 0, bytes, size, "RIFF"));
    const bool is_64 = memcmp(bytes, "RF64", 4) == 0 || memcmp(bytes, "BW64", 4) == 0;
    if (size < WEFT_WAV_START || memcmp(bytes + 8, "WAVE", 4) != 0 ||
        (!is_64 && memcmp(bytes, "RIFF", 4) != 0)) {
        return weft_wav_fail_other(bytes, size, NAME(walk), weft_kept_file_host(walk->file));
    }
    uint64_t riff = weft_load_bytes(bytes + 4, 4);
    walk->at = WEFT_WAV_START;
    if (is_64) {
        WEFT_TRY(read_ds64(walk, &riff));
    }
    walk->has_end = riff != 0 && riff != UINT64_MAX && (is_64 || riff != UNKNOWN);
    walk->end = !walk->has_end ? walk->size : riff > UINT64_MAX - HEAD ? UINT64_MAX : riff + HEAD;
    return WEFT_OK;
}

static weft_status take_format(struct walk *walk, const struct chunk *chunk) {
    uint8_t bytes[WEFT_WAV_MOST_FORMAT] = {0};
    const size_t size =
        chunk->size < WEFT_WAV_MOST_FORMAT ? (size_t)chunk->size : WEFT_WAV_MOST_FORMAT;
    WEFT_TRY(read_at(walk, chunk->begin, bytes, size, "chunk fmt"));
    walk->has_format = true;
    return weft_wav_read_format(&walk->wav->format, bytes, chunk->size, NAME(walk),
                                weft_kept_file_host(walk->file));
}

static weft_status take_chunk(struct walk *walk, struct chunk *chunk) {
    const bool is_format = is(chunk, "fmt "), is_data = is(chunk, "data");
    if ((is_format && walk->has_format) || (is_data && walk->has_data)) {
        return FAIL(walk, "expected one chunk %s, found another at byte %" PRIu64, NAME(walk),
                    chunk->name, walk->at);
    }
    WEFT_TRY(find_size(walk, chunk));
    if (is_data && is_streamed(walk, chunk)) {
        chunk->size = walk->size - chunk->begin;
        walk->end = walk->size;
    }
    WEFT_TRY(check_size(walk, chunk));
    if (is_data) {
        walk->has_data = true;
        walk->wav->begin = chunk->begin;
        walk->data_size = chunk->size;
    }
    walk->at = chunk->begin + chunk->size + chunk->size % 2;
    return is_format ? take_format(walk, chunk) : WEFT_OK;
}

/* Whether there is room for the head of one chunk more. */
static weft_status check_head(const struct walk *walk, uint32_t count) {
    if (walk->end - walk->at < HEAD) {
        return FAIL(walk,
                    "expected a chunk at byte %" PRIu64 ", or the end of RIFF, found %" PRIu64
                    " bytes",
                    NAME(walk), walk->at, walk->end - walk->at);
    }
    if (walk->at > walk->size || walk->size - walk->at < HEAD) {
        return fail_cut(walk, "RIFF", walk->end, walk->size);
    }
    return count < MOST_CHUNKS
               ? WEFT_OK
               : FAIL(walk, "expected at most %u chunks, found more", NAME(walk), MOST_CHUNKS);
}

static weft_status take_all(struct walk *walk) {
    for (uint32_t count = 0; walk->at < walk->end; count++) {
        struct chunk chunk = {.size = 0};
        WEFT_TRY(check_head(walk, count));
        WEFT_TRY(read_head(walk, walk->at, &chunk));
        WEFT_TRY(take_chunk(walk, &chunk));
    }
    /* Of the last chunk only the padding can be missing, and only where RIFF does not count it. */
    return walk->end <= walk->size ? WEFT_OK : fail_cut(walk, "RIFF", walk->end, walk->size);
}

weft_status weft_wav_find(struct weft_wav *wav, const weft_kept_file *file) {
    struct walk walk = {.file = file, .wav = wav, .size = weft_kept_file_size(file)};
    WEFT_TRY(begin(&walk));
    WEFT_TRY(take_all(&walk));
    if (!walk.has_format || !walk.has_data) {
        return FAIL(&walk, "expected a chunk %s, found none", NAME(&walk),
                    walk.has_format ? "data" : "fmt");
    }
    if (walk.data_size % wav->format.frame != 0) {
        return FAIL(&walk,
                    "chunk data: expected a multiple of %u bytes, as a frame has, found %" PRIu64,
                    NAME(&walk), wav->format.frame, walk.data_size);
    }
    wav->frames = walk.data_size / wav->format.frame;
    return WEFT_OK;
}
