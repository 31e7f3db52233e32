/* SPDX-License-Identifier: MIT */
#include "mixers/feature_map.h"

#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "kernels/kernel_attention/feature.h"

const char *const weft_feature_map_words[WEFT_FEATURE_COUNT] = {
    [WEFT_FEATURE_ELU1] = "elu1", [WEFT_FEATURE_ELU1_NEGATED] = "elu1_negated",
    [WEFT_FEATURE_TANH] = "tanh", [WEFT_FEATURE_TANH1] = "tanh1",
    [WEFT_FEATURE_RELU] = "relu", [WEFT_FEATURE_EXP] = "exp",
};

const char *weft_feature_map_name(weft_feature_map map) {
    return (uint32_t)map < WEFT_FEATURE_COUNT ? weft_feature_map_words[map] : "unknown";
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
    memcpy(padded, glsl, length + 1);
    const weft_status status =
        weft_graph_constant(out, graph, "feature map", WEFT_I32, weft_shape_of(words), padded);
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

/* ---- lowering ---- */

/** The kernel of the map that the text is, wherever it has been compiled first; null after an error. */
static const struct weft_shader *kernel_of(struct weft_lowering *lowering, const char *glsl) {
    const weft_host *host = &lowering->device->host;
    char digest_text[WEFT_DIGEST_TEXT_SIZE];
    char key[80];
    weft_digest digest = weft_digest_of(glsl, strlen(glsl));
    snprintf(key, sizeof key, "feature map/%s", weft_digest_text(&digest, digest_text));
    size_t size = sizeof text_head + strlen(glsl) + sizeof text_tail;
    char *text = weft_alloc_zero(host, size, 1);
    if (!text) {
        weft_lower_fail(lowering, weft_fail_memory(host, "a feature map"));
        return NULL;
    }
    snprintf(text, size, "%s%s%s", text_head, glsl, text_tail);
    const struct weft_shader *kernel =
        weft_lower_text_kernel(lowering, key, "weft_kernel.glsl", text);
    weft_free(host, text);
    return kernel;
}

void weft_lower_feature_map(struct weft_lowering *lowering, uint32_t result, uint32_t x,
                            uint64_t count, weft_feature_map map, uint32_t text) {
    const struct weft_grid grid = weft_grid_of_items(count);
    struct weft_dispatch *dispatch;
    if (map == WEFT_FEATURE_COUNT && weft_lower_status(lowering) == WEFT_OK) {
        const weft_arg args[] = {weft_arg_buffer("weft_x", x),
                                 weft_arg_buffer("weft_result", result),
                                 weft_arg_uint("count", (uint32_t)count)};
        dispatch = weft_lower_named(lowering,
                                    kernel_of(lowering, lowering->graph->values[text].weight->data),
                                    grid, args, 3);
    } else {
        dispatch =
            WEFT_LOWER(lowering, kernel_attention_feature, grid, .bind = {.x = x, .result = result},
                       .push = {.count = (uint32_t)count}, .constant = {.map = (uint32_t)map});
    }
    dispatch->flops = 20.0 * (double)count;
    dispatch->bytes = 8.0 * (double)count;
}
