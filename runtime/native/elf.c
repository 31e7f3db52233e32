/* SPDX-License-Identifier: MIT */
#include "native/elf.h"

#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

#define RELOCATABLE 1u

static uint64_t load(const struct weft_elf *elf, uint64_t at, size_t count) {
    return weft_load_bytes(elf->bytes + at, count);
}

static bool is_in_file(const struct weft_elf *elf, uint64_t offset, uint64_t size) {
    return offset <= elf->size && size <= elf->size - offset;
}

static weft_status bad(const weft_host *host, const char *what) {
    return weft_fail(host, WEFT_BAD_FILE, "native code: its ELF object %s", what);
}

/* A name in a table that is in the file and ends with a zero byte. */
static const char *name_at(const struct weft_elf *elf, uint64_t table, uint64_t size, uint64_t at) {
    return at < size ? (const char *)elf->bytes + table + at : "";
}

static weft_status check_header(struct weft_elf *elf, const weft_host *host) {
    /* 64 bits, little-endian, version 1 */
    static const uint8_t start[] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
    if (elf->size < WEFT_ELF_HEADER_SIZE || memcmp(elf->bytes, start, sizeof start) != 0 ||
        load(elf, 16, 2) != RELOCATABLE) {
        return bad(host, "is no relocatable one of 64 bits, little-endian");
    }
    elf->machine = (uint32_t)load(elf, 18, 2);
    elf->sections_at = load(elf, 40, 8);
    elf->section_count = (uint32_t)load(elf, 60, 2);
    if (load(elf, 58, 2) != WEFT_ELF_SECTION_HEADER_SIZE || elf->section_count == 0 ||
        !is_in_file(elf, elf->sections_at,
                    (uint64_t)elf->section_count * WEFT_ELF_SECTION_HEADER_SIZE)) {
        return bad(host, "has no section headers in the file");
    }
    return WEFT_OK;
}

static weft_status check_sections(const struct weft_elf *elf, const weft_host *host) {
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const struct weft_elf_section section = weft_elf_section_at(elf, i);
        if (section.type != WEFT_ELF_NOBITS && !is_in_file(elf, section.offset, section.size)) {
            return bad(host, "has a section that ends beyond the file");
        }
    }
    return WEFT_OK;
}

/* A table of names: it ends with a zero byte, and so do all names in it. */
static weft_status check_names(uint64_t *at, uint64_t *size, const struct weft_elf *elf,
                               uint32_t index, const weft_host *host) {
    const struct weft_elf_section section =
        index < elf->section_count ? weft_elf_section_at(elf, index) : (struct weft_elf_section){0};
    if (section.type != WEFT_ELF_STRTAB || section.size == 0 ||
        load(elf, section.offset + section.size - 1, 1) != 0) {
        return bad(host, "has no proper table of names");
    }
    *at = section.offset;
    *size = section.size;
    return WEFT_OK;
}

static weft_status find_symbols(struct weft_elf *elf, const weft_host *host) {
    for (uint32_t i = 1; i < elf->section_count; i++) {
        const struct weft_elf_section section = weft_elf_section_at(elf, i);
        if (section.type != WEFT_ELF_SYMTAB) {
            continue;
        }
        if (elf->symbol_section != 0 || section.entry_size != WEFT_ELF_SYMBOL_SIZE ||
            section.size / WEFT_ELF_SYMBOL_SIZE > UINT32_MAX) {
            return bad(host, "has no proper symbol table");
        }
        WEFT_TRY(
            check_names(&elf->symbol_names_at, &elf->symbol_names_size, elf, section.link, host));
        elf->symbol_section = i;
        elf->symbols_at = section.offset;
        elf->symbol_count = (uint32_t)(section.size / WEFT_ELF_SYMBOL_SIZE);
    }
    return WEFT_OK;
}

weft_status weft_elf_open(struct weft_elf *elf, const uint8_t *bytes, size_t size,
                          const weft_host *host) {
    *elf = (struct weft_elf){.bytes = bytes, .size = size};
    WEFT_TRY(check_header(elf, host));
    WEFT_TRY(check_sections(elf, host));
    WEFT_TRY(check_names(&elf->names_at, &elf->names_size, elf, (uint32_t)load(elf, 62, 2), host));
    return find_symbols(elf, host);
}

struct weft_elf_section weft_elf_section_at(const struct weft_elf *elf, uint32_t index) {
    const uint64_t at = elf->sections_at + (uint64_t)index * WEFT_ELF_SECTION_HEADER_SIZE;
    return (struct weft_elf_section){
        .name = name_at(elf, elf->names_at, elf->names_size, load(elf, at, 4)),
        .type = (uint32_t)load(elf, at + 4, 4),
        .flags = load(elf, at + 8, 8),
        .offset = load(elf, at + 24, 8),
        .size = load(elf, at + 32, 8),
        .link = (uint32_t)load(elf, at + 40, 4),
        .info = (uint32_t)load(elf, at + 44, 4),
        .alignment = load(elf, at + 48, 8),
        .entry_size = load(elf, at + 56, 8),
    };
}

struct weft_elf_symbol weft_elf_symbol_at(const struct weft_elf *elf, uint32_t index) {
    const uint64_t at = elf->symbols_at + (uint64_t)index * WEFT_ELF_SYMBOL_SIZE;
    return (struct weft_elf_symbol){
        .name = name_at(elf, elf->symbol_names_at, elf->symbol_names_size, load(elf, at, 4)),
        .section = (uint32_t)load(elf, at + 6, 2),
        .value = load(elf, at + 8, 8),
    };
}

struct weft_elf_relocation weft_elf_relocation_at(const struct weft_elf *elf,
                                                  const struct weft_elf_section *section,
                                                  uint64_t index) {
    const uint64_t at = section->offset + index * WEFT_ELF_RELOCATION_SIZE;
    return (struct weft_elf_relocation){
        .offset = load(elf, at, 8),
        .type = (uint32_t)load(elf, at + 8, 4),
        .symbol = (uint32_t)load(elf, at + 12, 4),
        .addend = load(elf, at + 16, 8),
    };
}
