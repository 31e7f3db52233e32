/* SPDX-License-Identifier: MIT */
#include "model/embedding/pair_score.h"

#include <string.h>

#include "core/try.h"

weft_status weft_pair_score_read(bool *named, bool *raw, const weft_json_fields *fields,
                                 const char *field) {
    const char *name = NULL;
    WEFT_TRY(weft_json_optional_string(&name, fields, field));
    if (!name) {
        return WEFT_OK;
    }
    *raw = strcmp(name, "torch.nn.modules.linear.Identity") == 0;
    *named = *raw || strcmp(name, "torch.nn.modules.activation.Sigmoid") == 0;
    return *named ? WEFT_OK
                  : weft_json_fail(fields, WEFT_UNSUPPORTED, field,
                                   "torch.nn.modules.linear.Identity or "
                                   "torch.nn.modules.activation.Sigmoid",
                                   json_object_get(fields->object, field));
}

static weft_status read(weft_model_info *info, const weft_json_fields *fields) {
    const weft_json_fields inner = {.object =
                                        json_object_get(fields->object, "sentence_transformers"),
                                    .path = fields->path,
                                    .host = fields->host};
    bool named = false;
    if (json_is_object(inner.object)) {
        WEFT_TRY(weft_pair_score_read(&named, &info->raw_scores, &inner, "activation_fn"));
    }
    return named ? WEFT_OK
                 : weft_pair_score_read(&named, &info->raw_scores, fields,
                                        "sbert_ce_default_activation_function");
}

weft_status weft_pair_score_describe(weft_model_info *info, const struct weft_model_source *source,
                                     const weft_host *host) {
    info->raw_scores = info->task == WEFT_TASK_REGRESS;
    if (info->label_count != 1) { /* several labels have their softmax, whatever is said there */
        return WEFT_OK;
    }
    const weft_json_fields fields = weft_source_fields(source, host);
    return read(info, &fields);
}
