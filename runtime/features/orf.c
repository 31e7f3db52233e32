/* SPDX-License-Identifier: MIT */
/* Orthogonal random features: Yu et al., "Orthogonal random features", 2016. */
#include "features/family.h"
#include "features/orthogonal.h"

static weft_status fill(struct weft_features_target out, const weft_features_params *params,
                        const weft_host *host) {
    const uint32_t d = params->columns;
    const struct weft_stream stream = weft_features_stream(params, WEFT_DRAW_GAUSSIAN);
    double *block = weft_alloc_zero(host, d, d * sizeof *block);
    if (!block) {
        return weft_fail_memory(host, "a block of orthogonal features");
    }
    weft_status status = WEFT_OK;
    for (uint32_t first = 0; status == WEFT_OK && first < params->rows; first += d) {
        uint32_t count = params->rows - first < d ? params->rows - first : d;
        status = weft_haar_rows(block, count, d, stream, first, host);
        for (uint32_t i = 0; status == WEFT_OK && i < count; i++) {
            weft_features_store(out.w + (size_t)(first + i) * d, block + (size_t)i * d,
                                weft_features_row_norm(params, first + i, d), d);
        }
    }
    weft_free(host, block);
    return status;
}

const struct weft_features_family weft_features_orf = {
    .name = "orf", .options = WEFT_OPTION_NORM, .fill = fill};
