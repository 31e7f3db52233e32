/* SPDX-License-Identifier: MIT */
/* A kernel's interface, read from its SPIR-V. */
#ifndef WEFT_SPIRV_REFLECT_H
#define WEFT_SPIRV_REFLECT_H

#include "core/host.h"
#include "spirv/interface.h"

/**
 * The interface of a module, whose names it must still have: `fields` is in host memory, and the caller frees it.
 * A push constant is called as the member of its block, a binding as its block (of several blocks at one binding:
 * the one of the shortest name), a specialization constant without WEFT_, TILE_ or FIXED_ in front; all in snake_case.
 * Errors: WEFT_COMPILE_ERROR naming `name` and what cannot be declared (push constants and specialization constants of
 * other types than uint, int, float and bool, bindings with gaps or in other sets, names that are missing or twice
 * there, a workgroup whose size is computed); WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_reflect(struct weft_shader_interface *interface, const char *name,
                               const uint32_t *words, size_t size, const weft_host *host);

/**
 * Adds what another module of the same shader declares beside `interface` (one that was compiled with other
 * definitions). WEFT_COMPILE_ERROR where the two differ in what both declare.
 */
weft_status weft_shader_interface_merge(struct weft_shader_interface *interface,
                                        const struct weft_shader_interface *other, const char *name,
                                        const weft_host *host);

void weft_shader_interface_free(struct weft_shader_interface *interface, const weft_host *host);

/** Copies a module without names (but those of known.h), sources and lines, which no driver needs, to `target`, which has room for all
 * of it or is `words` itself. Gives the count of words. */
size_t weft_spirv_strip(uint32_t *target, const uint32_t *words, size_t count);

#endif
