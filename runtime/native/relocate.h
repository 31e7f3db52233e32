/* SPDX-License-Identifier: MIT */
/*
 * Relocations of position-independent code of the small model: the System V ABIs of x86-64 (section 4.4) and of AArch64
 * (ELF for the Arm 64-bit Architecture, section 5.7), as far as LLVM writes them. Works on bytes, on any processor.
 */
#ifndef WEFT_NATIVE_RELOCATE_H
#define WEFT_NATIVE_RELOCATE_H

#include <stdbool.h>
#include <stdint.h>

/** Place that a relocation changes. */
struct weft_native_place {
    uint8_t *bytes;
    uint64_t room;    /* bytes there are */
    uint64_t address; /* of the first */
};

/** True if a relocation is about a slot that holds a symbol's address, instead of about the symbol. */
bool weft_native_relocation_wants_slot(uint32_t machine, uint32_t type);

/**
 * Puts `value`, an address with the addend, in. Null, or what is wrong: a type that is not known, no room, or a value that
 * is out of reach or does not have the alignment that the instruction asks for.
 */
const char *weft_native_relocate(const struct weft_native_place *place, uint32_t machine,
                                 uint32_t type, uint64_t value);

#endif
