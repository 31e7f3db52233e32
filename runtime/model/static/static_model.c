/* SPDX-License-Identifier: MIT */
#include "model/static/static_model.h"

#include <string.h>

#include "core/formats/known_fields.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"
#include "model/files/other_weights.h"
#include "model/static/static_table.h"

#define MOST_TOKENS 16777216 /* 2^24: as many as there are */
#define MODEL2VECS  512      /* tokens of a text where its config.json does not say */

/* ---- config.json of model2vec ---- */

static const weft_known_field rows[] = {
    {.name = "model_type"},
    {.name = "architectures"},
    {.name = "normalize"},
    {.name = "max_length"},
    /* How the table was made, and what the tensors say: */
    {.name = "tokenizer_name"},
    {.name = "apply_pca"},
    {.name = "apply_zipf"},
    {.name = "sif_coefficient"},
    {.name = "hidden_dim"},
    {.name = "seq_length"},
    {.name = "pooling"},
    {.name = "embedding_dtype"},
    {.name = "vocabulary_quantization"},
    {.name = "language"},
    /* As Weft writes it, below: */
    {.name = "vocab_size"},
    {.name = "hidden_size"},
    {.name = "max_position_embeddings"},
    {.name = "weft_rules"},
    {"head_config", WEFT_KNOWN_WARNED, NULL, "the vectors of texts"},
};
static const weft_known_table known = WEFT_KNOWN_TABLE(rows);

static bool names_model2vec(const json_t *object) {
    const char *type = json_string_value(json_object_get(object, "model_type"));
    return type && strcmp(type, "model2vec") == 0;
}

bool weft_static_model_is_there(const char *folder) {
    json_t *object = NULL;
    weft_file_facts facts;
    const weft_host quiet = {0};
    char *path = weft_path_join(folder, "config.json", NULL);
    const bool is = path && weft_system_facts(&facts, path) == 0 &&
                    weft_json_read(&object, path, &quiet) == WEFT_OK && names_model2vec(object);
    json_decref(object);
    weft_free(NULL, path);
    return is;
}

/* Without a max_length there are 512 tokens; with null, all. */
static weft_status read_fields(struct weft_static_model *model, int64_t *length,
                               const weft_json_fields *fields) {
    const bool all = json_is_null(json_object_get(fields->object, "max_length"));
    *length = all ? MOST_TOKENS : MODEL2VECS;
    WEFT_TRY(weft_known_check(&known, fields));
    WEFT_TRY(weft_json_optional_integer(length, fields, "max_length", 1, MOST_TOKENS));
    return weft_json_optional_bool(&model->normalizes, fields, "normalize");
}

static weft_status read_config(struct weft_static_model *model, int64_t *length, const char *folder,
                               const weft_host *host) {
    json_t *object = NULL;
    char *path = weft_path_join(folder, "config.json", host);
    weft_status status =
        path ? weft_json_read(&object, path, host) : weft_fail_memory(host, "a path");
    if (status == WEFT_OK) {
        status = read_fields(model, length,
                             &(weft_json_fields){.object = object, .path = path, .host = host});
    }
    json_decref(object);
    weft_free(host, path);
    return status;
}

/* ---- the other files ---- */

static weft_status open_table(weft_safetensors **table, const char *folder, const weft_host *host) {
    weft_safetensors *file = NULL;
    char *path = weft_path_join(folder, "model.safetensors", host);
    weft_status status = path ? weft_other_weights_explain(
                                    folder, path, weft_safetensors_open(&file, path, host), host)
                              : weft_fail_memory(host, "a path");
    weft_free(host, path);
    return status == WEFT_OK ? weft_static_table_open(table, file) : status;
}

static weft_status read_tokenizer(struct weft_static_model *model, const char *folder,
                                  const weft_host *host) {
    uint8_t *text = NULL;
    char *path = weft_path_join(folder, "tokenizer.json", host);
    const weft_status status =
        path ? weft_file_read_regular(&text, &model->tokenizer_size, WEFT_TOKENIZER_JSON_MAX_BYTES,
                                      path, host)
             : weft_fail_memory(host, "a path");
    weft_free(host, path);
    model->tokenizer = (char *)text;
    return status;
}

/* In a folder it says of the same weights what the folder's own says. */
static weft_status write_config(struct weft_static_model *model,
                                const weft_safetensors_tensor *table, enum weft_bag_rules rules,
                                int64_t length, const weft_host *host) {
    model->config = weft_format(
        host,
        "{\"model_type\": \"model2vec\", \"architectures\": [\"StaticModel\"], \"vocab_size\": "
        "%llu, "
        "\"hidden_size\": %llu, \"max_position_embeddings\": %lld, \"max_length\": %lld, "
        "\"normalize\": %s, \"weft_rules\": \"%s\"}",
        (unsigned long long)table->shape[0], (unsigned long long)table->shape[1], (long long)length,
        (long long)length, model->normalizes ? "true" : "false", weft_bag_rule_names[rules]);
    return model->config ? WEFT_OK : weft_fail_memory(host, "a model's config");
}

weft_status weft_static_model_open(struct weft_static_model *model, const char *folder,
                                   enum weft_bag_rules rules, const weft_host *host) {
    weft_safetensors *table = NULL;
    int64_t length = MOST_TOKENS;
    if (rules == WEFT_BAG_MODEL2VEC) {
        WEFT_TRY(read_config(model, &length, folder, host));
    }
    WEFT_TRY(read_tokenizer(model, folder, host));
    WEFT_TRY(open_table(&table, folder, host));
    const weft_status status =
        write_config(model, weft_safetensors_at(table, 0), rules, length, host);
    if (status != WEFT_OK) {
        weft_safetensors_close(&table);
        return status;
    }
    WEFT_TRY(weft_checkpoint_take(&model->checkpoint, table, false, host));
    weft_checkpoint_use_all(model->checkpoint);
    return WEFT_OK;
}

void weft_static_model_clear(struct weft_static_model *model, const weft_host *host) {
    weft_free(host, model->config);
    weft_free(host, model->tokenizer);
    weft_checkpoint_close(&model->checkpoint);
    *model = (struct weft_static_model){.config = NULL};
}
