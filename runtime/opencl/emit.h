/* SPDX-License-Identifier: MIT */
/*
 * A kernel as text in OpenCL C: what every driver takes, of OpenCL 1.0 with 32-bit atomics and later. A reproducible module's
 * text has no contraction (`FP_CONTRACT OFF`), no extension, no half and no goto; a subgroup is one invocation. Memory is read
 * and written as words, which are reinterpreted, so that no rule about the types of what pointers refer to matters.
 *
 *     __kernel void weft_main(weft_arguments a, __global uchar *b0, __global uchar *b1, …)
 *
 * with a buffer for each binding, in the order of `bindings`, and
 *
 *     typedef struct {
 *         uint base[3];   the first workgroup
 *         uint groups[3]; their number in the dispatch (NumWorkgroups)
 *         uint sign;      0x80000000, which no compiler knows (opencl/value.c)
 *         uint offset[N]; where each binding begins in its buffer, in units of WEFT_CL_OFFSET_UNIT bytes
 *         uint size[N];   bytes of each binding
 *         uint push[M];   words of push constants
 *     } weft_arguments;
 *
 * where N is binding_count and M push_size / 4; what has no element is left out.
 */
#ifndef WEFT_OPENCL_EMIT_H
#define WEFT_OPENCL_EMIT_H

#include "spirv/ir/ir.h"

/** Bindings begin at multiples of it, which 32 bits carry to 64 GiB. */
#define WEFT_CL_OFFSET_UNIT 16u

#define WEFT_CL_KERNEL "weft_main"

/** Words of weft_arguments before `offset`. */
#define WEFT_CL_FIXED_WORDS 7u
#define WEFT_CL_SIGN        UINT32_C(0x80000000)

struct weft_cl_text {
    char *text;  /* zero-terminated; weft_free with the host */
    size_t size; /* bytes without the zero */
    uint32_t binding_count;
    struct weft_ir_binding bindings[WEFT_IR_MAX_BINDINGS];
    uint32_t push_size;   /* bytes of push constants that are read, a multiple of 4 */
    uint32_t shared_size; /* bytes */
    uint32_t local_size[3];
};

/**
 * Writes a module as text. `source->lanes` does not matter: a subgroup is one invocation. A checked module's accesses outside
 * of something are as source.h says, but its loops end by themselves only.
 * Errors, each with a sentence in `error`: WEFT_UNSUPPORTED naming what cannot be written; WEFT_COMPILE_ERROR for a module that
 * does not hold together; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_cl_emit(struct weft_cl_text *made, const struct weft_ir_source *source,
                         char error[WEFT_IR_TEXT], const weft_host *host);

#endif
