/* SPDX-License-Identifier: MIT */
/* Declarations that the files of the flush share. */
#ifndef WEFT_SPIRV_FLUSH_H
#define WEFT_SPIRV_FLUSH_H

#include "spirv/passes/passes.h"

#define WEFT_FLUSH_WIDTH 4u /* components of a vector */

/* Constants of a width. */
enum {
    WEFT_FLUSH_LEAST_NORMAL, /* 2^-126 */
    WEFT_FLUSH_LEAST_SCALED, /* 2^-125: a product of magnitude 2^-126 when made twice as large */
    WEFT_FLUSH_SIGN,         /* bits, as the next one */
    WEFT_FLUSH_LEAST_BITS,
    WEFT_FLUSH_CONSTANTS
};

/* Ids of what is flushed, from that of the raw result on; the flushed value keeps the old id. */
enum {
    WEFT_FLUSH_RAW,
    WEFT_FLUSH_MAGNITUDE,
    WEFT_FLUSH_IS_SMALL,
    WEFT_FLUSH_BITS,
    WEFT_FLUSH_ZERO_BITS,
    WEFT_FLUSH_ZERO,
    WEFT_FLUSH_IDS
};

/* The ids of the declarations for vectors of a number of components, or for scalars. */
struct weft_spirv_width {
    bool is_used;
    uint32_t types[WEFT_SPIRV_FLOAT + 1]; /* by kind */
    uint32_t constants;                   /* the first */
};

struct weft_spirv_flush {
    struct weft_spirv_edit *edit;
    const struct weft_spirv_module *module;
    bool *has_float; /* per type */
    uint32_t *raw;   /* per id: the new id of the unflushed value, or 0 */
    uint32_t scale;  /* the constant 2 */
    uint32_t glsl;   /* GLSL.std.450 */
    bool only_products;
    bool loses_small_products;
    bool has_fma; /* an Fma is the driver's: emulations flush by themselves */
    struct weft_spirv_width widths[WEFT_FLUSH_WIDTH + 1]; /* [0] is what has no width */
};

/* The width of an instruction's result. */
static inline const struct weft_spirv_width *weft_flush_width(const struct weft_spirv_flush *flush,
                                                              const uint32_t *instruction) {
    return &flush->widths[weft_spirv_shape_of(flush->module, instruction[1]).width];
}

void weft_flush_declare(struct weft_spirv_flush *flush);

/*
 * Writes the question if a value's magnitude is below a limit, which flushed operands do not change, and the zero of
 * a value's sign.
 */
void weft_flush_put_question(struct weft_spirv_flush *flush, const struct weft_spirv_width *width,
                             uint32_t raw, uint32_t value, uint32_t limit, uint32_t signed_value);

/** Ids that a rescue takes, one behind the other. */
enum { WEFT_FLUSH_IS_LEAST, WEFT_FLUSH_LEAST_OF_SIGN, WEFT_FLUSH_LEAST, WEFT_FLUSH_RESCUE_IDS };

/**
 * The result: 2^-126 of the sign in `signs` where the magnitude that was asked about is 2^-125, else `kept`. Where the number rounds to 2^-126,
 * devices that look at it before they round have made a zero of it. `ids` is the first of WEFT_FLUSH_RESCUE_IDS.
 */
void weft_flush_put_rescue(struct weft_spirv_flush *flush, const struct weft_spirv_width *width,
                           uint32_t result, uint32_t raw, uint32_t ids, uint32_t signs,
                           uint32_t kept);

bool weft_flush_is_product(const uint32_t *instruction);

/* Chooses ids for a product and puts its decorations; the first id. */
uint32_t weft_flush_begin_product(struct weft_spirv_flush *flush);

void weft_flush_put_product(struct weft_spirv_flush *flush, const uint32_t *instruction);

/* Both for an Fma that the driver computes. */
uint32_t weft_flush_begin_fma(struct weft_spirv_flush *flush);
void weft_flush_put_fma(struct weft_spirv_flush *flush, const uint32_t *instruction);

#endif
