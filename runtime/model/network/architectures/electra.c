/* SPDX-License-Identifier: MIT */
/* ELECTRA: Clark et al., "ELECTRA: Pre-training text encoders as discriminators rather than generators", 2020. */
#include <string.h>

#include "core/try.h"
#include "model/network/architecture.h"

static const weft_field fields[] = {
    {WEFT_INTEGER("embedding_size", weft_network_config, embedding.size, 1, 65536),
     .required = true},
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForMaskedLM", WEFT_TASK_MASKED_LM, .dense = "generator_predictions.dense",
     .activation = WEFT_ACTIVATION_GELU_ERF, .norm = "generator_predictions.LayerNorm",
     .out = "generator_lm_head"},
    {"ForPreTraining", WEFT_TASK_CLASSIFY_TOKENS, .dense = "discriminator_predictions.dense",
     .own_activation = true, .out = "discriminator_predictions.dense_prediction", .outputs = 1},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_FIRST_TOKEN,
     .dense = "classifier.dense", .activation = WEFT_ACTIVATION_GELU_ERF,
     .out = "classifier.out_proj"},
    {"ForMultipleChoice", WEFT_TASK_CLASSIFY, WEFT_HEAD_FIRST_TOKEN,
     .dense = "sequence_summary.summary", .activation = WEFT_ACTIVATION_GELU_ERF,
     .out = "classifier", .outputs = 1},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {"ForQuestionAnswering", WEFT_TASK_CLASSIFY_TOKENS, .out = "qa_outputs", .outputs = 2},
    {.name = NULL}};

/* How a sequence becomes a vector can be chosen, but nobody chooses. */
static weft_status check_summary(const weft_json_fields *json) {
    static const char *const fields_of_text[][2] = {{"summary_type", "first"},
                                                    {"summary_activation", "gelu"}};
    bool projected = true;
    for (size_t i = 0; i < 2; i++) {
        const char *text = fields_of_text[i][1];
        WEFT_TRY(weft_json_optional_string(&text, json, fields_of_text[i][0]));
        if (strcmp(text, fields_of_text[i][1]) != 0) {
            return weft_json_fail(json, WEFT_UNSUPPORTED, fields_of_text[i][0],
                                  fields_of_text[i][1],
                                  json_object_get(json->object, fields_of_text[i][0]));
        }
    }
    WEFT_TRY(weft_json_optional_bool(&projected, json, "summary_use_proj"));
    return projected ? WEFT_OK
                     : weft_json_fail(json, WEFT_UNSUPPORTED, "summary_use_proj", "true",
                                      json_object_get(json->object, "summary_use_proj"));
}

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    config->embedding.projection = config->embedding.size != config->hidden_size
                                       ? WEFT_PROJECTION_BEHIND_NORM
                                       : WEFT_PROJECTION_NONE;
    return head->dense && strcmp(head->dense, "sequence_summary.summary") == 0 ? check_summary(json)
                                                                               : WEFT_OK;
}

static const struct weft_layout layout = {
    .stem = "Electra",
    .encoder = "ElectraModel",
    .prefix = "electra.",
    .fields = {&weft_size_fields, &weft_bert_fields, &weft_type_fields, &table},
    .defaults = &weft_bert_defaults,
    .check = check,
    .names = weft_bert_names,
    .heads = heads,
    .unused = weft_bert_unused};

const struct weft_model_family weft_family_electra = {.model_type = "electra",
                                                      WEFT_ENCODER_LAYOUT(&layout)};
