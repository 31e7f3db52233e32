/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side of an AMD GPU in software, so that Mesa's Vulkan driver for AMD (RADV) runs as it is: it finds a device, maps its memory,
 * writes descriptors and command streams, and submits them; tests/amd executes the machine code that its compiler (ACO) made.
 * A library to be preloaded: it answers ioctl() of the device's file, a file without a name that holds all of the GPU's memory.
 * Environment:
 *
 *     WEFT_AMD_GPU        gfx1030 (default), gfx1100 or gfx906
 *     WEFT_AMD_RADV       the driver's library, which this one stands before for Vulkan's loader (icd.c)
 *     WEFT_AMD_BREAK      "contraction": modules lose the decoration that forbids it; "flush": nothing flushes subnormals
 *     WEFT_AMD_SIDE, WEFT_AMD_TINY, WEFT_AMD_ORDER, WEFT_AMD_COUNTS as in tests/amd/driver.h
 *
 * Sources: Linux's include/uapi/drm/drm.h and amdgpu_drm.h for what is asked of a kernel; packets.c for the command streams.
 */
#ifndef WEFT_TESTS_RADV_KMD_H
#define WEFT_TESTS_RADV_KMD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "amd/gpu.h"

#define KMD_FILE_BYTES (UINT64_C(1) << 42) /* of which the system has only what was written */

/** What the kernel knows of a GPU: its chip, as a driver tells chips apart. */
struct kmd_chip {
    const char *gpu; /* of tests/amd */
    uint32_t device, family, revision;
    uint32_t version;                /* of graphics: 23:16 major, 15:8 minor */
    uint32_t addresses;              /* register GB_ADDR_CONFIG: how many pipes there are */
    uint32_t engines, arrays, units; /* of shaders; units of an array */
    uint32_t counter_khz;
};

struct kmd {
    const struct kmd_chip *chip;
    const struct amd_gpu *gpu;
    pthread_mutex_t lock; /* of all that follows */
    int file;             /* -1: no device */
    uint64_t inode, device;
    uint8_t *bytes; /* all of the file */
};

/** The device; made when it is first asked for. `file` stays -1 where it cannot be, with a line on stderr that says why. */
struct kmd *kmd_device(void);

/** Answers an ioctl of the device: 0 or an errno. kmd->lock is not held. */
int kmd_ioctl(struct kmd *kmd, unsigned long request, void *argument);
/** Null for a name that is no chip here. */
const struct kmd_chip *kmd_chip_find(const char *gpu);
/** The GPU's counter of time. */
uint64_t kmd_ticks(const struct kmd *kmd);
/** AMDGPU_INFO; `to` has `size` bytes. */
int kmd_info(const struct kmd *kmd, uint32_t query, const uint32_t parameters[4], void *to,
             size_t size);

/* ---- memory.c: buffers, and the GPU's addresses ---- */

/** Handle of a buffer of zeros, or 0. */
uint32_t kmd_buffer_create(struct kmd *kmd, uint64_t size, uint64_t domains, uint64_t flags);
/** False where there is no such buffer. */
bool kmd_buffer_close(struct kmd *kmd, uint32_t handle);

struct kmd_buffer {
    uint64_t offset, size; /* in the file; size 0: none */
    uint64_t domains, flags;
};
const struct kmd_buffer *kmd_buffer_find(uint32_t handle);

/** Puts a part of a buffer at an address; false where it is not the buffer's, or what is there is not free. */
bool kmd_map(uint32_t handle, uint64_t address, uint64_t offset, uint64_t size);
void kmd_unmap(uint64_t address, uint64_t size);
/** Bytes at an address that are mapped in one piece; null where they are not. An address counts in its lower 48 bits. */
uint8_t *kmd_bytes(struct kmd *kmd, uint64_t address, uint64_t size);
/** How many bytes from there on are mapped in one piece. */
uint64_t kmd_extent(uint64_t address);

/* ---- sync.c ---- */

/** An ioctl of synchronization objects; ENOTTY where it is none. */
int kmd_sync_ioctl(struct kmd *kmd, uint32_t number, void *argument);
/** What a submission waits for: false where it has not happened. */
bool kmd_sync_is_reached(uint32_t handle, uint64_t point);
void kmd_sync_signal(uint32_t handle, uint64_t point);

/* ---- packets.c ---- */

/** Executes a command stream; false with a line on stderr. kmd->lock is held. */
bool kmd_run(struct kmd *kmd, uint64_t address, uint64_t bytes);

/* ---- shaders.c ---- */

enum { KMD_USER_REGISTERS = 16 };

/** The compute registers when a dispatch begins. */
struct kmd_compute {
    uint64_t code; /* address */
    uint32_t resources1, resources2, resources3;
    uint32_t scratch; /* COMPUTE_TMPRING_SIZE */
    uint32_t threads[3], last_threads[3], first[3],
        end[3]; /* last_threads: 0 where the last groups are whole */
    uint32_t user[KMD_USER_REGISTERS];
    bool waves_of_32;
};

/** Executes a dispatch; false with a message. kmd->lock is held. */
bool kmd_dispatch(struct kmd *kmd, const struct kmd_compute *compute, char error[AMD_TEXT]);

/** One variable of the environment is set so. */
bool kmd_is_set(const char *variable, const char *value);

#endif
