/* SPDX-License-Identifier: MIT */
#include "model/network/network_build.h"

#include <stdio.h>
#include <string.h>

#include <weft/movement.h>

#include "core/shape.h"
#include "core/try.h"
#include "graph/graph.h"
#include "model/files/mxfp4_weight.h"
#include "model/files/rearranged_weight.h"
#include "model/files/stacked_weight.h"
#include "model/network/layout.h"
#include "model/network/network.h"

/* ---- names ---- */

size_t weft_build_enter(struct weft_builder *builder, const char *part) {
    const size_t before = strlen(builder->scope);
    snprintf(builder->scope + before, sizeof builder->scope - before, ".%s", part);
    return before;
}

void weft_build_leave(struct weft_builder *builder, size_t entered) {
    builder->scope[entered] = '\0';
}

struct weft_scope weft_build_outside(struct weft_builder *builder) {
    struct weft_scope scope;
    memcpy(scope.text, builder->scope, sizeof scope.text);
    builder->scope[0] = '\0';
    return scope;
}

void weft_build_inside(struct weft_builder *builder, const struct weft_scope *scope) {
    memcpy(builder->scope, scope->text, sizeof scope->text);
}

/* ---- weights ---- */

struct weight_name {
    char text[2 * WEFT_SCOPE_SIZE];
};

static struct weight_name full_name(const struct weft_builder *builder, const char *name) {
    struct weight_name full;
    snprintf(full.text, sizeof full.text, "%s%s%s", builder->scope, builder->scope[0] ? "." : "",
             name);
    return full;
}

static weft_weight *find(const struct weft_network *network, const char *name) {
    for (uint32_t i = 0; i < network->weight_count; i++) {
        if (strcmp(network->weights[i].name, name) == 0) {
            return network->weights[i].weight;
        }
    }
    return NULL;
}

/* Takes the weight. `stored`: the checkpoint's tensor that it is, or null. */
static weft_status keep(struct weft_network *network, const char *name, weft_weight *weight,
                        const char *stored) {
    const weft_host *host = &network->host;
    char *copy = weft_strdup(host, name);
    char *stored_copy = stored ? weft_strdup(host, stored) : NULL;
    if (!copy || (stored && !stored_copy) ||
        !weft_grow(host, &network->weights, network->weight_count, &network->weight_capacity,
                   sizeof *network->weights)) {
        weft_free(host, copy);
        weft_free(host, stored_copy);
        weft_weight_destroy(&weight);
        return weft_fail_memory(host, name);
    }
    network->weights[network->weight_count++] =
        (struct weft_named_weight){.name = copy, .weight = weight, .stored = stored_copy};
    return WEFT_OK;
}

/* The layout of api/MODELS.md: of names that share a tensor, a file may have either. */
static const char *name_or_alias(const struct weft_network *network, const char *name) {
    static const char words[] = "embeddings.tokens.weight", head[] = "head.weight";
    const struct weft_checkpoint *file = network->checkpoint;
    const bool other = network->config.tie_word_embeddings && strcmp(name, words) == 0 &&
                       !weft_checkpoint_has(file, name) && weft_checkpoint_has(file, head);
    return other ? head : name;
}

/* Name of a tensor in the file. Only while the network is loaded. */
static struct weft_stored_name name_in_file(const struct weft_network *network, const char *name) {
    struct weft_stored_name stored = {.row = NULL};
    if (network->layout) {
        weft_layout_find(&stored, network, name);
    } else {
        snprintf(stored.text, sizeof stored.text, "%s", name_or_alias(network, name));
    }
    return stored;
}

static weft_status load_vector(struct weft_network *network, const char *name, uint32_t elements) {
    weft_weight *weight = NULL;
    const struct weft_stored_name stored = name_in_file(network, name);
    WEFT_TRY(weft_interrupted(&network->host));
    WEFT_TRY(weft_checkpoint_vector(&weight, network->checkpoint, stored.text, elements));
    network->parameters += elements;
    return keep(network, name, weight, stored.text);
}

static bool is_transposed(const struct weft_network *network, const struct weft_tensor_name *row,
                          weft_shape shape) {
    return row->transposed && shape.rank == 2 &&
           !weft_checkpoint_is_as_applied(network->checkpoint);
}

/* Rows of a packed matrix that are those of one head's channels, for each group: queries, then keys, then values; or gates; or an expert's. */
struct group_rows {
    uint32_t groups, rows, first, count; /* count of them from first on */
};

static bool is_of_experts(enum weft_packed packed) {
    return packed >= WEFT_PACKED_EXPERTS && packed <= WEFT_PACKED_EXPERT_VALUES;
}

static struct group_rows rows_of_group(const weft_network_config *config, enum weft_packed packed) {
    const uint32_t size = weft_network_head_size(config);
    const uint32_t groups = config->attention.groups != 0 ? config->attention.groups : 1;
    const weft_expert_form *experts = &config->layer.experts;
    if (is_of_experts(packed)) {
        const bool half = packed != WEFT_PACKED_EXPERTS;
        const uint32_t count = half ? experts->size : config->hidden_size;
        return (struct group_rows){.groups = experts->count,
                                   .rows = half ? 2 * count : count,
                                   .first = packed == WEFT_PACKED_EXPERT_VALUES ? count : 0,
                                   .count = count};
    }
    if (packed == WEFT_PACKED_GATED || packed == WEFT_PACKED_GATE) {
        return (struct group_rows){.groups = config->attention.heads,
                                   .rows = 2 * size,
                                   .first = packed == WEFT_PACKED_GATE ? size : 0,
                                   .count = size};
    }
    const uint32_t queries = config->attention.heads / groups * size;
    const uint32_t keys = weft_network_kv_heads(config) / groups * size;
    const uint32_t first = packed == WEFT_PACKED_QUERY ? 0
                           : packed == WEFT_PACKED_KEY ? queries
                                                       : queries + keys;
    return (struct group_rows){.groups = groups,
                               .rows = queries + 2 * keys,
                               .first = first,
                               .count = packed == WEFT_PACKED_QUERY ? queries : keys};
}

/* What a matrix [experts, in, out] has of columns, or a vector of each expert. */
static struct weft_turned_rows turned_rows(const weft_network_config *config,
                                           enum weft_packed packed, weft_shape shape) {
    const weft_expert_form *experts = &config->layer.experts;
    const bool pairs = packed != WEFT_TURNED_EXPERTS;
    const bool vectors = packed >= WEFT_PAIRED_EXPERT_GATES;
    const bool second = packed == WEFT_TURNED_EXPERT_VALUES || packed == WEFT_PAIRED_EXPERT_VALUES;
    const uint32_t count = pairs ? experts->size : config->hidden_size;
    return (struct weft_turned_rows){.groups = experts->count,
                                     .rows = vectors ? 1 : shape.dim[1],
                                     .columns = pairs ? 2 * count : count,
                                     .first = second ? 1 : 0,
                                     .step = pairs ? 2 : 1,
                                     .count = count};
}

/* The shape of the file's tensor, of which `shape` is that of ours: perhaps a part of it, or transposed. */
static weft_shape shape_in_file(const struct weft_network *network,
                                const struct weft_tensor_name *row, bool transposed,
                                weft_shape shape) {
    if (row->packed >= WEFT_TURNED_EXPERTS) {
        const struct weft_turned_rows turned = turned_rows(&network->config, row->packed, shape);
        return row->packed >= WEFT_PAIRED_EXPERT_GATES
                   ? weft_shape_of(turned.groups, turned.columns)
                   : weft_shape_of(turned.groups, turned.rows, turned.columns);
    }
    if (row->packed != WEFT_PACKED_NOT) {
        const struct group_rows group = rows_of_group(&network->config, row->packed);
        if (is_of_experts(row->packed)) {
            return weft_shape_of(group.groups, group.rows, shape.dim[1]);
        }
        shape.dim[0] = group.groups * group.rows;
    } else {
        shape.dim[0] *= row->parts > 1 ? row->parts : 1;
    }
    return transposed ? weft_shape_of(shape.dim[1], shape.dim[0]) : shape;
}

/* The whole tensor, with its rows first, under its name in the file. */
static weft_status load_whole(struct weft_network *network, const struct weft_stored_name *stored,
                              weft_shape shape) {
    weft_weight *weight = NULL;
    const bool transposed = is_transposed(network, stored->row, shape);
    shape = shape_in_file(network, stored->row, transposed, shape);
    WEFT_TRY(weft_checkpoint_weight(&weight, network->checkpoint, stored->text, shape));
    if (transposed) {
        weft_weight *read = weight;
        const weft_status status = weft_weight_transposed_of(&weight, read);
        weft_weight_destroy(&read);
        WEFT_TRY(status);
    }
    network->parameters += weft_shape_elements(shape);
    return keep(network, stored->text, weight, stored->text);
}

/* Rows of a packed matrix as a weight of its own: a part of it, or those of each group one behind the other. */
static weft_status take_packed(weft_weight **weight, weft_weight *whole,
                               const struct weft_network *network, enum weft_packed packed,
                               weft_shape shape) {
    if (packed >= WEFT_TURNED_EXPERTS) {
        const struct weft_turned_rows turned = turned_rows(&network->config, packed, shape);
        return weft_weight_turned_rows_of(weight, whole, shape, &turned);
    }
    const struct group_rows group = rows_of_group(&network->config, packed);
    if (group.groups > 1 && group.count < group.rows) {
        return weft_weight_rows_of(weight, whole, shape, group.rows, group.first, group.count);
    }
    const uint64_t row = weft_shape_elements(shape) / shape.dim[0];
    return weft_weight_part_of(weight, whole, group.first * row, shape);
}

static weft_status load_part(struct weft_network *network, const char *name,
                             const struct weft_stored_name *stored, weft_shape shape) {
    if (!find(network, stored->text)) {
        WEFT_TRY(load_whole(network, stored, shape));
    }
    weft_weight *whole = find(network, stored->text);
    weft_weight *weight = NULL;
    if (stored->row->packed != WEFT_PACKED_NOT) {
        WEFT_TRY(take_packed(&weight, whole, network, stored->row->packed, shape));
        return keep(network, name, weight, NULL);
    }
    if (stored->row->parts <= 1) {
        return keep(network, name, weft_weight_retain(whole), NULL);
    }
    WEFT_TRY(
        weft_weight_part_of(&weight, whole, stored->row->part * weft_shape_elements(shape), shape));
    return keep(network, name, weight, NULL);
}

/* True if the file has the tensor in another form than that in which it is used. */
static bool is_rearranged(const struct weft_tensor_name *row) {
    return row && (row->transposed || row->parts > 1 || row->packed != WEFT_PACKED_NOT);
}

/* The matrices of all experts, of which each is a tensor. */
static weft_status read_experts(weft_weight **parts, struct weft_network *network,
                                const struct weft_stored_name *stored, weft_shape shape) {
    const uint32_t count = network->config.layer.experts.count;
    shape.dim[0] /= count;
    for (uint32_t i = 0; i < count; i++) {
        struct weft_stored_name one;
        weft_layout_number(&one, stored->text, i);
        WEFT_TRY(weft_interrupted(&network->host));
        WEFT_TRY(weft_checkpoint_weight(&parts[i], network->checkpoint, one.text, shape));
    }
    return WEFT_OK;
}

static weft_status load_experts(struct weft_network *network, const char *name,
                                const struct weft_stored_name *stored, weft_shape shape) {
    const uint32_t count = network->config.layer.experts.count;
    weft_weight *weight = NULL;
    weft_weight **parts = weft_alloc_zero(&network->host, count, sizeof(weft_weight *));
    weft_status status = parts ? read_experts(parts, network, stored, shape)
                               : weft_fail_memory(&network->host, name);
    if (status == WEFT_OK) {
        status = weft_weight_stack_of(&weight, parts, count);
    }
    for (uint32_t i = 0; parts && i < count; i++) {
        weft_weight_destroy(&parts[i]);
    }
    weft_free(&network->host, parts);
    WEFT_TRY(status);
    WEFT_TRY(keep(network, name, weight, stored->text));
    network->parameters += weft_shape_elements(shape);
    network->weights[network->weight_count - 1].stacked = count;
    return WEFT_OK;
}

static weft_status load_mxfp4(struct weft_network *network, const char *name,
                              const struct weft_stored_name *stored, weft_shape shape) {
    const uint32_t groups = network->config.layer.experts.count;
    const uint32_t step = stored->row->packed == WEFT_MXFP4_EXPERTS ? 1 : 2;
    const struct weft_mxfp4_rows rows = {
        .groups = groups,
        .rows = step * (shape.dim[0] / groups),
        .first = stored->row->packed == WEFT_MXFP4_EXPERT_VALUES ? 1 : 0,
        .step = step,
        .count = shape.dim[0] / groups};
    weft_weight *weight = NULL;
    WEFT_TRY(weft_mxfp4_weight(&weight, network->checkpoint, stored->text, shape, &rows));
    network->parameters += weft_shape_elements(shape);
    return keep(network, name, weight, stored->text);
}

static weft_status load(struct weft_network *network, const char *name, weft_shape shape) {
    weft_weight *weight = NULL;
    const struct weft_stored_name stored = name_in_file(network, name);
    WEFT_TRY(weft_interrupted(&network->host));
    if (weft_layout_is_numbered(stored.text)) {
        return load_experts(network, name, &stored, shape);
    }
    if (stored.row && stored.row->packed >= WEFT_MXFP4_EXPERTS) {
        return load_mxfp4(network, name, &stored, shape);
    }
    if (is_rearranged(stored.row)) {
        return load_part(network, name, &stored, shape);
    }
    WEFT_TRY(weft_checkpoint_weight(&weight, network->checkpoint, stored.text, shape));
    network->parameters += weft_shape_elements(shape);
    return keep(network, name, weight, stored.text);
}

static weft_tensor use(struct weft_builder *builder, const char *name) {
    weft_tensor tensor = {0};
    return WEFT_BUILT(builder, tensor,
                      weft_graph_weight(&tensor, builder->graph, find(builder->network, name)));
}

weft_tensor weft_build_weight(struct weft_builder *builder, const char *name, weft_shape shape) {
    struct weight_name full = full_name(builder, name);
    struct weft_network *network = builder->network;
    if (builder->status == WEFT_OK && !find(network, full.text)) {
        builder->status = load(network, full.text, shape);
    }
    return use(builder, full.text);
}

void weft_build_exact(struct weft_builder *builder, const char *name) {
    weft_weight *weight = find(builder->network, full_name(builder, name).text);
    if (weight && builder->network->checkpoint) {
        weight->exact = true;
    }
}

/* Sets *same if two weights of a shape have the same bits; may have to read each from its file. */
static weft_status compare(bool *same, const weft_weight *one, const weft_weight *other) {
    enum { MOST = 1024 };
    float values[2][MOST];
    const uint64_t elements = weft_shape_elements(one->shape);
    *same = true;
    for (uint64_t first = 0; *same && first < elements; first += MOST) {
        const uint64_t count = elements - first < MOST ? elements - first : MOST;
        WEFT_TRY(weft_weight_read(one, first, count, values[0]));
        WEFT_TRY(weft_weight_read(other, first, count, values[1]));
        *same = memcmp(values[0], values[1], (size_t)count * sizeof(float)) == 0;
    }
    return WEFT_OK;
}

/* A tensor of the file that config.json ties to another: the same weight, unless its values differ. */
static weft_status load_tied(struct weft_network *network, const char *name, const char *table,
                             weft_shape shape) {
    if (!find(network, table)) {
        WEFT_TRY(load(network, table, shape));
    }
    weft_weight *shared = find(network, table);
    weft_weight *weight = NULL;
    const struct weft_stored_name stored = name_in_file(network, name);
    WEFT_TRY(weft_checkpoint_weight(&weight, network->checkpoint, stored.text, shape));
    bool same = false;
    const weft_status status = compare(&same, weight, shared);
    if (status != WEFT_OK) {
        weft_weight_destroy(&weight);
        return status;
    }
    if (same) {
        weft_weight_destroy(&weight);
        weight = weft_weight_retain(shared);
    } else {
        network->parameters += weft_shape_elements(shape);
    }
    if (!same && network->config.tie_word_embeddings) {
        weft_log(&network->host, WEFT_LOG_WARNING,
                 "%s: tensor \"%s\" differs from \"%s\", although config.json ties them: Weft uses "
                 "the file's tensor",
                 weft_checkpoint_path(network->checkpoint), name, table);
    }
    return keep(network, name, weight, stored.text);
}

weft_tensor weft_build_tied(struct weft_builder *builder, const char *name, const char *table,
                            weft_shape shape) {
    struct weft_network *network = builder->network;
    builder->scope[0] = '\0';
    if (builder->status == WEFT_OK && network->checkpoint && !find(network, name) &&
        weft_checkpoint_has(network->checkpoint, name_in_file(network, name).text)) {
        builder->status = load_tied(network, name, table, shape);
    }
    return find(network, name) ? use(builder, name) : weft_build_weight(builder, table, shape);
}

weft_tensor weft_build_vector(struct weft_builder *builder, const char *name, uint32_t elements) {
    struct weight_name full = full_name(builder, name);
    struct weft_network *network = builder->network;
    if (builder->status == WEFT_OK && !find(network, full.text)) {
        builder->status = load_vector(network, full.text, elements);
    }
    return use(builder, full.text);
}

static weft_status load_integers(struct weft_network *network, const char *name, weft_shape shape) {
    weft_weight *weight = NULL;
    WEFT_TRY(weft_interrupted(&network->host));
    WEFT_TRY(weft_checkpoint_integers(&weight, network->checkpoint, name, shape));
    return keep(network, name, weight, name);
}

weft_tensor weft_build_stored_integers(struct weft_builder *builder, const char *name,
                                       weft_shape shape) {
    struct weight_name full = full_name(builder, name);
    struct weft_network *network = builder->network;
    if (builder->status == WEFT_OK && !find(network, full.text)) {
        builder->status = load_integers(network, full.text, shape);
    }
    return use(builder, full.text);
}

bool weft_build_has(struct weft_builder *builder, const char *name) {
    struct weight_name full = full_name(builder, name);
    const struct weft_network *network = builder->network;
    return network->checkpoint
               ? weft_checkpoint_has(network->checkpoint, name_in_file(network, full.text).text)
               : find(network, full.text) != NULL;
}

/* How a constant is made; one of the two functions is null. */
struct recipe {
    weft_status (*fill)(float *, const void *, const weft_host *);
    weft_status (*fill_integers)(int32_t *, const void *, const weft_host *);
    const void *user;
};

static weft_status make(struct weft_network *network, const char *name, weft_shape shape,
                        const struct recipe *recipe) {
    const weft_host *host = &network->host;
    const weft_dtype dtype = recipe->fill_integers ? WEFT_I32 : WEFT_F32;
    weft_weight *weight = NULL;
    WEFT_TRY(weft_weight_create_empty(
        &weight, weft_weight_params(.name = name, .dtype = dtype, .shape = shape), host));
    weft_status status = WEFT_OK;
    if (recipe->fill) {
        status = recipe->fill(weight->owned, recipe->user, host);
    } else if (recipe->fill_integers) {
        status = recipe->fill_integers(weight->owned, recipe->user, host);
    }
    if (status != WEFT_OK) {
        weft_weight_destroy(&weight);
        return status;
    }
    return keep(network, name, weight, NULL);
}

static weft_tensor constant(struct weft_builder *builder, const char *name, weft_shape shape,
                            const struct recipe *recipe) {
    struct weight_name full = full_name(builder, name);
    if (builder->status == WEFT_OK && !find(builder->network, full.text)) {
        builder->status = make(builder->network, full.text, shape, recipe);
    }
    return use(builder, full.text);
}

weft_tensor weft_build_constant(struct weft_builder *builder, const char *name, weft_shape shape,
                                weft_status (*fill)(float *, const void *, const weft_host *),
                                const void *user) {
    return constant(builder, name, shape, &(struct recipe){.fill = fill, .user = user});
}

weft_tensor weft_build_integers(struct weft_builder *builder, const char *name, weft_shape shape,
                                weft_status (*fill)(int32_t *, const void *, const weft_host *),
                                const void *user) {
    return constant(builder, name, shape, &(struct recipe){.fill_integers = fill, .user = user});
}

/* A weight of the graph alone, or null. */
static weft_weight *empty(struct weft_builder *builder, const char *name, weft_dtype dtype,
                          weft_shape shape) {
    weft_weight *weight = NULL;
    if (builder->status == WEFT_OK) {
        builder->status = weft_weight_create_empty(
            &weight, weft_weight_params(.name = name, .dtype = dtype, .shape = shape),
            builder->host);
    }
    return weight;
}

/* Takes the weight, which may be null after an error. */
static weft_tensor add_weight(struct weft_builder *builder, weft_weight *weight) {
    weft_tensor tensor = {0};
    tensor = WEFT_BUILT(builder, tensor, weft_graph_weight(&tensor, builder->graph, weight));
    weft_weight_destroy(&weight);
    return tensor;
}

weft_tensor weft_build_filled(struct weft_builder *builder, const char *name, weft_shape shape,
                              float (*element)(const void *user, uint64_t index),
                              const void *user) {
    weft_weight *weight = empty(builder, name, WEFT_F32, shape);
    float *data = weight ? weight->owned : NULL;
    const uint64_t count = data ? weft_shape_elements(shape) : 0;
    for (uint64_t i = 0; i < count; i++) {
        data[i] = element(user, i);
    }
    return add_weight(builder, weight);
}

weft_tensor weft_build_indices(struct weft_builder *builder, const char *name, weft_shape shape,
                               int32_t (*element)(const void *user, uint64_t index),
                               const void *user) {
    weft_weight *weight = empty(builder, name, WEFT_I32, shape);
    int32_t *data = weight ? weight->owned : NULL;
    const uint64_t count = data ? weft_shape_elements(shape) : 0;
    for (uint64_t i = 0; i < count; i++) {
        data[i] = element(user, i);
    }
    return add_weight(builder, weight);
}

/* Zeros that a norm without a bias adds; one weight for all norms. */
static weft_tensor zeros(struct weft_builder *builder, uint32_t width) {
    char name[32];
    snprintf(name, sizeof name, "zeros.%u", width);
    if (builder->status == WEFT_OK && !find(builder->network, name)) {
        builder->status =
            make(builder->network, name, weft_shape_of(width), &(struct recipe){.fill = NULL});
    }
    return use(builder, name);
}

/* ---- positions ---- */

weft_tensor weft_build_position_number(struct weft_builder *builder) {
    struct weft_step_builder *decoding = builder->decoding;
    if (!decoding || decoding->prompt || builder->status != WEFT_OK) {
        return (weft_tensor){0};
    }
    if (decoding->number.id == 0) {
        builder->status = weft_graph_input(&decoding->number, builder->graph, "position_number",
                                           WEFT_F32, weft_shape_of(builder->batch, 1, 1));
    }
    return decoding->number;
}

/* ---- lengths ---- */

weft_tensor weft_build_lengths(const struct weft_builder *builder) {
    return builder->network->config.causal ? (weft_tensor){0} : builder->lengths;
}

weft_tensor weft_build_mask(struct weft_builder *builder, weft_tensor x) {
    const weft_tensor lengths = weft_build_lengths(builder);
    weft_tensor out = x;
    return lengths.id == 0
               ? x
               : WEFT_BUILT(builder, out, weft_graph_mask(&out, builder->graph, x, lengths));
}

/* ---- ops ---- */

weft_tensor weft_build_map(struct weft_builder *builder, weft_tensor x, const char *name,
                           uint32_t in, uint32_t out, bool with_bias) {
    char text[WEFT_SCOPE_SIZE];
    weft_tensor bias = {0};
    snprintf(text, sizeof text, "%s.weight", name);
    weft_tensor weight = weft_build_weight(builder, text, weft_shape_of(out, in));
    if (with_bias) {
        snprintf(text, sizeof text, "%s.bias", name);
        bias = weft_build_weight(builder, text, weft_shape_of(out));
    }
    weft_tensor result = {0};
    return WEFT_BUILT(builder, result, weft_graph_linear(&result, builder->graph, x, weight, bias));
}

weft_tensor weft_build_linear(struct weft_builder *builder, weft_tensor x, const char *name,
                              uint32_t in, uint32_t out) {
    return weft_build_map(builder, x, name, in, out, true);
}

weft_tensor weft_build_activate(struct weft_builder *builder, weft_tensor x,
                                weft_activation activation) {
    weft_tensor result = {0};
    return WEFT_BUILT(builder, result, weft_graph_activate(&result, builder->graph, x, activation));
}

weft_tensor weft_build_binary(struct weft_builder *builder, weft_binary op, weft_tensor a,
                              weft_tensor b) {
    weft_tensor result = {0};
    return WEFT_BUILT(builder, result, weft_graph_binary(&result, builder->graph, op, a, b));
}

static float the_factor(const void *user, uint64_t index) {
    (void)index;
    return *(const float *)user;
}

weft_tensor weft_build_scale(struct weft_builder *builder, weft_tensor x, float factor) {
    if (factor == 0.0F || factor == 1.0F) {
        return x;
    }
    weft_tensor scale = weft_build_filled(builder, "factor", weft_shape_of(1), the_factor, &factor);
    return weft_build_binary(builder, WEFT_BINARY_MULTIPLY, x, scale);
}

weft_tensor weft_build_cap(struct weft_builder *builder, weft_tensor x, float cap) {
    if (cap == 0.0F) {
        return x;
    }
    x = weft_build_scale(builder, x, 1.0F / cap);
    x = weft_build_activate(builder, x, WEFT_ACTIVATION_TANH);
    return weft_build_scale(builder, x, cap);
}

weft_tensor weft_build_reshape(struct weft_builder *builder, weft_tensor x, weft_shape shape) {
    weft_tensor result = {0};
    return WEFT_BUILT(builder, result, weft_graph_reshape(&result, builder->graph, x, shape));
}

weft_tensor weft_build_permute(struct weft_builder *builder, weft_tensor x, weft_shape axes) {
    weft_tensor result = {0};
    return WEFT_BUILT(builder, result, weft_graph_permute(&result, builder->graph, x, axes));
}

static weft_status add_one(float *data, const void *user, const weft_host *host) {
    (void)host;
    const weft_weight *weight = user;
    const uint64_t count = weft_shape_elements(weight->shape);
    WEFT_TRY(weft_weight_read(weight, 0, count, data));
    for (uint64_t i = 0; i < count; i++) {
        data[i] += 1.0F;
    }
    return WEFT_OK;
}

/* What a norm multiplies by: the weight, or one more. */
static weft_tensor norm_weight(struct weft_builder *builder, const char *name, weft_shape shape) {
    struct weft_network *network = builder->network;
    if (!network->config.layer.norm_adds_one) {
        return weft_build_weight(builder, name, shape);
    }
    struct weight_name full = full_name(builder, name);
    if (builder->status == WEFT_OK && !find(network, full.text)) {
        builder->status = load(network, full.text, shape);
    }
    char sum[WEFT_SCOPE_SIZE + 16];
    snprintf(sum, sizeof sum, "%s.and_one", name);
    return weft_build_constant(builder, sum, shape, add_one, find(network, full.text));
}

weft_norm_params weft_build_norm_params(struct weft_builder *builder, weft_norm kind,
                                        const char *name, uint32_t width) {
    char text[WEFT_SCOPE_SIZE];
    weft_norm_params params = {.kind = kind, .epsilon = builder->network->config.norm_eps};
    if (kind != WEFT_NORM_SIMPLE_RMS) {
        snprintf(text, sizeof text, "%s.weight", name);
        weft_shape shape = kind == WEFT_NORM_SCALE ? weft_shape_of(1) : weft_shape_of(width);
        params.gamma = norm_weight(builder, text, shape);
    }
    if (kind == WEFT_NORM_LAYER) {
        snprintf(text, sizeof text, "%s.bias", name);
        params.beta = builder->network->config.biases.norm
                          ? weft_build_weight(builder, text, weft_shape_of(width))
                          : zeros(builder, width);
    }
    return params;
}

weft_tensor weft_build_norm(struct weft_builder *builder, weft_tensor x, const char *name,
                            uint32_t width) {
    weft_norm_params params =
        weft_build_norm_params(builder, (weft_norm)builder->network->config.norm, name, width);
    weft_tensor result = {0};
    return WEFT_BUILT(builder, result, weft_graph_norm(&result, builder->graph, x, &params));
}

weft_status weft_model_add_inputs(weft_model_inputs *inputs, weft_graph *graph, uint32_t batch,
                                  uint32_t length, const weft_model_info *info) {
    if (info->image_size) {
        return weft_graph_input(
            &inputs->pixels, graph, "pixels", WEFT_F32,
            weft_shape_of(batch, info->image_channels, info->image_size, info->image_size));
    }
    WEFT_TRY(info->input_size ? weft_graph_input(&inputs->features, graph, "features", WEFT_F32,
                                                 weft_shape_of(batch, length, info->input_size))
                              : weft_graph_input(&inputs->tokens, graph, "tokens", WEFT_I32,
                                                 weft_shape_of(batch, length)));
    return info->position_size ? weft_graph_input(&inputs->positions, graph, "positions", WEFT_F32,
                                                  weft_shape_of(batch, length, info->position_size))
                               : WEFT_OK;
}
