/* SPDX-License-Identifier: MIT */
#include "native/llvm/build_id.h"

#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/system/system.h"
#include "native/elf.h"

/* The gABI, chapters 4 and 5: of files of 64 bits, little-endian. */
enum { HEADER_SIZE = 64, PROGRAM_SIZE = 56, NOTE_HEADER_SIZE = 12 };
enum { PROGRAM_NOTE = 4, NOTE_BUILD_ID = 3 };
enum { MOST_PROGRAMS = 64, MOST_NOTES = 4096, MOST_ID = 32 };

/* Not weft_native_machine, which would settle what a program may still choose. */
#ifdef __aarch64__
enum { MACHINE = WEFT_ELF_AARCH64 };
#else
enum { MACHINE = WEFT_ELF_X86_64 };
#endif

static bool read_at(int file, uint64_t offset, uint8_t *bytes, size_t size) {
    size_t count = 0;
    return weft_system_read_at(&count, file, bytes, size, offset) == 0 && count == size;
}

static bool is_for_this_processor(const uint8_t *header) {
    static const uint8_t start[] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
    return memcmp(header, start, sizeof start) == 0 && weft_load_bytes(header + 18, 2) == MACHINE;
}

static size_t round_up(size_t size) {
    return (size + 3) & ~(size_t)3;
}

/* In a segment of notes. */
static bool find_id(char *id, size_t size, const uint8_t *notes, size_t length) {
    for (size_t at = 0; length - at >= NOTE_HEADER_SIZE;) {
        const size_t name = (size_t)weft_load_bytes(notes + at, 4);
        const size_t bytes = (size_t)weft_load_bytes(notes + at + 4, 4);
        const uint64_t type = weft_load_bytes(notes + at + 8, 4);
        const size_t left = length - at - NOTE_HEADER_SIZE;
        if (name > left || bytes > left || round_up(name) + round_up(bytes) > left) {
            return false;
        }
        const uint8_t *text = notes + at + NOTE_HEADER_SIZE;
        at += NOTE_HEADER_SIZE + round_up(name) + round_up(bytes);
        if (type != NOTE_BUILD_ID || name != 4 || memcmp(text, "GNU", 4) != 0 || bytes == 0 ||
            bytes > MOST_ID || size <= 2 * bytes) {
            continue;
        }
        for (size_t i = 0; i < bytes; i++) {
            (void)snprintf(id + 2 * i, size - 2 * i, "%02x", text[4 + i]);
        }
        return true;
    }
    return false;
}

static bool read_id(char *id, size_t size, int file, const uint8_t *header) {
    const uint64_t programs = weft_load_bytes(header + 32, 8);
    const uint64_t count = weft_load_bytes(header + 56, 2);
    uint8_t program[PROGRAM_SIZE], notes[MOST_NOTES];
    if (weft_load_bytes(header + 54, 2) != PROGRAM_SIZE || programs > INT64_MAX / 2) {
        return false;
    }
    for (uint64_t i = 0; i < count && i < MOST_PROGRAMS; i++) {
        if (!read_at(file, programs + i * PROGRAM_SIZE, program, sizeof program)) {
            return false;
        }
        const uint64_t length = weft_load_bytes(program + 32, 8);
        if (weft_load_bytes(program, 4) == PROGRAM_NOTE && length <= sizeof notes &&
            read_at(file, weft_load_bytes(program + 8, 8), notes, (size_t)length) &&
            find_id(id, size, notes, (size_t)length)) {
            return true;
        }
    }
    return false;
}

bool weft_build_id(char *id, size_t size, const char *path) {
    uint8_t header[HEADER_SIZE];
    weft_file_facts facts;
    int file = -1;
    if (weft_system_open(&file, path, WEFT_OPEN_READ_AT_ONCE) != 0) {
        return false;
    }
    const bool fits = weft_system_facts_of(&facts, file) == 0 && facts.kind == WEFT_FILE_REGULAR &&
                      read_at(file, 0, header, sizeof header) && is_for_this_processor(header);
    if (fits && !read_id(id, size, file, header)) {
        (void)snprintf(id, size, "%llu bytes", (unsigned long long)facts.size);
    }
    (void)weft_system_close(file);
    return fits;
}
