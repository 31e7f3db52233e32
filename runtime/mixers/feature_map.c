/* SPDX-License-Identifier: MIT */
#include "mixers/feature_map.h"

#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "shader/glsl.h"

const char *weft_feature_map_name(weft_feature_map map) {
    static const char *const names[WEFT_FEATURE_COUNT] = {
        [WEFT_FEATURE_ELU1] = "elu1", [WEFT_FEATURE_ELU1_NEGATED] = "elu1_negated",
        [WEFT_FEATURE_TANH] = "tanh", [WEFT_FEATURE_TANH1] = "tanh1",
        [WEFT_FEATURE_RELU] = "relu", [WEFT_FEATURE_EXP] = "exp",
    };
    return (uint32_t)map < WEFT_FEATURE_COUNT ? names[map] : "unknown";
}

/* ---- GLSL text ---- */

#define MAX_TEXT ((size_t)64 * 1024)

weft_status weft_feature_text_check(const char *glsl, const weft_host *host) {
    size_t length = strlen(glsl);
    if (length == 0 || length > MAX_TEXT) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "kernel_attention: glsl has %zu bytes, not 1 to %zu", length, MAX_TEXT);
    }
    return WEFT_OK;
}

weft_status weft_feature_text_add(weft_tensor *out, weft_graph *graph, const char *glsl) {
    size_t length = strlen(glsl);
    uint32_t words = (uint32_t)(length / 4) + 1; /* at least one zero byte behind the text */
    char *padded = weft_alloc_zero(&graph->host, words, 4);
    if (!padded) {
        return weft_fail_memory(&graph->host, "a feature map");
    }
    memcpy(padded, glsl, length);
    weft_weight *weight = NULL;
    weft_status status =
        weft_weight_create(&weight,
                           weft_weight_params(.name = "feature map", .dtype = WEFT_I32,
                                              .shape = weft_shape_of(words), .data = padded),
                           &graph->host);
    if (status == WEFT_OK) {
        status = weft_graph_weight(out, graph, weight);
    }
    weft_weight_destroy(&weight);
    weft_free(&graph->host, padded);
    return status;
}

static const char text_head[] = "#version 450\n"
                                "#extension GL_GOOGLE_include_directive : require\n"
                                "#include \"activation.glsl\"\n"
                                "#include \"index.glsl\"\n"
                                "#line 1\n";

static const char text_tail[] =
    "\nlayout(local_size_x = WEFT_ITEMS_PER_GROUP) in;\n"
    "layout(std430, binding = 0) readonly buffer WeftX { float weft_x[]; };\n"
    "layout(std430, binding = 1) writeonly buffer WeftResult { float weft_result[]; };\n"
    "layout(push_constant) uniform WeftPush { uint count; uint groups_x; } weft_push;\n"
    "void main()\n"
    "{\n"
    "    uint i = weft_item_index(weft_push.groups_x);\n"
    "    if (i < weft_push.count) {\n"
    "        weft_result[i] = weft_flush(weft_feature(weft_x[i]));\n"
    "    }\n"
    "}\n";

/** A compiled text, kept with the device; pipelines are described by pointers into it. */
struct compiled_map {
    uint32_t *words;
    size_t size;
    char key[80];
};

static void destroy_map(void *object, const weft_host *host) {
    struct compiled_map *map = object;
    weft_free(host, map->words);
    weft_free(host, map);
}

static weft_status compile_map(struct compiled_map *map, weft_device *device, const char *glsl) {
    size_t size = sizeof text_head + strlen(glsl) + sizeof text_tail;
    char *text = weft_alloc_zero(&device->host, size, 1);
    if (!text) {
        return weft_fail_memory(&device->host, "a feature map");
    }
    snprintf(text, size, "%s%s%s", text_head, glsl, text_tail);
    weft_status status =
        weft_glsl_compile(&map->words, &map->size, device, "weft_kernel.glsl", text);
    weft_free(&device->host, text);
    return status;
}

static weft_status make_map(const struct compiled_map **out, weft_device *device, const char *key,
                            const char *glsl) {
    struct compiled_map *map = weft_alloc_zero(&device->host, 1, sizeof *map);
    if (!map) {
        return weft_fail_memory(&device->host, "a feature map");
    }
    snprintf(map->key, sizeof map->key, "%s", key);
    weft_status status = compile_map(map, device, glsl);
    if (status != WEFT_OK) {
        weft_free(&device->host, map);
        return status;
    }
    *out = map;
    return weft_device_keep(device, map->key, map, destroy_map);
}

static const struct compiled_map *find_map(struct weft_lowering *lowering, const char *glsl) {
    char digest_text[WEFT_DIGEST_TEXT_SIZE];
    char key[80];
    weft_digest digest = weft_digest_of(glsl, strlen(glsl));
    snprintf(key, sizeof key, "feature map/%s", weft_digest_text(&digest, digest_text));
    const struct compiled_map *map = weft_device_find_kept(lowering->device, key);
    if (!map) {
        weft_status status = make_map(&map, lowering->device, key, glsl);
        if (status != WEFT_OK) {
            weft_lower_fail(lowering, status);
            return NULL;
        }
    }
    return map;
}

/* ---- lowering ---- */

void weft_lower_feature_map(struct weft_lowering *lowering, uint32_t result, uint32_t x,
                            uint64_t count, weft_feature_map map, uint32_t text) {
    const struct compiled_map *compiled = NULL;
    if (map == WEFT_FEATURE_COUNT && weft_lower_status(lowering) == WEFT_OK) {
        compiled = find_map(lowering, lowering->graph->values[text].weight->data);
    }
    struct weft_dispatch *dispatch = weft_lower_dispatch(lowering, "kernel_attention/feature");
    if (compiled) {
        dispatch->pipeline.name = compiled->key;
        dispatch->pipeline.spirv.words = compiled->words;
        dispatch->pipeline.spirv.size = compiled->size;
    } else {
        weft_dispatch_specialize(dispatch, (uint32_t)map);
    }
    weft_dispatch_read(dispatch, x);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_items(dispatch, count);
    dispatch->flops = 20.0 * (double)count;
    dispatch->bytes = 8.0 * (double)count;
}
