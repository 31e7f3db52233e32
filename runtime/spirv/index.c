/* SPDX-License-Identifier: MIT */
#include "spirv/index.h"

#include <string.h>

#include "core/try.h"

#define MOST_IN_GROUP 128u /* more than there are decorations */
#define MOST_WIDTH    4u   /* components of a vector */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- reading ---- */

static weft_status decorate(struct weft_spirv_module *module, uint32_t id, uint32_t at,
                            uint32_t group) {
    if (!weft_grow(module->host, &module->decorations, module->decoration_count,
                   &module->decoration_capacity, sizeof *module->decorations)) {
        return weft_fail_memory(module->host, "SPIR-V decorations");
    }
    uint32_t *newest = &module->ids[id].decorations;
    module->decorations[module->decoration_count] =
        (struct weft_spirv_decoration){.at = at, .next = *newest, .group = group};
    *newest = module->decoration_count++;
    return WEFT_OK;
}

/* A group's own decorations come before it is applied. */
static weft_status apply_group(struct weft_spirv_module *module, uint32_t at) {
    const uint32_t *instruction = module->words + at;
    const uint32_t group = module->ids[instruction[1]].decorations;
    uint32_t count = 0;
    for (uint32_t i = group; i != 0; i = module->decorations[i].next) {
        if (++count > MOST_IN_GROUP) {
            return weft_fail(module->host, WEFT_COMPILE_ERROR,
                             "SPIR-V module, word %u: a group of more than %u decorations", at,
                             MOST_IN_GROUP);
        }
    }
    for (uint32_t i = 2; i < weft_spirv_length(instruction[0]); i++) {
        WEFT_TRY(decorate(module, instruction[i], at, group));
    }
    return WEFT_OK;
}

static weft_status note_annotation(struct weft_spirv_module *module, uint32_t at) {
    const uint32_t *instruction = module->words + at;
    switch (weft_spirv_opcode(instruction[0])) {
    case SpvOpGroupDecorate:
        return apply_group(module, at);
    case SpvOpDecorate:
        if (instruction[2] == SpvDecorationBuiltIn &&
            weft_spirv_word(instruction, 3) < COUNT(module->built_ins)) {
            module->built_ins[instruction[3]] = instruction[1];
        }
        return decorate(module, instruction[1], at, 0);
    case SpvOpMemberDecorate:
    case SpvOpDecorateId:
        return decorate(module, instruction[1], at, 0);
    default:
        return WEFT_OK;
    }
}

static weft_status note(struct weft_spirv_module *module, uint32_t at) {
    const uint32_t *instruction = module->words + at;
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    uint32_t type = 0;
    const uint32_t result = weft_spirv_result(&type, opcode);
    if (result != 0) {
        struct weft_spirv_id *id = &module->ids[instruction[result]];
        id->at = at;
        id->type = type != 0 ? instruction[type] : 0;
    }
    if (opcode == SpvOpName) {
        module->ids[instruction[1]].name = at;
    }
    module->entry_points += opcode == SpvOpEntryPoint;
    module->bool_type = opcode == SpvOpTypeBool ? instruction[1] : module->bool_type;
    return note_annotation(module, at);
}

static weft_status note_all(struct weft_spirv_module *module) {
    uint32_t next = WEFT_SPIRV_CAPABILITIES; /* section that has not started */
    for (uint32_t at = WEFT_SPIRV_HEADER_WORDS; at < module->count;
         at += weft_spirv_length(module->words[at])) {
        const uint32_t opcode = weft_spirv_opcode(module->words[at]);
        while (next < WEFT_SPIRV_SECTIONS_END &&
               next <= (uint32_t)weft_spirv_layout(opcode).section) {
            module->starts[next++] = at;
        }
        WEFT_TRY(note(module, at));
    }
    while (next <= WEFT_SPIRV_SECTIONS_END) {
        module->starts[next++] = module->count;
    }
    return WEFT_OK;
}

weft_status weft_spirv_read(struct weft_spirv_module *module, const uint32_t *words, size_t size,
                            const weft_host *host) {
    *module = (struct weft_spirv_module){.words = words,
                                         .count = size / 4,
                                         .bound = words[WEFT_SPIRV_AT_BOUND],
                                         .decoration_count = 1,
                                         .host = host};
    module->ids = weft_alloc_zero(host, module->bound, sizeof *module->ids);
    return module->ids ? note_all(module) : weft_fail_memory(host, "SPIR-V ids");
}

void weft_spirv_module_free(struct weft_spirv_module *module) {
    weft_free(module->host, module->ids);
    weft_free(module->host, module->decorations);
    *module = (struct weft_spirv_module){0};
}

/* ---- ids ---- */

const uint32_t *weft_spirv_made_by(const struct weft_spirv_module *module, uint32_t id,
                                   SpvOp opcode) {
    const uint32_t at = id < module->bound ? module->ids[id].at : 0;
    const uint32_t *instruction = module->words + at;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a module has words */
    return at != 0 && weft_spirv_opcode(instruction[0]) == (uint32_t)opcode ? instruction : NULL;
}

uint32_t weft_spirv_type_of(const struct weft_spirv_module *module, uint32_t id) {
    return id < module->bound ? module->ids[id].type : 0;
}

bool weft_spirv_is_glsl(const struct weft_spirv_module *module, uint32_t id) {
    const uint32_t *import = weft_spirv_made_by(module, id, SpvOpExtInstImport);
    return import &&
           weft_spirv_string_is(import + 2, weft_spirv_length(import[0]) - 2, "GLSL.std.450");
}

bool weft_spirv_is_fma(const struct weft_spirv_module *module, const uint32_t *instruction) {
    return weft_spirv_opcode(instruction[0]) == SpvOpExtInst &&
           weft_spirv_word(instruction, 4) == GLSLstd450Fma &&
           weft_spirv_is_glsl(module, instruction[3]);
}

const char *weft_spirv_name(const struct weft_spirv_module *module, uint32_t id) {
    const uint32_t at = id < module->bound ? module->ids[id].name : 0;
    return at != 0 ? (const char *)(module->words + at + 2) : NULL;
}

const char *weft_spirv_member_name(const struct weft_spirv_module *module, uint32_t type,
                                   uint32_t member) {
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_DEBUG) {
        if (weft_spirv_opcode(instruction[0]) == SpvOpMemberName && instruction[1] == type &&
            instruction[2] == member) {
            return (const char *)(instruction + 3);
        }
    }
    return NULL;
}

/* ---- decorations ---- */

static bool decorates(uint32_t *literal, const uint32_t *instruction, SpvOp opcode, uint32_t member,
                      SpvDecoration decoration) {
    const uint32_t word = opcode == SpvOpMemberDecorate ? 3 : 2;
    if (weft_spirv_opcode(instruction[0]) != (uint32_t)opcode ||
        instruction[word] != (uint32_t)decoration || (word == 3 && instruction[2] != member)) {
        return false;
    }
    if (literal) {
        *literal = weft_spirv_word(instruction, word + 1);
    }
    return true;
}

bool weft_spirv_member_has_decoration(uint32_t *literal, const struct weft_spirv_module *module,
                                      uint32_t type, uint32_t member, SpvDecoration decoration) {
    for (uint32_t i = module->ids[type].decorations; i != 0; i = module->decorations[i].next) {
        if (decorates(literal, module->words + module->decorations[i].at, SpvOpMemberDecorate,
                      member, decoration)) {
            return true;
        }
    }
    return false;
}

bool weft_spirv_has_decoration(uint32_t *literal, const struct weft_spirv_module *module,
                               uint32_t id, SpvDecoration decoration) {
    const struct weft_spirv_decoration *all = module->decorations;
    for (uint32_t i = module->ids[id].decorations; i != 0; i = all[i].next) {
        if (decorates(literal, module->words + all[i].at, SpvOpDecorate, 0, decoration)) {
            return true;
        }
        for (uint32_t k = all[i].group; k != 0; k = all[k].next) {
            if (decorates(literal, module->words + all[k].at, SpvOpDecorate, 0, decoration)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- types and inputs ---- */

struct weft_spirv_shape weft_spirv_shape_of(const struct weft_spirv_module *module, uint32_t type) {
    const uint32_t *vector = weft_spirv_made_by(module, type, SpvOpTypeVector);
    const uint32_t scalar = vector ? vector[2] : type;
    const uint32_t width = vector ? vector[3] : 1;
    const uint32_t *integer = weft_spirv_made_by(module, scalar, SpvOpTypeInt);
    const uint32_t *number = weft_spirv_made_by(module, scalar, SpvOpTypeFloat);
    enum weft_spirv_kind kind = WEFT_SPIRV_OTHER;
    if (integer && integer[2] == 32) {
        kind = integer[3] == 0 ? WEFT_SPIRV_UINT : WEFT_SPIRV_INT;
    } else if (number && number[2] == 32) {
        kind = WEFT_SPIRV_FLOAT;
    } else if (weft_spirv_made_by(module, scalar, SpvOpTypeBool)) {
        kind = WEFT_SPIRV_BOOL;
    }
    if (kind == WEFT_SPIRV_OTHER || width == 0 || width > MOST_WIDTH) {
        return (struct weft_spirv_shape){0};
    }
    return (struct weft_spirv_shape){.kind = kind, .width = width, .scalar = scalar};
}

/* Those that it is made of come before it. */
static bool has_float(const bool *known, const uint32_t *type) {
    switch (weft_spirv_opcode(type[0])) {
    case SpvOpTypeFloat:
        return type[2] == 32;
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
    case SpvOpTypeArray:
    case SpvOpTypeRuntimeArray:
        return known[type[2]];
    case SpvOpTypeStruct:
        for (uint32_t i = 2; i < weft_spirv_length(type[0]); i++) {
            if (known[type[i]]) {
                return true;
            }
        }
        return false;
    default:
        return false;
    }
}

void weft_spirv_find_floats(bool *known, const struct weft_spirv_module *module) {
    WEFT_SPIRV_EACH(type, module, WEFT_SPIRV_DECLARATIONS) {
        const uint32_t opcode = weft_spirv_opcode(type[0]);
        if (opcode >= SpvOpTypeVoid && opcode <= SpvOpTypeFunction) {
            known[type[1]] = has_float(known, type);
        }
    }
}

static bool is_word(struct weft_spirv_shape shape) {
    return shape.width == 1 && (shape.kind == WEFT_SPIRV_UINT || shape.kind == WEFT_SPIRV_INT);
}

bool weft_spirv_is_packed_dot(const struct weft_spirv_module *module, const uint32_t *dot) {
    const uint32_t type = weft_spirv_type_of(module, dot[3]);
    return weft_spirv_length(dot[0]) == 6 &&
           dot[5] == SpvPackedVectorFormatPackedVectorFormat4x8Bit &&
           is_word(weft_spirv_shape_of(module, dot[1])) &&
           is_word(weft_spirv_shape_of(module, type)) && weft_spirv_type_of(module, dot[4]) == type;
}

bool weft_spirv_interface_has(const uint32_t *entry_point, uint32_t variable) {
    const uint32_t length = weft_spirv_length(entry_point[0]);
    uint32_t i = weft_spirv_interface_start(entry_point);
    while (i < length && entry_point[i] != variable) {
        i++;
    }
    return i < length;
}

bool weft_spirv_find_input(struct weft_spirv_input *input, const struct weft_spirv_module *module,
                           SpvBuiltIn built_in) {
    const uint32_t id = module->built_ins[built_in];
    const uint32_t *variable = weft_spirv_made_by(module, id, SpvOpVariable);
    const uint32_t *pointer =
        variable ? weft_spirv_made_by(module, variable[1], SpvOpTypePointer) : NULL;
    if (!pointer || variable[3] != SpvStorageClassInput) {
        return false;
    }
    WEFT_SPIRV_EACH(entry_point, module, WEFT_SPIRV_ENTRY_POINTS) {
        if (!weft_spirv_interface_has(entry_point, id)) {
            return false;
        }
    }
    *input = (struct weft_spirv_input){.variable = id,
                                       .pointer = pointer[1],
                                       .type = pointer[3],
                                       .shape = weft_spirv_shape_of(module, pointer[3])};
    return input->shape.kind == WEFT_SPIRV_UINT || input->shape.kind == WEFT_SPIRV_INT;
}

uint32_t weft_spirv_find_compute(const struct weft_spirv_module *module, const char *name) {
    WEFT_SPIRV_EACH(entry_point, module, WEFT_SPIRV_ENTRY_POINTS) {
        if (entry_point[1] == SpvExecutionModelGLCompute &&
            weft_spirv_string_is(entry_point + 3, weft_spirv_length(entry_point[0]) - 3, name)) {
            return entry_point[2];
        }
    }
    return 0;
}

/* ---- the size of a workgroup ---- */

struct specialization {
    const uint32_t *values;
    uint32_t count;
};

/* The value of a scalar constant; 0 when it is none, or computed from specialization constants. */
static uint32_t constant_value(const struct weft_spirv_module *module, uint32_t id,
                               const struct specialization *specialization) {
    const uint32_t *constant = weft_spirv_made_by(module, id, SpvOpConstant);
    if (constant) {
        return constant[3];
    }
    uint32_t number = UINT32_MAX;
    constant = weft_spirv_made_by(module, id, SpvOpSpecConstant);
    if (!constant) {
        return 0;
    }
    (void)weft_spirv_has_decoration(&number, module, id, SpvDecorationSpecId);
    return number < specialization->count ? specialization->values[number] : constant[3];
}

/* A constant decorated WorkgroupSize overrides every execution mode. */
const uint32_t *weft_spirv_find_local_size(bool *are_ids, const struct weft_spirv_module *module,
                                           uint32_t entry_point) {
    const uint32_t built_in = module->built_ins[SpvBuiltInWorkgroupSize];
    *are_ids = true;
    if (built_in != 0) {
        const uint32_t *constant = weft_spirv_made_by(module, built_in, SpvOpConstantComposite);
        constant =
            constant ? constant : weft_spirv_made_by(module, built_in, SpvOpSpecConstantComposite);
        return constant && weft_spirv_length(constant[0]) >= 6 ? constant + 3 : NULL;
    }
    WEFT_SPIRV_EACH(mode, module, WEFT_SPIRV_MODES) {
        if (weft_spirv_length(mode[0]) >= 6 && (entry_point == 0 || mode[1] == entry_point) &&
            (mode[2] == SpvExecutionModeLocalSize || mode[2] == SpvExecutionModeLocalSizeId)) {
            *are_ids = mode[2] == SpvExecutionModeLocalSizeId;
            return mode + 3;
        }
    }
    return NULL;
}

void weft_spirv_local_size(uint32_t local_size[3], const struct weft_spirv_module *module,
                           const uint32_t *specialization, uint32_t count) {
    const struct specialization given = {.values = specialization, .count = count};
    bool are_ids = false;
    const uint32_t *found = weft_spirv_find_local_size(&are_ids, module, 0);
    for (uint32_t i = 0; i < 3; i++) {
        local_size[i] = !found ? 0 : are_ids ? constant_value(module, found[i], &given) : found[i];
    }
    /* A size that is known in part is not known. */
    if (local_size[0] == 0 || local_size[1] == 0 || local_size[2] == 0) {
        memset(local_size, 0, 3 * sizeof *local_size);
    }
}
