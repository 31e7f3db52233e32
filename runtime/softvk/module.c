/* SPDX-License-Identifier: MIT */
#include "softvk/module.h"

weft_status weft_soft_module(struct weft_ir_source *module, const struct weft_soft_source *source,
                             const struct weft_soft_device *device, const weft_host *host) {
    const VkSpecializationInfo *given = source->constants;
    const uint32_t count = given ? given->mapEntryCount : 0;
    struct weft_ir_specialization *constants = NULL;
    if (count > 0) {
        constants = weft_alloc_zero(host, count, sizeof *constants);
        if (!constants) {
            return weft_fail_memory(host, "specialization constants");
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const VkSpecializationMapEntry *entry = &given->pMapEntries[i];
        constants[i] =
            (struct weft_ir_specialization){.id = entry->constantID,
                                            .size = (uint32_t)entry->size,
                                            .value = (const uint8_t *)given->pData + entry->offset};
    }
    *module = (struct weft_ir_source){.words = source->words,
                                      .size = source->size,
                                      .entry_point = source->entry_point,
                                      .constants = constants,
                                      .constant_count = count,
                                      .lanes = device->physical->properties.subgroup_size,
                                      .checked = source->checked};
    return WEFT_OK;
}

void weft_soft_module_free(struct weft_ir_source *module, const weft_host *host) {
    weft_free(host, (void *)(uintptr_t)module->constants);
}
