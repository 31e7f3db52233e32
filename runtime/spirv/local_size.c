/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "spirv/module.h"

struct module {
    const uint32_t *words;
    size_t count;
    const uint32_t *specialization;
    uint32_t specialization_count;
};

/*
 * Where, from word `at` on, the first instruction `opcode` of at least `length` words is whose word
 * `index` is `value`; 0 when there is none. Unchecked modules are looked at too, so it stops where
 * the word counts stop making sense.
 */
static size_t find_from(const struct module *module, size_t at, enum weft_spirv_op opcode,
                        uint32_t length, uint32_t index, uint32_t value) {
    while (at < module->count) {
        const uint32_t *instruction = module->words + at;
        uint32_t words = weft_spirv_length(instruction[0]);
        if (words == 0 || words > module->count - at) {
            return 0;
        }
        if (weft_spirv_opcode(instruction[0]) == (uint32_t)opcode && words >= length &&
            instruction[index] == value) {
            return at;
        }
        at += words;
    }
    return 0;
}

/* The same over the whole module, as a pointer; null when there is none. */
static const uint32_t *find(const struct module *module, enum weft_spirv_op opcode, uint32_t length,
                            uint32_t index, uint32_t value) {
    size_t at = find_from(module, WEFT_SPIRV_HEADER_WORDS, opcode, length, index, value);
    return at != 0 ? module->words + at : NULL;
}

/*
 * OpDecorate `target` `decoration` `literal`; target 0 takes any target, else any literal will do.
 */
static const uint32_t *find_decoration(const struct module *module, uint32_t target,
                                       uint32_t decoration, uint32_t literal) {
    size_t at = WEFT_SPIRV_HEADER_WORDS;
    while ((at = find_from(module, at, WEFT_OP_DECORATE, 4, 2, decoration)) != 0) {
        const uint32_t *found = module->words + at;
        if (target != 0 ? found[1] == target : found[3] == literal) {
            return found;
        }
        at += weft_spirv_length(found[0]);
    }
    return NULL;
}

/* The value of a scalar constant; 0 when it is none, or computed from specialization constants. */
static uint32_t constant_value(const struct module *module, uint32_t id) {
    const uint32_t *constant = find(module, WEFT_OP_CONSTANT, 4, 2, id);
    if (constant) {
        return constant[3];
    }
    constant = find(module, WEFT_OP_SPEC_CONSTANT, 4, 2, id);
    if (!constant) {
        return 0;
    }
    const uint32_t *decoration = find_decoration(module, id, WEFT_DECORATION_SPEC_ID, 0);
    if (decoration && decoration[3] < module->specialization_count) {
        return module->specialization[decoration[3]];
    }
    return constant[3];
}

/* A constant decorated WorkgroupSize overrides every execution mode. */
static bool from_workgroup_size(uint32_t local_size[3], const struct module *module) {
    const uint32_t *decoration =
        find_decoration(module, 0, WEFT_DECORATION_BUILT_IN, WEFT_BUILT_IN_WORKGROUP_SIZE);
    if (!decoration) {
        return false;
    }
    const uint32_t *constant = find(module, WEFT_OP_CONSTANT_COMPOSITE, 6, 2, decoration[1]);
    if (!constant) {
        constant = find(module, WEFT_OP_SPEC_CONSTANT_COMPOSITE, 6, 2, decoration[1]);
    }
    for (uint32_t i = 0; constant && i < 3; i++) {
        local_size[i] = constant_value(module, constant[3 + i]);
    }
    return true;
}

static void from_execution_mode(uint32_t local_size[3], const struct module *module) {
    const uint32_t *mode =
        find(module, WEFT_OP_EXECUTION_MODE, 6, 2, WEFT_EXECUTION_MODE_LOCAL_SIZE);
    if (mode) {
        memcpy(local_size, mode + 3, 3 * sizeof *local_size);
        return;
    }
    mode = find(module, WEFT_OP_EXECUTION_MODE_ID, 6, 2, WEFT_EXECUTION_MODE_LOCAL_SIZE_ID);
    for (uint32_t i = 0; mode && i < 3; i++) {
        local_size[i] = constant_value(module, mode[3 + i]);
    }
}

void weft_spirv_specialized_local_size(uint32_t local_size[3], const uint32_t *words, size_t size,
                                       const uint32_t *specialization, uint32_t count) {
    const struct module module = {.words = words,
                                  .count = size / 4,
                                  .specialization = specialization,
                                  .specialization_count = count};
    memset(local_size, 0, 3 * sizeof *local_size);
    if (!from_workgroup_size(local_size, &module)) {
        from_execution_mode(local_size, &module);
    }
    /* A size that is known in part is not known. */
    if (local_size[0] == 0 || local_size[1] == 0 || local_size[2] == 0) {
        memset(local_size, 0, 3 * sizeof *local_size);
    }
}

void weft_spirv_local_size(uint32_t local_size[3], const uint32_t *words, size_t size) {
    weft_spirv_specialized_local_size(local_size, words, size, NULL, 0);
}
