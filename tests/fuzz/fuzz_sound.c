/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a WAV file, and such files by a grammar of their chunks: in memory, and out of a file, for which no more memory is
 * taken than that of its samples. What is read gets another rate.
 */
#include <math.h>
#include <string.h>

#include <weft/speech.h>

#include "core/bytes.h"
#include "fuzz.h"
#include "program_grammar.h"

#define SLACK        ((size_t)1024)     /* of the file's name */
#define MEMORY       ((size_t)16 << 20) /* of another rate */
#define MOST_OUTPUTS 4096U
#define ROOM         4096U /* bytes of a made file */
#define COUNT(list)  ((uint32_t)(sizeof(list) / sizeof *(list)))

/* ---- files by a grammar ---- */

struct file {
    uint8_t bytes[ROOM];
    size_t size;
    struct fuzz_choices *choices;
};

static void put(struct file *file, const void *data, size_t size) {
    if (size > 0 && size <= ROOM - file->size) {
        memcpy(file->bytes + file->size, data, size);
        file->size += size;
    }
}

static void put_number(struct file *file, uint64_t number, size_t size) {
    uint8_t bytes[8];
    weft_store_bytes(bytes, number, size);
    put(file, bytes, size);
}

static bool is_odd(struct file *file) {
    return fuzz_choose(file->choices, 24) == 23;
}

/* The number, or now and then another. */
static uint64_t vary(struct file *file, uint64_t number) {
    static const uint64_t others[] = {0,          1,          UINT32_MAX,       UINT64_MAX,
                                      0x7ffff000, 0x7fffffff, (uint64_t)1 << 63};
    if (!is_odd(file)) {
        return number;
    }
    const uint32_t which = fuzz_choose(file->choices, COUNT(others) + 2);
    return which < COUNT(others) ? others[which] : which == COUNT(others) ? number - 1 : number + 1;
}

static void put_chunk(struct file *file, const char *id, const uint8_t *data, size_t size) {
    put(file, id, 4);
    put_number(file, vary(file, size), 4);
    put(file, data, size);
    if (size % 2 > 0 && !is_odd(file)) {
        put(file, "", 1);
    }
}

static void put_format(struct file *file) {
    static const uint8_t guid[14] = {0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
    static const uint32_t kinds[][2] = {{1, 16}, {1, 8},  {1, 24}, {1, 32},
                                        {3, 32}, {3, 64}, {7, 8},  {1, 12}};
    static const uint32_t rates[] = {16000, 44100, 48000, 8000, 11025, 1000, 768000, 22049};
    static const uint32_t channels[] = {1, 2, 3, 64, 6};
    static const size_t sizes[] = {16, 18, 40};
    struct fuzz_choices *choices = file->choices;
    const uint32_t *kind = kinds[fuzz_choose(choices, COUNT(kinds))];
    const uint32_t rate = rates[fuzz_choose(choices, COUNT(rates))];
    const uint32_t count = channels[fuzz_choose(choices, COUNT(channels))];
    const size_t size = sizes[fuzz_choose(choices, COUNT(sizes))];
    struct file made = {.choices = choices};
    put_number(&made, vary(&made, size == 40 ? 0xfffe : kind[0]), 2);
    put_number(&made, vary(&made, count), 2);
    put_number(&made, vary(&made, rate), 4);
    put_number(&made, vary(&made, rate * count * kind[1] / 8), 4);
    put_number(&made, vary(&made, count * kind[1] / 8), 2);
    put_number(&made, kind[1], 2);
    put_number(&made, vary(&made, size - 18), 2);
    put_number(&made, vary(&made, kind[1]), 2);
    put_number(&made, 0, 4);
    put_number(&made, vary(&made, kind[0]), 2);
    put(&made, guid, sizeof guid);
    put_chunk(file, "fmt ", made.bytes, size);
}

/* Bytes that are any samples: of floats, whose upper ones say how large they are, mostly small. */
static void put_data(struct file *file) {
    uint8_t data[256];
    const size_t size = (size_t)fuzz_choose(file->choices, 33) * 8 % (sizeof data + 1);
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)fuzz_choose(file->choices, 256);
        data[i] = i % 4 == 3 && data[i] < 240 ? data[i] & 0xbf : data[i];
    }
    put_chunk(file, "data", data, size);
}

static void put_sizes(struct file *file) {
    struct file made = {.choices = file->choices};
    const uint32_t entries = fuzz_choose(file->choices, 3);
    put_number(&made, vary(&made, UINT64_MAX), 8);
    put_number(&made, vary(&made, UINT64_MAX), 8);
    put_number(&made, 0, 8);
    put_number(&made, vary(&made, entries), 4);
    for (uint32_t i = 0; i < entries; i++) {
        put(&made, i == 0 ? "LIST" : "data", 4);
        put_number(&made, vary(&made, 5), 8);
    }
    put_chunk(file, "ds64", made.bytes, made.size);
}

static void put_file(struct file *file) {
    static const char *const heads[] = {"RIFF", "RF64", "BW64", "RIFX"};
    static const char *const orders[] = {"fd", "Lfd", "fLd", "dfL", "fdL", "f", "d", "ffd", "fddL"};
    const uint32_t head = fuzz_choose(file->choices, COUNT(heads));
    const char *order = orders[fuzz_choose(file->choices, COUNT(orders))];
    put(file, heads[head], 4);
    put_number(file, 0, 4);
    put(file, is_odd(file) ? "AVI " : "WAVE", 4);
    if (head == 1 || head == 2) {
        put_sizes(file);
    }
    for (; *order != '\0'; order++) {
        if (*order == 'f') {
            put_format(file);
        } else if (*order == 'd') {
            put_data(file);
        } else {
            put_chunk(file, "LIST", (const uint8_t *)"five?", 5);
        }
    }
    weft_store_bytes(file->bytes + 4, vary(file, file->size - 8), 4);
}

/* ---- what comes of them ---- */

static void expect_samples(const weft_sound *sound, double most) {
    for (uint64_t i = 0; i < sound->count; i++) {
        fuzz_expect(fabs((double)sound->samples[i]) <= most);
    }
}

static double largest(const weft_sound *sound) {
    double most = 0.0;
    for (uint64_t i = 0; i < sound->count; i++) {
        most = fmax(most, fabs((double)sound->samples[i]));
    }
    return most;
}

/* A filter's taps are less than five together, whatever their signs. */
static void change_rate(weft_sound *sound, uint32_t rate, const weft_host *host) {
    const uint64_t count = (sound->count * rate + sound->rate - 1) / sound->rate;
    const double most = largest(sound);
    if (count > MOST_OUTPUTS) {
        return;
    }
    fuzz_expect(weft_sound_resample(sound, rate, host) == WEFT_OK);
    fuzz_expect(sound->count == count && sound->rate == rate && !sound->samples == (count == 0));
    if (most < 1e37) {
        expect_samples(sound, 5.0 * most);
    }
}

static void try_file(const uint8_t *data, size_t size, uint32_t rate, bool changes) {
    size_t left = 0, small = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    weft_sound sound = {.rate = 0}, same = {.rate = 0};
    const weft_status status = weft_sound_read_memory(&sound, data, size, "fuzz.wav", &host);
    fuzz_expect(status == WEFT_OK || status == WEFT_BAD_FILE || status == WEFT_UNSUPPORTED);
    const weft_host other = fuzz_small_host(&small, 4 * size + SLACK);
    fuzz_expect(weft_sound_read(&same, fuzz_file(data, size), &other) == status);
    if (status == WEFT_OK) {
        fuzz_expect(sound.count <= size && sound.count == same.count && sound.rate == same.rate);
        fuzz_expect(sound.rate >= 1000 && sound.rate <= 768000);
        fuzz_expect(sound.count == 0 ||
                    memcmp(sound.samples, same.samples, sound.count * sizeof(float)) == 0);
        expect_samples(&sound, 3.5e38);
    }
    if (status == WEFT_OK && changes) {
        change_rate(&sound, rate, &host);
    }
    weft_sound_clear(&sound, &host);
    weft_sound_clear(&same, &other);
    fuzz_expect(left == MEMORY && small == 4 * size + SLACK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint32_t rates[] = {16000, 44100, 8000, 1, 768000, 16001, 5};
    struct fuzz_choices choices = {.data = data, .size = size};
    const uint32_t rate = rates[fuzz_choose(&choices, COUNT(rates))];
    const bool is_made = fuzz_choose(&choices, 4) > 0, changes = fuzz_choose(&choices, 4) == 0;
    if (!is_made) {
        try_file(data + choices.at, size - choices.at, rate, changes);
        return 0;
    }
    struct file file = {.choices = &choices};
    put_file(&file);
    const size_t cut = is_odd(&file) ? fuzz_choose(&choices, 256) : 0;
    try_file(file.bytes, cut < file.size ? file.size - cut : 0, rate, changes);
    return 0;
}
