/* SPDX-License-Identifier: MIT */
/* Base: independent normal entries. Rahimi and Recht, "Random features for large-scale kernel machines", 2007. */
#include "features/family.h"

static weft_status fill(struct weft_features_target out, const weft_features_params *params,
                        const weft_host *host) {
    const uint32_t d = params->columns;
    const struct weft_stream stream = weft_features_stream(params, WEFT_DRAW_GAUSSIAN);
    double *row = weft_alloc_zero(host, d, sizeof *row);
    if (!row) {
        return weft_fail_memory(host, "a row of features");
    }
    for (uint32_t i = 0; i < params->rows; i++) {
        weft_sample_normals(row, stream, (uint64_t)i * d, d);
        weft_features_store(out.w + (size_t)i * d, row, 1.0, d);
    }
    weft_free(host, row);
    return WEFT_OK;
}

const struct weft_features_family weft_features_base = {.name = "base", .fill = fill};
