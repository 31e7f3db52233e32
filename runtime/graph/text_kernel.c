/* SPDX-License-Identifier: MIT */
/* Kernels that arrive at run time: GLSL text, and fields by name. */
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "graph/lowering.h"
#include "shader/glsl.h"
#include "shader/spirv_reflect.h"

/** A compiled text, kept with the device. */
struct text_kernel {
    struct weft_shader kernel;
    uint32_t *words;
    char key[80];
};

static void destroy_kernel(void *object, const weft_host *host) {
    struct text_kernel *text = object;
    weft_shader_interface_free(&text->kernel.interface, host);
    weft_free(host, text->words);
    weft_free(host, text);
}

static weft_status compile(struct text_kernel *kernel, weft_device *device, const char *name,
                           const char *text) {
    size_t size = 0;
    WEFT_TRY(weft_glsl_compile(&kernel->words, &size, device, name, text));
    kernel->kernel.name = kernel->key;
    kernel->kernel.given = (struct weft_spirv){.words = kernel->words, .size = size};
    return weft_spirv_reflect(&kernel->kernel.interface, name, kernel->words, size, &device->host);
}

static weft_status make_kernel(const struct text_kernel **out, weft_device *device, const char *key,
                               const char *name, const char *text) {
    struct text_kernel *kernel = weft_alloc_zero(&device->host, 1, sizeof *kernel);
    if (!kernel) {
        return weft_fail_memory(&device->host, "a compiled kernel");
    }
    snprintf(kernel->key, sizeof kernel->key, "%s", key);
    const weft_status status = compile(kernel, device, name, text);
    if (status != WEFT_OK) {
        destroy_kernel(kernel, &device->host);
        return status;
    }
    *out = kernel;
    return weft_device_keep(device, kernel->key, kernel, destroy_kernel);
}

const struct weft_shader *weft_lower_text_kernel(struct weft_lowering *lowering, const char *key,
                                                 const char *name, const char *text) {
    if (weft_lower_status(lowering) != WEFT_OK) {
        return NULL;
    }
    const struct text_kernel *kernel = weft_device_find_kept(lowering->device, key);
    if (!kernel) {
        weft_lower_fail(lowering, make_kernel(&kernel, lowering->device, key, name, text));
    }
    return weft_lower_status(lowering) == WEFT_OK ? &kernel->kernel : NULL;
}

uint32_t weft_float_word(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* ---- by name ---- */

struct named {
    const struct weft_shader *kernel;
    const struct weft_named_arg *args;
    uint32_t count;
    uint32_t used; /* arguments that fields have taken */
};

static const struct weft_named_arg *find_arg(const struct named *named, const char *name,
                                             bool is_storage) {
    for (uint32_t i = 0; i < named->count; i++) {
        if (named->args[i].is_storage == is_storage && strcmp(named->args[i].name, name) == 0) {
            return &named->args[i];
        }
    }
    return NULL;
}

/** The words of `count` fields; of the launch's own field none is asked. */
static weft_status take_words(uint32_t *words, struct named *named,
                              const struct weft_shader_field *fields, uint32_t count,
                              bool are_storages, const weft_host *host) {
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_named_arg *arg = find_arg(named, fields[i].name, are_storages);
        const bool launched = fields == weft_shader_push(&named->kernel->interface) &&
                              fields[i].place == named->kernel->interface.groups_x;
        if (!arg && !launched) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "kernel %s: %s '%s' is not given",
                             named->kernel->name, are_storages ? "buffer" : "constant",
                             fields[i].name);
        }
        words[i] = arg ? arg->word : 0;
        named->used += arg != NULL;
    }
    return WEFT_OK;
}

static weft_status name_the_unused(const struct named *named, const weft_host *host) {
    const struct weft_shader_interface *interface = &named->kernel->interface;
    const uint32_t fields =
        interface->push_count + interface->binding_count + interface->constant_count;
    for (uint32_t i = 0; i < named->count; i++) {
        bool known = false;
        for (uint32_t f = 0; f < fields && !known; f++) {
            known = strcmp(interface->fields[f].name, named->args[i].name) == 0;
        }
        if (!known) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "kernel %s has no '%s'",
                             named->kernel->name, named->args[i].name);
        }
    }
    return weft_fail(host, WEFT_INVALID_ARGUMENT,
                     "kernel %s: %u fields are given, of which it takes %u", named->kernel->name,
                     named->count, named->used);
}

static weft_status take_args(uint32_t *words, struct named *named, const weft_host *host) {
    const struct weft_shader_interface *interface = &named->kernel->interface;
    WEFT_TRY(
        take_words(words, named, weft_shader_push(interface), interface->push_count, false, host));
    words += interface->push_count;
    WEFT_TRY(take_words(words, named, weft_shader_bindings(interface), interface->binding_count,
                        true, host));
    words += interface->binding_count;
    WEFT_TRY(take_words(words, named, weft_shader_constants(interface), interface->constant_count,
                        false, host));
    return named->used == named->count ? WEFT_OK : name_the_unused(named, host);
}

struct weft_dispatch *weft_lower_named(struct weft_lowering *lowering,
                                       const struct weft_shader *kernel, struct weft_grid grid,
                                       const struct weft_named_arg *args, uint32_t count) {
    uint32_t words[WEFT_MAX_PUSH_BYTES / 4 + WEFT_MAX_BINDINGS + WEFT_MAX_SPECIALIZATION];
    struct named named = {.kernel = kernel, .args = args, .count = count};
    if (weft_lower_status(lowering) == WEFT_OK) {
        weft_lower_fail(lowering, take_args(words, &named, &lowering->device->host));
    }
    return weft_lower_status(lowering) == WEFT_OK
               ? weft_lower_kernel(lowering, kernel, NULL, grid, words)
               : weft_lower_dispatch(lowering);
}
