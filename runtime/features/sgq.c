/* SPDX-License-Identifier: MIT */
/* Sparse-grid quadrature of degree 3: Dao et al., "Gaussian quadrature for kernel features", 2017. */
#include <math.h>
#include <string.h>

#include "features/family.h"

static weft_status check(weft_features_params *params, const weft_host *host) {
    const uint32_t points = 2 * params->columns + 1;
    return params->rows == points ? WEFT_OK
                                  : weft_features_refuse(host, params, "rows", params->rows,
                                                         "%u (2 columns + 1)", points);
}

static weft_status fill(struct weft_features_target out, const weft_features_params *params,
                        const weft_host *host) {
    (void)host;
    const uint32_t d = params->columns;
    memset(out.w, 0, (size_t)params->rows * d * sizeof *out.w);
    out.weights[0] = (float)(1.0 - (double)d / 3.0);
    for (uint32_t j = 0; j < d; j++) {
        const size_t plus = 1 + j;
        const size_t minus = 1 + d + j;
        out.w[plus * d + j] = (float)sqrt(3.0);
        out.w[minus * d + j] = -(float)sqrt(3.0);
        out.weights[plus] = (float)(1.0 / 6.0);
        out.weights[minus] = (float)(1.0 / 6.0);
    }
    return WEFT_OK;
}

const struct weft_features_family weft_features_sgq = {
    .name = "sgq", .weighted = true, .check = check, .fill = fill};
