/* SPDX-License-Identifier: MIT */
/* The table of families, and what they have in common. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/given.h"
#include "core/shape.h"
#include "core/try.h"
#include "features/family.h"

static const struct weft_features_family *const families[WEFT_FEATURES_KIND_COUNT] = {
    [WEFT_FEATURES_BASE] = &weft_features_base,
    [WEFT_FEATURES_ORF] = &weft_features_orf,
    [WEFT_FEATURES_SORF] = &weft_features_sorf,
    [WEFT_FEATURES_ROM] = &weft_features_rom,
    [WEFT_FEATURES_S_HYBRID] = &weft_features_s_hybrid,
    [WEFT_FEATURES_FASTFOOD] = &weft_features_fastfood,
    [WEFT_FEATURES_SCRF] = &weft_features_scrf,
    [WEFT_FEATURES_P_MODEL] = &weft_features_p_model,
    [WEFT_FEATURES_QMC] = &weft_features_qmc,
    [WEFT_FEATURES_MM] = &weft_features_mm,
    [WEFT_FEATURES_SSF] = &weft_features_ssf,
    [WEFT_FEATURES_SGQ] = &weft_features_sgq,
    [WEFT_FEATURES_SSR] = &weft_features_ssr,
    [WEFT_FEATURES_SIMRF] = &weft_features_simrf,
    [WEFT_FEATURES_SIMRF_DEPENDENT] = &weft_features_simrf_dependent,
    [WEFT_FEATURES_POISSON] = &weft_features_poisson,
    [WEFT_FEATURES_GEOMETRIC] = &weft_features_geometric,
};

static bool is_kind(weft_features_kind kind) {
    return (unsigned)kind < WEFT_FEATURES_KIND_COUNT;
}

const char *weft_features_name(weft_features_kind kind) {
    return is_kind(kind) ? families[kind]->name : "unknown weft_features_kind";
}

struct weft_stream weft_features_stream(const weft_features_params *params, enum weft_draw draw) {
    return weft_stream_of(params->seed, params->matrix, draw);
}

double weft_features_row_norm(const weft_features_params *params, uint64_t row, uint32_t n) {
    if (params->norm == WEFT_FEATURES_NORM_SQRT) {
        return sqrt((double)n);
    }
    return weft_sample_chi(weft_features_stream(params, WEFT_DRAW_NORM), row, n);
}

void weft_features_store(float *out, const double *row, double factor, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (float)(factor * row[i]);
    }
}

weft_status weft_features_refuse(const weft_host *host, const weft_features_params *params,
                                 const char *name, uint32_t value, const char *range, ...) {
    char text[160];
    va_list arguments;
    va_start(arguments, range);
    vsnprintf(text, sizeof text, range, arguments);
    va_end(arguments);
    return weft_fail(host, WEFT_INVALID_ARGUMENT, "features: %s of %s is %u, not %s", name,
                     weft_features_name(params->kind), value, text);
}

/* ---- checking ---- */

/* Parameters that this family does not use are 0: a caller who sets one expects it to do something. */
static weft_status check_options(const weft_features_params *params, const weft_host *host) {
    const struct {
        const char *name;
        unsigned option;
        uint32_t value;
    } given[] = {
        {"norm", WEFT_OPTION_NORM, (uint32_t)params->norm},
        {"factors", WEFT_OPTION_FACTORS, params->factors},
        {"budget", WEFT_OPTION_BUDGET, params->budget},
        {"sequence", WEFT_OPTION_SEQUENCE, (uint32_t)params->sequence},
        {"shift", WEFT_OPTION_SHIFT, params->shift ? 1 : 0},
        {"sweeps", WEFT_OPTION_SWEEPS, params->sweeps},
    };
    const unsigned options = families[params->kind]->options;
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        if (given[i].value != 0 && (options & given[i].option) == 0) {
            return weft_features_refuse(host, params, given[i].name, given[i].value,
                                        "0: it has no such parameter");
        }
    }
    if (params->rate != 0.0F && (options & WEFT_OPTION_RATE) == 0) { /* NaN as well */
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "features: rate of %s is %g, not 0: it has no such parameter",
                         weft_features_name(params->kind), (double)params->rate);
    }
    if ((uint32_t)params->norm > WEFT_FEATURES_NORM_SQRT) {
        return weft_features_refuse(host, params, "norm", (uint32_t)params->norm, "%d or %d",
                                    WEFT_FEATURES_NORM_CHI, WEFT_FEATURES_NORM_SQRT);
    }
    return WEFT_OK;
}

static weft_status check_size(const weft_features_params *params, const weft_host *host) {
    if (params->rows < 1 || params->rows > WEFT_FEATURES_MAX_ROWS) {
        return weft_features_refuse(host, params, "rows", params->rows, "1 to %u",
                                    WEFT_FEATURES_MAX_ROWS);
    }
    if (params->columns < 1 || params->columns > WEFT_FEATURES_MAX_COLUMNS) {
        return weft_features_refuse(host, params, "columns", params->columns, "1 to %u",
                                    WEFT_FEATURES_MAX_COLUMNS);
    }
    if ((uint64_t)params->rows * params->columns > WEFT_MAX_ELEMENTS) {
        return weft_features_refuse(
            host, params, "rows", params->rows, "1 to %u (2^31 elements) with %u columns",
            (uint32_t)(WEFT_MAX_ELEMENTS / params->columns), params->columns);
    }
    return WEFT_OK;
}

/* Copies the parameters, checked and with defaults in place. */
static weft_status take_params(weft_features_params *taken, const weft_features_params *params,
                               const weft_host *host) {
    if (!is_kind(params->kind)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "features: kind is %d, not 0 to %d",
                         (int)params->kind, WEFT_FEATURES_KIND_COUNT - 1);
    }
    *taken = *params;
    WEFT_TRY(check_size(taken, host));
    WEFT_TRY(check_options(taken, host));
    if (families[taken->kind]->check) {
        WEFT_TRY(families[taken->kind]->check(taken, host));
    }
    return WEFT_OK;
}

/* Parameters of a structured kind, and its structure. */
static weft_status take_structure(weft_features_params *taken, weft_features_structure *structure,
                                  const weft_features_params *params, const weft_host *host) {
    WEFT_TRY(take_params(taken, params, host));
    if (!families[taken->kind]->structure) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "features: kind is %s, which is dense: it has no diagonals",
                         weft_features_name(taken->kind));
    }
    *structure = (weft_features_structure){.transform = WEFT_FEATURES_DENSE};
    families[taken->kind]->structure(structure, taken);
    return WEFT_OK;
}

static weft_status expect_pointer(const void *pointer, const char *name, const weft_host *host) {
    return pointer ? WEFT_OK : weft_fail(host, WEFT_INVALID_ARGUMENT, "features: %s is null", name);
}

/* ---- structured kinds ---- */

struct parts {
    const float *diagonals;
    const uint32_t *permutation; /* null when there is none */
};

/* Outputs of expand_rows; either may be null. */
struct expansion {
    float *w;            /* the rows themselves */
    float *square_norms; /* their squared lengths */
};

static float square_norm(const double *row, double factor, uint32_t count) {
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const double element = (double)(float)(factor * row[i]); /* as w has it */
        sum += element * element;
    }
    return (float)sum;
}

static weft_status expand_rows(struct expansion out, struct parts parts,
                               const weft_features_params *params,
                               const weft_features_structure *structure, const weft_host *host) {
    const struct weft_features_family *family = families[params->kind];
    const double scale = (double)structure->scale;
    double *row = weft_alloc_zero(host, structure->size, sizeof *row);
    if (!row) {
        return weft_fail_memory(host, "a row of features");
    }
    for (uint32_t i = 0; i < params->rows; i++) {
        size_t block = i / structure->rows_per_block;
        const uint32_t *permutation =
            parts.permutation ? parts.permutation + block * structure->size : NULL;
        family->expand(row, i % structure->rows_per_block,
                       parts.diagonals + block * structure->diagonals * structure->size,
                       permutation, structure);
        if (out.w) {
            weft_features_store(out.w + (size_t)i * params->columns, row, scale, params->columns);
        }
        if (out.square_norms) {
            out.square_norms[i] = square_norm(row, scale, params->columns);
        }
    }
    weft_free(host, row);
    return WEFT_OK;
}

static void fill_parts(struct weft_features_parts all, const weft_features_params *params,
                       const weft_features_structure *structure) {
    for (uint32_t block = 0; block < structure->blocks; block++) {
        const struct weft_features_parts part = {
            all.diagonals + (size_t)block * structure->diagonals * structure->size,
            all.permutation ? all.permutation + (size_t)block * structure->size : NULL};
        families[params->kind]->parts(part, block, structure, params);
    }
}

static weft_status fill_structured(float *w, const weft_features_params *params,
                                   const weft_host *host) {
    weft_features_structure structure = {.transform = WEFT_FEATURES_DENSE};
    families[params->kind]->structure(&structure, params);
    const size_t elements = (size_t)structure.blocks * structure.size;
    float *diagonals = weft_alloc_zero(host, elements, structure.diagonals * sizeof *diagonals);
    uint32_t *permutation =
        structure.permuted ? weft_alloc_zero(host, elements, sizeof *permutation) : NULL;
    weft_status status = WEFT_OK;
    if (!diagonals || (structure.permuted && !permutation)) {
        status = weft_fail_memory(host, "the parts of a feature matrix");
    } else {
        fill_parts((struct weft_features_parts){diagonals, permutation}, params, &structure);
        status = expand_rows((struct expansion){.w = w}, (struct parts){diagonals, permutation},
                             params, &structure, host);
    }
    weft_free(host, diagonals);
    weft_free(host, permutation);
    return status;
}

static weft_status check_permutation(const uint32_t *permutation,
                                     const weft_features_structure *structure,
                                     const weft_host *host) {
    if (!structure->permuted) {
        return WEFT_OK;
    }
    weft_status status = expect_pointer(permutation, "permutation", host);
    const size_t count = status == WEFT_OK ? (size_t)structure->blocks * structure->size : 0;
    for (size_t i = 0; i < count; i++) {
        if (permutation[i] >= structure->size) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "features: permutation[%zu] is %u, not 0 to %u", i, permutation[i],
                             structure->size - 1);
        }
    }
    return status;
}

/* ---- public functions ---- */

weft_status weft_features_fill(float *w, float *weights, const weft_features_params *params,
                               const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, w, params);
    weft_features_params taken;
    WEFT_TRY(take_params(&taken, params, host));
    const struct weft_features_family *family = families[taken.kind];
    if (family->weighted && !weights) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "features: weights is null, but rows of %s have different weights",
                         family->name);
    }
    for (uint32_t i = 0; weights && !family->weighted && i < taken.rows; i++) {
        weights[i] = 1.0F / (float)taken.rows;
    }
    return family->fill ? family->fill((struct weft_features_target){w, weights}, &taken, host)
                        : fill_structured(w, &taken, host);
}

weft_status weft_features_get_structure(weft_features_structure *structure,
                                        const weft_features_params *params, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, structure, params);
    weft_features_params taken;
    WEFT_TRY(take_params(&taken, params, host));
    *structure = (weft_features_structure){.transform = WEFT_FEATURES_DENSE};
    if (families[taken.kind]->structure) {
        families[taken.kind]->structure(structure, &taken);
    }
    return WEFT_OK;
}

weft_status weft_features_parts(float *diagonals, uint32_t *permutation,
                                const weft_features_params *params, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, diagonals, params);
    weft_features_params taken;
    weft_features_structure structure;
    WEFT_TRY(take_structure(&taken, &structure, params, host));
    if (structure.permuted) {
        WEFT_TRY(expect_pointer(permutation, "permutation", host));
    }
    fill_parts((struct weft_features_parts){diagonals, structure.permuted ? permutation : NULL},
               &taken, &structure);
    return WEFT_OK;
}

/* Checks what the functions of given parts have in common, then makes `out` of them. */
static weft_status expand_parts(struct expansion out, struct parts parts,
                                const weft_features_params *params, const weft_host *host) {
    weft_features_params taken;
    weft_features_structure structure;
    WEFT_TRY(take_structure(&taken, &structure, params, host));
    WEFT_TRY(check_permutation(parts.permutation, &structure, host));
    parts.permutation = structure.permuted ? parts.permutation : NULL;
    return expand_rows(out, parts, &taken, &structure, host);
}

weft_status weft_features_expand(float *w, const float *diagonals, const uint32_t *permutation,
                                 const weft_features_params *params, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, w, diagonals, params);
    return expand_parts((struct expansion){.w = w}, (struct parts){diagonals, permutation}, params,
                        host);
}

weft_status weft_features_square_norms(float *square_norms, const float *diagonals,
                                       const uint32_t *permutation,
                                       const weft_features_params *params, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, square_norms, diagonals, params);
    return expand_parts((struct expansion){.square_norms = square_norms},
                        (struct parts){diagonals, permutation}, params, host);
}
