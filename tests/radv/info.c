/* SPDX-License-Identifier: MIT */
/* What a kernel tells of the device: AMDGPU_INFO, of amdgpu_drm.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kmd.h"

/* Chips whose instruction sets tests/amd has, with their numbers; the caches and clocks below are nobody's. */
static const struct kmd_chip chips[] = {
    {"gfx1030", 0x73bf, 143, 0x28, 0xa0300, 0x444, 4, 2, 10, 100000},      /* Navi 21 */
    {"gfx1100", 0x744c, 145, 0x01, 0xb0000, 0x545, 6, 2, 8, 100000},       /* Navi 31 */
    {"gfx906", 0x66af, 141, 0x28, 0x90400, 0x2a114042, 4, 1, 16, 100000}}; /* Vega 20 */

const struct kmd_chip *kmd_chip_find(const char *gpu) {
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        if (strcmp(chips[i].gpu, gpu) == 0) {
            return &chips[i];
        }
    }
    return NULL;
}

/* ---- structures of the kernel's interface ---- */

struct of_engine {
    uint32_t major, minor;
    uint64_t capabilities;
    uint32_t start_alignment, size_alignment, rings, version;
};

struct of_heap {
    uint64_t total, usable, used, largest;
};

struct of_memory {
    struct of_heap device, visible, host;
};

struct of_device {
    uint32_t device, chip_revision, external_revision, pci_revision, family;
    uint32_t engines, arrays, counter_khz;
    uint64_t clock_khz, memory_clock_khz;
    uint32_t active_units, always_on_mask, units[4][4];
    uint32_t backend_mask, backends, contexts, pcie_generation;
    uint64_t flags, address_first, address_end;
    uint32_t address_alignment, fragment_size, page_size, constant_size;
    uint32_t memory_type, memory_bits, video_harvest, double_buffers;
    uint64_t primitive_buffers[4];
    uint32_t primitive_sizes[4];
    uint32_t wave_size, visible_vgprs, units_of_array, cache_blocks;
    uint32_t geometry[3], pcie_lanes, always_on[4][4];
    uint64_t high_first, high_end;
    uint32_t tile_steering, unused;
    uint64_t disabled_caches, least_clock, least_memory_clock;
    uint32_t vector_cache, scalar_caches, scalar_cache, instruction_cache, l1_cache, l2_cache;
    uint64_t last_cache;
    uint32_t backend_mask_high, shadow[4], unused_too;
};

_Static_assert(offsetof(struct of_device, high_first) == 336, "as the kernel has it");
_Static_assert(sizeof(struct of_device) == 440, "as the kernel has it");

enum query {
    ACCELERATES = 0x00,
    ENGINE = 0x02,
    ENGINES = 0x03,
    TIMESTAMP = 0x05,
    FIRMWARE = 0x0e,
    MOVED = 0x0f,
    DEVICE_USED = 0x10,
    HOST_USED = 0x11,
    HEAPS = 0x14,
    REGISTERS = 0x15,
    DEVICE = 0x16,
    VISIBLE_USED = 0x17,
    MEMORY = 0x19
};

enum { GRAPHICS = 0, COMPUTE = 1, ADDRESSES_REGISTER = 0x263e };

#define DEVICE_BYTES (UINT64_C(8) << 30)
#define HOST_BYTES   (UINT64_C(8) << 30)

static void tell_device(const struct kmd *kmd, struct of_device *device) {
    const struct kmd_chip *chip = kmd->chip;
    *device = (struct of_device){.device = chip->device,
                                 .external_revision = chip->revision,
                                 .family = chip->family,
                                 .engines = chip->engines,
                                 .arrays = chip->arrays,
                                 .counter_khz = chip->counter_khz,
                                 .clock_khz = 2000000,
                                 .memory_clock_khz = 1000000,
                                 .active_units = chip->engines * chip->arrays * chip->units,
                                 .backend_mask = 0xffff,
                                 .backends = 16,
                                 .contexts = 8,
                                 .pcie_generation = 4,
                                 .address_first = 0x200000,
                                 .address_end = UINT64_C(0x800000000000),
                                 .address_alignment = 4096,
                                 .fragment_size = 2 << 20,
                                 .page_size = 4096,
                                 .memory_type = 9,
                                 .memory_bits = 256,
                                 .wave_size = kmd->gpu->wave_size,
                                 .visible_vgprs = 1024,
                                 .units_of_array = chip->units,
                                 .cache_blocks = 16,
                                 .geometry = {32, 1792, 32},
                                 .pcie_lanes = 16,
                                 .high_first = UINT64_C(0xffff800000000000),
                                 .high_end = UINT64_C(0xffffffffffe00000),
                                 .vector_cache = 32,
                                 .scalar_caches = 1,
                                 .scalar_cache = 16,
                                 .instruction_cache = 32,
                                 .l1_cache = 256,
                                 .l2_cache = 4096,
                                 .last_cache = UINT64_C(96) << 20};
    for (uint32_t i = 0; i < chip->engines; i++) {
        for (uint32_t j = 0; j < chip->arrays;
             j++) { /* the fifth engine and those behind it are further on in a row */
            device->units[i % 4][i / 4 * 2 + j] = (1u << chip->units) - 1;
        }
    }
}

static void tell_engine(const struct kmd *kmd, uint32_t type, struct of_engine *engine) {
    *engine = (struct of_engine){.major = kmd->chip->version >> 16,
                                 .minor = kmd->chip->version >> 8 & 0xff,
                                 .start_alignment = 32,
                                 .size_alignment = 32,
                                 .rings = type == GRAPHICS  ? 1
                                          : type == COMPUTE ? 15
                                                            : 0,
                                 .version = kmd->chip->version};
}

static void tell_memory(struct of_memory *memory) {
    const struct of_heap device = {DEVICE_BYTES, DEVICE_BYTES, 0, DEVICE_BYTES / 4 * 3};
    const struct of_heap host = {HOST_BYTES, HOST_BYTES, 0, HOST_BYTES / 4 * 3};
    *memory = (struct of_memory){device, device, host};
}

/* The counter runs with the clock. */
uint64_t kmd_ticks(const struct kmd *kmd) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) / 1000 *
           (kmd->chip->counter_khz / 1000);
}

int kmd_info(const struct kmd *kmd, uint32_t query, const uint32_t parameters[4], void *to,
             size_t size) {
    union {
        uint32_t words[4];
        uint64_t wide[4];
        struct of_engine engine;
        struct of_device device;
        struct of_memory memory;
    } told;
    memset(&told, 0, sizeof told);
    switch (query) {
    case ACCELERATES:
        told.words[0] = 1;
        break;
    case ENGINE:
        tell_engine(kmd, parameters[0], &told.engine);
        break;
    case ENGINES:
        told.words[0] = parameters[0] <= COMPUTE;
        break;
    case TIMESTAMP:
        told.wide[0] = kmd_ticks(kmd);
        break;
    case FIRMWARE: /* new enough for whatever asks */
        told.words[0] = 1486;
        told.words[1] = 45;
        break;
    case REGISTERS:
        if (parameters[0] != ADDRESSES_REGISTER || parameters[1] != 1) {
            return EINVAL;
        }
        told.words[0] = kmd->chip->addresses;
        break;
    case DEVICE:
        tell_device(kmd, &told.device);
        break;
    case MEMORY:
        tell_memory(&told.memory);
        break;
    case HEAPS:
        told.wide[0] = told.wide[1] = DEVICE_BYTES;
        told.wide[2] = HOST_BYTES;
        break;
    case MOVED:
    case DEVICE_USED:
    case HOST_USED:
    case VISIBLE_USED:
        break;
    default:
        return EINVAL;
    }
    memcpy(to, &told, size < sizeof told ? size : sizeof told);
    return 0;
}
