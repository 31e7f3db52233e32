/* SPDX-License-Identifier: MIT */
/* A Godot extension with the class WeftModel: scripts open a model that classifies texts, and ask it. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>
#include <weft/model.h>

typedef struct network {
    weft_device *device;
    weft_model *model;
} network;

static void print_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_WARNING) {
        engine_print_error(message);
    }
}

static const weft_host host = {.log = print_log};

static void *create(void) {
    return calloc(1, sizeof(network));
}

static void close_model(network *n) {
    weft_model_destroy(&n->model);
    weft_device_destroy(&n->device);
}

static void destroy(void *object) {
    close_model(object);
    free(object);
}

static char *copy(const char *text) {
    const size_t size = strlen(text) + 1;
    char *made = malloc(size);
    return made ? memcpy(made, text, size) : NULL;
}

/** open(folder): what is wrong, or nothing. The processor leaves the GPU to the game, and every player gets the same bits. */
static char *open_model(void *object, const char *folder) {
    network *n = object;
    close_model(n);
    weft_model_info info = {0};
    weft_status status =
        weft_device_open(&n->device, weft_device_params(.host = host, .select = "processor"));
    if (status == WEFT_OK) {
        status = weft_model_load(&n->model, folder, &host);
    }
    if (status == WEFT_OK) {
        status = weft_model_get_info(n->model, &info);
    }
    if (status == WEFT_OK && info.task == WEFT_TASK_CLASSIFY && !info.input_size) {
        return NULL;
    }
    close_model(n);
    return copy(status == WEFT_OK ? "no model that classifies texts" : weft_status_name(status));
}

/** The label of the largest logit, or null. */
static const char *best_label(network *n, int32_t *tokens, uint32_t count) {
    weft_model_info info;
    weft_plan *plan = NULL;
    weft_port_info input, output;
    const char *label = NULL;
    if (weft_model_get_info(n->model, &info) != WEFT_OK ||
        weft_model_compile(&plan, n->model, n->device, 1, count, false, NULL) != WEFT_OK) {
        return NULL;
    }
    float *logits = calloc(info.label_count, sizeof *logits);
    if (logits && weft_plan_get_port(plan, 0, &input) == WEFT_OK &&
        weft_plan_get_port(plan, 1, &output) == WEFT_OK) {
        const weft_host_tensor tensors[] = {{input.name, tokens, input.bytes},
                                            {output.name, logits, output.bytes}};
        if (weft_plan_execute(plan, tensors, 2) == WEFT_OK) {
            uint32_t best = 0;
            for (uint32_t i = 1; i < info.label_count; i++) {
                best = logits[i] > logits[best] ? i : best;
            }
            label = weft_model_label(n->model, best);
        }
    }
    free(logits);
    weft_plan_destroy(&plan);
    return label;
}

/** classify(text): the label that applies, or nothing after an error. */
static char *classify(void *object, const char *text) {
    network *n = object;
    int32_t *tokens = NULL;
    uint32_t count = 0;
    if (!n->model) {
        engine_print_error("no model is open");
        return NULL;
    }
    if (weft_model_tokenize(n->model, text, strlen(text), &tokens, &count) != WEFT_OK) {
        return NULL;
    }
    const char *label = best_label(n, tokens, count);
    weft_tokens_free(n->model, &tokens);
    return label ? copy(label) : NULL;
}

static const engine_method methods[] = {{"open", "folder", open_model},
                                        {"classify", "text", classify}};
static const engine_class model_class = {"WeftModel", create, destroy, methods, 2};

static void initialize(void *user, GDExtensionInitializationLevel level) {
    (void)user;
    if (level == GDEXTENSION_INITIALIZATION_SCENE) {
        engine_register(&model_class);
    }
}

static void deinitialize(void *user, GDExtensionInitializationLevel level) {
    (void)user;
    if (level == GDEXTENSION_INITIALIZATION_SCENE) {
        engine_unregister(&model_class);
    }
}

/** What Godot calls first, see project/weft.gdextension. */
__attribute__((visibility("default"))) GDExtensionBool weft_godot_begin(
    GDExtensionInterfaceGetProcAddress find, GDExtensionClassLibraryPtr library,
    GDExtensionInitialization *callbacks);
GDExtensionBool weft_godot_begin(GDExtensionInterfaceGetProcAddress find,
                                 GDExtensionClassLibraryPtr library,
                                 GDExtensionInitialization *callbacks) {
    *callbacks = (GDExtensionInitialization){.minimum_initialization_level =
                                                 GDEXTENSION_INITIALIZATION_SCENE,
                                             .initialize = initialize,
                                             .deinitialize = deinitialize};
    return engine_open(find, library);
}
