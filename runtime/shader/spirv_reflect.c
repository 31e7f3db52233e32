/* SPDX-License-Identifier: MIT */
#include "shader/spirv_reflect.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "spirv/module.h"

#define NONE UINT32_MAX

/* Sorts of fields, in the order in which an interface has them. */
enum sort { PUSH, BINDING, CONSTANT, TILE, FIXED, SORTS };

/* What the instructions before the functions say of an id. */
struct id {
    const char *name;
    uint32_t opcode;       /* that makes it */
    const uint32_t *words; /* of that instruction */
    uint32_t binding, set, spec_id;
    bool not_writable, not_readable;
};

struct reflection {
    const char *kernel;
    const weft_host *host;
    const uint32_t *words;
    size_t count;
    struct id *ids;
    uint32_t bound;
    struct weft_shader_field *fields[SORTS];
    uint32_t counts[SORTS], capacities[SORTS];
};

/* ---- what the module says ---- */

static void note_decoration(struct reflection *r, const uint32_t *instruction, uint32_t length) {
    struct id *id = &r->ids[instruction[1]];
    const uint32_t literal = length > 3 ? instruction[3] : 0;
    switch (instruction[2]) {
    case WEFT_DECORATION_SPEC_ID:
        id->spec_id = literal;
        break;
    case WEFT_DECORATION_BINDING:
        id->binding = literal;
        break;
    case WEFT_DECORATION_DESCRIPTOR_SET:
        id->set = literal;
        break;
    case WEFT_DECORATION_NON_WRITABLE:
        id->not_writable = true;
        break;
    case WEFT_DECORATION_NON_READABLE:
        id->not_readable = true;
        break;
    default:
        break;
    }
}

static void note(struct reflection *r, const uint32_t *instruction, uint32_t length) {
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    switch (opcode) {
    case WEFT_OP_NAME:
        r->ids[instruction[1]].name = (const char *)(instruction + 2);
        break;
    case WEFT_OP_DECORATE:
        note_decoration(r, instruction, length);
        break;
    case WEFT_OP_TYPE_BOOL:
    case WEFT_OP_TYPE_INT:
    case WEFT_OP_TYPE_FLOAT:
    case WEFT_OP_TYPE_STRUCT:
    case WEFT_OP_TYPE_POINTER:
        r->ids[instruction[1]].opcode = opcode;
        r->ids[instruction[1]].words = instruction;
        break;
    case WEFT_OP_VARIABLE:
    case WEFT_OP_SPEC_CONSTANT:
    case WEFT_OP_SPEC_CONSTANT_TRUE:
    case WEFT_OP_SPEC_CONSTANT_FALSE:
        r->ids[instruction[2]].opcode = opcode;
        r->ids[instruction[2]].words = instruction;
        break;
    default:
        break;
    }
}

static void read_module(struct reflection *r) {
    for (uint32_t i = 0; i < r->bound; i++) {
        r->ids[i].binding = r->ids[i].set = r->ids[i].spec_id = NONE;
    }
    size_t at = WEFT_SPIRV_HEADER_WORDS;
    while (at < r->count && weft_spirv_opcode(r->words[at]) != WEFT_OP_FUNCTION) {
        const uint32_t length = weft_spirv_length(r->words[at]);
        note(r, r->words + at, length);
        at += length;
    }
}

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
    const struct id *found = &r->ids[id];
    const bool word = found->words && (found->opcode == WEFT_OP_TYPE_BOOL || found->words[2] == 32);
    if (word && found->opcode == WEFT_OP_TYPE_INT) {
        *type = found->words[3] ? WEFT_FIELD_I32 : WEFT_FIELD_U32;
    } else if (word && found->opcode == WEFT_OP_TYPE_FLOAT) {
        *type = WEFT_FIELD_F32;
    } else if (word && found->opcode == WEFT_OP_TYPE_BOOL) {
        *type = WEFT_FIELD_BOOL;
    } else {
        return weft_fail(r->host, WEFT_COMPILE_ERROR,
                         "kernel %s: '%s' is none of uint, int, float and bool", r->kernel,
                         name ? name : "?");
    }
    return WEFT_OK;
}

/* OpMemberName or an Offset of OpMemberDecorate; null when there is none. */
static const uint32_t *find_member(const struct reflection *r, uint32_t opcode, uint32_t type,
                                   uint32_t member, uint32_t decoration) {
    size_t at = WEFT_SPIRV_HEADER_WORDS;
    while (at < r->count && weft_spirv_opcode(r->words[at]) != WEFT_OP_FUNCTION) {
        const uint32_t *i = r->words + at;
        if (weft_spirv_opcode(i[0]) == opcode && i[1] == type && i[2] == member &&
            (decoration == NONE || i[3] == decoration)) {
            return i;
        }
        at += weft_spirv_length(i[0]);
    }
    return NULL;
}

static weft_status read_push(struct reflection *r, uint32_t struct_id) {
    const uint32_t *type = r->ids[struct_id].words;
    for (uint32_t m = 0; m + 2 < weft_spirv_length(type[0]); m++) {
        const uint32_t *name = find_member(r, WEFT_OP_MEMBER_NAME, struct_id, m, NONE);
        const uint32_t *offset =
            find_member(r, WEFT_OP_MEMBER_DECORATE, struct_id, m, WEFT_DECORATION_OFFSET);
        struct weft_shader_field field = {.place = offset ? offset[4] : 0};
        const char *text = name ? (const char *)(name + 3) : NULL;
        WEFT_TRY(read_type(&field.type, r, type[2 + m], text));
        WEFT_TRY(add_field(r, PUSH, text, field));
    }
    return WEFT_OK;
}

/* Whether all members of a block are decorated so, which is how `readonly buffer` arrives. */
static bool all_members(const struct reflection *r, uint32_t struct_id, uint32_t decoration) {
    const uint32_t members = weft_spirv_length(r->ids[struct_id].words[0]) - 2;
    for (uint32_t m = 0; m < members; m++) {
        if (!find_member(r, WEFT_OP_MEMBER_DECORATE, struct_id, m, decoration)) {
            return false;
        }
    }
    return true;
}

static weft_status read_binding(struct reflection *r, const struct id *variable,
                                uint32_t struct_id) {
    if (variable->set != 0 || variable->binding >= WEFT_MAX_BINDINGS) {
        return weft_fail(r->host, WEFT_COMPILE_ERROR,
                         "kernel %s: a buffer at set %u, binding %u; buffers are at set 0, "
                         "bindings 0 to %d",
                         r->kernel, variable->set, variable->binding, WEFT_MAX_BINDINGS - 1);
    }
    const char *block = r->ids[struct_id].name;
    const bool reads =
        !variable->not_readable && !all_members(r, struct_id, WEFT_DECORATION_NON_READABLE);
    const bool writes =
        !variable->not_writable && !all_members(r, struct_id, WEFT_DECORATION_NON_WRITABLE);
    for (uint32_t i = 0; i < r->counts[BINDING]; i++) {
        struct weft_shader_field *known = &r->fields[BINDING][i];
        if (known->place == variable->binding) { /* another view of the same buffer */
            known->reads |= reads;
            known->writes |= writes;
            if (block && strlen(block) < strlen(known->name)) {
                snake_case(known->name, block);
            }
            return WEFT_OK;
        }
    }
    return add_field(
        r, BINDING, r->ids[struct_id].name,
        (struct weft_shader_field){.place = variable->binding, .reads = reads, .writes = writes});
}

static weft_status read_variable(struct reflection *r, const struct id *variable) {
    const struct id *pointer = &r->ids[variable->words[1]];
    const uint32_t storage_class = variable->words[3];
    const uint32_t pointee = pointer->words ? pointer->words[3] : 0;
    if (r->ids[pointee].opcode != WEFT_OP_TYPE_STRUCT) {
        return WEFT_OK;
    }
    if (storage_class == WEFT_STORAGE_CLASS_PUSH_CONSTANT) {
        return read_push(r, pointee);
    }
    const bool buffer = storage_class == WEFT_STORAGE_CLASS_STORAGE_BUFFER ||
                        storage_class == WEFT_STORAGE_CLASS_UNIFORM;
    return buffer ? read_binding(r, variable, pointee) : WEFT_OK;
}

/* glslang makes a constant without a name of local_size_x_id, beside that which has the number and a name. */
static bool is_named_elsewhere(const struct reflection *r, const struct id *constant) {
    bool named = false;
    for (uint32_t i = 0; i < r->bound && !constant->name; i++) {
        named = named || (r->ids[i].spec_id == constant->spec_id && r->ids[i].name);
    }
    return named;
}

static weft_status read_constant(struct reflection *r, const struct id *constant) {
    struct weft_shader_field field = {.place = constant->spec_id};
    if (field.place == NONE /* composed of others */ || is_named_elsewhere(r, constant)) {
        return WEFT_OK;
    }
    WEFT_TRY(read_type(&field.type, r, constant->words[1], constant->name));
    field.value = constant->opcode == WEFT_OP_SPEC_CONSTANT
                      ? constant->words[3]
                      : constant->opcode == WEFT_OP_SPEC_CONSTANT_TRUE;
    const char *name = constant->name ? without(constant->name, "WEFT_") : NULL;
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
                             "kernel %s: push constant '%s' is at byte %u; they are to lie one "
                             "behind the other in %d bytes",
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
    r->ids = weft_alloc_zero(r->host, r->bound, sizeof *r->ids);
    if (!r->ids) {
        return weft_fail_memory(r->host, "a kernel's interface");
    }
    read_module(r);
    for (uint32_t i = 0; i < r->bound; i++) {
        if (r->ids[i].opcode == WEFT_OP_VARIABLE) {
            WEFT_TRY(read_variable(r, &r->ids[i]));
        } else if (r->ids[i].opcode == WEFT_OP_SPEC_CONSTANT ||
                   r->ids[i].opcode == WEFT_OP_SPEC_CONSTANT_TRUE ||
                   r->ids[i].opcode == WEFT_OP_SPEC_CONSTANT_FALSE) {
            WEFT_TRY(read_constant(r, &r->ids[i]));
        }
    }
    uint32_t local_size[3];
    weft_spirv_local_size(local_size, r->words, 4 * r->count);
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
    struct reflection r = {.kernel = name,
                           .host = host,
                           .words = words,
                           .count = size / 4,
                           .bound = words[WEFT_SPIRV_AT_BOUND]};
    const weft_status status = reflect(interface, &r);
    weft_free(host, r.ids);
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

size_t weft_spirv_strip(uint32_t *target, const uint32_t *words, size_t count) {
    memmove(target, words, WEFT_SPIRV_HEADER_WORDS * sizeof *words);
    size_t kept = WEFT_SPIRV_HEADER_WORDS;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < count; at += weft_spirv_length(words[at])) {
        switch (weft_spirv_opcode(words[at])) {
        case WEFT_OP_SOURCE_CONTINUED:
        case WEFT_OP_SOURCE:
        case WEFT_OP_SOURCE_EXTENSION:
        case WEFT_OP_NAME:
        case WEFT_OP_MEMBER_NAME:
        case WEFT_OP_STRING:
        case WEFT_OP_LINE:
        case WEFT_OP_NO_LINE:
        case WEFT_OP_MODULE_PROCESSED:
            break;
        default:
            memmove(target + kept, words + at, weft_spirv_length(words[at]) * sizeof *words);
            kept += weft_spirv_length(words[at]);
        }
    }
    return kept;
}
