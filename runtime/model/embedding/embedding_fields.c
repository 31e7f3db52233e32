/* SPDX-License-Identifier: MIT */
#include "model/embedding/embedding_fields.h"

#include "core/try.h"

/* ---- modules ---- */

static const weft_known_field module_rows[] = {
    {.name = "idx"},
    {.name = "name"},
    {.name = "path"},
    {.name = "type"},
    /* Names of arguments that a call may have: Weft's calls have none of them. */
    {.name = "kwargs"}};

static const weft_known_field pooling_rows[] = {
    {.name = "embedding_dimension"}, {.name = "word_embedding_dimension"}, {.name = "pooling_mode"},
    {.name = "pooling_mode_*"},      {.name = "include_prompt"},
};

static const weft_known_field splade_rows[] = {
    {.name = "pooling_strategy"},    {.name = "activation_function"},
    {.name = "embedding_dimension"}, {.name = "word_embedding_dimension"},
    {.name = "chunk_size"}, /* tokens that are pooled at once there */
};

static const weft_known_field logit_score_rows[] = {
    {.name = "true_token_id"},
    {.name = "false_token_id"},
    {"module_input_name", WEFT_KNOWN_REFUSED, "[\"causal_logits\"]", NULL},
};

static const weft_known_field dense_rows[] = {
    {.name = "in_features"},         {.name = "out_features"},      {.name = "bias"},
    {.name = "activation_function"}, {.name = "module_input_name"}, {.name = "module_output_name"},
    {.name = "use_residual"},
};

static const weft_known_field layer_norm_rows[] = {{.name = "dimension"}};

static const weft_known_field normalize_rows[] = {
    {"module_input_name", WEFT_KNOWN_REFUSED, "[\"sentence_embedding\"]", NULL},
    {"module_output_name", WEFT_KNOWN_REFUSED, "[\"sentence_embedding\"]", NULL},
};

static const weft_known_field token_normalize_rows[] = {
    {"module_input_name", WEFT_KNOWN_REFUSED, "[\"token_embeddings\"]", NULL},
    {"module_output_name", WEFT_KNOWN_REFUSED, "[\"token_embeddings\"]", NULL},
};

static const weft_known_field mask_rows[] = {
    {.name = "skiplist_words"}, {.name = "skiplist_tasks"}, {.name = "keep_only_token_ids"}};

static const weft_known_field expansion_rows[] = {
    {.name = "strategy"},
    {.name = "attend"},
    {.name = "token"},
    {.name = "length"},
    {"*", WEFT_KNOWN_REFUSED, NULL, NULL},
};

static const weft_known_field artifact_rows[] = {
    {"similarity", WEFT_KNOWN_REFUSED, "[\"cosine\"]", NULL},
    {"interaction", WEFT_KNOWN_REFUSED, "[\"colbert\"]", NULL},
    {.name = "*"}, /* of training and of indexes, but for those that are read */
};

const weft_known_table weft_token_normalize_fields = WEFT_KNOWN_TABLE(token_normalize_rows);
const weft_known_table weft_mask_fields = WEFT_KNOWN_TABLE(mask_rows);
const weft_known_table weft_expansion_fields = WEFT_KNOWN_TABLE(expansion_rows);
const weft_known_table weft_artifact_fields = WEFT_KNOWN_TABLE(artifact_rows);
const weft_known_table weft_module_fields = WEFT_KNOWN_TABLE(module_rows);
const weft_known_table weft_pooling_fields = WEFT_KNOWN_TABLE(pooling_rows);
const weft_known_table weft_splade_fields = WEFT_KNOWN_TABLE(splade_rows);
const weft_known_table weft_logit_score_fields = WEFT_KNOWN_TABLE(logit_score_rows);
const weft_known_table weft_dense_fields = WEFT_KNOWN_TABLE(dense_rows);
const weft_known_table weft_module_norm_fields = WEFT_KNOWN_TABLE(layer_norm_rows);
const weft_known_table weft_normalize_fields = WEFT_KNOWN_TABLE(normalize_rows);

/* ---- config_sentence_transformers.json ---- */

#define OF_BOTH                                                             \
    {.name = "__version__"}, {.name = "model_type"}, {.name = "prompts"}, { \
        .name = "requirements"                                              \
    }

#define SIMILARITIES "[\"cosine\", \"dot\", \"euclidean\", \"manhattan\"]"

static const weft_known_field text_usage_rows[] = {
    OF_BOTH,
    {.name = "default_prompt_name"},
    {.name = "truncate_dim"},
    {"similarity_fn_name", WEFT_KNOWN_WARNED, SIMILARITIES, "vectors are compared by their cosine"},
};

static const weft_known_field sparse_usage_rows[] = {
    OF_BOTH,
    {.name = "default_prompt_name"},
    {.name = "max_active_dims"},
    {"truncate_dim", WEFT_KNOWN_REFUSED, NULL, NULL},
    {"similarity_fn_name", WEFT_KNOWN_REFUSED, SIMILARITIES, NULL},
};

static const weft_known_field pair_usage_rows[] = {
    OF_BOTH,
    {.name = "activation_fn"},
    {"default_prompt_name", WEFT_KNOWN_REFUSED, NULL, NULL},
    {.name = "keep_in_fp32_modules"}, /* all are */
};

#define OF_MULTI                                                                            \
    OF_BOTH, {.name = "default_prompt_name"}, {.name = "query_prefix"},                     \
        {.name = "document_prefix"}, {.name = "query_length"}, {.name = "document_length"}, \
        {.name = "query_expansion"}, {.name = "do_query_expansion"},                        \
        {.name = "attend_to_expansion_tokens"}, {.name = "attend_to_mask_tokens"},          \
        {"truncate_dim", WEFT_KNOWN_REFUSED, NULL, NULL}, {                                 \
        "max_active_dims", WEFT_KNOWN_REFUSED, NULL, NULL                                   \
    }

static const weft_known_field multi_usage_rows[] = {
    OF_MULTI,
    {"skiplist_words", WEFT_KNOWN_REFUSED, NULL, NULL}, /* its MultiVectorMask says */
    {"similarity_fn_name", WEFT_KNOWN_REFUSED, "[\"maxsim\", \"meanmaxsim\"]", NULL},
};

/* Whatever the name, PyLate compares by MaxSim, and so does sentence-transformers what PyLate wrote. */
static const weft_known_field pylate_usage_rows[] = {
    OF_MULTI,
    {.name = "skiplist_words"},
    {"similarity_fn_name", WEFT_KNOWN_REFUSED,
     "[\"maxsim\", \"meanmaxsim\", \"MaxSim\", \"cosine\", \"dot\"]", NULL},
};

const weft_known_table weft_multi_usage_fields = WEFT_KNOWN_TABLE(multi_usage_rows);
const weft_known_table weft_pylate_usage_fields = WEFT_KNOWN_TABLE(pylate_usage_rows);
const weft_known_table weft_text_usage_fields = WEFT_KNOWN_TABLE(text_usage_rows);
const weft_known_table weft_sparse_usage_fields = WEFT_KNOWN_TABLE(sparse_usage_rows);
const weft_known_table weft_pair_usage_fields = WEFT_KNOWN_TABLE(pair_usage_rows);

/* ---- sentence_bert_config.json ---- */

#define OF_ANY_ENCODER                                                                      \
    {.name = "max_seq_length"}, {.name = "do_lower_case"}, {.name = "modality_config"},     \
        {.name = "processing_kwargs"}, {.name = "unpad_inputs"}, {.name = "model_args"},    \
        {.name = "model_kwargs"}, {.name = "tokenizer_args"}, {.name = "processor_kwargs"}, \
        {.name = "config_args"}, {.name = "config_kwargs"}, {                               \
        "tokenizer_name_or_path", WEFT_KNOWN_REFUSED, NULL, NULL                            \
    }

#define OF_ENCODER                                                    \
    OF_ANY_ENCODER, {"query_length", WEFT_KNOWN_REFUSED, NULL, NULL}, \
        {"document_length", WEFT_KNOWN_REFUSED, NULL, NULL}, {        \
        "query_expansion", WEFT_KNOWN_REFUSED, NULL, NULL             \
    }

static const weft_known_field text_encoder_rows[] = {
    OF_ENCODER,
    {"transformer_task", WEFT_KNOWN_REFUSED, "[\"feature-extraction\"]", NULL},
    {"module_output_name", WEFT_KNOWN_REFUSED, "[\"token_embeddings\"]", NULL},
};

static const weft_known_field token_encoder_rows[] = {
    OF_ANY_ENCODER,
    {.name = "query_length"},
    {.name = "document_length"},
    {.name = "query_expansion"},
    {"transformer_task", WEFT_KNOWN_REFUSED, "[\"feature-extraction\"]", NULL},
    {"module_output_name", WEFT_KNOWN_REFUSED, "[\"token_embeddings\"]", NULL},
};

static const weft_known_field word_encoder_rows[] = {
    OF_ENCODER,
    {"transformer_task", WEFT_KNOWN_REFUSED, "[\"fill-mask\"]", NULL},
    {"module_output_name", WEFT_KNOWN_REFUSED, "[\"token_embeddings\"]", NULL},
};

static const weft_known_field score_encoder_rows[] = {
    OF_ENCODER,
    {"transformer_task", WEFT_KNOWN_REFUSED, "[\"text-generation\"]", NULL},
    {"module_output_name", WEFT_KNOWN_REFUSED, "[\"causal_logits\"]", NULL},
};

static const weft_known_field pair_encoder_rows[] = {
    OF_ENCODER,
    {"transformer_task", WEFT_KNOWN_REFUSED, "[\"sequence-classification\"]", NULL},
    {"module_output_name", WEFT_KNOWN_REFUSED, "[\"scores\"]", NULL},
};

/* With "message" texts would go through the tokenizer's chat template. */
static const weft_known_field modality_rows[] = {
    {.name = "text"},
    {"*", WEFT_KNOWN_REFUSED, NULL, NULL},
};

/* Of language models that score pairs, whose template others fill in. */
static const weft_known_field score_modality_rows[] = {
    {.name = "text"},
    {.name = "message"},
    {"*", WEFT_KNOWN_REFUSED, NULL, NULL},
};

static const weft_known_field message_way_rows[] = {
    {"method", WEFT_KNOWN_REFUSED, "[\"forward\"]", NULL},
    {"method_output_name", WEFT_KNOWN_REFUSED, "[\"logits\"]", NULL},
    {"format", WEFT_KNOWN_REFUSED, "[\"flat\"]",
     NULL}, /* contents are texts, and no lists of parts */
};

static const weft_known_field text_way_rows[] = {
    {"method", WEFT_KNOWN_REFUSED, "[\"forward\"]", NULL},
    {"method_output_name", WEFT_KNOWN_REFUSED, "[\"last_hidden_state\"]", NULL},
};

/* Of classifiers and of language models. */
static const weft_known_field logits_way_rows[] = {
    {"method", WEFT_KNOWN_REFUSED, "[\"forward\"]", NULL},
    {"method_output_name", WEFT_KNOWN_REFUSED, "[\"logits\"]", NULL},
};

static const weft_known_field processing_rows[] = {
    {.name = "chat_template"}, /* which no text goes through */
    {.name = "audio"},         {.name = "image"},
    {.name = "video"},         {"*", WEFT_KNOWN_REFUSED, "[{}]", NULL},
};

static const weft_known_field model_kwargs_rows[] = {
    {.name = "trust_remote_code"}, /* Weft runs no code of a folder */
    {.name = "attn_implementation"},
    {.name = "add_pooling_layer"},
    {.name = "low_cpu_mem_usage"},
    {.name = "device_map"},
    {.name = "use_safetensors"},
    {"dtype", WEFT_KNOWN_WARNED, "[\"auto\", \"float32\"]", "Weft computes in float32"},
    {"torch_dtype", WEFT_KNOWN_WARNED, "[\"auto\", \"float32\"]", "Weft computes in float32"},
    {"*", WEFT_KNOWN_REFUSED, NULL, NULL},
};

static const weft_known_field processor_kwargs_rows[] = {
    {.name = "trust_remote_code"},
    {.name = "padding_side"}, /* Weft pads with nothing */
    {.name = "use_fast"},
    {"*", WEFT_KNOWN_REFUSED, NULL, NULL},
};

static const weft_known_field config_kwargs_rows[] = {
    {.name = "trust_remote_code"},
    {.name = "use_cache"},
    {"*", WEFT_KNOWN_REFUSED, NULL, NULL},
};

/* What is in an object of the file, if there is one. */
static weft_status check_inner(const weft_json_fields *fields, const char *name,
                               const weft_known_table *table) {
    const json_t *inner = json_object_get(fields->object, name);
    if (!weft_json_has(fields, name)) {
        return WEFT_OK;
    }
    return json_is_object(inner)
               ? weft_known_check(table, &(weft_json_fields){.object = inner,
                                                             .path = fields->path,
                                                             .host = fields->host})
               : weft_json_fail(fields, WEFT_BAD_FILE, name, "an object", inner);
}

weft_status weft_embedding_check_encoder(const weft_json_fields *fields,
                                         enum weft_encoder_use use) {
    static const weft_known_table hidden_way = WEFT_KNOWN_TABLE(text_way_rows);
    static const weft_known_table logits_way = WEFT_KNOWN_TABLE(logits_way_rows);
    static const weft_known_table message_way = WEFT_KNOWN_TABLE(message_way_rows);
    static const weft_known_table modality = WEFT_KNOWN_TABLE(modality_rows);
    static const weft_known_table score_modality = WEFT_KNOWN_TABLE(score_modality_rows);
    static const struct {
        weft_known_table fields;
        const weft_known_table *modalities, *way; /* of modality_config, and of its texts */
    } uses[] = {
        [WEFT_ENCODER_OF_TEXTS] = {WEFT_KNOWN_TABLE(text_encoder_rows), &modality, &hidden_way},
        [WEFT_ENCODER_OF_TOKENS] = {WEFT_KNOWN_TABLE(token_encoder_rows), &modality, &hidden_way},
        [WEFT_ENCODER_OF_PAIRS] = {WEFT_KNOWN_TABLE(pair_encoder_rows), &modality, &logits_way},
        [WEFT_ENCODER_OF_WORDS] = {WEFT_KNOWN_TABLE(word_encoder_rows), &modality, &logits_way},
        [WEFT_ENCODER_OF_SCORES] = {WEFT_KNOWN_TABLE(score_encoder_rows), &score_modality,
                                    &logits_way}};
    static const weft_known_table processing = WEFT_KNOWN_TABLE(processing_rows);
    static const weft_known_table of_model = WEFT_KNOWN_TABLE(model_kwargs_rows);
    static const weft_known_table of_processor = WEFT_KNOWN_TABLE(processor_kwargs_rows);
    static const weft_known_table of_config = WEFT_KNOWN_TABLE(config_kwargs_rows);
    static const struct {
        const char *name;
        const weft_known_table *table;
    } inner[] = {{"processing_kwargs", &processing},  {"model_args", &of_model},
                 {"model_kwargs", &of_model},         {"tokenizer_args", &of_processor},
                 {"processor_kwargs", &of_processor}, {"config_args", &of_config},
                 {"config_kwargs", &of_config}};
    WEFT_TRY(weft_known_check(&uses[use].fields, fields));
    WEFT_TRY(check_inner(fields, "modality_config", uses[use].modalities));
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        WEFT_TRY(check_inner(fields, inner[i].name, inner[i].table));
    }
    const weft_json_fields ways = {.object = json_object_get(fields->object, "modality_config"),
                                   .path = fields->path,
                                   .host = fields->host};
    if (!json_is_object(ways.object)) {
        return WEFT_OK;
    }
    WEFT_TRY(check_inner(&ways, "message", &message_way));
    return check_inner(&ways, "text", uses[use].way);
}
