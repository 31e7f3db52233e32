/* SPDX-License-Identifier: MIT */
/* Names, types and places of a shader's push constants, bindings and specialization constants. */
#ifndef WEFT_SPIRV_INTERFACE_H
#define WEFT_SPIRV_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/kernel_limits.h"

#define WEFT_FIELD_NAME_SIZE 40

enum weft_field_type { WEFT_FIELD_U32, WEFT_FIELD_I32, WEFT_FIELD_F32, WEFT_FIELD_BOOL };

/** A name of the interface, in lower case. All have 32 bits; booleans are 0 or 1. */
struct weft_shader_field {
    char name[WEFT_FIELD_NAME_SIZE];
    enum weft_field_type type; /* of push constants and specialization constants */
    uint32_t place;            /* byte offset, binding or constant_id */
    uint32_t value;            /* a specialization constant's default */
    bool reads, writes;        /* a binding: what the shader may do with it */
};

/** The fields of push constants come first, then the bindings', the constants', the tiles' and the fixed constants'. */
struct weft_shader_interface {
    const struct weft_shader_field *fields;
    uint32_t push_count;
    uint32_t
        binding_count; /* of storage buffers at set 0; their places are 0 … binding_count - 1 */
    uint32_t constant_count;
    uint32_t
        tile_count; /* specialization constants called TILE_…: sizes that change no bit, which variants set */
    uint32_t fixed_count; /* … called FIXED_…: sizes that the host has to know and nobody sets */
    uint32_t push_size;   /* bytes */
    uint32_t
        groups_x; /* offset of the push constant `groups_x`, or UINT32_MAX: the launch fills it in */
    uint32_t local_size[3];
};

static inline const struct weft_shader_field *weft_shader_push(
    const struct weft_shader_interface *interface) {
    return interface->fields;
}

static inline const struct weft_shader_field *weft_shader_bindings(
    const struct weft_shader_interface *interface) {
    return interface->fields + interface->push_count;
}

static inline const struct weft_shader_field *weft_shader_constants(
    const struct weft_shader_interface *interface) {
    return weft_shader_bindings(interface) + interface->binding_count;
}

static inline const struct weft_shader_field *weft_shader_tiles(
    const struct weft_shader_interface *interface) {
    return weft_shader_constants(interface) + interface->constant_count;
}

static inline const struct weft_shader_field *weft_shader_fixed(
    const struct weft_shader_interface *interface) {
    return weft_shader_tiles(interface) + interface->tile_count;
}

#endif
