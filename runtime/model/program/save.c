/* SPDX-License-Identifier: MIT */
/* From a graph to a program's folder. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/given.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/text.h"
#include "core/try.h"
#include "model/files/folder_save.h"
#include "model/files/int8_tensor.h"
#include "model/files/safetensors_header.h"
#include "model/program/program.h"

#define COPIED ((uint64_t)1 << 16) /* elements at once */

/** Names of values, and what is written of them. */
struct save {
    const weft_graph *graph;
    char **names;  /* by value id; null: it has none yet */
    bool *written; /* weights that have a place in model.safetensors */
    struct weft_digest_map taken;
    struct weft_text config;
};

/* ---- names ---- */

static bool is_taken(const struct save *s, const char *name) {
    return weft_index_find(&s->taken, name, strlen(name)) != WEFT_INDEX_NONE;
}

/** Its own name, or that with a number behind it. */
static weft_status name_value(struct save *s, uint32_t id, const char *wanted) {
    const weft_host *host = &s->graph->host;
    char *name = weft_strdup(host, wanted);
    for (uint32_t i = id; name && is_taken(s, name); i++) {
        weft_free(host, name);
        name = weft_format(host, "%s_%u", wanted, i);
    }
    if (!name || !weft_index_set(&s->taken, name, strlen(name), id, host)) {
        weft_free(host, name);
        return weft_fail_memory(host, "names of a program");
    }
    s->names[id] = name;
    return WEFT_OK;
}

/** Inputs keep their names; nodes are called by their numbers, and weights as they are where that is free. */
static weft_status name_values(struct save *s) {
    for (uint32_t i = 1; i < s->graph->value_count; i++) {
        if (s->graph->values[i].source == WEFT_VALUE_INPUT) {
            WEFT_TRY(name_value(s, i, s->graph->values[i].name));
        }
    }
    for (uint32_t i = 1; i < s->graph->value_count; i++) {
        const struct weft_value *value = &s->graph->values[i];
        char number[16];
        snprintf(number, sizeof number, "%%%u", i);
        if (value->source == WEFT_VALUE_WEIGHT) {
            const char *name = value->weight->name;
            WEFT_TRY(name_value(s, i, name && name[0] ? name : "weight"));
        } else if (value->source == WEFT_VALUE_NODE) {
            WEFT_TRY(name_value(s, i, number));
        }
    }
    return WEFT_OK;
}

/* ---- config.json ---- */

static weft_status add_json(struct weft_text *text, json_t *value, size_t flags) {
    char *json = weft_json_text(value, JSON_ENCODE_ANY | flags, &text->host);
    json_decref(value);
    if (!json) {
        return weft_fail_memory(&text->host, "config.json");
    }
    weft_text_put(text, json, strlen(json));
    weft_free(&text->host, json);
    return WEFT_OK;
}

static weft_status add_string(struct weft_text *text, const char *string) {
    return add_json(text, weft_json_string_of(string, strlen(string), &text->host), 0);
}

static weft_status add_real(struct weft_text *text, float value) {
    if (isfinite(value)) {
        return add_json(text, json_real((double)value), JSON_REAL_PRECISION(9));
    }
    return add_string(text, isnan(value) ? "nan" : value > 0.0F ? "inf" : "-inf");
}

static void add_shape(struct weft_text *text, weft_shape shape) {
    weft_text_put(text, "[", 1);
    for (uint32_t i = 0; i < shape.rank; i++) {
        weft_text_add(text, "%s%u", i ? ", " : "", shape.dim[i]);
    }
    weft_text_put(text, "]", 1);
}

static weft_status add_inputs(struct save *s) {
    bool any = false;
    for (uint32_t i = 1; i < s->graph->value_count; i++) {
        const struct weft_value *value = &s->graph->values[i];
        if (value->source == WEFT_VALUE_INPUT && value->is_state) {
            return weft_fail(&s->graph->host, WEFT_UNSUPPORTED,
                             "weft_graph_save: '%s' is a state of a step, which programs cannot "
                             "have",
                             value->name);
        }
        if (value->source == WEFT_VALUE_INPUT) {
            weft_text_add(&s->config, "%s\n    {\"name\": ", any ? "," : "");
            WEFT_TRY(add_string(&s->config, s->names[i]));
            weft_text_add(&s->config,
                          ", \"dtype\": \"%s\", \"shape\": ", weft_dtype_name(value->dtype));
            add_shape(&s->config, value->shape);
            weft_text_add(&s->config, "}");
            any = true;
        }
    }
    return WEFT_OK;
}

static weft_status add_element(struct save *s, const struct weft_node *node,
                               const struct weft_member *field, uint32_t index) {
    uint32_t word = 0;
    float real = 0.0F;
    const uint8_t *at = node->params.bytes + field->offset + (size_t)index * sizeof word;
    const char *text = NULL;
    memcpy(&word, at, sizeof word);
    memcpy(&real, at, sizeof real);
    switch (field->kind) {
    case WEFT_MEMBER_F32:
        return add_real(&s->config, real);
    case WEFT_MEMBER_WORD:
        text = weft_field_word(field, node->params.bytes, index);
        return text ? add_string(&s->config, text)
                    : weft_fail(&s->graph->host, WEFT_UNSUPPORTED,
                                "weft_graph_save: %s, the node of %%%u, has %s %u, for which "
                                "programs have no word",
                                node->op->name, node->output, field->name, word);
    case WEFT_MEMBER_I32:
        weft_text_add(&s->config, "%d", (int32_t)word);
        return WEFT_OK;
    default:
        weft_text_add(&s->config, "%u", word);
        return WEFT_OK;
    }
}

static weft_status add_field(struct save *s, const struct weft_node *node,
                             const struct weft_member *field) {
    const void *params = node->params.bytes;
    weft_text_add(&s->config, ", \"%s\": ", field->name);
    if (field->kind == WEFT_MEMBER_BOOL) {
        weft_text_add(&s->config, "%s", weft_field_is_set(field, params) ? "true" : "false");
        return WEFT_OK;
    }
    const uint32_t count = weft_field_count(field, params);
    weft_text_add(&s->config, field->capacity ? "[" : "");
    for (uint32_t i = 0; i < count; i++) {
        weft_text_add(&s->config, i ? ", " : "");
        WEFT_TRY(add_element(s, node, field, i));
    }
    weft_text_add(&s->config, field->capacity ? "]" : "");
    return WEFT_OK;
}

static weft_status add_node(struct save *s, const struct weft_node *node, bool first) {
    if (!weft_op_is_for_programs(node->op)) {
        return weft_fail(&s->graph->host, WEFT_UNSUPPORTED,
                         "weft_graph_save: %%%u is of the op %s, which programs cannot have",
                         node->output, node->op->name);
    }
    weft_text_add(&s->config, "%s\n    {\"op\": \"%s\", \"inputs\": [", first ? "" : ",",
                  node->op->name);
    for (uint32_t i = 0; i < node->input_count; i++) {
        weft_text_add(&s->config, i ? ", " : "");
        WEFT_TRY(add_string(&s->config, node->input[i] ? s->names[node->input[i]] : ""));
    }
    weft_text_add(&s->config, "], \"output\": ");
    WEFT_TRY(add_string(&s->config, s->names[node->output]));
    for (const struct weft_member *field = node->op->fields; field && field->name; field++) {
        WEFT_TRY(add_field(s, node, field));
    }
    weft_text_add(&s->config, "}");
    return WEFT_OK;
}

static weft_status make_config(struct save *s) {
    weft_text_add(&s->config,
                  "{\n  \"model_type\": \"program\",\n  \"format\": %d,\n"
                  "  \"inputs\": [",
                  WEFT_PROGRAM_FORMAT);
    WEFT_TRY(add_inputs(s));
    weft_text_add(&s->config, "\n  ],\n  \"nodes\": [");
    for (uint32_t i = 0; i < s->graph->node_count; i++) {
        WEFT_TRY(add_node(s, &s->graph->nodes[i], i == 0));
    }
    weft_text_add(&s->config, "\n  ],\n  \"outputs\": [");
    for (uint32_t i = 0; i < s->graph->result_count; i++) {
        weft_text_add(&s->config, "%s\n    {\"name\": ", i ? "," : "");
        WEFT_TRY(add_string(&s->config, s->graph->results[i].name));
        weft_text_add(&s->config, ", \"value\": ");
        WEFT_TRY(add_string(&s->config, s->names[s->graph->results[i].value]));
        weft_text_add(&s->config, "}");
    }
    weft_text_add(&s->config, "\n  ]\n}\n");
    return s->config.failed ? weft_fail_memory(&s->graph->host, "config.json") : WEFT_OK;
}

/** Checks that the saved config can be loaded, also within the bounds on its tree (core/formats/json.h). */
static weft_status check_config(const struct save *s) {
    const weft_host *host = &s->graph->host;
    json_t *object = NULL;
    const bool fits =
        s->config.length <= WEFT_JSON_MAX_BYTES &&
        weft_json_parse(&object, s->config.data, s->config.length, "config.json", host) == WEFT_OK;
    json_decref(object);
    return fits ? WEFT_OK
                : weft_fail(host, WEFT_UNSUPPORTED,
                            "weft_graph_save: %u nodes are more than the config.json of a program "
                            "can have",
                            s->graph->node_count);
}

/* ---- model.safetensors ---- */

/** Weights that nodes or results read: others are of no use. */
static void mark_weights(struct save *s) {
    for (uint32_t i = 0; i < s->graph->node_count; i++) {
        const struct weft_node *node = &s->graph->nodes[i];
        for (uint32_t k = 0; k < node->input_count; k++) {
            s->written[node->input[k]] = true;
        }
    }
    for (uint32_t i = 0; i < s->graph->result_count; i++) {
        s->written[s->graph->results[i].value] = true;
    }
    for (uint32_t i = 0; i < s->graph->value_count; i++) {
        s->written[i] = s->written[i] && s->graph->values[i].source == WEFT_VALUE_WEIGHT;
    }
}

/** As it is stored. */
static weft_safetensors_dtype dtype_of(const weft_weight *weight) {
    return weight->stored == WEFT_STORED_F16    ? WEFT_SAFETENSORS_F16
           : weight->stored == WEFT_STORED_BF16 ? WEFT_SAFETENSORS_BF16
           : weft_weight_is_int8(weight)        ? WEFT_SAFETENSORS_I8
           : weight->dtype == WEFT_F32          ? WEFT_SAFETENSORS_F32
                                                : WEFT_SAFETENSORS_I32;
}

/** model/files/int8_tensor.h says what the tensor of scales is. */
static weft_status add_scale_entry(struct weft_safetensors_header *header, const struct save *s,
                                   uint32_t id) {
    const weft_weight *weight = s->graph->values[id].weight;
    const uint32_t axis = weight->scale_columns ? 1 : 0;
    uint64_t shape[2] = {1, 1};
    shape[axis] = weight->shape.dim[axis];
    char *name =
        weft_format(&s->graph->host, "%s%s", s->names[id], WEFT_SCALE_NAME(weight->stored));
    weft_status status = name ? WEFT_OK : weft_fail_memory(&s->graph->host, "a tensor's name");
    for (uint32_t i = 1; i < s->graph->value_count && status == WEFT_OK; i++) {
        if (s->written[i] && strcmp(s->names[i], name) == 0) {
            status = weft_fail(&s->graph->host, WEFT_UNSUPPORTED,
                               "weft_graph_save: weight \"%.200s\": expected none of that name, "
                               "which the scales of another one get",
                               name);
        }
    }
    if (status == WEFT_OK) {
        status = weft_safetensors_header_add(header, name, WEFT_SAFETENSORS_F32, shape, 2);
    }
    weft_free(&s->graph->host, name);
    return status;
}

static weft_status add_entry(struct weft_safetensors_header *header, const struct save *s,
                             uint32_t id) {
    const struct weft_value *value = &s->graph->values[id];
    uint64_t shape[WEFT_MAX_RANK];
    for (uint32_t i = 0; i < value->shape.rank; i++) {
        shape[i] = value->shape.dim[i];
    }
    WEFT_TRY(weft_safetensors_header_add(header, s->names[id], dtype_of(value->weight), shape,
                                         value->shape.rank));
    return weft_weight_is_int8(value->weight) ? add_scale_entry(header, s, id) : WEFT_OK;
}

static weft_status add_header(struct weft_new_file *file, const struct save *s,
                              struct weft_safetensors_header *header) {
    for (uint32_t i = 1; i < s->graph->value_count; i++) {
        if (s->written[i]) {
            WEFT_TRY(add_entry(header, s, i));
        }
    }
    WEFT_TRY(weft_safetensors_header_end(header, NULL, 0));
    return weft_new_file_add(file, header->text.data, header->text.length, &s->graph->host);
}

static weft_status add_elements(struct weft_new_file *file, const struct save *s,
                                const weft_weight *weight, uint32_t *block) {
    const uint64_t elements = weft_shape_elements(weight->shape);
    for (uint64_t done = 0; done < elements; done += COPIED) {
        const uint64_t count = elements - done < COPIED ? elements - done : COPIED;
        WEFT_TRY(weft_weight_read_stored(weight, done, count, block));
        WEFT_TRY(weft_new_file_add(file, block, (size_t)count * weft_weight_element_size(weight),
                                   &s->graph->host));
    }
    return WEFT_OK;
}

static weft_status add_scales(struct weft_new_file *file, const struct save *s,
                              const weft_weight *weight, uint32_t *block) {
    const uint32_t axis = weight->scale_columns ? 1 : 0;
    const uint64_t count = weight->shape.dim[axis], step = axis == 1 ? 1 : weight->shape.dim[1];
    for (uint64_t done = 0, filled = 0; done < count; filled = 0) {
        for (; filled < COPIED && done < count; filled++, done++) {
            const float scale = weft_weight_scale(weight, done * step);
            memcpy(&block[filled], &scale, sizeof scale);
        }
        WEFT_TRY(weft_new_file_add(file, block, (size_t)filled * sizeof *block, &s->graph->host));
    }
    return WEFT_OK;
}

static weft_status write_weights(struct weft_new_file *file, const struct save *s) {
    const weft_host *host = &s->graph->host;
    struct weft_safetensors_header header = {.text = {.host = *host}};
    weft_status status = add_header(file, s, &header);
    weft_free(host, header.text.data);
    WEFT_TRY(status);
    uint32_t *block = weft_alloc(host, COPIED * sizeof *block);
    status = block ? WEFT_OK : weft_fail_memory(host, "a weight");
    for (uint32_t i = 1; i < s->graph->value_count && status == WEFT_OK; i++) {
        if (s->written[i]) {
            const weft_weight *weight = s->graph->values[i].weight;
            status = add_elements(file, s, weight, block);
            if (status == WEFT_OK && weft_weight_is_int8(weight)) {
                status = add_scales(file, s, weight, block);
            }
        }
    }
    weft_free(host, block);
    return status == WEFT_OK ? weft_new_file_finish(file, host) : status;
}

/* ---- the folder ---- */

struct new_files {
    char *config_path, *weights_path;
    struct weft_new_file config, weights;
};

static weft_status place(struct new_files *files, const char *folder, const weft_host *host) {
    struct weft_folder_save saving;
    weft_status status = weft_folder_save_begin(&saving, folder, host);
    if (status == WEFT_OK) {
        status = weft_folder_save_withdraw(folder, host);
    }
    if (status == WEFT_OK) {
        status = weft_new_file_place(&files->weights, host);
    }
    if (status == WEFT_OK) {
        status = weft_new_file_place(&files->config, host);
    }
    weft_folder_save_end(&saving, host);
    return status;
}

static weft_status write_files(struct new_files *files, const struct save *s, const char *folder) {
    const weft_host *host = &s->graph->host;
    if (!files->config_path || !files->weights_path) {
        return weft_fail_memory(host, "a path");
    }
    WEFT_TRY(weft_new_file_create(&files->weights, files->weights_path, host));
    WEFT_TRY(write_weights(&files->weights, s));
    WEFT_TRY(weft_new_file_create(&files->config, files->config_path, host));
    WEFT_TRY(weft_new_file_add(&files->config, s->config.data, s->config.length, host));
    WEFT_TRY(weft_new_file_finish(&files->config, host));
    return place(files, folder, host);
}

static weft_status write_folder(const struct save *s, const char *folder) {
    const weft_host *host = &s->graph->host;
    WEFT_TRY(weft_make_folders(folder, host));
    struct new_files files = {.config_path = weft_path_join(folder, "config.json", host),
                              .weights_path = weft_path_join(folder, "model.safetensors", host),
                              .config = {.file = -1},
                              .weights = {.file = -1}};
    const weft_status status = write_files(&files, s, folder);
    weft_new_file_drop(&files.config, host);
    weft_new_file_drop(&files.weights, host);
    weft_free(host, files.config_path);
    weft_free(host, files.weights_path);
    return status;
}

static weft_status save(struct save *s, const char *folder) {
    if (!s->names || !s->written) {
        return weft_fail_memory(&s->graph->host, "names of a program");
    }
    if (s->graph->result_count == 0) {
        return weft_fail(&s->graph->host, WEFT_INVALID_ARGUMENT,
                         "weft_graph_save: the graph has no output");
    }
    WEFT_TRY(name_values(s));
    WEFT_TRY(make_config(s));
    WEFT_TRY(check_config(s));
    mark_weights(s);
    return write_folder(s, folder);
}

weft_status weft_graph_save(const weft_graph *graph, const char *folder) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), graph, folder);
    const weft_host *host = &graph->host;
    struct save s = {.graph = graph,
                     .names = weft_alloc_zero(host, graph->value_count, sizeof(char *)),
                     .written = weft_alloc_zero(host, graph->value_count, sizeof(bool)),
                     .config = {.host = *host}};
    const weft_status status = save(&s, folder);
    for (uint32_t i = 0; s.names && i < graph->value_count; i++) {
        weft_free(host, s.names[i]);
    }
    weft_free(host, s.names);
    weft_free(host, s.written);
    weft_free(host, s.config.data);
    weft_digest_map_free(&s.taken, host);
    return status;
}
