/* SPDX-License-Identifier: MIT */
#include "model/files/mxfp4_weight.h"
#include "model/network/architecture.h"
#include "model/network/network.h"
#include "model/network/network_build.h"
#include "model/network/network_decoder.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"

/* Long enough for every mixer to have all its parts, short enough to cost nothing. */
#define LOADING_LENGTH 16U

/* ---- config.json ---- */

/* For families with that field; comes before a family's own checks. */
static weft_status check_heads(const struct weft_network *network, const weft_json_fields *json) {
    const weft_field_table *table = &network->family->fields;
    for (uint32_t i = 0; i < table->count; i++) {
        const weft_field *field = &table->fields[i];
        if (strcmp(field->name, "num_attention_heads") == 0) {
            const uint32_t *heads =
                (const void *)((const char *)network->family_config + field->offset);
            return weft_family_check_heads(*heads, network->config.hidden_size, json);
        }
    }
    return WEFT_OK;
}

static weft_status read_own_fields(struct weft_network *network, const weft_json_fields *json) {
    const struct weft_model_family *family = network->family;
    WEFT_TRY(weft_fields_read(network->family_config, &family->fields, json));
    WEFT_TRY(check_heads(network, json));
    return family->check ? family->check(network->family_config, &network->config, json) : WEFT_OK;
}

static weft_status read_fields(struct weft_network *network, const weft_json_fields *json) {
    const struct weft_model_family *family = network->family;
    if (family->layout) {
        WEFT_TRY(weft_layout_read(&network->config, &network->head, network->family_config,
                                  family->layout, json));
        network->class_name = weft_layout_class(family->layout, network->head, json->host);
        return network->class_name ? read_own_fields(network, json)
                                   : weft_fail_memory(json->host, "a model's class");
    }
    const weft_field_table *const tables[] = {&weft_network_fields, &family->fields};
    WEFT_TRY(weft_fields_refuse_others(tables, 2, json));
    WEFT_TRY(weft_network_config_read(&network->config, family->feed_forward, json));
    return read_own_fields(network, json);
}

/* Accepts any class in the config if the last hidden state is requested: the class tells how the encoder was trained. */
static weft_status name_encoder(json_t *object, const struct weft_model_family *family,
                                const weft_host *host) {
    const char *name = family->layout ? family->layout->encoder : NULL;
    return !name || json_object_set_new(object, "architectures", json_pack("[s]", name)) == 0
               ? WEFT_OK
               : weft_fail_memory(host, "a model's config");
}

static weft_status read_config(struct weft_network *network,
                               const struct weft_model_source *source) {
    const weft_host *host = &network->host;
    network->family_config = weft_alloc_zero(host, 1, network->family->config_size + 1);
    if (!network->family_config) {
        return weft_fail_memory(host, "a model's config");
    }
    if (network->family->set_defaults) {
        network->family->set_defaults(network->family_config);
    }
    weft_json_fields fields = weft_source_fields(source, host);
    if (!source->encoder) {
        return read_fields(network, &fields);
    }
    json_t *encoder = json_copy(source->fields);
    fields.object = encoder;
    weft_status status = name_encoder(encoder, network->family, host);
    if (status == WEFT_OK) {
        status = read_fields(network, &fields);
    }
    json_decref(encoder);
    return status;
}

/* ---- model.safetensors ---- */

static uint32_t exact_length(const struct weft_network *network) {
    const struct weft_model_family *family = network->family;
    if (network->config.image.size != 0 || network->config.embedding.padded) {
        return network->config.max_positions;
    }
    return family->exact_length ? family->exact_length(network->family_config) : 0;
}

static bool takes_lengths(const struct weft_network *network) {
    const struct weft_model_family *family = network->family;
    return network->config.image.size == 0 && !network->config.embedding.padded &&
           family->takes_lengths && family->takes_lengths(network->family_config);
}

static uint32_t position_size(const struct weft_network *network) {
    const struct weft_model_family *family = network->family;
    return family->position_size ? family->position_size(network->family_config) : 0;
}

static weft_status add_inputs(weft_model_inputs *inputs, const struct weft_network *network,
                              weft_graph *graph) {
    const weft_network_config *config = &network->config;
    uint32_t batch = weft_network_task(config) == WEFT_TASK_RETRIEVE ? 2 : 1;
    uint32_t length = exact_length(network);
    if (length == 0) {
        length = config->max_positions < LOADING_LENGTH ? config->max_positions : LOADING_LENGTH;
    }
    weft_model_info info;
    weft_network_describe(network, &info);
    return weft_model_add_inputs(inputs, graph, batch, length, &info);
}

static weft_status ask_for_weights(struct weft_network *network, weft_graph *graph) {
    weft_model_inputs inputs = {0};
    weft_tensor out = {0};
    WEFT_TRY(add_inputs(&inputs, network, graph));
    return weft_network_memory_count(network) > 0
               ? weft_network_build_both(&out, network, graph, &inputs)
               : weft_network_build(&out, network, graph, &inputs, (struct weft_network_way){0},
                                    NULL);
}

/* Builds the network into a graph that is thrown away: what it asks for is what it has. */
static weft_status load_weights(struct weft_network *network) {
    weft_graph *graph = NULL;
    WEFT_TRY(weft_graph_create(&graph, &network->host));
    const weft_status status = ask_for_weights(network, graph);
    weft_graph_destroy(&graph);
    return status;
}

/* True if a tensor is one of those of a stack, as whose last number but one its name has. */
static bool is_in_stack(const struct weft_network *network, uint32_t index,
                        const struct weft_named_weight *stack) {
    struct weft_stored_name one;
    const char *behind = strchr(stack->stored, '*') + 1;
    const char *name = weft_checkpoint_name(network->checkpoint, index);
    const size_t length = strlen(name), tail = strlen(behind);
    if (length <= tail || strcmp(name + length - tail, behind) != 0) {
        return false;
    }
    size_t first = length - tail;
    while (first > 0 && isdigit((unsigned char)name[first - 1])) {
        first--;
    }
    const unsigned long number =
        strtoul(name + first, NULL, 10); /* of none 0, as another name has it */
    weft_layout_number(&one, stack->stored, (uint32_t)number);
    return number < stack->stacked &&
           weft_checkpoint_is_named(network->checkpoint, index, one.text);
}

static bool is_loaded(const struct weft_network *network, uint32_t index) {
    for (uint32_t i = 0; i < network->weight_count; i++) {
        const struct weft_named_weight *weight = &network->weights[i];
        if (weight->stored &&
            (weight->stacked != 0
                 ? is_in_stack(network, index, weight)
                 : weft_checkpoint_is_named(network->checkpoint, index, weight->stored))) {
            return true;
        }
    }
    return false;
}

static enum weft_other_tensor other_tensor(const struct weft_network *network, const char *name) {
    if (network->family->layout) {
        return weft_layout_other(network->family->layout, network->head, name);
    }
    return WEFT_TENSOR_PART;
}

/* Refuses unused tensors that would change the result: the file is then not a model of this config.json. */
static weft_status refuse_other_tensors(const struct weft_network *network, const char *known) {
    uint32_t unknown = 0;
    const char *first = NULL;
    for (uint32_t i = 0; i < weft_checkpoint_count(network->checkpoint); i++) {
        const char *name = weft_checkpoint_name(network->checkpoint, i);
        if (is_loaded(network, i) || weft_checkpoint_is_scale(network->checkpoint, i) ||
            weft_mxfp4_is_scale(network->checkpoint, name) || (known && strcmp(name, known) == 0)) {
            continue;
        }
        const enum weft_other_tensor kind = other_tensor(network, name);
        first = kind == WEFT_TENSOR_UNKNOWN && !first ? name : first;
        unknown += kind == WEFT_TENSOR_UNKNOWN;
        if (kind == WEFT_TENSOR_PART) {
            return weft_fail(&network->host, WEFT_BAD_FILE,
                             "%s: tensor \"%s\": expected the tensors of a %s model of this "
                             "config.json, found one that no part of it has",
                             weft_checkpoint_path(network->checkpoint), name,
                             network->family->model_type);
        }
    }
    if (unknown > 0) {
        weft_log(&network->host, WEFT_LOG_WARNING,
                 "%s: tensor \"%s\" and %u others do not belong to a %s model: Weft ignores them",
                 weft_checkpoint_path(network->checkpoint), first, unknown - 1,
                 network->family->model_type);
    }
    return WEFT_OK;
}

static weft_status load_tensors(struct weft_network *network,
                                const struct weft_model_source *source) {
    WEFT_TRY(weft_source_open_checkpoint(&network->checkpoint, source, &network->host));
    weft_status status = load_weights(network);
    if (status == WEFT_OK) {
        status = refuse_other_tensors(network, source->other_tensor);
    }
    network->loaded = network->checkpoint;
    network->checkpoint = NULL;
    return status;
}

weft_status weft_network_load(struct weft_network **out, const struct weft_model_family *family,
                              const struct weft_model_source *source, const weft_host *host) {
    struct weft_network *network = weft_alloc_zero(host, 1, sizeof *network);
    if (!network) {
        return weft_fail_memory(host, "a model");
    }
    network->host = host ? *host : (weft_host){0};
    atomic_init(&network->references, 1);
    network->family = family;
    network->layout = family->layout;
    weft_status status = read_config(network, source);
    if (status == WEFT_OK) {
        status = load_tensors(network, source);
    }
    if (status != WEFT_OK) {
        weft_network_destroy(&network);
        return status;
    }
    *out = network;
    return WEFT_OK;
}

struct weft_network *weft_network_retain(struct weft_network *network) {
    atomic_fetch_add(&network->references, 1);
    return network;
}

void weft_network_destroy(struct weft_network **address) {
    struct weft_network *network = *address;
    *address = NULL;
    if (!network || atomic_fetch_sub(&network->references, 1) != 1) {
        return;
    }
    weft_host host = network->host;
    for (uint32_t i = 0; i < network->weight_count; i++) {
        weft_weight_destroy(&network->weights[i].weight);
        weft_free(&host, network->weights[i].name);
        weft_free(&host, network->weights[i].stored);
    }
    weft_free(&host, network->weights);
    weft_checkpoint_close(&network->loaded);
    if (network->family_config && network->family->clear) {
        network->family->clear(network->family_config, &host);
    }
    weft_free(&host, network->family_config);
    weft_free(&host, network->class_name);
    weft_network_config_clear(&network->config, &host);
    weft_free(&host, network);
}

/* ---- what it is ---- */

/* True if each label applies independently of the others. */
static bool is_multi_label(const struct weft_network *network) {
    const weft_network_config *config = &network->config;
    const bool one = config->label_count == 1;
    const weft_task task = weft_network_task(config);
    if (!network->head) {
        return one && task != WEFT_TASK_REGRESS;
    }
    if (task == WEFT_TASK_CLASSIFY && network->head->outputs == 0) {
        return config->head.problem == WEFT_PROBLEM_MULTI_LABEL ||
               (config->head.problem == WEFT_PROBLEM_ANY && one);
    }
    return task == WEFT_TASK_CLASSIFY_TOKENS && one;
}

void weft_network_describe(const struct weft_network *network, weft_model_info *info) {
    const weft_network_config *config = &network->config;
    const struct weft_model_family *family = network->family;
    *info = (weft_model_info){
        .architecture = network->class_name ? network->class_name : network->family->model_type,
        .mixing = family->mixing ? family->mixing(network->family_config) : family->model_type,
        .task = weft_network_task(config),
        .layers = config->layers,
        .hidden_size = config->hidden_size,
        .intermediate_size = config->intermediate_size,
        .vocabulary = config->vocab_size,
        .embedding_size = config->head.vector,
        .input_size = config->input_size,
        .image_size = config->image.size,
        .image_channels = config->image.channels,
        .position_size = position_size(network),
        .max_length = config->max_positions,
        .exact_length = exact_length(network),
        .takes_lengths = takes_lengths(network),
        .causal = config->causal,
        .label_count = config->label_count,
        .takes_types = config->embedding.types > 0,
        .multi_label = is_multi_label(network),
        .eos_token = config->eos_token,
        .parameters = network->parameters};
}

const char *weft_network_label(const struct weft_network *network, uint32_t index) {
    return network->config.labels && index < network->config.label_count
               ? network->config.labels[index]
               : NULL;
}

weft_status weft_network_make_tokenizer(weft_tokenizer **tokenizer,
                                        const struct weft_network *network, const char *folder) {
    const weft_network_config *config = &network->config;
    weft_tokenizer_settings settings = {.kind = config->tokenizer,
                                        .class_name = config->tokenizer_class,
                                        .vocabulary = config->vocab_size};
    return weft_tokenizer_load(tokenizer, folder, &settings, &network->host);
}

bool weft_network_has_place(const struct weft_network *network, int32_t token) {
    const uint32_t offset = network->config.embedding.position_offset;
    return offset == 0 || token != (int32_t)offset - 1;
}

bool weft_network_reads_by_length(const struct weft_network *network, uint32_t length) {
    const weft_network_config *config = &network->config;
    bool has_bands = false;
    for (uint32_t i = 0; i < config->layers; i++) {
        has_bands = has_bands || weft_layer_set_has(&config->attention.local, i);
    }
    return network->family->mix == weft_layout_attention && !config->causal &&
           (!has_bands || length <= config->attention.half_width + 1);
}

bool weft_network_is_recurrent(const struct weft_network *network) {
    const struct weft_model_family *family = network->family;
    return network->config.causal && network->config.input == 0 && family->recurrent &&
           family->recurrent(network->family_config) &&
           !weft_network_needs_scores(&network->config);
}
