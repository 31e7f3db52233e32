/* SPDX-License-Identifier: MIT */
#include "native/link.h"

#include <math.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "native/kernel.h"
#include "native/relocate.h"

#define IMAGE_LIMIT \
    ((uint64_t)1 << 26) /* bytes: everything stays within reach of a call, ±128 MiB on AArch64 */
#define ALIGNMENT_LIMIT 4096u /* the least page */
#define STUB_SIZE       16u

#ifdef _WIN32 /* in the convention of kernels, which is not that of the C library */
static WEFT_NATIVE_ABI void *copy(void *to, const void *from, size_t size) {
    return memcpy(to, from, size);
}

static WEFT_NATIVE_ABI void *move(void *to, const void *from, size_t size) {
    return memmove(to, from, size);
}

static WEFT_NATIVE_ABI void *set(void *to, int value, size_t size) {
    return memset(to, value, size);
}

static WEFT_NATIVE_ABI float nearest(float x) {
    return rintf(x);
}

static WEFT_NATIVE_ABI float down(float x) {
    return floorf(x);
}

static WEFT_NATIVE_ABI float up(float x) {
    return ceilf(x);
}

static WEFT_NATIVE_ABI float to_zero(float x) {
    return truncf(x);
}
#else
#define copy    memcpy
#define move    memmove
#define set     memset
#define nearest rintf
#define down    floorf
#define up      ceilf
#define to_zero truncf
#endif

/*
 * Functions of the host that code may call: compilers call them for plain copies, and for rounding on x86-64 without
 * SSE4.1.
 */
typedef void (*function)(void);
static const struct {
    const char *name;
    function address;
} imports[] = {
    {"memcpy", (function)copy},    {"memmove", (function)move}, {"memset", (function)set},
    {"rintf", (function)nearest},  {"floorf", (function)down},  {"ceilf", (function)up},
    {"truncf", (function)to_zero},
};

#define IMPORT_COUNT (sizeof imports / sizeof *imports)

static weft_status bad(const weft_host *host, const char *name, const char *what) {
    return weft_fail(host, WEFT_BAD_FILE, "native code: %s %s", name, what);
}

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* ---- which sections are loaded ---- */

enum part { LEFT_OUT, TEXT, CONSTANTS };

/* Unwinding tables and notes are for debuggers: nothing unwinds through a kernel. */
static bool is_loaded(const struct weft_elf_section *section) {
    return (section->flags & WEFT_ELF_ALLOC) != 0 && section->size != 0 &&
           section->type != WEFT_ELF_NOTE && section->type != WEFT_ELF_X86_64_UNWIND &&
           strcmp(section->name, ".eh_frame") != 0;
}

static weft_status classify(enum part *part, const struct weft_elf_section *section,
                            const weft_host *host) {
    *part = LEFT_OUT;
    if (!is_loaded(section)) {
        return WEFT_OK;
    }
    if (section->type != WEFT_ELF_PROGBITS ||
        (section->flags & (WEFT_ELF_TLS | WEFT_ELF_COMPRESSED)) != 0) {
        return bad(host, section->name, "is a section that is neither code nor constants");
    }
    /* Constants that hold addresses are written once, here. */
    if ((section->flags & WEFT_ELF_WRITE) != 0 && !starts_with(section->name, ".data.rel.ro")) {
        return bad(host, section->name, "is a section of variables");
    }
    const bool code = (section->flags & WEFT_ELF_EXECINSTR) != 0;
    if (code && (section->flags & WEFT_ELF_WRITE) != 0) {
        return bad(host, section->name, "is code that is written");
    }
    if (section->alignment > ALIGNMENT_LIMIT ||
        (section->alignment & (section->alignment - 1)) != 0) {
        return bad(host, section->name, "has an alignment that is no power of two up to 4096");
    }
    *part = code ? TEXT : CONSTANTS;
    return WEFT_OK;
}

/* ---- where they lie ---- */

static uint64_t round_up(uint64_t size, uint64_t unit) {
    return (size + unit - 1) & ~(unit - 1);
}

static weft_status check_size(uint64_t size, const weft_host *host) {
    return size <= IMAGE_LIMIT
               ? WEFT_OK
               : weft_fail(host, WEFT_BAD_FILE, "native code: larger than %llu bytes",
                           (unsigned long long)IMAGE_LIMIT);
}

/* Appends the sections of a part behind *end. */
static weft_status place_sections(const struct weft_native_layout *layout, uint64_t *end,
                                  enum part wanted, const weft_host *host) {
    for (uint32_t i = 0; i < layout->elf->section_count; i++) {
        const struct weft_elf_section section = weft_elf_section_at(layout->elf, i);
        enum part part = LEFT_OUT;
        WEFT_TRY(classify(&part, &section, host));
        if (part != wanted) {
            continue;
        }
        *end = round_up(*end, section.alignment > 0 ? section.alignment : 1);
        WEFT_TRY(check_size(section.size, host));
        WEFT_TRY(check_size(*end + section.size, host));
        layout->sections[i] = (size_t)*end;
        *end += section.size;
    }
    return WEFT_OK;
}

static bool is_placed(const struct weft_native_layout *layout, uint32_t section) {
    return section < layout->elf->section_count && layout->sections[section] != SIZE_MAX;
}

static uint64_t relocation_count(const struct weft_elf_section *section) {
    return section->size / WEFT_ELF_RELOCATION_SIZE;
}

/* Sets *about if the section has relocations for a loaded one; fails for relocations of an unknown form. */
static weft_status is_about_image(bool *about, const struct weft_native_layout *layout,
                                  const struct weft_elf_section *section, const weft_host *host) {
    const bool other = section->type == WEFT_ELF_REL || section->type == WEFT_ELF_CREL;
    *about = (section->type == WEFT_ELF_RELA || other) && is_placed(layout, section->info);
    if (*about && (other || section->entry_size != WEFT_ELF_RELOCATION_SIZE ||
                   section->link != layout->elf->symbol_section)) {
        return bad(host, section->name, "has relocations that are not known");
    }
    return WEFT_OK;
}

/* Sets *wanted if slots are needed. Overlapping tables of relocations would take forever. */
static weft_status find_slots(bool *wanted, const struct weft_native_layout *layout,
                              const weft_host *host) {
    uint64_t total = 0;
    *wanted = false;
    for (uint32_t i = 0; i < layout->elf->section_count; i++) {
        const struct weft_elf_section section = weft_elf_section_at(layout->elf, i);
        bool about = false;
        WEFT_TRY(is_about_image(&about, layout, &section, host));
        total += about ? relocation_count(&section) : 0;
        if (total > layout->elf->size / WEFT_ELF_RELOCATION_SIZE) {
            return bad(host, section.name, "has more relocations than there is room for");
        }
        for (uint64_t k = 0; about && !*wanted && k < relocation_count(&section); k++) {
            *wanted = weft_native_relocation_wants_slot(
                layout->elf->machine, weft_elf_relocation_at(layout->elf, &section, k).type);
        }
    }
    return WEFT_OK;
}

static weft_status place(struct weft_native_layout *layout, size_t page, const weft_host *host) {
    uint64_t end = 0;
    bool slots = false;
    WEFT_TRY(place_sections(layout, &end, TEXT, host));
    layout->stubs = (size_t)round_up(end, STUB_SIZE);
    end = round_up(layout->stubs + IMPORT_COUNT * STUB_SIZE, page);
    layout->text_size = (size_t)end;
    WEFT_TRY(place_sections(layout, &end, CONSTANTS, host));
    WEFT_TRY(find_slots(&slots, layout, host));
    if (slots) {
        layout->slots = (size_t)round_up(end, 8);
        end = layout->slots + 8 * (uint64_t)layout->elf->symbol_count;
    }
    layout->size = (size_t)round_up(end, page);
    return check_size(layout->size, host);
}

static weft_status find_entry(struct weft_native_layout *layout, const weft_host *host) {
    const struct weft_elf *elf = layout->elf;
    for (uint32_t i = 0; i < elf->symbol_count; i++) {
        const struct weft_elf_symbol symbol = weft_elf_symbol_at(elf, i);
        if (strcmp(symbol.name, WEFT_NATIVE_ENTRY) != 0 || !is_placed(layout, symbol.section)) {
            continue;
        }
        const struct weft_elf_section section = weft_elf_section_at(elf, symbol.section);
        if ((section.flags & WEFT_ELF_EXECINSTR) != 0 && symbol.value < section.size &&
            (elf->machine != WEFT_ELF_AARCH64 || symbol.value % 4 == 0)) {
            layout->entry = layout->sections[symbol.section] + (size_t)symbol.value;
            return WEFT_OK;
        }
    }
    return weft_fail(host, WEFT_BAD_FILE, "native code: does not define the function %s",
                     WEFT_NATIVE_ENTRY);
}

weft_status weft_native_layout_make(struct weft_native_layout *layout, const struct weft_elf *elf,
                                    size_t page, const weft_host *host) {
    *layout = (struct weft_native_layout){.elf = elf};
    if (elf->machine != WEFT_ELF_X86_64 && elf->machine != WEFT_ELF_AARCH64) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "native code: made for the ELF machine %u, which is not known",
                         elf->machine);
    }
    layout->sections = weft_alloc(host, elf->section_count * sizeof *layout->sections);
    if (!layout->sections) {
        return weft_fail_memory(host, "native code");
    }
    for (uint32_t i = 0; i < elf->section_count; i++) {
        layout->sections[i] = SIZE_MAX;
    }
    weft_status status = place(layout, page, host);
    if (status == WEFT_OK) {
        status = find_entry(layout, host);
    }
    if (status != WEFT_OK) {
        weft_native_layout_free(layout, host);
    }
    return status;
}

void weft_native_layout_free(struct weft_native_layout *layout, const weft_host *host) {
    weft_free(host, layout->sections);
    layout->sections = NULL;
}

/* ---- what is in them ---- */

/* A jump to an address that stands behind it: the host's functions may be out of a call's reach. */
static void write_stub(uint8_t *stub, uint32_t machine, uint64_t address) {
    static const uint8_t x86_64[8] = {0xFF, 0x25, 2, 0, 0, 0, 0x0F, 0x0B}; /* jmp *2(%rip); ud2 */
    static const uint8_t aarch64[8] = {0x50, 0, 0,    0x58,
                                       0,    2, 0x1F, 0xD6}; /* ldr x16, #8; br x16 */
    memcpy(stub, machine == WEFT_ELF_AARCH64 ? aarch64 : x86_64, 8);
    weft_store_bytes(stub + 8, address, 8);
}

/* The address that a symbol has where the image lies. */
static weft_status find_symbol(uint64_t *address, const uint8_t *image,
                               const struct weft_native_layout *layout, uint32_t index,
                               const weft_host *host) {
    if (index == 0 || index >= layout->elf->symbol_count) {
        return bad(host, "a relocation", "is about a symbol that is not there");
    }
    const struct weft_elf_symbol symbol = weft_elf_symbol_at(layout->elf, index);
    if (symbol.section == 0) {
        for (size_t i = 0; i < IMPORT_COUNT; i++) {
            if (strcmp(symbol.name, imports[i].name) == 0) {
                *address = (uintptr_t)(image + layout->stubs + i * STUB_SIZE);
                return WEFT_OK;
            }
        }
        return bad(host, symbol.name, "is a function that it needs and that is not there");
    }
    if (!is_placed(layout, symbol.section) ||
        symbol.value > weft_elf_section_at(layout->elf, symbol.section).size) {
        return bad(host, symbol.name[0] != '\0' ? symbol.name : "a symbol",
                   "is in no section that is loaded");
    }
    *address = (uintptr_t)(image + layout->sections[symbol.section]) + symbol.value;
    return WEFT_OK;
}

static weft_status apply(uint8_t *image, const struct weft_native_layout *layout,
                         const struct weft_elf_section *target, size_t target_at,
                         const struct weft_elf_relocation *relocation, const weft_host *host) {
    uint64_t address = 0;
    WEFT_TRY(find_symbol(&address, image, layout, relocation->symbol, host));
    if (relocation->offset > target->size) {
        return bad(host, target->name, "has a relocation that begins beyond it");
    }
    if (weft_native_relocation_wants_slot(layout->elf->machine, relocation->type)) {
        uint8_t *slot = image + layout->slots + 8 * (size_t)relocation->symbol;
        weft_store_bytes(slot, address, 8);
        address = (uintptr_t)slot;
    }
    uint8_t *bytes = image + target_at + (size_t)relocation->offset;
    const struct weft_native_place where = {
        .bytes = bytes, .room = target->size - relocation->offset, .address = (uintptr_t)bytes};
    const char *fault = weft_native_relocate(&where, layout->elf->machine, relocation->type,
                                             address + relocation->addend);
    return fault ? weft_fail(host, WEFT_BAD_FILE, "native code: %s: relocation %u at byte %llu %s",
                             target->name, relocation->type, (unsigned long long)relocation->offset,
                             fault)
                 : WEFT_OK;
}

static weft_status apply_all(uint8_t *image, const struct weft_native_layout *layout,
                             const struct weft_elf_section *section, const weft_host *host) {
    bool about = false;
    WEFT_TRY(is_about_image(&about, layout, section, host));
    if (!about) {
        return WEFT_OK;
    }
    const struct weft_elf_section target = weft_elf_section_at(layout->elf, section->info);
    for (uint64_t i = 0; i < relocation_count(section); i++) {
        const struct weft_elf_relocation relocation =
            weft_elf_relocation_at(layout->elf, section, i);
        WEFT_TRY(apply(image, layout, &target, layout->sections[section->info], &relocation, host));
    }
    return WEFT_OK;
}

weft_status weft_native_link(uint8_t *image, const struct weft_native_layout *layout,
                             const weft_host *host) {
    const struct weft_elf *elf = layout->elf;
    for (uint32_t i = 0; i < elf->section_count; i++) {
        if (is_placed(layout, i)) {
            const struct weft_elf_section section = weft_elf_section_at(elf, i);
            memcpy(image + layout->sections[i], elf->bytes + section.offset, (size_t)section.size);
        }
    }
    for (size_t i = 0; i < IMPORT_COUNT; i++) {
        write_stub(image + layout->stubs + i * STUB_SIZE, elf->machine,
                   (uintptr_t)imports[i].address);
    }
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const struct weft_elf_section section = weft_elf_section_at(elf, i);
        WEFT_TRY(apply_all(image, layout, &section, host));
    }
    return WEFT_OK;
}
