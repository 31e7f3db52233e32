/* SPDX-License-Identifier: MIT */
/* Quasi-Monte Carlo features: Avron et al., "Quasi-Monte Carlo feature maps for shift-invariant kernels", 2016. */
#include "features/qmc.h"

#include "core/math/quantile.h"
#include "core/try.h"
#include "features/sequence.h"

weft_status weft_qmc_points(double *out, const weft_features_params *params,
                            const weft_host *host) {
    const uint32_t d = params->columns;
    const struct weft_stream shift = weft_features_stream(params, WEFT_DRAW_SHIFT);
    struct weft_sequence sequence;
    WEFT_TRY(
        weft_sequence_begin(&sequence, params->sequence, d, params->shift ? &shift : NULL, host));
    for (uint32_t i = 0; i < params->rows; i++) {
        double *row = out + (size_t)i * d;
        weft_sequence_point(row, &sequence, i + 1);
        for (uint32_t j = 0; j < d; j++) {
            row[j] = weft_normal_quantile(row[j]);
        }
    }
    weft_sequence_end(&sequence);
    return WEFT_OK;
}

static weft_status check(weft_features_params *params, const weft_host *host) {
    return (uint32_t)params->sequence <= WEFT_FEATURES_HALTON
               ? WEFT_OK
               : weft_features_refuse(host, params, "sequence", (uint32_t)params->sequence,
                                      "%d (Sobol') or %d (Halton)", WEFT_FEATURES_SOBOL,
                                      WEFT_FEATURES_HALTON);
}

static weft_status fill(struct weft_features_target out, const weft_features_params *params,
                        const weft_host *host) {
    double *points = weft_alloc_zero(host, params->rows, params->columns * sizeof *points);
    if (!points) {
        return weft_fail_memory(host, "low-discrepancy points");
    }
    weft_status status = weft_qmc_points(points, params, host);
    for (uint32_t i = 0; status == WEFT_OK && i < params->rows; i++) {
        const size_t first = (size_t)i * params->columns;
        weft_features_store(out.w + first, points + first, 1.0, params->columns);
    }
    weft_free(host, points);
    return status;
}

const struct weft_features_family weft_features_qmc = {.name = "qmc",
                                                       .options =
                                                           WEFT_OPTION_SEQUENCE | WEFT_OPTION_SHIFT,
                                                       .check = check,
                                                       .fill = fill};
