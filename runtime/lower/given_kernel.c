/* SPDX-License-Identifier: MIT */
/* Kernels that arrive at run time, as GLSL text or as SPIR-V; their fields by name; and launching those of programs. */
#include <stdio.h>
#include <string.h>

#include "core/given.h"
#include "core/hash.h"
#include "core/try.h"
#include "lower/lowering.h"
#include "shader/glsl.h"
#include "spirv/reflect.h"

/** A kernel that has arrived, kept with the device. */
struct given_kernel {
    struct weft_shader kernel;
    uint32_t *words;
    char name[80];
    char key[96];
};

static void destroy_kernel(void *object, const weft_host *host) {
    struct given_kernel *given = object;
    weft_shader_interface_free(&given->kernel.interface, host);
    weft_free(host, given->words);
    weft_free(host, given);
}

static weft_status copy_words(struct given_kernel *given, size_t *size,
                              const weft_op_kernel *source, const weft_host *host) {
    *size = source->spirv_size;
    given->words = weft_alloc(host, *size);
    if (!given->words) {
        return weft_fail_memory(host, "a kernel");
    }
    memcpy(given->words, source->spirv, *size);
    return WEFT_OK;
}

static weft_status compile(struct given_kernel *given, size_t *size, weft_device *device,
                           const char *name, const weft_op_kernel *source) {
    struct weft_embedded_include *includes =
        weft_alloc_zero(&device->host, source->include_count, sizeof *includes);
    if (!includes && source->include_count > 0) {
        return weft_fail_memory(&device->host, "a kernel's includes");
    }
    for (uint32_t i = 0; i < source->include_count; i++) {
        const weft_op_include *include = &source->includes[i];
        includes[i] =
            (struct weft_embedded_include){.name = include->name,
                                           .text = include->text,
                                           .size = include->text ? strlen(include->text) : 0};
    }
    const struct weft_glsl_source text = {.name = name,
                                          .text = source->glsl,
                                          .includes = includes,
                                          .include_count = source->include_count};
    const weft_status status = weft_glsl_compile_source(&given->words, size, device, &text);
    weft_free(&device->host, includes);
    return status;
}

/** `name` is what the compiler's messages call the text. */
static weft_status prepare(struct given_kernel *given, weft_device *device, const char *name,
                           const weft_op_kernel *source) {
    size_t size = 0;
    WEFT_TRY(source->spirv ? copy_words(given, &size, source, &device->host)
                           : compile(given, &size, device, name, source));
    given->kernel.name = given->name;
    given->kernel.checked = !source->unchecked;
    given->kernel.given = (struct weft_spirv){.words = given->words, .size = size};
    return weft_spirv_reflect(&given->kernel.interface, name, given->words, size, &device->host);
}

static weft_status make_kernel(const struct given_kernel **out, weft_device *device,
                               const char *key, const char *name, const weft_op_kernel *source) {
    struct given_kernel *given = weft_alloc_zero(&device->host, 1, sizeof *given);
    if (!given) {
        return weft_fail_memory(&device->host, "a compiled kernel");
    }
    snprintf(given->key, sizeof given->key, "%s", key);
    snprintf(given->name, sizeof given->name, "%s", source->name);
    const weft_status status = prepare(given, device, name, source);
    if (status != WEFT_OK) {
        destroy_kernel(given, &device->host);
        return status;
    }
    WEFT_TRY(weft_device_keep(device, given->key, given, destroy_kernel));
    *out = given;
    return WEFT_OK;
}

static const struct weft_shader *find_kernel(struct weft_lowering *lowering, const char *key,
                                             const char *name, const weft_op_kernel *source) {
    if (weft_lower_status(lowering) != WEFT_OK) {
        return NULL;
    }
    const struct given_kernel *given = weft_device_find_kept(lowering->device, key);
    if (!given) {
        weft_lower_fail(lowering, make_kernel(&given, lowering->device, key, name, source));
    }
    return weft_lower_status(lowering) == WEFT_OK ? &given->kernel : NULL;
}

const struct weft_shader *weft_lower_text_kernel(struct weft_lowering *lowering, const char *key,
                                                 const char *name, const char *text) {
    return find_kernel(lowering, key, name,
                       &(weft_op_kernel){.name = key, .glsl = text, .unchecked = true});
}

/** With its end, so that no two lists of texts look the same; null as no text does. */
static void add_text(weft_sha256 *hash, const char *text) {
    const char *added = text ? text : "\xff";
    weft_sha256_add(hash, added, strlen(added) + 1);
}

/** Names and contents together are the key, so that ops of several programs cannot meet. */
static const struct weft_shader *kernel_of(struct weft_lowering *lowering,
                                           const weft_op_kernel *source) {
    weft_sha256 hash;
    char key[96], digest_text[WEFT_DIGEST_TEXT_SIZE];
    weft_sha256_begin(&hash);
    add_text(&hash, source->name);
    weft_sha256_add(&hash, &source->unchecked, sizeof source->unchecked);
    if (source->glsl) {
        add_text(&hash, source->glsl);
        for (uint32_t i = 0; i < source->include_count; i++) {
            add_text(&hash, source->includes[i].name);
            add_text(&hash, source->includes[i].text);
        }
    } else {
        weft_sha256_add(&hash, source->spirv, source->spirv_size);
    }
    const weft_digest digest = weft_sha256_end(&hash);
    snprintf(key, sizeof key, "%s kernel/%s", source->glsl ? "glsl" : "spirv",
             weft_digest_text(&digest, digest_text));
    return find_kernel(lowering, key, source->name, source);
}

/* ---- by name ---- */

struct named {
    const struct weft_shader *kernel;
    const weft_arg *args;
    uint32_t count;
    uint32_t used; /* arguments that fields have taken */
};

static bool is_buffer(const weft_arg *arg) {
    return arg->kind == WEFT_ARG_BUFFER;
}

static const weft_arg *find_arg(const struct named *named, const char *name, bool are_buffers) {
    for (uint32_t i = 0; i < named->count; i++) {
        if (is_buffer(&named->args[i]) == are_buffers && strcmp(named->args[i].name, name) == 0) {
            return &named->args[i];
        }
    }
    return NULL;
}

static weft_status check_type(const struct named *named, const struct weft_shader_field *field,
                              const weft_arg *arg, const weft_host *host) {
    static const char *const names[] = {"uint", "int", "float", "bool"};
    static const weft_arg_kind kinds[] = {[WEFT_FIELD_U32] = WEFT_ARG_UINT,
                                          [WEFT_FIELD_I32] = WEFT_ARG_INT,
                                          [WEFT_FIELD_F32] = WEFT_ARG_FLOAT,
                                          [WEFT_FIELD_BOOL] = WEFT_ARG_BOOL};
    if (is_buffer(arg) || arg->kind == kinds[field->type]) {
        return WEFT_OK;
    }
    return weft_fail(host, WEFT_INVALID_ARGUMENT, "kernel %s: '%s' is a %s, and given as a %s",
                     named->kernel->name, field->name, names[field->type],
                     names[arg->kind - WEFT_ARG_UINT]);
}

enum asked { ASK_ALL, ASK_ALL_BUT_LAUNCHED, ASK_NONE };

/** The words of `count` fields. `asked`: which of them must be given; 0 for the others. */
static weft_status take_words(uint32_t *words, struct named *named,
                              const struct weft_shader_field *fields, uint32_t count,
                              bool are_buffers, enum asked asked, const weft_host *host) {
    const uint32_t groups_x = named->kernel->interface.groups_x;
    for (uint32_t i = 0; i < count; i++) {
        const weft_arg *arg = find_arg(named, fields[i].name, are_buffers);
        const bool optional =
            asked == ASK_NONE || (asked == ASK_ALL_BUT_LAUNCHED && fields[i].place == groups_x);
        if (!arg && !optional) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "kernel %s: %s '%s' is not given",
                             named->kernel->name, are_buffers ? "buffer" : "constant",
                             fields[i].name);
        }
        if (arg) {
            WEFT_TRY(check_type(named, &fields[i], arg, host));
        }
        words[i] = arg ? arg->word : 0;
        named->used += arg != NULL;
    }
    return WEFT_OK;
}

static weft_status name_the_unused(const struct named *named, const weft_host *host) {
    const struct weft_shader_interface *interface = &named->kernel->interface;
    const uint32_t fields = interface->push_count + interface->binding_count +
                            interface->constant_count + interface->tile_count;
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

static weft_status take_args(uint32_t *words, uint32_t *tiles, struct named *named,
                             const weft_host *host) {
    const struct weft_shader_interface *interface = &named->kernel->interface;
    WEFT_TRY(take_words(words, named, weft_shader_push(interface), interface->push_count, false,
                        ASK_ALL_BUT_LAUNCHED, host));
    words += interface->push_count;
    WEFT_TRY(take_words(words, named, weft_shader_bindings(interface), interface->binding_count,
                        true, ASK_ALL, host));
    words += interface->binding_count;
    WEFT_TRY(take_words(words, named, weft_shader_constants(interface), interface->constant_count,
                        false, ASK_ALL, host));
    WEFT_TRY(take_words(tiles, named, weft_shader_tiles(interface), interface->tile_count, false,
                        ASK_NONE, host));
    return named->used == named->count ? WEFT_OK : name_the_unused(named, host);
}

struct weft_dispatch *weft_lower_named(struct weft_lowering *lowering,
                                       const struct weft_shader *kernel, struct weft_grid grid,
                                       const weft_arg *args, uint32_t count) {
    uint32_t words[WEFT_MAX_PUSH_BYTES / 4 + WEFT_MAX_BINDINGS + WEFT_MAX_SPECIALIZATION];
    uint32_t tiles[WEFT_MAX_SPECIALIZATION];
    struct named named = {.kernel = kernel, .args = args, .count = count};
    if (weft_lower_status(lowering) == WEFT_OK) {
        weft_lower_fail(lowering, take_args(words, tiles, &named, &lowering->device->host));
    }
    return weft_lower_status(lowering) == WEFT_OK
               ? weft_lower_kernel(lowering, kernel, tiles, grid, words)
               : weft_lower_dispatch(lowering);
}

/* ---- for programs ---- */

static weft_status check_kernel(const struct weft_lowering *lowering,
                                const weft_op_kernel *kernel) {
    const weft_host *host = &lowering->device->host;
    if (!kernel->name || !*kernel->name) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: a kernel needs a name", lowering->label);
    }
    if (!kernel->glsl == !kernel->spirv || (kernel->spirv && kernel->spirv_size == 0)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "%s: kernel %s must be given as GLSL or as SPIR-V", lowering->label,
                         kernel->name);
    }
    if (kernel->include_count > 0 && (!kernel->includes || kernel->spirv)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: kernel %s: %u includes are given %s",
                         lowering->label, kernel->name, kernel->include_count,
                         kernel->spirv ? "beside SPIR-V; they are for GLSL"
                                       : "and includes is null");
    }
    return WEFT_OK;
}

static weft_status check_launch(const struct weft_lowering *lowering, const weft_launch *launch) {
    const weft_host *host = &lowering->device->host;
    const weft_op_kernel *kernel = &launch->kernel;
    WEFT_TRY(check_kernel(lowering, kernel));
    bool each = true, any = false;
    for (int i = 0; i < 3; i++) {
        each = each && launch->extent[i] > 0 && launch->extent[i] <= WEFT_MAX_GROUPS;
        any = any || launch->extent[i] > 0;
    }
    if ((launch->items > 0) + (launch->groups > 0) + any != 1 || any != each) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "%s: kernel %s: either items, groups or an extent of 1 … %d along each "
                         "axis says how large the dispatch is",
                         lowering->label, kernel->name, WEFT_MAX_GROUPS);
    }
    if (launch->arg_count > 0 && !launch->args) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: kernel %s: args must not be null",
                         lowering->label, kernel->name);
    }
    const weft_device_info *info = &lowering->device->info;
    const uint32_t subgroup = launch->subgroup;
    if (subgroup != 0 && ((subgroup & (subgroup - 1)) != 0 || subgroup < info->least_subgroup ||
                          subgroup > info->most_subgroup)) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "%s: kernel %s: wants subgroups of %u, and the device takes %u … %u",
                         lowering->label, kernel->name, subgroup, info->least_subgroup,
                         info->most_subgroup);
    }
    for (uint32_t i = 0; i < launch->arg_count; i++) {
        if (!launch->args[i].name || (unsigned)launch->args[i].kind > WEFT_ARG_BOOL) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "%s: kernel %s: argument %u has no name or no kind", lowering->label,
                             kernel->name, i);
        }
    }
    return WEFT_OK;
}

weft_status weft_lower_launch(weft_lowering *lowering, const weft_launch *launch) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(lowering, device->host), lowering);
    const void *const given[] = {launch};
    if (weft_lower_status(lowering) != WEFT_OK ||
        weft_lower_fail(lowering, weft_check_given(&lowering->device->host, __func__, "launch",
                                                   given, 1)) != WEFT_OK ||
        weft_lower_fail(lowering, check_launch(lowering, launch)) != WEFT_OK ||
        !weft_lower_countable(lowering, (double)launch->items, "invocations") ||
        !weft_lower_countable(lowering, (double)launch->groups, "workgroups")) {
        return weft_lower_status(lowering);
    }
    const struct weft_shader *kernel = kernel_of(lowering, &launch->kernel);
    if (!kernel) {
        return weft_lower_status(lowering);
    }
    struct weft_grid grid = {.items = launch->items, .groups = launch->groups};
    memcpy(grid.extent, launch->extent, sizeof grid.extent);
    struct weft_dispatch *dispatch =
        weft_lower_named(lowering, kernel, grid, launch->args, launch->arg_count);
    dispatch->flops = launch->flops;
    dispatch->bytes = launch->bytes;
    dispatch->pipeline.subgroup = launch->subgroup;
    return weft_lower_status(lowering);
}
