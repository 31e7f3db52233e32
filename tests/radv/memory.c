/* SPDX-License-Identifier: MIT */
/* Buffers are parts of one file; which addresses lead to them is a list in order. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "kmd.h"

#define PAGE         UINT64_C(4096)
#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

static struct kmd_buffer *buffers; /* by handle; 0 is none */
static uint32_t buffer_count, buffer_room;
static uint64_t file_used;

struct mapping {
    uint64_t address, size, offset;
};
static struct mapping *mappings; /* by address */
static size_t mapping_count, mapping_room;

/* ---- buffers ---- */

static uint32_t free_handle(void) {
    for (uint32_t i = 1; i < buffer_count; i++) {
        if (buffers[i].size == 0) {
            return i;
        }
    }
    if (buffer_count == buffer_room) {
        const uint32_t room = buffer_room == 0 ? 64 : 2 * buffer_room;
        struct kmd_buffer *more = realloc(buffers, room * sizeof *more);
        if (!more) {
            return 0;
        }
        buffers = more;
        buffer_room = room;
    }
    buffer_count = buffer_count == 0 ? 1 : buffer_count;
    buffers[buffer_count] = (struct kmd_buffer){.size = 0};
    return buffer_count++;
}

/* A page lies between two buffers, so that none runs over into the next. Offsets are used once: the file is longer than all of them. */
uint32_t kmd_buffer_create(struct kmd *kmd, uint64_t size, uint64_t domains, uint64_t flags) {
    const uint64_t whole = (size + PAGE - 1) & ~(PAGE - 1);
    (void)kmd;
    if (size == 0 || whole < size || whole > KMD_FILE_BYTES - file_used - PAGE) {
        return 0;
    }
    const uint32_t handle = free_handle();
    if (handle != 0) {
        buffers[handle] = (struct kmd_buffer){file_used, whole, domains, flags};
        file_used += whole + PAGE;
    }
    return handle;
}

const struct kmd_buffer *kmd_buffer_find(uint32_t handle) {
    return handle < buffer_count && buffers[handle].size > 0 ? &buffers[handle] : NULL;
}

/* The pages are given back. */
bool kmd_buffer_close(struct kmd *kmd, uint32_t handle) {
    const struct kmd_buffer *buffer = kmd_buffer_find(handle);
    if (!buffer) {
        return false;
    }
    (void)fallocate(kmd->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)buffer->offset,
                    (off_t)buffer->size);
    buffers[handle].size = 0;
    return true;
}

/* ---- addresses ---- */

/* Index of the first mapping that ends behind an address. */
static size_t first_behind(uint64_t address) {
    size_t low = 0, high = mapping_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (mappings[middle].address + mappings[middle].size > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static bool has_room(void) {
    if (mapping_count < mapping_room) {
        return true;
    }
    const size_t room = mapping_room == 0 ? 64 : 2 * mapping_room;
    struct mapping *more = realloc(mappings, room * sizeof *more);
    mappings = more ? more : mappings;
    mapping_room = more ? room : mapping_room;
    return more != NULL;
}

bool kmd_map(uint32_t handle, uint64_t address, uint64_t offset, uint64_t size) {
    const struct kmd_buffer *buffer = kmd_buffer_find(handle);
    const uint64_t from = address & ADDRESS_MASK;
    if (!buffer || size == 0 || offset > buffer->size || size > buffer->size - offset ||
        !has_room()) {
        return false;
    }
    const size_t at = first_behind(from);
    if (at < mapping_count && mappings[at].address < from + size) {
        return false;
    }
    memmove(&mappings[at + 1], &mappings[at], (mapping_count - at) * sizeof *mappings);
    mappings[at] = (struct mapping){from, size, buffer->offset + offset};
    mapping_count++;
    return true;
}

void kmd_unmap(uint64_t address, uint64_t size) {
    const uint64_t from = address & ADDRESS_MASK;
    size_t at = first_behind(from);
    while (at < mapping_count && mappings[at].address < from + size) {
        memmove(&mappings[at], &mappings[at + 1], (mapping_count - at - 1) * sizeof *mappings);
        mapping_count--;
    }
}

static const struct mapping *find(uint64_t address) {
    static size_t last; /* accesses are near each other */
    if (last >= mapping_count || address - mappings[last].address >= mappings[last].size) {
        const size_t at = first_behind(address);
        if (at == mapping_count || mappings[at].address > address) {
            return NULL;
        }
        last = at;
    }
    return &mappings[last];
}

uint64_t kmd_extent(uint64_t address) {
    const struct mapping *mapping = find(address & ADDRESS_MASK);
    return mapping ? mapping->size - ((address & ADDRESS_MASK) - mapping->address) : 0;
}

uint8_t *kmd_bytes(struct kmd *kmd, uint64_t address, uint64_t size) {
    const struct mapping *mapping = find(address & ADDRESS_MASK);
    const uint64_t at = mapping ? (address & ADDRESS_MASK) - mapping->address : 0;
    return mapping && size <= mapping->size - at ? kmd->bytes + mapping->offset + at : NULL;
}
