/* SPDX-License-Identifier: MIT */
/* Passes that modules go through before a driver sees them. */
#ifndef WEFT_SPIRV_PASSES_H
#define WEFT_SPIRV_PASSES_H

#include "core/math/float_modes.h"
#include "spirv/edit.h"

/** Needs of a device; 0 means no. Each pass documents its purpose. */
struct weft_spirv_needs {
    uint32_t plain_dots;
    uint32_t one_nan; /* in what a module that is not Weft's own stores */
    uint32_t no_contraction;
    uint32_t hidden_zeros;
    uint32_t flushes;              /* subnormals, by instructions */
    uint32_t only_products;        /* the flush is of these: the device's mode sees to the rest */
    uint32_t loses_small_products; /* what the flush has to make up for */
    uint32_t float_modes;          /* flags of weft_float_mode */
    uint32_t lint;                 /* of reproducible math */
    uint32_t
        fused; /* an Fma is one operation: with this, no_contraction keeps it, and the lint allows it */
    /* … by other means than the driver's Fma, of which there is one at most */
    uint32_t fma_by_extension, fma_by_float64, fma_by_integers;
    uint32_t short_blocks;
    uint32_t unequal_branches;
};

/** Instructions of a block that is cut, and of its parts; shorter blocks fit registers as they are. Loads, stores and address computations
 * count. */
#define WEFT_SPIRV_LONG_BLOCK 900u
#define WEFT_SPIRV_PART       300u

/** A pass changes a module that weft_spirv_check has passed, or says why it cannot; edit.h says what else may fail. */
typedef weft_status weft_spirv_pass(struct weft_spirv_edit *edit);

weft_spirv_pass weft_spirv_plain_dots, weft_spirv_one_nan, weft_spirv_no_contraction,
    weft_spirv_hide_zeros, weft_spirv_flush, weft_spirv_float_modes, weft_spirv_lint,
    weft_spirv_fma_by_extension, weft_spirv_fma_by_float64, weft_spirv_fma_by_integers,
    weft_spirv_cut_blocks, weft_spirv_part_branches;

/**
 * Checks a module, copies it and runs the passes that are needed over the copy: edit->module is what drivers get, which
 * weft_spirv_edit_free frees. After an error there is nothing to free.
 * Errors: WEFT_COMPILE_ERROR when the words are not a well-formed module or no ids are left; those of the passes; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_rewrite(struct weft_spirv_edit *edit, const uint32_t *source, size_t size,
                               const struct weft_spirv_needs *needs, const weft_host *host);

#endif
