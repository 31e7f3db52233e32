/* SPDX-License-Identifier: MIT */
/* Bytes of an object (kernel.h): an interface and an ELF object, for one target. */
#ifndef WEFT_NATIVE_OBJECT_H
#define WEFT_NATIVE_OBJECT_H

#include "native/kernel.h"

/**
 * Takes an object apart; *elf is a part of `bytes`. Errors: WEFT_BAD_FILE for bytes that are no object of this library's
 * format, whole and undamaged, for this processor.
 */
weft_status weft_native_object_open(struct weft_native_interface *interface, const uint8_t **elf,
                                    size_t *elf_size, const uint8_t *bytes, size_t size,
                                    const weft_host *host);

#endif
