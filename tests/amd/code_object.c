/* SPDX-License-Identifier: MIT */
#include "code_object.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of AMDGPUUsage, "Relocation Records". */
enum { ABS32_LO = 1, ABS32_HI, ABS64, REL32, REL64, ABS32, REL32_LO = 10, REL32_HI };
enum { MOST_SECTIONS = 64, NOTE_METADATA = 32 };

struct file {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr header;
    Elf64_Shdr sections[MOST_SECTIONS];
    size_t places[MOST_SECTIONS]; /* where a section is loaded, or SIZE_MAX */
    uint32_t symbols;             /* section of symbols */
};

static bool fail(char error[AMD_TEXT], const char *what) {
    (void)snprintf(error, AMD_TEXT, "a code object with %s", what);
    return false;
}

static bool is_inside(const struct file *file, uint64_t at, uint64_t size) {
    return at <= file->size && file->size - at >= size;
}

static bool open_file(struct file *file, const uint8_t *bytes, size_t size, char error[AMD_TEXT]) {
    *file = (struct file){.bytes = bytes, .size = size};
    if (size < sizeof file->header || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
        return fail(error, "no ELF header");
    }
    memcpy(&file->header, bytes, sizeof file->header);
    const uint64_t count = file->header.e_shnum;
    if (file->header.e_machine != EM_AMDGPU || file->header.e_shentsize != sizeof(Elf64_Shdr) ||
        count > MOST_SECTIONS ||
        !is_inside(file, file->header.e_shoff, count * sizeof(Elf64_Shdr))) {
        return fail(error, "another machine, or too many sections");
    }
    memcpy(file->sections, bytes + file->header.e_shoff, count * sizeof(Elf64_Shdr));
    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Shdr *section = &file->sections[i];
        if (section->sh_type != SHT_NOBITS &&
            !is_inside(file, section->sh_offset, section->sh_size)) {
            return fail(error, "a section outside of it");
        }
        if (section->sh_type == SHT_SYMTAB) {
            file->symbols = i;
        }
    }
    return file->symbols != 0 || fail(error, "no symbols");
}

/* ---- sections in memory: the code first ---- */

static bool is_code(const Elf64_Shdr *section) {
    return (section->sh_flags & SHF_EXECINSTR) != 0;
}

static bool is_loaded(const Elf64_Shdr *section) {
    return (section->sh_flags & SHF_ALLOC) != 0 && section->sh_type == SHT_PROGBITS;
}

static bool place(struct amd_program *program, struct file *file, char error[AMD_TEXT]) {
    size_t size = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < file->header.e_shnum; i++) {
            const Elf64_Shdr *section = &file->sections[i];
            if (pass == 0) {
                file->places[i] = SIZE_MAX;
            }
            if (is_loaded(section) && is_code(section) == (pass == 0)) {
                file->places[i] = size;
                size += (section->sh_size + 255) & ~UINT64_C(255);
            }
        }
        program->code_size = pass == 0 ? size : program->code_size;
    }
    program->bytes = calloc(1, size + 1);
    program->of_word = malloc(program->code_size + 4);
    program->size = size;
    if (!program->bytes || !program->of_word) {
        return fail(error, "more than the memory holds");
    }
    memset(program->of_word, 0xff, program->code_size + 4);
    for (uint32_t i = 0; i < file->header.e_shnum; i++) {
        if (file->places[i] != SIZE_MAX) {
            memcpy(program->bytes + file->places[i], file->bytes + file->sections[i].sh_offset,
                   file->sections[i].sh_size);
        }
    }
    return true;
}

/* ---- symbols ---- */

static bool read_symbol(Elf64_Sym *symbol, size_t *where, const struct file *file, uint64_t index) {
    const Elf64_Shdr *section = &file->sections[file->symbols];
    if (index >= section->sh_size / sizeof *symbol) {
        return false;
    }
    memcpy(symbol, file->bytes + section->sh_offset + index * sizeof *symbol, sizeof *symbol);
    *where = symbol->st_shndx < file->header.e_shnum ? file->places[symbol->st_shndx] : SIZE_MAX;
    if (*where != SIZE_MAX) {
        *where += symbol->st_value;
    }
    return true;
}

static bool has_name(const struct file *file, const Elf64_Sym *symbol, const char *name) {
    const uint32_t link = file->sections[file->symbols].sh_link;
    const Elf64_Shdr *texts = &file->sections[link < file->header.e_shnum ? link : 0];
    const size_t length = strlen(name) + 1;
    return symbol->st_name < texts->sh_size && texts->sh_size - symbol->st_name >= length &&
           memcmp(file->bytes + texts->sh_offset + symbol->st_name, name, length) == 0;
}

static bool find_symbol(size_t *where, const struct file *file, const char *name) {
    Elf64_Sym symbol;
    for (uint64_t i = 0; read_symbol(&symbol, where, file, i); i++) {
        if (has_name(file, &symbol, name) && *where != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* ---- relocations ---- */

static bool relocate_one(struct amd_program *program, const struct file *file, size_t section,
                         const Elf64_Rela *entry, char error[AMD_TEXT]) {
    Elf64_Sym symbol;
    size_t where = 0;
    const uint32_t type = ELF64_R_TYPE(entry->r_info);
    const size_t at = file->places[section] + entry->r_offset;
    const uint32_t size = type == ABS64 || type == REL64 ? 8 : 4;
    if (!read_symbol(&symbol, &where, file, ELF64_R_SYM(entry->r_info)) || where == SIZE_MAX ||
        entry->r_offset > file->sections[section].sh_size ||
        file->sections[section].sh_size - entry->r_offset < size) {
        return fail(error, "a relocation to nothing");
    }
    const uint64_t base = AMD_ADDRESS(AMD_REGION_PROGRAM);
    const uint64_t absolute = base + where + (uint64_t)entry->r_addend;
    const uint64_t relative = absolute - (base + at);
    const uint64_t value = type == ABS64 || type == ABS32 || type == ABS32_LO ? absolute
                           : type == ABS32_HI                                 ? absolute >> 32
                           : type == REL32_HI                                 ? relative >> 32
                                                                              : relative;
    if (type == 0 || (type > ABS32 && type != REL32_LO && type != REL32_HI)) {
        (void)snprintf(error, AMD_TEXT, "a code object with a relocation of type %u", type);
        return false;
    }
    memcpy(program->bytes + at, &value, size);
    return true;
}

static bool relocate(struct amd_program *program, const struct file *file, char error[AMD_TEXT]) {
    for (uint32_t i = 0; i < file->header.e_shnum; i++) {
        const Elf64_Shdr *section = &file->sections[i];
        if (section->sh_type != SHT_RELA || section->sh_info >= file->header.e_shnum ||
            file->places[section->sh_info] == SIZE_MAX) {
            continue;
        }
        for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= section->sh_size;
             at += sizeof(Elf64_Rela)) {
            Elf64_Rela entry;
            memcpy(&entry, file->bytes + section->sh_offset + at, sizeof entry);
            if (!relocate_one(program, file, section->sh_info, &entry, error)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- descriptor, metadata, code ---- */

static uint32_t word_at(const struct amd_program *program, size_t at) {
    uint32_t word;
    memcpy(&word, program->bytes + at, sizeof word);
    return word;
}

/* AMDGPUUsage, "Code Object V3 Kernel Descriptor". */
static bool read_descriptor(struct amd_program *program, size_t at, size_t *entry,
                            char error[AMD_TEXT]) {
    int64_t offset = 0;
    if (at > program->size || program->size - at < 64) {
        return fail(error, "no kernel descriptor");
    }
    program->lds = word_at(program, at);
    program->private_bytes = word_at(program, at + 4);
    program->argument_bytes = word_at(program, at + 8);
    memcpy(&offset, program->bytes + at + 16, sizeof offset);
    program->resources1 = word_at(program, at + 48);
    program->resources2 = word_at(program, at + 52);
    program->properties = word_at(program, at + 56) & 0xffffu;
    *entry = at + (size_t)offset;
    const uint32_t granule = program->gpu->wave_size == 32 ? 8 : 4;
    program->vgprs = ((program->resources1 & 63u) + 1) * granule;
    const bool waves_of_32 = (program->properties >> 10 & 1u) != 0;
    if (program->lds > AMD_LDS_BYTES || program->private_bytes > AMD_SCRATCH_STEP / AMD_LANES ||
        program->vgprs > AMD_VGPRS || *entry >= program->code_size ||
        waves_of_32 != (program->gpu->wave_size == 32)) {
        return fail(error, "more memory, or other waves, than the GPU has");
    }
    return true;
}

static bool read_notes(struct amd_program *program, const struct file *file, const char *name,
                       char error[AMD_TEXT]) {
    for (uint32_t i = 0; i < file->header.e_shnum; i++) {
        const Elf64_Shdr *section = &file->sections[i];
        Elf64_Nhdr note;
        if (section->sh_type != SHT_NOTE || section->sh_size < sizeof note) {
            continue;
        }
        memcpy(&note, file->bytes + section->sh_offset, sizeof note);
        const uint64_t at = sizeof note + ((note.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
        if (note.n_type == NOTE_METADATA && at <= section->sh_size &&
            section->sh_size - at >= note.n_descsz) {
            return amd_metadata_read(program, file->bytes + section->sh_offset + at, note.n_descsz,
                                     name, error);
        }
    }
    return fail(error, "no metadata");
}

static bool decode(struct amd_program *program, const struct file *file, char error[AMD_TEXT]) {
    Elf64_Sym symbol;
    size_t where = 0;
    for (uint64_t i = 0; read_symbol(&symbol, &where, file, i); i++) {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || where == SIZE_MAX) {
            continue;
        }
        if (where > program->code_size || program->code_size - where < symbol.st_size) {
            return fail(error, "code outside of it");
        }
        if (!amd_decode(program, where, where + symbol.st_size, error)) {
            return false;
        }
    }
    return amd_decode_end(program, error);
}

bool amd_program_load(struct amd_program *program, const struct amd_gpu *gpu, const uint8_t *elf,
                      size_t size, const char *name, char error[AMD_TEXT]) {
    struct file file;
    char descriptor[64];
    size_t at = 0, entry = 0;
    *program = (struct amd_program){.gpu = gpu, .address = AMD_ADDRESS(AMD_REGION_PROGRAM)};
    (void)snprintf(descriptor, sizeof descriptor, "%s.kd", name);
    if (!open_file(&file, elf, size, error) || !place(program, &file, error) ||
        !relocate(program, &file, error)) {
        return false;
    }
    if (!find_symbol(&at, &file, descriptor)) {
        return fail(error, "no such kernel");
    }
    if (!read_descriptor(program, at, &entry, error) || !read_notes(program, &file, name, error) ||
        !decode(program, &file, error)) {
        return false;
    }
    program->entry = program->of_word[entry / 4];
    return program->entry != UINT32_MAX || fail(error, "no code at the kernel's entry");
}

void amd_program_free(struct amd_program *program) {
    free(program->bytes);
    free(program->instructions);
    free(program->of_word);
    *program = (struct amd_program){0};
}
