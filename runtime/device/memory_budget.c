/* SPDX-License-Identifier: MIT */
#include "device/memory_budget.h"

static bool ask(VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget, const weft_device *device) {
    *budget = (VkPhysicalDeviceMemoryBudgetPropertiesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = budget};
    if (!device->info.has_memory_budget || !device->instance.GetPhysicalDeviceMemoryProperties2) {
        return false;
    }
    device->instance.GetPhysicalDeviceMemoryProperties2(device->physical, &memory);
    return true;
}

bool weft_memory_is_in_budget(const weft_device *device, uint32_t type, uint64_t size) {
    VkPhysicalDeviceMemoryBudgetPropertiesEXT told;
    if (!ask(&told, device)) {
        return true;
    }
    const uint32_t heap = device->memory_properties.memoryTypes[type].heapIndex;
    const uint64_t budget = told.heapBudget[heap]; /* 0: the driver has not filled it in */
    const uint64_t used = told.heapUsage[heap];
    return budget == 0 || (used <= budget && size <= budget - used);
}

void weft_memory_budget(uint64_t *budget, uint64_t *used, const weft_device *device) {
    VkPhysicalDeviceMemoryBudgetPropertiesEXT told;
    *budget = *used = 0;
    if (!ask(&told, device)) {
        return;
    }
    const VkPhysicalDeviceMemoryProperties *memory = &device->memory_properties;
    for (uint32_t i = 0; i < memory->memoryHeapCount && i < VK_MAX_MEMORY_HEAPS; i++) {
        if ((memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
            *budget += told.heapBudget[i];
            *used += told.heapUsage[i];
        }
    }
}
