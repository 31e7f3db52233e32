/* SPDX-License-Identifier: MIT */
/* MessagePack, as far as the metadata of code objects has it. */
#include <stdio.h>
#include <string.h>

#include "code_object.h"

struct reader {
    const uint8_t *at, *end;
    bool failed;
};

enum kind { NUMBER, TEXT, MAP, ARRAY, OTHER };

struct item {
    enum kind kind;
    uint64_t number;     /* or how many elements */
    const uint8_t *text; /* number bytes */
};

enum { DEEPEST = 16 };

static uint64_t take(struct reader *reader, uint32_t bytes) {
    uint64_t value = 0;
    if ((size_t)(reader->end - reader->at) < bytes) {
        reader->failed = true;
        return 0;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        value = value << 8 | *reader->at++;
    }
    return value;
}

static struct item take_text(struct reader *reader, uint64_t size) {
    const struct item item = {.kind = TEXT, .number = size, .text = reader->at};
    if ((uint64_t)(reader->end - reader->at) < size) {
        reader->failed = true;
    } else {
        reader->at += size;
    }
    return item;
}

static struct item next(struct reader *reader) {
    const uint32_t first = (uint32_t)take(reader, 1);
    if (first < 0x80) {
        return (struct item){.kind = NUMBER, .number = first};
    }
    if (first < 0x90 || first == 0xde || first == 0xdf) {
        const uint64_t count = first < 0x90 ? first & 15u : take(reader, first == 0xde ? 2 : 4);
        return (struct item){.kind = MAP, .number = count};
    }
    if (first < 0xa0 || first == 0xdc || first == 0xdd) {
        const uint64_t count = first < 0xa0 ? first & 15u : take(reader, first == 0xdc ? 2 : 4);
        return (struct item){.kind = ARRAY, .number = count};
    }
    if (first < 0xc0) {
        return take_text(reader, first & 31u);
    }
    if (first >= 0xd9 && first <= 0xdb) {
        return take_text(reader, take(reader, 1u << (first - 0xd9)));
    }
    if (first >= 0xcc && first <= 0xd3) {
        return (struct item){.kind = NUMBER, .number = take(reader, 1u << (first & 3u))};
    }
    reader->failed =
        reader->failed || !(first == 0xc0 || first == 0xc2 || first == 0xc3 || first >= 0xe0);
    return (struct item){.kind = OTHER};
}

static void skip(struct reader *reader, uint32_t depth) {
    const struct item item = next(reader);
    const uint64_t count = item.kind == MAP     ? 2 * item.number
                           : item.kind == ARRAY ? item.number
                                                : 0;
    reader->failed = reader->failed || depth == DEEPEST;
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        skip(reader, depth + 1);
    }
}

static bool is(const struct item *item, const char *text) {
    return item->kind == TEXT && item->number == strlen(text) &&
           memcmp(item->text, text, strlen(text)) == 0;
}

/* A reader at the value that a map has under a name. */
static bool find(struct reader *value, struct reader map, const char *name) {
    const struct item all = next(&map);
    for (uint64_t i = 0; all.kind == MAP && i < all.number && !map.failed; i++) {
        const struct item key = next(&map);
        if (is(&key, name)) {
            *value = map;
            return !map.failed;
        }
        skip(&map, 0);
    }
    return false;
}

static bool find_number(uint32_t *number, const struct reader *map, const char *name) {
    struct reader value;
    if (!find(&value, *map, name)) {
        return false;
    }
    const struct item item = next(&value);
    *number = (uint32_t)item.number;
    return item.kind == NUMBER && item.number <= UINT32_MAX && !value.failed;
}

static bool find_text(const struct reader *map, const char *name, const char *text) {
    struct reader value;
    if (!find(&value, *map, name)) {
        return false;
    }
    const struct item item = next(&value);
    return is(&item, text);
}

static bool read_argument(struct amd_argument *argument, const struct reader *map) {
    argument->is_buffer = find_text(map, ".value_kind", "global_buffer");
    return (argument->is_buffer || find_text(map, ".value_kind", "by_value")) &&
           find_number(&argument->offset, map, ".offset") &&
           find_number(&argument->size, map, ".size");
}

/* Hidden arguments, which this GPU has none of, are refused as any other kind is. */
static bool read_arguments(struct amd_program *program, const struct reader *kernel) {
    struct reader list;
    if (!find(&list, *kernel, ".args")) {
        return true;
    }
    const struct item all = next(&list);
    program->argument_count = (uint32_t)all.number;
    if (all.kind != ARRAY || all.number > AMD_BUFFERS) {
        return false;
    }
    for (uint32_t i = 0; i < program->argument_count; i++) {
        if (!read_argument(&program->arguments[i], &list)) {
            return false;
        }
        skip(&list, 0);
    }
    return !list.failed;
}

static bool read_sizes(struct amd_program *program, const struct reader *kernel) {
    struct reader list;
    if (!find(&list, *kernel, ".reqd_workgroup_size")) {
        return false;
    }
    const struct item all = next(&list);
    for (uint32_t i = 0; i < 3; i++) {
        const struct item size = next(&list);
        program->local_size[i] = (uint32_t)size.number;
        if (size.kind != NUMBER || size.number == 0 || size.number > 1024) {
            return false;
        }
    }
    return all.kind == ARRAY && all.number == 3 && !list.failed;
}

bool amd_metadata_read(struct amd_program *program, const uint8_t *bytes, size_t size,
                       const char *name, char error[AMD_TEXT]) {
    const struct reader whole = {.at = bytes, .end = bytes + size};
    struct reader kernels;
    uint64_t count = 0;
    if (find(&kernels, whole, "amdhsa.kernels")) {
        const struct item list = next(&kernels);
        count = list.kind == ARRAY ? list.number : 0;
    }
    for (uint64_t i = 0; i < count && !kernels.failed; i++) {
        if (find_text(&kernels, ".name", name)) {
            const bool fits = read_arguments(program, &kernels) && read_sizes(program, &kernels);
            (void)snprintf(error, AMD_TEXT,
                           "%s has arguments or a workgroup that are not known here", name);
            return fits;
        }
        skip(&kernels, 0);
    }
    (void)snprintf(error, AMD_TEXT, "the metadata does not have %s", name);
    return false;
}
