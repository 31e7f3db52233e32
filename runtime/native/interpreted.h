/* SPDX-License-Identifier: MIT */
/*
 * Kernels without native code: an object whose code is the module itself, with what the pipeline says about it, and a kernel
 * that interprets it. Slow, and the same bits.
 */
#ifndef WEFT_NATIVE_INTERPRETED_H
#define WEFT_NATIVE_INTERPRETED_H

#include "native/kernel.h"

/** weft_native_compiler without one: the version of the interpreter's objects. */
#define WEFT_NATIVE_INTERPRETER "interpreter 2"

/** How much longer interpreted kernels take than compiled ones: docs/compiler.md, section 4. */
#define WEFT_INTERPRETED_SLOWER "100 to 200 times slower than compiled ones"

/** Replaces weft_native_compile on a device without a compiler. */
weft_status weft_native_interpret(struct weft_native_object *object,
                                  const struct weft_ir_source *source, const weft_host *host);

/** True if an object's code is a module. */
bool weft_native_is_interpreted(const uint8_t *code, size_t size);

/** Makes the kernel of such an object callable. WEFT_BAD_FILE where the code does not hold together. */
weft_status weft_native_interpreted_load(struct weft_native_kernel *kernel, const uint8_t *code,
                                         size_t size, const weft_host *host);

#endif
