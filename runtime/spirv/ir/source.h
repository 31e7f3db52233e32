/* SPDX-License-Identifier: MIT */
/* A compute module with what a pipeline says about it, and the limits within which it becomes a program (ir.h). */
#ifndef WEFT_SPIRV_IR_SOURCE_H
#define WEFT_SPIRV_IR_SOURCE_H

#include "core/host.h"

#define WEFT_IR_MAX_BINDINGS    32u
#define WEFT_IR_MAX_INVOCATIONS 1024u /* of a workgroup */
/* Bytes of shared memory that one module may declare. */
#define WEFT_IR_SHARED_MEMORY (128u << 10)

struct weft_ir_binding {
    uint32_t set, binding;
};

/** The value of a specialization constant: `size` bytes (1, 2, 4 or 8). */
struct weft_ir_specialization {
    uint32_t id;
    uint32_t size;
    const void *value;
};

struct weft_ir_source {
    const uint32_t *words; /* one that weft_spirv_check accepts */
    size_t size;           /* bytes */
    const char *entry_point;
    const struct weft_ir_specialization *constants;
    uint32_t constant_count;
    uint32_t lanes; /* invocations of a subgroup: 4, 8 or 16 */
    /* Accesses outside of a binding, shared memory or push constants read 0 and write nothing, and those outside of an
     * invocation's array go to its nearest element, instead of being undefined. Offsets are of 32 bits and wrap. And
     * loops end where weft_native_call::halt says so. */
    bool checked;
};

#endif
