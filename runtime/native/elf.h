/* SPDX-License-Identifier: MIT */
/*
 * Reading relocatable ELF objects of 64 bits, little-endian (the gABI, chapters 4 and 5): a check that headers and tables
 * hold together, and then their entries. Only what LLVM writes is known. The bytes need no alignment.
 */
#ifndef WEFT_NATIVE_ELF_H
#define WEFT_NATIVE_ELF_H

#include "core/host.h"

#define WEFT_ELF_HEADER_SIZE         64u
#define WEFT_ELF_SECTION_HEADER_SIZE 64u
#define WEFT_ELF_SYMBOL_SIZE         24u
#define WEFT_ELF_RELOCATION_SIZE     24u

enum { WEFT_ELF_X86_64 = 62, WEFT_ELF_AARCH64 = 183 };

/* Types of sections. */
enum {
    WEFT_ELF_PROGBITS = 1,
    WEFT_ELF_SYMTAB = 2,
    WEFT_ELF_STRTAB = 3,
    WEFT_ELF_RELA = 4,
    WEFT_ELF_NOTE = 7,
    WEFT_ELF_NOBITS = 8,
    WEFT_ELF_REL = 9,
    WEFT_ELF_CREL = 0x40000014,
    WEFT_ELF_X86_64_UNWIND = 0x70000001
};

/* Flags of sections. */
enum {
    WEFT_ELF_WRITE = 1,
    WEFT_ELF_ALLOC = 2,
    WEFT_ELF_EXECINSTR = 4,
    WEFT_ELF_TLS = 0x400,
    WEFT_ELF_COMPRESSED = 0x800
};

struct weft_elf_section {
    const char *name;
    uint32_t type;
    uint64_t flags;
    uint64_t offset, size; /* bytes of the file, but for WEFT_ELF_NOBITS */
    uint32_t link, info;
    uint64_t alignment;
    uint64_t entry_size;
};

struct weft_elf_symbol {
    const char *name;
    uint32_t section; /* 0: undefined; may be none of the file's sections */
    uint64_t value;   /* from the section's start */
};

struct weft_elf_relocation {
    uint64_t offset; /* from the section's start */
    uint32_t type;
    uint32_t symbol;
    uint64_t addend; /* modulo 2^64 */
};

struct weft_elf {
    const uint8_t *bytes;
    size_t size;
    uint32_t machine;
    uint32_t section_count;
    uint64_t sections_at;
    uint64_t names_at, names_size;
    uint32_t symbol_section; /* 0: none */
    uint32_t symbol_count;
    uint64_t symbols_at;
    uint64_t symbol_names_at, symbol_names_size;
};

/**
 * Errors: WEFT_BAD_FILE unless this is a relocatable object whose sections are in the file, with at most one symbol table
 * and names that end.
 */
weft_status weft_elf_open(struct weft_elf *elf, const uint8_t *bytes, size_t size,
                          const weft_host *host);

/** Section for index < elf->section_count. */
struct weft_elf_section weft_elf_section_at(const struct weft_elf *elf, uint32_t index);
/** Symbol for index < elf->symbol_count. */
struct weft_elf_symbol weft_elf_symbol_at(const struct weft_elf *elf, uint32_t index);
/** Relocation in a section of the type WEFT_ELF_RELA, for index < size / WEFT_ELF_RELOCATION_SIZE. */
struct weft_elf_relocation weft_elf_relocation_at(const struct weft_elf *elf,
                                                  const struct weft_elf_section *section,
                                                  uint64_t index);

#endif
