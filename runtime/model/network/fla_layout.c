/* SPDX-License-Identifier: MIT */
#include "model/network/fla_layout.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"

#define MOST_WIDTH 1048576

static const weft_field fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, 1 << 24), .required = true},
    {WEFT_INTEGER("hidden_size", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("num_hidden_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS),
     .required = true},
    {WEFT_REAL("norm_eps", weft_network_config, norm_eps, 0, 1)},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
    WEFT_REFUSED("attn", weft_field_null),
};
const weft_field_table weft_fla_fields = {fields, sizeof fields / sizeof fields[0]};

weft_status weft_fla_read_width(weft_network_config *config, const struct weft_fla_width *usual,
                                const weft_json_fields *json) {
    int64_t width = 0;
    double ratio = usual->ratio;
    WEFT_TRY(weft_json_optional_integer(&width, json, "intermediate_size", 1, MOST_WIDTH));
    WEFT_TRY(weft_json_optional_real(&ratio, json, "hidden_ratio", 1e-3, MOST_WIDTH));
    if (width == 0) {
        const int64_t multiple = usual->multiple;
        width = (int64_t)(config->hidden_size * ratio * usual->part);
        width = (width + multiple - 1) / multiple * multiple;
    }
    if (width < 1 || width > MOST_WIDTH) {
        return weft_fields_refuse(json, "hidden_ratio",
                                  "one from which 1 to 1048576 channels follow");
    }
    config->intermediate_size = (uint32_t)width;
    return WEFT_OK;
}

weft_status weft_fla_check_activation(const weft_json_fields *json, const char *only) {
    static const char field[] = "hidden_act";
    const char *found = only;
    char expected[32];
    WEFT_TRY(weft_json_optional_string(&found, json, field));
    snprintf(expected, sizeof expected, "\"%s\"", only);
    return strcmp(found, only) == 0 ? WEFT_OK
                                    : weft_json_fail(json, WEFT_UNSUPPORTED, field, expected,
                                                     json_object_get(json->object, field));
}
