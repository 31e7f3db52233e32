/* SPDX-License-Identifier: MIT */
/* Dispatches of shaders that are GLSL text until they are needed. */
#include <stdio.h>

#include "graph/lowering.h"
#include "shader/glsl.h"

/** A compiled text, kept with the device; pipelines are described by pointers into it. */
struct text_kernel {
    uint32_t *words;
    size_t size;
    char key[80];
};

static void destroy_kernel(void *object, const weft_host *host) {
    struct text_kernel *kernel = object;
    weft_free(host, kernel->words);
    weft_free(host, kernel);
}

static weft_status make_kernel(const struct text_kernel **out, weft_device *device, const char *key,
                               const char *name, const char *text) {
    struct text_kernel *kernel = weft_alloc_zero(&device->host, 1, sizeof *kernel);
    if (!kernel) {
        return weft_fail_memory(&device->host, "a compiled kernel");
    }
    snprintf(kernel->key, sizeof kernel->key, "%s", key);
    weft_status status = weft_glsl_compile(&kernel->words, &kernel->size, device, name, text);
    if (status != WEFT_OK) {
        weft_free(&device->host, kernel);
        return status;
    }
    *out = kernel;
    return weft_device_keep(device, kernel->key, kernel, destroy_kernel);
}

struct weft_dispatch *weft_lower_dispatch_text(struct weft_lowering *lowering, const char *key,
                                               const char *name, const char *text) {
    const struct text_kernel *kernel = NULL;
    if (weft_lower_status(lowering) == WEFT_OK) {
        kernel = weft_device_find_kept(lowering->device, key);
        if (!kernel) {
            weft_lower_fail(lowering, make_kernel(&kernel, lowering->device, key, name, text));
        }
    }
    struct weft_dispatch *dispatch = weft_lower_dispatch(lowering, key);
    if (weft_lower_status(lowering) == WEFT_OK) {
        dispatch->pipeline.name = kernel->key;
        dispatch->pipeline.spirv.words = kernel->words;
        dispatch->pipeline.spirv.size = kernel->size;
    }
    return dispatch;
}
