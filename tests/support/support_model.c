/* SPDX-License-Identifier: MIT */
#include "support_model.h"

#include <math.h>

#include "core/math/philox.h"
#include "core/shape.h"

#define NAME_SIZE 128

void weft_test_model_begin(struct weft_test_model *model) {
    *model = (struct weft_test_model){.folder = weft_test_folder()};
}

static void remove_all(struct weft_test_model *model) {
    for (uint32_t i = 0; i < model->count; i++) {
        free(model->tensors[i].name);
        free(model->tensors[i].data);
    }
    free(model->tensors);
    model->tensors = NULL;
    model->count = 0;
}

void weft_test_model_end(struct weft_test_model *model) {
    remove_all(model);
    model->folder = NULL;
}

/* ---- tensors ---- */

static char *copied(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    assert_non_null(copy);
    return memcpy(copy, text, size);
}

static struct weft_test_tensor *find(const struct weft_test_model *model, const char *name) {
    for (uint32_t i = 0; i < model->count; i++) {
        if (strcmp(model->tensors[i].name, name) == 0) {
            return &model->tensors[i];
        }
    }
    return NULL;
}

/* FNV-1a. */
static uint64_t seed_of(const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++) {
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void fill(const struct weft_test_tensor *tensor) {
    size_t count = (size_t)weft_shape_elements(tensor->shape);
    uint32_t rank = tensor->shape.rank;
    bool around_one = rank == 1 && strstr(tensor->name, "norm") && strstr(tensor->name, "weight");
    float factor = rank == 1 ? 0.1F : 1.0F / sqrtf((float)tensor->shape.dim[rank - 1]);
    weft_philox_uniform(tensor->data, count, seed_of(tensor->name), 0);
    for (size_t i = 0; i < count; i++) {
        tensor->data[i] = tensor->data[i] * factor + (around_one ? 1.0F : 0.0F);
    }
}

float *weft_test_model_add(struct weft_test_model *model, const char *name, weft_shape shape) {
    if (find(model, name)) {
        weft_test_model_remove(model, name);
    }
    size_t size = (model->count + 1) * sizeof *model->tensors;
    struct weft_test_tensor *tensors = realloc(model->tensors, size);
    assert_non_null(tensors);
    model->tensors = tensors;
    struct weft_test_tensor *tensor = &tensors[model->count++];
    *tensor = (struct weft_test_tensor){.name = copied(name), .shape = shape};
    tensor->data = calloc((size_t)weft_shape_elements(shape), sizeof *tensor->data);
    assert_non_null(tensor->data);
    fill(tensor);
    return tensor->data;
}

void weft_test_model_remove(struct weft_test_model *model, const char *name) {
    struct weft_test_tensor *tensor = find(model, name);
    if (!tensor) {
        fail_msg("there is no tensor \"%s\"", name);
        return;
    }
    free(tensor->name);
    free(tensor->data);
    struct weft_test_tensor *end = &model->tensors[--model->count];
    memmove(tensor, tensor + 1, (size_t)(end - tensor) * sizeof *tensor);
}

/* name.weight and name.bias */
static void add_pair(struct weft_test_model *model, const char *name, weft_shape weight,
                     uint32_t bias) {
    char text[NAME_SIZE + 16];
    snprintf(text, sizeof text, "%s.weight", name);
    weft_test_model_add(model, text, weight);
    snprintf(text, sizeof text, "%s.bias", name);
    weft_test_model_add(model, text, weft_shape_of(bias));
}

void weft_test_model_add_linear(struct weft_test_model *model, const char *name, uint32_t in,
                                uint32_t out) {
    add_pair(model, name, weft_shape_of(out, in), out);
}

void weft_test_model_add_norm(struct weft_test_model *model, const char *name, uint32_t width) {
    add_pair(model, name, weft_shape_of(width), width);
}

/* "layers.i.part" "name" */
static const char *name_in_layer(char text[NAME_SIZE], uint32_t layer, const char *part,
                                 const char *name) {
    int length = snprintf(text, NAME_SIZE, "layers.%u.%s%s", (unsigned)layer, part, name);
    assert_in_range(length, 0, NAME_SIZE - 1);
    return text;
}

void weft_test_model_add_to_layers(struct weft_test_model *model, uint32_t layers, const char *part,
                                   const char *name, weft_shape shape) {
    char text[NAME_SIZE];
    for (uint32_t layer = 0; layer < layers; layer++) {
        weft_test_model_add(model, name_in_layer(text, layer, part, name), shape);
    }
}

void weft_test_model_remove_from_layers(struct weft_test_model *model, uint32_t layers,
                                        const char *part, const char *name) {
    char text[NAME_SIZE];
    for (uint32_t layer = 0; layer < layers; layer++) {
        weft_test_model_remove(model, name_in_layer(text, layer, part, name));
    }
}

static void add_layer(struct weft_test_model *model, const struct weft_test_network *network,
                      uint32_t layer) {
    static const char *const names[2][5] = {
        {"mixer_norm", "feed_forward_norm", "feed_forward.in", NULL, "feed_forward.out"},
        {"token_norm", "feature_norm", "feature_mixer.l1", "feature_mixer.l2", "feature_mixer.l3"}};
    const char *const *name = names[network->toeplitz];
    uint32_t d = network->hidden_size;
    uint32_t wide = network->intermediate_size;
    char text[NAME_SIZE];
    for (int i = 0; i < 2; i++) {
        weft_test_model_add_norm(model, name_in_layer(text, layer, "", name[i]), d);
    }
    for (int i = 2; i < 4; i++) {
        if (name[i]) {
            weft_test_model_add_linear(model, name_in_layer(text, layer, "", name[i]), d, wide);
        }
    }
    weft_test_model_add_linear(model, name_in_layer(text, layer, "", name[4]), wide, d);
}

void weft_test_model_add_network(struct weft_test_model *model,
                                 const struct weft_test_network *network) {
    uint32_t d = network->hidden_size;
    if (network->vocab_size > 0) {
        weft_test_model_add(model, "embeddings.tokens.weight",
                            weft_shape_of(network->vocab_size, d));
    }
    for (uint32_t layer = 0; layer < network->layers; layer++) {
        add_layer(model, network, layer);
    }
    weft_test_model_add_norm(model, "norm", d);
}

void weft_test_model_add_attention(struct weft_test_model *model,
                                   const struct weft_test_network *network) {
    static const char *const names[] = {"mixer.query", "mixer.key", "mixer.value", "mixer.output"};
    char text[NAME_SIZE];
    for (uint32_t layer = 0; layer < network->layers; layer++) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            weft_test_model_add_linear(model, name_in_layer(text, layer, "", names[i]),
                                       network->hidden_size, network->hidden_size);
        }
    }
}

/* ---- files ---- */

char *weft_test_json(const char *text) {
    char *json = weft_test_text("%s", text);
    for (char *at = strchr(json, '\''); at; at = strchr(at, '\'')) {
        *at = '"';
    }
    return json;
}

static void write_config(const struct weft_test_model *model, const char *config) {
    char *text = weft_test_json(config);
    weft_test_write(model->folder, "config.json", text, strlen(text));
}

/* One tensor's entry in the header. */
static int print_entry(char *out, size_t size, const struct weft_test_tensor *tensor, size_t begin,
                       size_t end) {
    char shape[WEFT_SHAPE_TEXT_SIZE];
    return snprintf(out, size,
                    "\"%s\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[%zu,%zu]},",
                    tensor->name, weft_shape_text(tensor->shape, shape), begin, end);
}

static size_t bytes_of(const struct weft_test_tensor *tensor) {
    return (size_t)weft_shape_elements(tensor->shape) * sizeof *tensor->data;
}

/* The header, with spaces up to a multiple of 8 bytes. */
static char *make_header(const struct weft_test_model *model, size_t *size, size_t *data_size) {
    size_t room = 64 + (size_t)model->count * (NAME_SIZE + 256);
    char *text = malloc(room);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, room, "{");
    *data_size = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        size_t bytes = bytes_of(&model->tensors[i]);
        int written = print_entry(text + used, room - used, &model->tensors[i], *data_size,
                                  *data_size + bytes);
        assert_true(written > 0 && (size_t)written < room - used);
        used += (size_t)written;
        *data_size += bytes;
    }
    text[model->count > 0 ? used - 1 : used++] = '}'; /* instead of the last comma */
    while (used % 8 != 0) {
        text[used++] = ' ';
    }
    *size = used;
    return text;
}

void weft_test_model_write(const struct weft_test_model *model, const char *config) {
    size_t header_size = 0;
    size_t data_size = 0;
    char *header = make_header(model, &header_size, &data_size);
    uint8_t *file = malloc(8 + header_size + data_size);
    assert_non_null(file);
    for (int i = 0; i < 8; i++) {
        file[i] = (uint8_t)((uint64_t)header_size >> (8 * i));
    }
    memcpy(file + 8, header, header_size);
    size_t at = 8 + header_size;
    for (uint32_t i = 0; i < model->count; i++) {
        memcpy(file + at, model->tensors[i].data, bytes_of(&model->tensors[i]));
        at += bytes_of(&model->tensors[i]);
    }
    weft_test_write(model->folder, "model.safetensors", file, at);
    free(file);
    free(header);
    write_config(model, config);
}

void weft_test_model_write_bytes(struct weft_test_model *model, uint32_t positions) {
    const struct weft_test_network network = {
        .layers = 2, .hidden_size = 16, .intermediate_size = 24, .vocab_size = 256};
    char config[512];
    snprintf(config, sizeof config,
             "{'model_type': 'transformer', 'task': 'causal_lm', 'tokenizer_class': "
             "'ByteTokenizer', 'vocab_size': 256, 'hidden_size': 16, 'num_hidden_layers': 2, "
             "'intermediate_size': 24, 'num_attention_heads': 2, 'position_embedding': 'learned', "
             "'max_position_embeddings': %u}",
             (unsigned)positions);
    weft_test_model_add_network(model, &network);
    weft_test_model_add_attention(model, &network);
    weft_test_model_add(model, "embeddings.positions.weight", weft_shape_of(positions, 16));
    weft_test_model_add_linear(model, "head", 16, 256);
    weft_test_model_write(model, config);
}

/* ---- loading ---- */

void weft_test_loader_begin(struct weft_test_loader *loader,
                            const struct weft_test_network *network) {
    weft_test_host_begin(&loader->host);
    weft_test_model_begin(&loader->model);
    weft_test_model_add_network(&loader->model, network);
    if (!network->toeplitz) {
        weft_test_model_add_attention(&loader->model, network);
    }
}

void weft_test_loader_end(struct weft_test_loader *loader) {
    weft_test_model_end(&loader->model);
    weft_test_host_end(&loader->host);
}

int weft_test_loader_set_up(void **state, const struct weft_test_network *network) {
    struct weft_test_loader *loader = calloc(1, sizeof *loader);
    assert_non_null(loader);
    weft_test_loader_begin(loader, network);
    *state = loader;
    return 0;
}

int weft_test_loader_tear_down(void **state) {
    struct weft_test_loader *loader = *state;
    weft_test_loader_end(loader);
    free(loader);
    return 0;
}

/* Loads the folder as it is, and destroys the model. */
static weft_status load_again(struct weft_test_loader *loader, weft_model_info *info) {
    weft_model *model = NULL;
    weft_status status = weft_model_load(&model, loader->model.folder, &loader->host.host);
    assert_true((status == WEFT_OK) == (model != NULL));
    if (model && info) {
        assert_ok(weft_model_get_info(model, info));
        info->architecture = NULL;
        info->mixing = NULL;
        info->tokenizer = NULL;
    }
    weft_model_destroy(&model);
    assert_int_equal(loader->host.live, 0);
    return status;
}

weft_status weft_test_load(struct weft_test_loader *loader, const char *config,
                           weft_model_info *info) {
    weft_test_model_write(&loader->model, config);
    weft_test_host_reset(&loader->host);
    return load_again(loader, info);
}

static void expect_status(struct weft_test_loader *loader, const char *config, weft_status expected,
                          weft_model_info *info) {
    weft_status status = weft_test_load(loader, config, info);
    if (status != expected) {
        fail_msg("%s: expected %s, found %s: %s", config, weft_status_name(expected),
                 weft_status_name(status), weft_test_log(&loader->host));
    }
}

weft_model_info weft_test_expect_loads(struct weft_test_loader *loader, const char *config) {
    weft_model_info info = {.layers = 0};
    expect_status(loader, config, WEFT_OK, &info);
    assert_string_equal(weft_test_log(&loader->host), "");
    return info;
}

void weft_test_expect_refused(struct weft_test_loader *loader, const char *config,
                              weft_status status, const char *name, const char *message) {
    expect_status(loader, config, status, NULL);
    weft_test_expect_log(&loader->host, name, message);
}

void weft_test_expect_all_wrong(struct weft_test_loader *loader, const struct weft_test_wrong *rows,
                                size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct weft_test_wrong *row = &rows[i];
        char field[96];
        snprintf(field, sizeof field, "config.json: field \"%s\"", row->field);
        expect_status(loader, row->config, WEFT_BAD_FILE, NULL);
        char message[256];
        assert_true(strlen(row->message) < sizeof message);
        strcpy(message, row->message);
        char *gap = strstr(message, " … ");
        if (gap) {
            *gap = '\0';
        }
        weft_test_expect_log(&loader->host, field, message, gap ? gap + strlen(" … ") : message);
    }
}

void weft_test_expect_no_leak(struct weft_test_loader *loader, const char *config) {
    weft_test_expect_loads(loader, config);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(&loader->host, status)) {
        status = load_again(loader, NULL);
        if (status != WEFT_OK) {
            weft_test_expect_log(&loader->host, "out of memory");
        }
    }
    assert_true(loader->host.failures > 100);
}
