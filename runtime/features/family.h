/* SPDX-License-Identifier: MIT */
/*
 * Row of a family of weight matrices in the table of features.c. A new family takes a file with such a row, a value
 * of weft_features_kind and a line in the table.
 */
#ifndef WEFT_FEATURES_FAMILY_H
#define WEFT_FEATURES_FAMILY_H

#include <weft/features.h>

#include "core/host.h"
#include "features/sample.h"

/** The optional parameters that a family uses; the others must be 0. */
enum weft_features_option {
    WEFT_OPTION_NORM = 1 << 0,
    WEFT_OPTION_FACTORS = 1 << 1,
    WEFT_OPTION_BUDGET = 1 << 2,
    WEFT_OPTION_SEQUENCE = 1 << 3,
    WEFT_OPTION_SHIFT = 1 << 4,
    WEFT_OPTION_SWEEPS = 1 << 5,
    WEFT_OPTION_RATE = 1 << 6
};

/** Output of a dense family. */
struct weft_features_target {
    float *w;       /* [rows, columns] */
    float *weights; /* [rows]; not null for a weighted family */
};

/** Output of a structured family for one block. */
struct weft_features_parts {
    float *diagonals;      /* [diagonals, size] */
    uint32_t *permutation; /* [size]; null when there is none */
};

struct weft_features_family {
    const char *name;
    unsigned options;
    bool weighted; /* has weights of its own, which `fill` writes */

    /** Checks what concerns this family alone and puts defaults for zeros. Null: nothing to do. */
    weft_status (*check)(weft_features_params *params, const weft_host *host);

    /** Dense families: all of w, and weights if weighted. params have been checked. */
    weft_status (*fill)(struct weft_features_target out, const weft_features_params *params,
                        const weft_host *host);

    /** Structured families have these three instead of `fill`. */
    void (*structure)(weft_features_structure *structure, const weft_features_params *params);
    void (*parts)(struct weft_features_parts out, uint32_t block,
                  const weft_features_structure *structure, const weft_features_params *params);
    /** Row `row` of a block, [size] doubles, from the parts of that block. */
    void (*expand)(double *out, uint32_t row, const float *diagonals, const uint32_t *permutation,
                   const weft_features_structure *structure);
};

extern const struct weft_features_family weft_features_base;
extern const struct weft_features_family weft_features_orf;
extern const struct weft_features_family weft_features_sorf;
extern const struct weft_features_family weft_features_rom;
extern const struct weft_features_family weft_features_s_hybrid;
extern const struct weft_features_family weft_features_fastfood;
extern const struct weft_features_family weft_features_scrf;
extern const struct weft_features_family weft_features_p_model;
extern const struct weft_features_family weft_features_qmc;
extern const struct weft_features_family weft_features_mm;
extern const struct weft_features_family weft_features_ssf;
extern const struct weft_features_family weft_features_sgq;
extern const struct weft_features_family weft_features_ssr;
extern const struct weft_features_family weft_features_simrf;
extern const struct weft_features_family weft_features_simrf_dependent;
extern const struct weft_features_family weft_features_poisson;
extern const struct weft_features_family weft_features_geometric;

struct weft_stream weft_features_stream(const weft_features_params *params, enum weft_draw draw);

/** The length of row `row` of an n-dimensional matrix, by params->norm. */
double weft_features_row_norm(const weft_features_params *params, uint64_t row, uint32_t n);

/** out[i] = (float)(factor · row[i]) over count elements. */
void weft_features_store(float *out, const double *row, double factor, uint32_t count);

/**
 * Logs "features: NAME of KIND is VALUE, not RANGE" and returns WEFT_INVALID_ARGUMENT: `range` is a format for the rest.
 */
weft_status weft_features_refuse(const weft_host *host, const weft_features_params *params,
                                 const char *name, uint32_t value, const char *range, ...)
    WEFT_PRINTF(5, 6);

#endif
