/* SPDX-License-Identifier: MIT */
#include "native/relocate.h"

#include <stddef.h>

#include "core/bytes.h"
#include "native/elf.h"

enum kind {
    ADDRESS,   /* the value */
    DISTANCE,  /* the value less the place's address */
    PC_FIELD,  /* the distance in bytes or words, in a field of an instruction */
    ADR,       /* the distance, in the two fields of ADR */
    ADRP,      /* the distance of pages, in the same fields of ADRP */
    PAGE_FIELD /* the value's place in its page, in a field of an instruction */
};

struct row {
    uint16_t type;
    uint8_t kind;  /* enum kind */
    uint8_t size;  /* bytes of what is written */
    uint8_t bits;  /* of a field, and where it begins */
    uint8_t at;    /* … */
    uint8_t shift; /* the value's bits that an instruction leaves away */
    bool slot;     /* the value is that of a slot */
};

static const struct row x86_64_rows[] = {
    {.type = 1, .kind = ADDRESS, .size = 8},                 /* R_X86_64_64 */
    {.type = 2, .kind = DISTANCE, .size = 4},                /* R_X86_64_PC32 */
    {.type = 4, .kind = DISTANCE, .size = 4},                /* R_X86_64_PLT32 */
    {.type = 9, .kind = DISTANCE, .size = 4, .slot = true},  /* R_X86_64_GOTPCREL */
    {.type = 24, .kind = DISTANCE, .size = 8},               /* R_X86_64_PC64 */
    {.type = 41, .kind = DISTANCE, .size = 4, .slot = true}, /* R_X86_64_GOTPCRELX */
    {.type = 42, .kind = DISTANCE, .size = 4, .slot = true}, /* R_X86_64_REX_GOTPCRELX */
};

#define FIELD(number, its_kind, width, begin, left_away)                                 \
    {                                                                                    \
        .type = (number), .kind = (its_kind), .size = 4, .bits = (width), .at = (begin), \
        .shift = (left_away)                                                             \
    }

static const struct row aarch64_rows[] = {
    {.type = 257, .kind = ADDRESS, .size = 8},            /* R_AARCH64_ABS64 */
    {.type = 260, .kind = DISTANCE, .size = 8},           /* R_AARCH64_PREL64 */
    {.type = 261, .kind = DISTANCE, .size = 4},           /* R_AARCH64_PREL32 */
    FIELD(273, PC_FIELD, 19, 5, 2),                       /* R_AARCH64_LD_PREL_LO19 */
    {.type = 274, .kind = ADR, .size = 4},                /* R_AARCH64_ADR_PREL_LO21 */
    {.type = 275, .kind = ADRP, .size = 4},               /* R_AARCH64_ADR_PREL_PG_HI21 */
    {.type = 276, .kind = ADRP, .size = 4},               /* R_AARCH64_ADR_PREL_PG_HI21_NC */
    FIELD(277, PAGE_FIELD, 12, 10, 0),                    /* R_AARCH64_ADD_ABS_LO12_NC */
    FIELD(278, PAGE_FIELD, 12, 10, 0),                    /* R_AARCH64_LDST8_ABS_LO12_NC */
    FIELD(279, PC_FIELD, 14, 5, 2),                       /* R_AARCH64_TSTBR14 */
    FIELD(280, PC_FIELD, 19, 5, 2),                       /* R_AARCH64_CONDBR19 */
    FIELD(282, PC_FIELD, 26, 0, 2),                       /* R_AARCH64_JUMP26 */
    FIELD(283, PC_FIELD, 26, 0, 2),                       /* R_AARCH64_CALL26 */
    FIELD(284, PAGE_FIELD, 12, 10, 1),                    /* R_AARCH64_LDST16_ABS_LO12_NC */
    FIELD(285, PAGE_FIELD, 12, 10, 2),                    /* R_AARCH64_LDST32_ABS_LO12_NC */
    FIELD(286, PAGE_FIELD, 12, 10, 3),                    /* R_AARCH64_LDST64_ABS_LO12_NC */
    FIELD(299, PAGE_FIELD, 12, 10, 4),                    /* R_AARCH64_LDST128_ABS_LO12_NC */
    {.type = 311, .kind = ADRP, .size = 4, .slot = true}, /* R_AARCH64_ADR_GOT_PAGE */
    {.type = 312, .kind = PAGE_FIELD, .size = 4, .bits = 12, .at = 10, .shift = 3, .slot = true},
    /* R_AARCH64_LD64_GOT_LO12_NC */
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct row *find_row(uint32_t machine, uint32_t type) {
    const bool arm = machine == WEFT_ELF_AARCH64;
    const struct row *rows = arm ? aarch64_rows : x86_64_rows;
    const size_t count = arm ? COUNT(aarch64_rows) : COUNT(x86_64_rows);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].type == type) {
            return &rows[i];
        }
    }
    return NULL;
}

/* True if a number modulo 2^64 is one of `bits` bits with a sign. */
static bool fits(uint64_t number, unsigned bits) {
    const uint64_t half = UINT64_C(1) << (bits - 1);
    return bits >= 64 || number + half < 2 * half;
}

static const char *put_number(const struct weft_native_place *place, const struct row *row,
                              uint64_t number) {
    if (!fits(number, 8u * row->size)) {
        return "is out of reach";
    }
    weft_store_bytes(place->bytes, number, row->size);
    return NULL;
}

static void put_field(const struct weft_native_place *place, unsigned bits, unsigned at,
                      uint64_t number) {
    const uint64_t mask = ((UINT64_C(1) << bits) - 1) << at;
    const uint64_t instruction = weft_load_bytes(place->bytes, 4);
    weft_store_bytes(place->bytes, (instruction & ~mask) | (number << at & mask), 4);
}

static const char *put_shifted(const struct weft_native_place *place, const struct row *row,
                               uint64_t number) {
    const uint64_t unit = UINT64_C(1) << row->shift;
    if (number % unit != 0) {
        return "is not aligned as its instruction wants";
    }
    if (row->kind == PC_FIELD && !fits(number, (unsigned)row->bits + row->shift)) {
        return "is out of reach";
    }
    put_field(place, row->bits, row->at, number >> row->shift);
    return NULL;
}

/* The immediate of ADR and ADRP: 2 low bits from bit 29 on, 19 from bit 5 on. */
static const char *put_adr(const struct weft_native_place *place, uint64_t number) {
    if (!fits(number, 21)) {
        return "is out of reach";
    }
    put_field(place, 2, 29, number);
    put_field(place, 19, 5, number >> 2);
    return NULL;
}

/* A page is 4096 bytes for instructions, whatever the system's are. */
static uint64_t page_distance(uint64_t to, uint64_t from) {
    const uint64_t distance = (to & ~UINT64_C(0xFFF)) - (from & ~UINT64_C(0xFFF));
    const uint64_t sign = distance >> 63 ? ~(~UINT64_C(0) >> 12) : 0;
    return distance >> 12 | sign;
}

bool weft_native_relocation_wants_slot(uint32_t machine, uint32_t type) {
    const struct row *row = find_row(machine, type);
    return row && row->slot;
}

const char *weft_native_relocate(const struct weft_native_place *place, uint32_t machine,
                                 uint32_t type, uint64_t value) {
    const struct row *row = find_row(machine, type);
    if (!row) {
        return "is of a type that position-independent code does not have";
    }
    if (place->room < row->size) {
        return "goes beyond its section";
    }
    switch (row->kind) {
    case ADDRESS:
        return put_number(place, row, value);
    case DISTANCE:
        return put_number(place, row, value - place->address);
    case PC_FIELD:
        return put_shifted(place, row, value - place->address);
    case ADR:
        return put_adr(place, value - place->address);
    case ADRP:
        return put_adr(place, page_distance(value, place->address));
    default:
        return put_shifted(place, row, value & 0xFFF);
    }
}
