/* SPDX-License-Identifier: MIT */
#include "model/embedding/pooling_names.h"

#include <string.h>

#include <weft/texts.h>

#include "core/given.h"
#include "core/host.h"

const struct weft_pooling_name weft_pooling_table[WEFT_POOLING_COUNT] = {
    {"cls", "pooling_mode_cls_token", "cls", WEFT_EMBED_CLS},
    {"max", "pooling_mode_max_tokens", "max", WEFT_EMBED_MAX},
    {"mean", "pooling_mode_mean_tokens", "mean", WEFT_EMBED_MEAN},
    {"mean_sqrt_len", "pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens",
     WEFT_EMBED_MEAN_SQRT},
    {"weighted_mean", "pooling_mode_weightedmean_tokens", "weightedmean", WEFT_EMBED_WEIGHTED_MEAN},
    {"last", "pooling_mode_lasttoken", "lasttoken", WEFT_EMBED_LAST},
};

const char *weft_pooling_names(void) {
    return "cls, max, mean, mean_sqrt_len, weighted_mean, last";
}

weft_status weft_pooling_named(uint32_t *pooling, const char *name, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, pooling, name);
    for (size_t i = 0; i < WEFT_POOLING_COUNT; i++) {
        const struct weft_pooling_name *row = &weft_pooling_table[i];
        if (strcmp(name, row->name) == 0 || strcmp(name, row->word) == 0) {
            *pooling = row->pooling;
            return WEFT_OK;
        }
    }
    return weft_fail(host, WEFT_INVALID_ARGUMENT, "pooling: expected one of %s, found '%s'",
                     weft_pooling_names(), name);
}
