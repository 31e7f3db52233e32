/* SPDX-License-Identifier: MIT */
#include "spirv/reflect.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "spirv/check.h"
#include "spirv/index.h"
#include "spirv/known.h"

#define NONE UINT32_MAX

/* Sorts of fields, in the order in which an interface has them. */
enum sort { PUSH, BINDING, CONSTANT, TILE, FIXED, SORTS };

struct reflection {
    const char *kernel;
    const weft_host *host;
    struct weft_spirv_module module;
    struct weft_shader_field *fields[SORTS];
    uint32_t counts[SORTS], capacities[SORTS];
};

/* ---- names ---- */

/* ALL_CAPITALS → lower case; CamelCase → camel_case. */
static void snake_case(char *target, const char *name) {
    size_t length = 0;
    for (const char *c = name; *c && length + 2 < WEFT_FIELD_NAME_SIZE; c++) {
        const bool starts_word = c > name && isupper((unsigned char)*c) && c[-1] != '_' &&
                                 (!isupper((unsigned char)c[-1]) || islower((unsigned char)c[1]));
        if (starts_word) {
            target[length++] = '_';
        }
        target[length++] = (char)tolower((unsigned char)*c);
    }
    target[length] = '\0';
}

static const char *without(const char *name, const char *prefix) {
    const size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 ? name + length : name;
}

static weft_status add_field(struct reflection *r, enum sort sort, const char *name,
                             struct weft_shader_field field) {
    if (!name || !*name) {
        return weft_fail(r->host, WEFT_COMPILE_ERROR,
                         "kernel %s: a push constant, binding or specialization constant has no "
                         "name",
                         r->kernel);
    }
    snake_case(field.name, name);
    for (uint32_t i = 0; i < r->counts[sort]; i++) {
        if (strcmp(r->fields[sort][i].name, field.name) == 0) {
            return weft_fail(r->host, WEFT_COMPILE_ERROR, "kernel %s: '%s' is declared twice",
                             r->kernel, field.name);
        }
    }
    if (!weft_grow(r->host, &r->fields[sort], r->counts[sort], &r->capacities[sort],
                   sizeof field)) {
        return weft_fail_memory(r->host, "a kernel's interface");
    }
    r->fields[sort][r->counts[sort]++] = field;
    return WEFT_OK;
}

/* ---- the fields ---- */

static weft_status read_type(enum weft_field_type *type, const struct reflection *r, uint32_t id,
                             const char *name) {
    static const enum weft_field_type types[] = {[WEFT_SPIRV_BOOL] = WEFT_FIELD_BOOL,
                                                 [WEFT_SPIRV_UINT] = WEFT_FIELD_U32,
                                                 [WEFT_SPIRV_INT] = WEFT_FIELD_I32,
                                                 [WEFT_SPIRV_FLOAT] = WEFT_FIELD_F32};
    const struct weft_spirv_shape shape = weft_spirv_shape_of(&r->module, id);
    if (shape.width != 1) {
        return weft_fail(r->host, WEFT_COMPILE_ERROR,
                         "kernel %s: '%s' must be uint, int, float or bool", r->kernel,
                         name ? name : "?");
    }
    *type = types[shape.kind];
    return WEFT_OK;
}

static weft_status read_push(struct reflection *r, const uint32_t *block) {
    for (uint32_t m = 0; m + 2 < weft_spirv_length(block[0]); m++) {
        const char *name = weft_spirv_member_name(&r->module, block[1], m);
        struct weft_shader_field field = {0};
        (void)weft_spirv_member_has_decoration(&field.place, &r->module, block[1], m,
                                               SpvDecorationOffset);
        WEFT_TRY(read_type(&field.type, r, block[2 + m], name));
        WEFT_TRY(add_field(r, PUSH, name, field));
    }
    return WEFT_OK;
}

/* True if a buffer, or all members of its block, which is how `readonly buffer` arrives, are decorated so. */
static bool is_all(const struct reflection *r, uint32_t variable, const uint32_t *block,
                   SpvDecoration decoration) {
    if (weft_spirv_has_decoration(NULL, &r->module, variable, decoration)) {
        return true;
    }
    for (uint32_t m = 0; m + 2 < weft_spirv_length(block[0]); m++) {
        if (!weft_spirv_member_has_decoration(NULL, &r->module, block[1], m, decoration)) {
            return false;
        }
    }
    return true;
}

static weft_status read_binding(struct reflection *r, uint32_t variable, const uint32_t *block) {
    uint32_t set = NONE;
    struct weft_shader_field field = {
        .place = NONE,
        .reads = !is_all(r, variable, block, SpvDecorationNonReadable),
        .writes = !is_all(r, variable, block, SpvDecorationNonWritable)};
    (void)weft_spirv_has_decoration(&set, &r->module, variable, SpvDecorationDescriptorSet);
    (void)weft_spirv_has_decoration(&field.place, &r->module, variable, SpvDecorationBinding);
    if (set != 0 || field.place >= WEFT_MAX_BINDINGS) {
        return weft_fail(r->host, WEFT_COMPILE_ERROR,
                         "kernel %s: a buffer at set %u, binding %u; buffers are at set 0, "
                         "bindings 0 to %d",
                         r->kernel, set, field.place, WEFT_MAX_BINDINGS - 1);
    }
    const char *name = weft_spirv_name(&r->module, block[1]);
    for (uint32_t i = 0; i < r->counts[BINDING]; i++) {
        struct weft_shader_field *known = &r->fields[BINDING][i];
        if (known->place == field.place) { /* another view of the same buffer */
            known->reads |= field.reads;
            known->writes |= field.writes;
            if (name && strlen(name) < strlen(known->name)) {
                snake_case(known->name, name);
            }
            return WEFT_OK;
        }
    }
    return add_field(r, BINDING, name, field);
}

static weft_status read_variable(struct reflection *r, const uint32_t *variable) {
    const uint32_t *pointer = weft_spirv_made_by(&r->module, variable[1], SpvOpTypePointer);
    const uint32_t *block =
        pointer ? weft_spirv_made_by(&r->module, pointer[3], SpvOpTypeStruct) : NULL;
    if (!block) {
        return WEFT_OK;
    }
    switch (variable[3]) {
    case SpvStorageClassPushConstant:
        return read_push(r, block);
    case SpvStorageClassStorageBuffer:
    case SpvStorageClassUniform:
        return read_binding(r, variable[2], block);
    default:
        return WEFT_OK;
    }
}

/* glslang makes a constant without a name of local_size_x_id, beside that which has the number and a name. */
static bool is_named_elsewhere(const struct reflection *r, uint32_t number) {
    WEFT_SPIRV_EACH(instruction, &r->module, WEFT_SPIRV_ANNOTATIONS) {
        if (weft_spirv_opcode(instruction[0]) == SpvOpDecorate &&
            instruction[2] == SpvDecorationSpecId && weft_spirv_word(instruction, 3) == number &&
            weft_spirv_name(&r->module, instruction[1])) {
            return true;
        }
    }
    return false;
}

static weft_status read_constant(struct reflection *r, const uint32_t *constant) {
    const uint32_t opcode = weft_spirv_opcode(constant[0]);
    const char *name = weft_spirv_name(&r->module, constant[2]);
    struct weft_shader_field field = {.place = NONE};
    (void)weft_spirv_has_decoration(&field.place, &r->module, constant[2], SpvDecorationSpecId);
    if (field.place == NONE /* composed of others */ ||
        (!name && is_named_elsewhere(r, field.place))) {
        return WEFT_OK;
    }
    if (field.place == WEFT_SPIRV_ASKS_PRODUCTS || field.place == WEFT_SPIRV_PLAIN_PRODUCTS) {
        return WEFT_OK; /* a pass's, and not the host's */
    }
    WEFT_TRY(read_type(&field.type, r, constant[1], name));
    field.value = opcode == SpvOpSpecConstant ? constant[3] : opcode == SpvOpSpecConstantTrue;
    name = name ? without(name, "WEFT_") : NULL;
    enum sort sort = CONSTANT;
    if (name && strncmp(name, "TILE_", 5) == 0) {
        sort = TILE;
    } else if (name && strncmp(name, "FIXED_", 6) == 0) {
        sort = FIXED;
    }
    if (sort != FIXED && field.place >= WEFT_MAX_SPECIALIZATION) {
        return weft_fail(r->host, WEFT_COMPILE_ERROR,
                         "kernel %s: constant_id %u of '%s' is not "
                         "below %d",
                         r->kernel, field.place, name, WEFT_MAX_SPECIALIZATION);
    }
    return add_field(r, sort, sort == CONSTANT ? name : strchr(name, '_') + 1, field);
}

static int by_place(const void *a, const void *b) {
    const struct weft_shader_field *left = a;
    const struct weft_shader_field *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

static weft_status check_places(const struct reflection *r) {
    for (uint32_t i = 0; i < r->counts[BINDING]; i++) {
        if (r->fields[BINDING][i].place != i) {
            return weft_fail(r->host, WEFT_COMPILE_ERROR,
                             "kernel %s: no buffer is at binding %u, although one is behind it",
                             r->kernel, i);
        }
    }
    for (uint32_t i = 0; i < r->counts[PUSH]; i++) {
        if (r->fields[PUSH][i].place != 4 * i || i >= WEFT_MAX_PUSH_BYTES / 4) {
            return weft_fail(r->host, WEFT_COMPILE_ERROR,
                             "kernel %s: push constant '%s' is at byte %u; they must be "
                             "contiguous and fit in %d bytes",
                             r->kernel, r->fields[PUSH][i].name, r->fields[PUSH][i].place,
                             WEFT_MAX_PUSH_BYTES);
        }
    }
    return WEFT_OK;
}

/* ---- the interface ---- */

static weft_status put_together(struct weft_shader_interface *interface, struct reflection *r) {
    uint32_t total = 0;
    for (uint32_t s = 0; s < SORTS; s++) {
        if (r->counts[s] > 0) {
            qsort(r->fields[s], r->counts[s], sizeof *r->fields[s], by_place);
        }
        total += r->counts[s];
    }
    WEFT_TRY(check_places(r));
    struct weft_shader_field *fields = weft_alloc_zero(r->host, total + 1, sizeof *fields);
    if (!fields) {
        return weft_fail_memory(r->host, "a kernel's interface");
    }
    uint32_t at = 0;
    for (uint32_t s = 0; s < SORTS; s++) {
        for (uint32_t i = 0; i < r->counts[s]; i++) {
            fields[at++] = r->fields[s][i];
        }
    }
    *interface = (struct weft_shader_interface){.fields = fields,
                                                .push_count = r->counts[PUSH],
                                                .binding_count = r->counts[BINDING],
                                                .constant_count = r->counts[CONSTANT],
                                                .tile_count = r->counts[TILE],
                                                .fixed_count = r->counts[FIXED],
                                                .push_size = 4 * r->counts[PUSH],
                                                .groups_x = NONE};
    for (uint32_t i = 0; i < interface->push_count; i++) {
        if (strcmp(fields[i].name, "groups_x") == 0) {
            interface->groups_x = fields[i].place;
        }
    }
    return WEFT_OK;
}

static weft_status reflect(struct weft_shader_interface *interface, struct reflection *r) {
    WEFT_SPIRV_EACH(instruction, &r->module, WEFT_SPIRV_DECLARATIONS) {
        switch (weft_spirv_opcode(instruction[0])) {
        case SpvOpVariable:
            WEFT_TRY(read_variable(r, instruction));
            break;
        case SpvOpSpecConstant:
        case SpvOpSpecConstantTrue:
        case SpvOpSpecConstantFalse:
            WEFT_TRY(read_constant(r, instruction));
            break;
        default:
            break;
        }
    }
    uint32_t local_size[3];
    weft_spirv_local_size(local_size, &r->module, NULL, 0);
    if (local_size[0] == 0) {
        return weft_fail(r->host, WEFT_COMPILE_ERROR,
                         "kernel %s: the size of its workgroup is computed and cannot be read",
                         r->kernel);
    }
    WEFT_TRY(put_together(interface, r));
    memcpy(interface->local_size, local_size, sizeof local_size);
    return WEFT_OK;
}

weft_status weft_spirv_reflect(struct weft_shader_interface *interface, const char *name,
                               const uint32_t *words, size_t size, const weft_host *host) {
    WEFT_TRY(weft_spirv_check(words, size, host));
    struct reflection r = {.kernel = name, .host = host};
    weft_status status = weft_spirv_read(&r.module, words, size, host);
    status = status == WEFT_OK ? reflect(interface, &r) : status;
    weft_spirv_module_free(&r.module);
    for (uint32_t s = 0; s < SORTS; s++) {
        weft_free(host, r.fields[s]);
    }
    return status;
}

static const struct weft_shader_field *find(const struct weft_shader_field *fields, uint32_t count,
                                            uint32_t place) {
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].place == place) {
            return &fields[i];
        }
    }
    return NULL;
}

static bool same(const struct weft_shader_field *a, const struct weft_shader_field *b) {
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->value == b->value;
}

weft_status weft_shader_interface_merge(struct weft_shader_interface *interface,
                                        const struct weft_shader_interface *other, const char *name,
                                        const weft_host *host) {
    const uint32_t counts[2][SORTS] = {
        {interface->push_count, interface->binding_count, interface->constant_count,
         interface->tile_count, interface->fixed_count},
        {other->push_count, other->binding_count, other->constant_count, other->tile_count,
         other->fixed_count}};
    struct reflection r = {.kernel = name, .host = host};
    const struct weft_shader_field *mine = interface->fields;
    const struct weft_shader_field *theirs = other->fields;
    weft_status status = WEFT_OK;
    for (uint32_t s = 0; s < SORTS && status == WEFT_OK; s++) {
        for (uint32_t i = 0; i < counts[0][s] && status == WEFT_OK; i++) {
            struct weft_shader_field field = mine[i];
            const struct weft_shader_field *twin = find(theirs, counts[1][s], field.place);
            if (twin && !same(&field, twin)) {
                status = weft_fail(host, WEFT_COMPILE_ERROR,
                                   "kernel %s: '%s' of one math mode is '%s' in the other", name,
                                   field.name, twin->name);
            }
            if (twin && status == WEFT_OK) {
                field.reads |= twin->reads;
                field.writes |= twin->writes;
            }
            status = status == WEFT_OK ? add_field(&r, s, field.name, field) : status;
        }
        for (uint32_t i = 0; i < counts[1][s] && status == WEFT_OK; i++) {
            if (!find(mine, counts[0][s], theirs[i].place)) {
                status = add_field(&r, s, theirs[i].name, theirs[i]);
            }
        }
        mine += counts[0][s];
        theirs += counts[1][s];
    }
    struct weft_shader_interface merged = {0};
    status = status == WEFT_OK ? put_together(&merged, &r) : status;
    for (uint32_t s = 0; s < SORTS; s++) {
        weft_free(host, r.fields[s]);
    }
    if (status == WEFT_OK) {
        memcpy(merged.local_size, interface->local_size, sizeof merged.local_size);
        weft_shader_interface_free(interface, host);
        *interface = merged;
    }
    return status;
}

void weft_shader_interface_free(struct weft_shader_interface *interface, const weft_host *host) {
    /* Cast: what weft_spirv_reflect has allocated is only read from then on. */
    weft_free(host, (void *)(uintptr_t)interface->fields);
    interface->fields = NULL;
}

static bool is_known_name(const uint32_t *words) {
    return weft_spirv_opcode(words[0]) == SpvOpName &&
           weft_spirv_find_known((const char *)(words + 2));
}

size_t weft_spirv_strip(uint32_t *target, const uint32_t *words, size_t count) {
    memmove(target, words, WEFT_SPIRV_HEADER_WORDS * sizeof *words);
    size_t kept = WEFT_SPIRV_HEADER_WORDS;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < count;) {
        const uint32_t opcode = weft_spirv_opcode(words[at]);
        const uint32_t length = weft_spirv_length(words[at]);
        const bool is_line = opcode == SpvOpLine || opcode == SpvOpNoLine;
        if (is_known_name(words + at) ||
            (weft_spirv_layout(opcode).section != WEFT_SPIRV_DEBUG && !is_line)) {
            memmove(target + kept, words + at, length * sizeof *words);
            kept += length;
        }
        at += length;
    }
    return kept;
}
