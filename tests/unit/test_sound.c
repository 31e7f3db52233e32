/* SPDX-License-Identifier: MIT */
/* Sounds out of WAV files: samples against their formula, every form that such files have, and what is refused. */
#include <float.h>
#include <math.h>

#include <weft/speech.h>

#include "core/bytes.h"
#include "core/math/philox.h"
#include "support.h"

#define NAME         "speech.wav"
#define WAY_OUT      "ffmpeg -i IN -ar 16000 -ac 1 OUT.wav"
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { PCM = 1, FLOATS = 3, EXTENSIBLE = 0xfffe };

/* ---- making files ---- */

/* Bytes in malloc's memory of exactly their number, so that a sanitizer sees what is read beyond them. */
struct bytes {
    uint8_t *at;
    size_t size;
};

static void put(struct bytes *bytes, const void *data, size_t size) {
    if (size > 0) {
        bytes->at = realloc(bytes->at, bytes->size + size);
        assert_non_null(bytes->at);
        memcpy(bytes->at + bytes->size, data, size);
        bytes->size += size;
    }
}

static void put_number(struct bytes *bytes, uint64_t number, size_t size) {
    uint8_t stored[8];
    weft_store_bytes(stored, number, size);
    put(bytes, stored, size);
}

/* A chunk with its padding; `stated` is the size that its head has. */
static void put_stated(struct bytes *bytes, const char *id, const void *data, size_t size,
                       uint32_t stated) {
    put(bytes, id, 4);
    put_number(bytes, stated, 4);
    put(bytes, data, size);
    put(bytes, "", size % 2);
}

static void put_chunk(struct bytes *bytes, const char *id, const void *data, size_t size) {
    put_stated(bytes, id, data, size, (uint32_t)size);
}

static void begin_file(struct bytes *bytes) {
    *bytes = (struct bytes){.size = 0};
    put(bytes, "RIFF\0\0\0\0WAVE", 12);
}

static void end_file(const struct bytes *bytes) {
    weft_store_bytes(bytes->at + 4, bytes->size - 8, 4);
}

/* A chunk `fmt `. What is 0 is as in most files, or as the rest asks for; NONE is 0. */
struct format {
    uint32_t tag, channels, rate, bits; /* one channel of 16 bits, 16 kHz */
    uint32_t size, block, byte_rate;
    uint32_t subtype, valid, extra;
};

#define NONE        UINT32_MAX
#define FORMAT(...) (&(const struct format){__VA_ARGS__})

static uint32_t given(uint32_t number, uint32_t usual) {
    return number == NONE ? 0 : number > 0 ? number : usual;
}

static struct bytes make_format(const struct format *f) {
    static const uint8_t guid[14] = {0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
    struct bytes made = {.size = 0};
    const uint32_t channels = given(f->channels, 1), bits = given(f->bits, 16);
    const uint32_t rate = given(f->rate, 16000), block = given(f->block, channels * bits / 8);
    const uint32_t size = given(f->size, f->tag == EXTENSIBLE ? 40 : 16);
    put_number(&made, f->tag, 2);
    put_number(&made, channels, 2);
    put_number(&made, rate, 4);
    put_number(&made, given(f->byte_rate, rate * block), 4);
    put_number(&made, block, 2);
    put_number(&made, bits, 2);
    put_number(&made, given(f->extra, size - 18), 2);
    put_number(&made, given(f->valid, bits), 2);
    put_number(&made, 3, 4); /* the places of speakers */
    put_number(&made, given(f->subtype, PCM), 2);
    put(&made, guid, sizeof guid);
    while (made.size < size) {
        put_number(&made, 0, 1);
    }
    made.size = size;
    return made;
}

static void put_format(struct bytes *bytes, const struct format *f) {
    const struct bytes made = make_format(f);
    put_chunk(bytes, "fmt ", made.at, made.size);
    free(made.at);
}

static struct bytes make_file(const struct format *f, const void *data, size_t size) {
    struct bytes file;
    begin_file(&file);
    put_format(&file, f);
    put_chunk(&file, "data", data, size);
    end_file(&file);
    return file;
}

/* ---- reading them ---- */

/* What nobody may touch on failure. */
static float untouched;
static const weft_sound before = {.samples = &untouched, .count = 77, .rate = 7};

static void expect_untouched(const weft_sound *sound) {
    assert_true(sound->samples == before.samples && sound->count == before.count &&
                sound->rate == before.rate);
}

/* Reads and frees a file's bytes. */
static weft_status read_made(weft_sound *sound, struct weft_test_host *test, struct bytes file) {
    *sound = before;
    const weft_status status = weft_sound_read_memory(sound, file.at, file.size, NAME, &test->host);
    free(file.at);
    if (status != WEFT_OK) {
        expect_untouched(sound);
    }
    return status;
}

static void expect_read(weft_sound *sound, struct weft_test_host *test, struct bytes file) {
    if (read_made(sound, test, file) != WEFT_OK) {
        fail_msg("%s", weft_test_log(test));
    }
}

#define EXPECT_REFUSED(test, status, file, ...)                                        \
    do {                                                                               \
        weft_sound refused_sound;                                                      \
        WEFT_EXPECT_REFUSED(test, status, read_made(&refused_sound, test, file), NAME, \
                            __VA_ARGS__);                                              \
    } while (0)

/* A file of 16 bits has these samples. */
static void expect_samples(struct weft_test_host *test, struct bytes file, const int16_t *samples,
                           size_t count) {
    weft_sound sound;
    expect_read(&sound, test, file);
    assert_int_equal(sound.count, count);
    assert_int_equal(sound.rate, 16000);
    for (size_t i = 0; i < count; i++) {
        assert_true(sound.samples[i] == (float)samples[i] / 32768.0F);
    }
    weft_sound_clear(&sound, &test->host);
    assert_null(sound.samples);
    assert_int_equal(sound.count, 0);
}

static const int16_t three[] = {-32768, 1, 32767};

static void put_three(struct bytes *bytes) {
    for (size_t i = 0; i < COUNT(three); i++) {
        put_number(bytes, (uint16_t)three[i], 2);
    }
}

static struct bytes data_of_three(void) {
    struct bytes data = {.size = 0};
    put_three(&data);
    return data;
}

static void put_data(struct bytes *bytes, uint32_t stated) {
    const struct bytes data = data_of_three();
    put_stated(bytes, "data", data.at, data.size, stated);
    free(data.at);
}

static void expect_three(struct weft_test_host *test, struct bytes file) {
    expect_samples(test, file, three, COUNT(three));
}

/* ---- samples ---- */

/* A sample's value, stored in `bits` bits behind `data`: extremes first, then random ones. */
static double put_sample(struct bytes *data, uint32_t tag, uint32_t bits, uint64_t index) {
    const double half = ldexp(1.0, (int)bits - 1);
    const uint64_t random =
        (uint64_t)weft_philox_u32(3, bits, index) << 32 | weft_philox_u32(4, bits, index);
    if (tag == FLOATS) {
        const double exact = (double)(int64_t)random * 0x1p-62;
        const float narrow = (float)exact;
        uint64_t word = 0;
        memcpy(&word, bits == 32 ? (const void *)&narrow : &exact, bits / 8);
        put_number(data, word, bits / 8);
        return bits == 32 ? (double)narrow : exact;
    }
    const double value = index == 0   ? -half
                         : index == 1 ? half - 1.0
                         : index == 2 ? 0.0
                                      : floor((double)(random >> 12) * 0x1p-52 * 2.0 * half) - half;
    const int64_t whole = (int64_t)value + (bits == 8 ? 128 : 0); /* bytes have no sign */
    put_number(data, (uint64_t)whole, bits / 8);
    return value / half;
}

static void try_samples(struct weft_test_host *test, const struct format *f) {
    enum { FRAMES = 700 }; /* several blocks of the reader for 64 channels */
    struct bytes data = {.size = 0};
    float expected[FRAMES];
    const uint32_t tag = f->tag == EXTENSIBLE ? f->subtype : f->tag;
    for (uint64_t frame = 0; frame < FRAMES; frame++) {
        double sum = 0.0;
        for (uint64_t channel = 0; channel < f->channels; channel++) {
            sum += put_sample(&data, tag, f->bits, frame * f->channels + channel);
        }
        expected[frame] = (float)(sum / f->channels);
    }
    weft_sound sound;
    expect_read(&sound, test, make_file(f, data.at, data.size));
    free(data.at);
    assert_int_equal(sound.count, FRAMES);
    assert_int_equal(sound.rate, f->rate);
    for (uint64_t frame = 0; frame < FRAMES; frame++) {
        if (sound.samples[frame] != expected[frame]) {
            fail_msg("%u bits, %u channels, frame %u: expected %.9g, found %.9g", f->bits,
                     f->channels, (unsigned)frame, (double)expected[frame],
                     (double)sound.samples[frame]);
        }
    }
    weft_sound_clear(&sound, &test->host);
}

/* The sums of integers by their halves are exact in both orders; so are those of floats here, which have the reader's order. */
WEFT_TEST_ON_HOST(samples_of_each_kind_are_their_mean, test) {
    static const struct {
        uint32_t tag, bits;
    } kinds[] = {{PCM, 8}, {PCM, 16}, {PCM, 24}, {PCM, 32}, {FLOATS, 32}, {FLOATS, 64}};
    static const uint32_t channels[] = {1, 2, 3, 6, 64},
                          rates[] = {1000, 8000, 44100, 192000, 768000};
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        const uint32_t tag = kinds[kind].tag, bits = kinds[kind].bits;
        for (size_t i = 0; i < COUNT(channels); i++) {
            try_samples(
                test, FORMAT(.tag = tag, .bits = bits, .channels = channels[i], .rate = rates[i]));
            try_samples(test, FORMAT(.tag = tag, .bits = bits, .channels = channels[i],
                                     .rate = rates[i], .size = 18));
            try_samples(test, FORMAT(.tag = EXTENSIBLE, .subtype = tag, .bits = bits,
                                     .channels = channels[i], .rate = rates[i]));
        }
    }
}

WEFT_TEST_ON_HOST(known_samples_are_read, test) {
    static const uint8_t bytes[] = {0, 64, 128, 255};
    static const float values[] = {-1.0F, -0.5F, 0.0F, 127.0F / 128.0F};
    weft_sound sound;
    expect_read(&sound, test, make_file(FORMAT(.tag = PCM, .bits = 8), bytes, sizeof bytes));
    assert_int_equal(sound.count, 4);
    assert_memory_equal(sound.samples, values, sizeof values);
    weft_sound_clear(&sound, &test->host);

    /* Two channels of 24 bits: -2^23 and 2^23 - 1, whose mean is -2^-24. */
    static const uint8_t wide[] = {0, 0, 0x80, 0xff, 0xff, 0x7f};
    expect_read(&sound, test,
                make_file(FORMAT(.tag = PCM, .bits = 24, .channels = 2), wide, sizeof wide));
    assert_int_equal(sound.count, 1);
    assert_true(sound.samples[0] == -0x1p-24F);
    weft_sound_clear(&sound, &test->host);

    /* 20 valid bits of 24 are the upper ones. */
    expect_read(&sound, test,
                make_file(FORMAT(.tag = EXTENSIBLE, .bits = 24, .valid = 20), wide, sizeof wide));
    assert_true(sound.count == 2 && sound.samples[0] == -1.0F);
    weft_sound_clear(&sound, &test->host);
}

/* Signs of zeros, subnormals and the largest float come out as they went in. */
WEFT_TEST_ON_HOST(floats_are_the_same_to_the_last_bit, test) {
    static const float values[] = {-0.0F, 0.0F, 0x1p-149F, -0x1p-127F, FLT_MAX, -FLT_MAX, 0.1F};
    struct bytes data = {.size = 0};
    weft_sound sound;
    for (size_t i = 0; i < COUNT(values); i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        put_number(&data, word, 4);
    }
    expect_read(&sound, test, make_file(FORMAT(.tag = FLOATS, .bits = 32), data.at, data.size));
    free(data.at);
    assert_int_equal(sound.count, COUNT(values));
    assert_memory_equal(sound.samples, values, sizeof values);
    weft_sound_clear(&sound, &test->host);
}

static struct bytes make_floats(uint32_t bits, const double *values, size_t count,
                                uint32_t channels) {
    struct bytes data = {.size = 0};
    for (size_t i = 0; i < count; i++) {
        const float narrow = bits == 32 ? (float)values[i] : 0.0F;
        uint64_t word = 0;
        memcpy(&word, bits == 32 ? (const void *)&narrow : &values[i], bits / 8);
        put_number(&data, word, bits / 8);
    }
    const struct bytes file =
        make_file(FORMAT(.tag = FLOATS, .bits = bits, .channels = channels), data.at, data.size);
    free(data.at);
    return file;
}

WEFT_TEST_ON_HOST(samples_that_are_not_finite_are_refused, test) {
    static const double nan_behind[] = {0, 1, 2, 3, 4, (double)NAN, 6, 7};
    static const double infinities[] = {0, (double)-INFINITY, 1, (double)INFINITY};
    static const double large[] = {0, 1e39, 3e38, 3e38};
    EXPECT_REFUSED(test, WEFT_BAD_FILE, make_floats(32, nan_behind, 8, 2), "chunk data",
                   "frame 2, channel 1", "expected a finite number, found NaN");
    EXPECT_REFUSED(test, WEFT_BAD_FILE, make_floats(64, nan_behind, 8, 1), "frame 5, channel 0",
                   "found NaN");
    EXPECT_REFUSED(test, WEFT_BAD_FILE, make_floats(64, infinities, 4, 1), "frame 1, channel 0",
                   "found -infinity");
    EXPECT_REFUSED(test, WEFT_BAD_FILE, make_floats(32, infinities + 2, 2, 2), "frame 0, channel 1",
                   "found infinity");
    EXPECT_REFUSED(test, WEFT_BAD_FILE, make_floats(64, large, 4, 1), "frame 1",
                   "expected a mean of at most 3.40282e+38, found more");
    EXPECT_REFUSED(test, WEFT_BAD_FILE, make_floats(64, large, 4, 2), "frame 0", "found more");
    weft_sound sound; /* of which a mean in floats would be infinite */
    expect_read(&sound, test, make_floats(32, large + 2, 2, 2));
    assert_true(sound.count == 1 && sound.samples[0] == 3e38F);
    weft_sound_clear(&sound, &test->host);
}

/* ---- chunks ---- */

WEFT_TEST_ON_HOST(chunks_come_in_any_order_with_others_between_them, test) {
    struct bytes file;
    begin_file(&file);
    put_chunk(&file, "LIST", "INFOa", 5);
    put_format(&file, FORMAT(.tag = PCM));
    put_chunk(&file, "fact", "\3\0\0\0", 4);
    put_chunk(&file, "odd ", "x", 1);
    put_chunk(&file, "none", NULL, 0);
    put_data(&file, 6);
    put_chunk(&file, "ID3 ", "tag", 3);
    end_file(&file);
    expect_three(test, file);

    begin_file(&file);
    put_data(&file, 6);
    put_chunk(&file, "JUNK", "abc", 3);
    put_format(&file, FORMAT(.tag = PCM));
    end_file(&file);
    put(&file, "what others have added behind RIFF", 34);
    expect_three(test, file);

    /* An odd number of bytes: without the padding, as many leave it out, with it, and with it behind RIFF. */
    static const uint8_t one[] = {192};
    for (uint32_t way = 0; way < 3; way++) {
        file = make_file(FORMAT(.tag = PCM, .bits = 8), one, 1);
        file.size -= way == 0;
        weft_store_bytes(file.at + 4, way == 2 ? 37 : file.size - 8, 4);
        weft_sound sound;
        expect_read(&sound, test, file);
        assert_true(sound.count == 1 && sound.samples[0] == 0.5F);
        weft_sound_clear(&sound, &test->host);
    }
}

WEFT_TEST_ON_HOST(a_sound_may_have_no_samples, test) {
    weft_sound sound;
    expect_read(&sound, test, make_file(FORMAT(.tag = PCM, .rate = 22050), NULL, 0));
    assert_null(sound.samples);
    assert_true(sound.count == 0 && sound.rate == 22050);
    weft_sound_clear(&sound, &test->host);
    weft_sound_clear(&sound, &test->host);
    weft_sound_clear(NULL, &test->host);

    /* With chunks behind: those are no samples. */
    struct bytes file;
    begin_file(&file);
    put_format(&file, FORMAT(.tag = PCM));
    put_chunk(&file, "data", NULL, 0);
    put_chunk(&file, "LIST", "1234", 4);
    end_file(&file);
    expect_samples(test, file, NULL, 0);
}

WEFT_TEST_ON_HOST(chunks_that_do_not_fit_are_refused, test) {
    struct bytes file;
    begin_file(&file);
    put_format(&file, FORMAT(.tag = PCM));
    end_file(&file);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file, "expected a chunk data, found none");

    begin_file(&file);
    put_data(&file, 6);
    end_file(&file);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file, "expected a chunk fmt, found none");

    begin_file(&file);
    put_format(&file, FORMAT(.tag = PCM));
    put_data(&file, 6);
    put_format(&file, FORMAT(.tag = PCM));
    end_file(&file);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file, "expected one chunk fmt, found another at byte 50");

    begin_file(&file);
    put_format(&file, FORMAT(.tag = PCM));
    put_data(&file, 6);
    put_data(&file, 6);
    end_file(&file);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file, "expected one chunk data, found another at byte 50");

    /* More than there is, and more than RIFF has. */
    begin_file(&file);
    put_format(&file, FORMAT(.tag = PCM));
    put_data(&file, 8);
    end_file(&file);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file,
                   "chunk data: expected 8 bytes, found 6: the file is cut");
    begin_file(&file);
    put_format(&file, FORMAT(.tag = PCM));
    put_data(&file, 6);
    end_file(&file);
    weft_store_bytes(file.at + 4, 36, 4);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file,
                   "chunk data: expected an end at byte 44, where RIFF ends, or before, found 50");

    const struct bytes whole = make_file(FORMAT(.tag = PCM), three, 6);
    for (uint32_t more = 1; more <= 9; more++) {
        struct bytes longer = {.size = 0};
        put(&longer, whole.at, whole.size);
        weft_store_bytes(longer.at + 4, whole.size - 8 + more, 4);
        if (more < 8) {
            EXPECT_REFUSED(test, WEFT_BAD_FILE, longer,
                           weft_test_text("expected a chunk at byte 50, or the end of RIFF, found "
                                          "%u bytes",
                                          more));
        } else {
            EXPECT_REFUSED(
                test, WEFT_BAD_FILE, longer,
                weft_test_text("RIFF: expected %u bytes, found 50: the file is cut", 50 + more));
        }
    }
    free(whole.at);

    static const uint8_t five[5] = {0};
    EXPECT_REFUSED(test, WEFT_BAD_FILE, make_file(FORMAT(.tag = PCM), five, 5),
                   "chunk data: expected a multiple of 2 bytes, as a frame has, found 5");
}

/* Each step of the reader is some work. */
WEFT_TEST_ON_HOST(a_file_of_too_many_chunks_is_refused, test) {
    enum { CHUNKS = 4097 };
    struct bytes file;
    begin_file(&file);
    file.at = realloc(file.at, 12 + 8 * CHUNKS);
    assert_non_null(file.at);
    memset(file.at + 12, 0, 8 * CHUNKS);
    file.size = 12 + 8 * CHUNKS;
    end_file(&file);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file, "expected at most 4096 chunks, found more");
}

/* ---- sizes that a writer did not know ---- */

WEFT_TEST_ON_HOST(samples_of_a_pipe_go_to_the_end_of_the_file, test) {
    static const struct {
        uint32_t riff, data;
    } sizes[] = {
        {UINT32_MAX, UINT32_MAX},   /* ffmpeg's */
        {36, 0},                    /* GStreamer's: as if there was nothing */
        {0, 0},                     /* nothing filled in */
        {UINT32_MAX, 0},            /* either */
        {0, UINT32_MAX},            /* either */
        {0x7ffff024u, 0x7ffff000u}, /* SoX's */
        {0x7ffff022u, 0x7fffeffeu}, /* the same, of whole frames */
        {42, UINT32_MAX},
    };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct bytes file;
        begin_file(&file);
        put_format(&file, FORMAT(.tag = PCM));
        put_data(&file, sizes[i].data);
        weft_store_bytes(file.at + 4, sizes[i].riff, 4);
        expect_three(test, file);
    }
    struct bytes file;
    begin_file(&file);
    put_format(&file, FORMAT(.tag = PCM));
    put_data(&file, UINT32_MAX);
    put(&file, "x", 1);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file, "chunk data: expected a multiple of 2 bytes",
                   "found 7");
    /* No other size stands for the end. */
    begin_file(&file);
    put_format(&file, FORMAT(.tag = PCM));
    put_data(&file, UINT32_MAX - 1);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file,
                   "chunk data: expected 4294967294 bytes, found 6: the file is cut");
    /* And no other chunk has such a size. */
    begin_file(&file);
    put_stated(&file, "LIST", "1234", 4, UINT32_MAX);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file,
                   "chunk LIST: expected 4294967295 bytes, found 4: the file is cut");
}

/* ---- RF64 ---- */

struct ds64 {
    uint64_t riff, data; /* riff 0: as it is */
    uint32_t entries, stated;
};

/* `table` stands in for the size of a chunk LIST of four bytes. */
static struct bytes make_rf64(const char *id, struct ds64 ds64, uint64_t table,
                              uint32_t data_size) {
    struct bytes chunk = {.size = 0}, file;
    put_number(&chunk, ds64.riff, 8);
    put_number(&chunk, ds64.data, 8);
    put_number(&chunk, 3, 8);
    put_number(&chunk, ds64.stated, 4);
    for (uint32_t i = 0; i < ds64.entries; i++) {
        put(&chunk, i + 1 == ds64.entries ? "LIST" : "levl", 4);
        put_number(&chunk, table, 8);
    }
    begin_file(&file);
    memcpy(file.at, id, 4);
    put_chunk(&file, "ds64", chunk.at, chunk.size);
    free(chunk.at);
    put_format(&file, FORMAT(.tag = PCM));
    if (ds64.entries > 0) {
        put_stated(&file, "LIST", "1234", 4, UINT32_MAX);
    }
    put_data(&file, data_size);
    weft_store_bytes(file.at + 4, UINT32_MAX, 4);
    if (ds64.riff == 0) {
        weft_store_bytes(file.at + 20, file.size - 8, 8);
    }
    return file;
}

WEFT_TEST_ON_HOST(rf64_has_its_sizes_in_a_chunk, test) {
    expect_three(test, make_rf64("RF64", (struct ds64){.data = 6}, 0, UINT32_MAX));
    expect_three(test, make_rf64("BW64", (struct ds64){.data = 6}, 0, UINT32_MAX));
    expect_three(test, make_rf64("RF64", (struct ds64){.data = 99}, 0, 6)); /* its own counts */
    expect_three(test, make_rf64("RF64", (struct ds64){.data = 6, .entries = 3, .stated = 3}, 4,
                                 UINT32_MAX));
    /* To a pipe. */
    expect_three(test,
                 make_rf64("RF64", (struct ds64){UINT64_MAX, UINT64_MAX, 0, 0}, 0, UINT32_MAX));
    struct bytes unknown = make_rf64("RF64", (struct ds64){.data = 0}, 0, UINT32_MAX);
    weft_store_bytes(unknown.at + 20, 0, 8);
    expect_three(test, unknown);

    EXPECT_REFUSED(test, WEFT_BAD_FILE,
                   make_rf64("RF64", (struct ds64){.data = UINT64_C(1) << 40}, 0, UINT32_MAX),
                   "chunk data: expected 1099511627776 bytes, found 6: the file is cut");
    EXPECT_REFUSED(test, WEFT_BAD_FILE,
                   make_rf64("RF64", (struct ds64){.data = UINT64_MAX - 1}, 0, UINT32_MAX),
                   "expected 18446744073709551614 bytes", "cut");
    EXPECT_REFUSED(
        test, WEFT_BAD_FILE,
        make_rf64("RF64", (struct ds64){.riff = UINT64_MAX - 1, .data = 6}, 0, UINT32_MAX),
        "RIFF: expected 18446744073709551615 bytes, found 86: the file is cut");
    EXPECT_REFUSED(test, WEFT_BAD_FILE,
                   make_rf64("RF64", (struct ds64){.data = 6, .entries = 1, .stated = 1},
                             UINT64_MAX, UINT32_MAX),
                   "chunk LIST: expected 18446744073709551615 bytes");
    EXPECT_REFUSED(
        test, WEFT_BAD_FILE,
        make_rf64("RF64", (struct ds64){.data = 6, .entries = 1, .stated = 0}, 4, UINT32_MAX),
        "chunk LIST: expected its size in chunk ds64, found none");
    EXPECT_REFUSED(
        test, WEFT_BAD_FILE,
        make_rf64("RF64", (struct ds64){.data = 6, .entries = 1, .stated = 2}, 4, UINT32_MAX),
        "chunk ds64: expected at most 1 entries", "found 2");
    struct bytes file = make_file(FORMAT(.tag = PCM), three, 6);
    memcpy(file.at, "RF64", 4);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file,
                   "expected a first chunk ds64 of 28 bytes or more, found fmt of 16");
    file = make_rf64("RF64", (struct ds64){.data = 6}, 0, UINT32_MAX);
    weft_store_bytes(file.at + 16, 1000, 4);
    EXPECT_REFUSED(test, WEFT_BAD_FILE, file, "chunk ds64: expected 1000 bytes, found 66",
                   "the file is cut");
}

/* ---- formats of samples ---- */

static struct bytes of_format(const struct format *f) {
    return make_file(f, NULL, 0);
}

WEFT_TEST_ON_HOST(other_codecs_are_refused_by_name, test) {
    static const struct {
        uint32_t tag;
        const char *name;
    } codecs[] = {{2, "Microsoft ADPCM"},
                  {6, "A-law"},
                  {7, "µ-law"},
                  {0x11, "IMA ADPCM"},
                  {0x31, "GSM 6.10"},
                  {0x55, "MP3"},
                  {0x50, "MPEG audio"},
                  {0xff, "AAC"},
                  {0x161, "WMA"},
                  {0, "format 0x0000"},
                  {0x1234, "format 0x1234"}};
    for (size_t i = 0; i < COUNT(codecs); i++) {
        EXPECT_REFUSED(test, WEFT_UNSUPPORTED,
                       of_format(FORMAT(.tag = codecs[i].tag, .size = 30, .extra = 12)),
                       "chunk fmt", "expected PCM or floats, found ", codecs[i].name, WAY_OUT);
        if (codecs[i].tag != 0) {
            EXPECT_REFUSED(test, WEFT_UNSUPPORTED,
                           of_format(FORMAT(.tag = EXTENSIBLE, .subtype = codecs[i].tag)), "found ",
                           codecs[i].name, WAY_OUT);
        }
    }
    struct bytes file = of_format(FORMAT(.tag = EXTENSIBLE));
    file.at[20 + 30] ^= 1; /* of the GUID */
    EXPECT_REFUSED(test, WEFT_UNSUPPORTED, file, "found a GUID of another kind", WAY_OUT);
}

WEFT_TEST_ON_HOST(fields_that_contradict_each_other_are_refused, test) {
    const struct {
        const struct format *format;
        weft_status status;
        const char *message;
    } cases[] = {
        {FORMAT(.tag = PCM, .channels = 2, .block = 6), WEFT_BAD_FILE,
         "chunk fmt: block align: expected 4, found 6"},
        {FORMAT(.tag = PCM, .byte_rate = 16000), WEFT_BAD_FILE,
         "chunk fmt: byte rate: expected 32000, found 16000"},
        {FORMAT(.tag = PCM, .channels = NONE), WEFT_BAD_FILE,
         "chunk fmt: channels: expected 1 to 64, found 0"},
        {FORMAT(.tag = PCM, .channels = 65), WEFT_UNSUPPORTED,
         "chunk fmt: channels: expected 1 to 64, found 65"},
        {FORMAT(.tag = PCM, .rate = NONE), WEFT_BAD_FILE,
         "chunk fmt: samples a second: expected 1000 to 768000, found 0"},
        {FORMAT(.tag = PCM, .rate = 999), WEFT_UNSUPPORTED,
         "chunk fmt: samples a second: expected 1000 to 768000, found 999"},
        {FORMAT(.tag = PCM, .rate = 768001), WEFT_UNSUPPORTED,
         "chunk fmt: samples a second: expected 1000 to 768000, found 768001"},
        {FORMAT(.tag = PCM, .bits = NONE), WEFT_UNSUPPORTED,
         "chunk fmt: bits of a sample: expected 8, 16, 24 or 32 of PCM, found 0"},
        {FORMAT(.tag = PCM, .bits = 12), WEFT_UNSUPPORTED,
         "chunk fmt: bits of a sample: expected 8, 16, 24 or 32 of PCM, found 12"},
        {FORMAT(.tag = PCM, .bits = 64), WEFT_UNSUPPORTED, "of PCM, found 64"},
        {FORMAT(.tag = FLOATS, .bits = 16), WEFT_UNSUPPORTED,
         "chunk fmt: bits of a sample: expected 32 or 64 of floats, found 16"},
        {FORMAT(.tag = PCM, .size = 18, .extra = 2), WEFT_BAD_FILE,
         "chunk fmt: bytes of the extension: expected 0, found 2"},
        {FORMAT(.tag = PCM, .size = 20), WEFT_BAD_FILE,
         "chunk fmt: expected 16 or 18 bytes for PCM, found 20"},
        {FORMAT(.tag = FLOATS, .bits = 32, .size = 40), WEFT_BAD_FILE,
         "chunk fmt: expected 16 or 18 bytes for floats, found 40"},
        {FORMAT(.tag = PCM, .size = 14), WEFT_BAD_FILE,
         "chunk fmt: expected 16, 18 or 40 bytes, found 14"},
        {FORMAT(.tag = EXTENSIBLE, .size = 18), WEFT_BAD_FILE,
         "chunk fmt: bytes of WAVE_FORMAT_EXTENSIBLE: expected 40, found 18"},
        {FORMAT(.tag = EXTENSIBLE, .size = 42), WEFT_BAD_FILE, "expected 40, found 42"},
        {FORMAT(.tag = EXTENSIBLE, .extra = 21), WEFT_BAD_FILE,
         "chunk fmt: bytes of the extension: expected 22, found 21"},
        {FORMAT(.tag = EXTENSIBLE, .valid = NONE), WEFT_BAD_FILE,
         "chunk fmt: valid bits: expected 1 to 16, found 0"},
        {FORMAT(.tag = EXTENSIBLE, .valid = 17), WEFT_BAD_FILE,
         "chunk fmt: valid bits: expected 1 to 16, found 17"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        EXPECT_REFUSED(test, cases[i].status, of_format(cases[i].format), cases[i].message);
    }
}

/* ---- other files ---- */

#define START(name, text) \
    { name, text, sizeof(text) - 1 }

WEFT_TEST_ON_HOST(other_files_are_refused_by_name, test) {
    static const struct {
        const char *name, *text;
        size_t size;
    } starts[] = {
        START("MP3", "ID3\4\0\0\0\0\0\0TIT2"),
        START("MP3", "\xff\xfb\x90\x64\0\0\0\0\0\0\0\0"),
        START("MP3", "\xff\xf3\x84"),
        START("MPEG audio", "\xff\xfd\x84\0"),
        START("AAC", "\xff\xf1\x50\x80"),
        START("FLAC", "fLaC\0\0\0\42"),
        START("Ogg", "OggS\0\2"),
        START("MP4 or M4A", "\0\0\0 ftypM4A \0\0"),
        START("AIFF", "FORM\0\0\1\0AIFFCOMM"),
        START("AIFF-C", "FORM\0\0\1\0AIFCFVER"),
        START("WebM or Matroska", "\x1a\x45\xdf\xa3\x01"),
        START("RIFX", "RIFX\0\0\0\4WAVE"),
        START("AVI", "RIFF\4\0\0\0AVI LIST"),
        START("Wave64", "riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb"),
        START("AU", ".snd\0\0\0\30"),
        START("CAF", "caff\0\1\0\0"),
        START("AMR", "#!AMR\n"),
        START("WavPack", "wvpk\0"),
        START("WMA or ASF", "\x30\x26\xb2\x75\x8e\x66"),
    };
    for (size_t i = 0; i < COUNT(starts); i++) {
        struct bytes file = {.size = 0};
        put(&file, starts[i].text, starts[i].size);
        EXPECT_REFUSED(test, WEFT_UNSUPPORTED, file, "expected a WAV file, found ", starts[i].name,
                       WAY_OUT);
    }
    static const struct {
        const char *found, *text;
        size_t size;
    } unknown[] = {
        START("found 12 bytes: 52 49 46 46 04 00 00 00 57 45 42 50", "RIFF\4\0\0\0WEBPVP8 "),
        START("found 8 bytes: 52 49 46 46 04 00 00 00", "RIFF\4\0\0\0"),
        START("found 12 bytes: ff fe 68 00", "\xff\xfeh\0e\0l\0l\0o\0"), /* text of UTF-16 */
        START("found 2 bytes: 68 69", "hi"),
        START("found 0 bytes", ""),
    };
    for (size_t i = 0; i < COUNT(unknown); i++) {
        struct bytes file = {.size = 0};
        put(&file, unknown[i].text, unknown[i].size);
        EXPECT_REFUSED(test, WEFT_BAD_FILE, file,
                       "expected a WAV file, which begins with RIFF or RF64", unknown[i].found);
    }
}

/* ---- damage ---- */

static void try_cuts(struct weft_test_host *test, struct bytes whole) {
    for (size_t size = 0; size < whole.size; size++) {
        struct bytes cut = {.size = 0};
        put(&cut, whole.at, size);
        EXPECT_REFUSED(test, WEFT_BAD_FILE, cut, "expected");
        assert_int_equal(test->live, 0);
    }
    free(whole.at);
}

WEFT_TEST_ON_HOST(a_cut_file_is_refused_wherever_it_is_cut, test) {
    try_cuts(test, make_file(FORMAT(.tag = PCM, .channels = 2), three, 4));
    try_cuts(test, make_file(FORMAT(.tag = EXTENSIBLE, .bits = 8), three, 5));
    try_cuts(test,
             make_rf64("RF64", (struct ds64){.data = 6, .entries = 2, .stated = 2}, 4, UINT32_MAX));
    struct bytes file;
    begin_file(&file);
    put_data(&file, 6);
    put_format(&file, FORMAT(.tag = PCM));
    put_chunk(&file, "LIST", "abc", 3);
    end_file(&file);
    try_cuts(test, file);
}

WEFT_TEST_ON_HOST(damaged_files_are_read_or_refused, test) {
    const struct bytes files[] = {
        make_file(FORMAT(.tag = PCM), three, 6),
        make_file(FORMAT(.tag = EXTENSIBLE, .subtype = FLOATS, .bits = 32), three, 4),
        make_rf64("RF64", (struct ds64){.data = 6, .entries = 1, .stated = 1}, 4, UINT32_MAX)};
    const uint64_t rounds = 1000; /* fuzz.sound has more */
    for (size_t i = 0; i < COUNT(files); i++) {
        uint64_t good = 0;
        for (uint64_t round = 0; round < rounds; round++) {
            struct bytes damaged = {.size = 0};
            damaged.at = weft_test_mutate(files[i].at, files[i].size, 7 + i, round, &damaged.size);
            const size_t size = damaged.size;
            weft_sound sound;
            weft_test_host_reset(test);
            const weft_status status = read_made(&sound, test, damaged);
            if (status == WEFT_OK) {
                assert_true(sound.count <= size && sound.rate >= 1000 && sound.rate <= 768000);
                weft_sound_clear(&sound, &test->host);
                good++;
            } else {
                assert_true(status == WEFT_BAD_FILE || status == WEFT_UNSUPPORTED);
                weft_test_expect_log(test, "error: " NAME);
            }
            assert_int_equal(test->live, 0);
        }
        assert_true(good > rounds / 100 && good < rounds / 2);
        free(files[i].at);
    }
}

/* ---- files, memory, ends ---- */

WEFT_TEST_IN_PLACE(files_are_read_as_memory_is, place) {
    struct weft_test_host *test = &place->host;
    const struct bytes made = make_file(FORMAT(.tag = PCM), three, 6);
    const char *path = weft_test_write(place->folder, "a.wav", made.at, made.size);
    const char *cut = weft_test_write(place->folder, "cut.wav", made.at, made.size - 2);
    weft_sound sound, same;
    assert_ok(weft_sound_read(&sound, path, &test->host));
    assert_ok(weft_sound_read(&same, path, NULL));
    assert_true(sound.count == 3 && sound.rate == 16000 && same.count == 3 && same.rate == 16000);
    assert_memory_equal(sound.samples, same.samples, 3 * sizeof(float));
    weft_sound_clear(&sound, &test->host);
    weft_sound_clear(&same, NULL);
    free(made.at);

    sound = before;
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_sound_read(&sound, cut, &test->host), "cut.wav",
                        "chunk data: expected 6 bytes, found 4: the file is cut");
    WEFT_EXPECT_REFUSED(test, WEFT_NOT_FOUND,
                        weft_sound_read(&sound, weft_test_absent("b.wav"), &test->host), "b.wav");
    WEFT_EXPECT_REFUSED(test, WEFT_IO_ERROR, weft_sound_read(&sound, place->folder, &test->host),
                        place->folder);
    expect_untouched(&sound);
}

WEFT_TEST_ON_HOST(running_out_of_memory_is_reported, test) {
    struct bytes file = make_file(FORMAT(.tag = PCM), three, 6);
    weft_sound sound = before;
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(test, status)) {
        status = weft_sound_read_memory(&sound, file.at, file.size, NAME, &test->host);
        if (status != WEFT_OK) {
            expect_untouched(&sound);
        }
    }
    assert_true(test->failures >= 3);
    weft_sound_clear(&sound, &test->host);
    free(file.at);
}

static bool always(void *user) {
    (void)user;
    return true;
}

WEFT_TEST_ON_HOST(reading_can_be_cancelled, test) {
    struct bytes file = make_file(FORMAT(.tag = PCM), three, 6);
    weft_host host = test->host;
    host.interrupted = always;
    weft_sound sound = before;
    WEFT_EXPECT_REFUSED(test, WEFT_CANCELLED,
                        weft_sound_read_memory(&sound, file.at, file.size, NAME, &host),
                        "interrupted");
    expect_untouched(&sound);
    free(file.at);
}

WEFT_TEST_ON_HOST(null_is_refused, test) {
    weft_sound sound = before;
    const weft_host *host = &test->host;
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT, weft_sound_read(NULL, NAME, host),
                        "sound is null");
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT, weft_sound_read(&sound, NULL, host),
                        "path is null");
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT,
                        weft_sound_read_memory(NULL, "", 1, NAME, host), "sound is null");
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT,
                        weft_sound_read_memory(&sound, NULL, 1, NAME, host), "data is null");
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT,
                        weft_sound_read_memory(&sound, "", 1, NULL, host), "name is null");
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_sound_read_memory(&sound, NULL, 0, NAME, host),
                        NAME, "found 0 bytes");
    expect_untouched(&sound);
    weft_sound_clear(NULL, NULL);
}
