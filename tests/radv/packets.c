/* SPDX-License-Identifier: MIT */
/*
 * Command streams of graphics and compute queues: packets of type 3 (PM4), of which compute needs a few. Registers keep what was written; only
 * those of compute dispatches are looked at. Sources: AMD's "Radeon Southern Islands 3D Registers" and "Evergreen 3D Registers" for what packets
 * are, Linux's drivers/gpu/drm/amd/amdgpu (soc15d.h, nvd.h) for their numbers and fields, and its include/asic_reg for the registers'.
 */
#include <stdio.h>
#include <string.h>

#include "kmd.h"

#define SHADER_FIRST 0xb000u /* byte offset of the first register that SET_SH_REG writes */
#define SHADER_WORDS 1024u

/* Byte offsets of registers. */
enum shader_register {
    START_X = 0xb810,
    THREADS_X = 0xb81c,
    CODE_LOW = 0xb830,
    CODE_HIGH = 0xb834,
    RESOURCES_1 = 0xb848,
    RESOURCES_2 = 0xb84c,
    SCRATCH_SIZE = 0xb860,
    RESOURCES_3 = 0xb8a0,
    USER_0 = 0xb900
};

enum packet {
    NOP = 0x10,
    SET_BASE = 0x11,
    CLEAR_STATE = 0x12,
    DISPATCH_DIRECT = 0x15,
    DISPATCH_INDIRECT = 0x16,
    CONTEXT_CONTROL = 0x28,
    WRITE_DATA = 0x37,
    WAIT_MEMORY = 0x3c,
    INDIRECT_BUFFER = 0x3f,
    COPY_DATA = 0x40,
    PFP_SYNC = 0x42,
    EVENT_WRITE = 0x46,
    RELEASE_MEMORY = 0x49,
    DMA_DATA = 0x50,
    ACQUIRE_MEMORY = 0x58,
    SET_CONFIG = 0x68,
    SET_CONTEXT = 0x69,
    SET_SHADER = 0x76,
    SET_USER_CONFIG = 0x79,
    SET_USER_CONFIG_INDEX = 0x7a,
    SET_SHADER_INDEX = 0x9b,
    SET_CONTEXT_PAIRS = 0xb8,
    SET_CONTEXT_PAIRS_PACKED = 0xb9,
    SET_SHADER_PAIRS_PACKED = 0xbb,
    SET_SHADER_PAIRS_PACKED_N = 0xbd
};

struct stream {
    struct kmd *kmd;
    uint32_t shader[SHADER_WORDS];
    uint64_t next, next_bytes; /* a buffer of commands that goes on in place of this one */
    uint32_t depth;
    char error[2 * AMD_TEXT];
};

static bool fail(struct stream *stream, const char *what, uint64_t number) {
    if (stream->error[0] == '\0') {
        (void)snprintf(stream->error, sizeof stream->error, "%s %#llx", what,
                       (unsigned long long)number);
    }
    return false;
}

static uint64_t wide(const uint32_t *words) {
    return words[0] | (uint64_t)words[1] << 32;
}

static uint8_t *bytes_at(struct stream *stream, uint64_t address, uint64_t size) {
    uint8_t *bytes = kmd_bytes(stream->kmd, address, size);
    if (!bytes) {
        (void)fail(stream, "a packet with bytes that are not mapped, at", address);
    }
    return bytes;
}

/* ---- registers ---- */

static bool set_shader(struct stream *stream, uint32_t first, const uint32_t *values,
                       uint32_t count) {
    if (first + count > SHADER_WORDS) {
        return fail(stream, "a shader's register", SHADER_FIRST + 4 * first);
    }
    memcpy(&stream->shader[first], values, 4 * (size_t)count);
    return true;
}

/* The count of registers, then for two of them their offsets in one word, and their values. */
static bool set_packed(struct stream *stream, const uint32_t *body, uint32_t words) {
    for (uint32_t i = 1; i + 2 < words; i += 3) {
        if (!set_shader(stream, body[i] & 0xffff, &body[i + 1], 1) ||
            !set_shader(stream, body[i] >> 16, &body[i + 2], 1)) {
            return false;
        }
    }
    return true;
}

static uint32_t shader(const struct stream *stream, uint32_t offset) {
    return stream->shader[(offset - SHADER_FIRST) / 4];
}

/* ---- dispatches ---- */

/* COMPUTE_DISPATCH_INITIATOR */
enum {
    SHADER_ENABLED = 1 << 0,
    PARTIAL_GROUPS = 1 << 1,
    FROM_ZERO = 1 << 2,
    BY_THREADS = 1 << 5,
    WAVES_OF_32 = 1 << 15
};

static bool dispatch(struct stream *stream, const uint32_t end[3], uint32_t how) {
    struct kmd_compute compute = {
        .code = ((uint64_t)shader(stream, CODE_LOW) | (uint64_t)shader(stream, CODE_HIGH) << 32)
                << 8,
        .resources1 = shader(stream, RESOURCES_1),
        .resources2 = shader(stream, RESOURCES_2),
        .resources3 = shader(stream, RESOURCES_3),
        .scratch = shader(stream, SCRATCH_SIZE),
        .waves_of_32 = (how & WAVES_OF_32) != 0};
    const bool is_partial = (how & PARTIAL_GROUPS) != 0;
    char error[AMD_TEXT] = "";
    if ((how & SHADER_ENABLED) == 0 || (how & BY_THREADS) != 0) {
        return fail(stream, "a dispatch of another kind:", how);
    }
    for (uint32_t i = 0; i < 3; i++) {
        compute.threads[i] = shader(stream, THREADS_X + 4 * i) & 0xffff;
        compute.last_threads[i] = is_partial ? shader(stream, THREADS_X + 4 * i) >> 16 : 0;
        compute.first[i] = (how & FROM_ZERO) != 0 ? 0 : shader(stream, START_X + 4 * i);
        compute.end[i] = end[i];
    }
    for (uint32_t i = 0; i < KMD_USER_REGISTERS; i++) {
        compute.user[i] = shader(stream, USER_0 + 4 * i);
    }
    if (!kmd_dispatch(stream->kmd, &compute, error)) {
        (void)snprintf(stream->error, sizeof stream->error, "%s", error);
        return false;
    }
    return true;
}

static bool dispatch_indirect(struct stream *stream, const uint32_t *body, uint32_t words) {
    if (words != 3) { /* by an offset to a base that SET_BASE has said */
        return fail(stream, "an indirect dispatch of words", words);
    }
    uint32_t end[3];
    const uint8_t *from = bytes_at(stream, wide(body), sizeof end);
    if (!from) {
        return false;
    }
    memcpy(end, from, sizeof end);
    return dispatch(stream, end, body[2]);
}

/* ---- memory ---- */

/* Addresses of a buffer can be in several mappings. */
static bool copy(struct stream *stream, uint64_t to, uint64_t from, uint32_t size) {
    const uint8_t *source = bytes_at(stream, from, size);
    uint8_t *target = bytes_at(stream, to, size);
    if (source && target) {
        memmove(target, source, size);
    }
    return source && target;
}

static bool fill(struct stream *stream, uint64_t to, uint32_t value, uint32_t size) {
    uint8_t *target = bytes_at(stream, to, size);
    for (uint32_t i = 0; target && i < size; i++) {
        target[i] = (uint8_t)(value >> (i % 4 * 8));
    }
    return target != NULL;
}

static bool copy_by_dma(struct stream *stream, const uint32_t *body) {
    enum { FROM_ADDRESS = 0, FROM_DATA = 2, FROM_CACHED = 3, TO_NOWHERE = 2 };
    const uint32_t from = body[0] >> 29 & 3u, to = body[0] >> 20 & 3u;
    const uint32_t size = body[5] & 0x3ffffffu;
    if (to == TO_NOWHERE) { /* into a cache */
        return true;
    }
    if (from == FROM_DATA) {
        return fill(stream, wide(body + 3), body[1], size);
    }
    return from == FROM_ADDRESS || from == FROM_CACHED
               ? copy(stream, wide(body + 3), wide(body + 1), size)
               : fail(stream, "a copy from", from);
}

/* Register: none that anybody reads. */
static bool write_data(struct stream *stream, const uint32_t *body, uint32_t words) {
    enum { TO_REGISTER = 0 };
    const uint32_t size = 4 * (words - 3);
    if ((body[0] >> 8 & 15u) == TO_REGISTER) {
        return true;
    }
    uint8_t *target = bytes_at(stream, wide(body + 1), size);
    if (target) {
        memcpy(target, body + 3, size);
    }
    return target != NULL;
}

static bool put(struct stream *stream, uint64_t address, uint64_t value, uint32_t size) {
    uint8_t *target = bytes_at(stream, address, size);
    if (target) {
        memcpy(target, &value, size);
    }
    return target != NULL;
}

/* At the end of all work before it, which is over. */
static bool release(struct stream *stream, const uint32_t *body) {
    enum { NOTHING = 0, WORD = 1, WIDE = 2, TIME = 3 };
    switch (body[1] >> 29 & 7u) {
    case NOTHING:
        return true;
    case WORD:
        return put(stream, wide(body + 2), body[4], 4);
    case WIDE:
        return put(stream, wide(body + 2), wide(body + 4), 8);
    case TIME:
        return put(stream, wide(body + 2), kmd_ticks(stream->kmd), 8);
    default:
        return fail(stream, "an event that writes", body[1] >> 29);
    }
}

static bool copy_data(struct stream *stream, const uint32_t *body) {
    enum { REGISTER = 0, MEMORY = 1, CACHED = 2, NUMBER = 5, MEMORY_TOO = 5, TIME = 9 };
    const uint32_t from = body[0] & 15u, to = body[0] >> 8 & 15u;
    const uint32_t size = (body[0] >> 16 & 1u) != 0 ? 8 : 4;
    if (to == REGISTER) {
        return true;
    }
    if (to != MEMORY && to != CACHED && to != MEMORY_TOO) {
        return fail(stream, "a copy of data to", to);
    }
    switch (from) {
    case MEMORY:
    case CACHED:
        return copy(stream, wide(body + 3), wide(body + 1), size);
    case NUMBER:
        return put(stream, wide(body + 3), wide(body + 1), size);
    case TIME:
        return put(stream, wide(body + 3), kmd_ticks(stream->kmd), 8);
    default:
        return fail(stream, "a copy of data from", from);
    }
}

/* What it waits for has happened, or never does. */
static bool wait_for_memory(struct stream *stream, const uint32_t *body) {
    enum { ALWAYS = 0, LESS, AT_MOST, EQUAL, OTHER, AT_LEAST, GREATER };
    uint32_t value = 0;
    if ((body[0] >> 4 & 3u) == 0) { /* a register */
        return true;
    }
    const uint8_t *from = bytes_at(stream, wide(body + 1), sizeof value);
    if (!from) {
        return false;
    }
    memcpy(&value, from, sizeof value);
    value &= body[4];
    const uint32_t with = body[3], how = body[0] & 7u;
    const bool holds = how == ALWAYS || (how == LESS && value < with) ||
                       (how == AT_MOST && value <= with) || (how == EQUAL && value == with) ||
                       (how == OTHER && value != with) || (how == AT_LEAST && value >= with) ||
                       (how == GREATER && value > with);
    return holds || fail(stream, "a wait that would never end, for memory at", wide(body + 1));
}

/* ---- streams ---- */

static bool run(struct stream *stream, uint64_t address, uint64_t bytes);

/* One in place of the rest of this one, or one after which this one goes on. */
static bool run_buffer(struct stream *stream, const uint32_t *body) {
    enum { IN_PLACE = 1 << 20, WORDS_MASK = 0xfffff, DEEPEST = 8 };
    const uint64_t address = wide(body) & ~UINT64_C(3),
                   bytes = 4 * (uint64_t)(body[2] & WORDS_MASK);
    if ((body[2] & IN_PLACE) != 0) {
        stream->next = address;
        stream->next_bytes = bytes;
        return true;
    }
    if (stream->depth == DEEPEST) {
        return fail(stream, "buffers of commands in each other:", stream->depth);
    }
    stream->depth++;
    const bool runs = run(stream, address, bytes);
    stream->depth--;
    return runs;
}

static bool run_packet(struct stream *stream, uint32_t opcode, const uint32_t *body,
                       uint32_t words) {
    switch (opcode) {
    case SET_SHADER:
    case SET_SHADER_INDEX:
        return set_shader(stream, body[0] & 0xffff, body + 1, words - 1);
    case SET_SHADER_PAIRS_PACKED:
    case SET_SHADER_PAIRS_PACKED_N:
        return set_packed(stream, body, words);
    case DISPATCH_DIRECT:
        return dispatch(stream, body, body[3]);
    case DISPATCH_INDIRECT:
        return dispatch_indirect(stream, body, words);
    case INDIRECT_BUFFER:
        return run_buffer(stream, body);
    case DMA_DATA:
        return copy_by_dma(stream, body);
    case WRITE_DATA:
        return write_data(stream, body, words);
    case RELEASE_MEMORY:
        return release(stream, body);
    case COPY_DATA:
        return copy_data(stream, body);
    case WAIT_MEMORY:
        return wait_for_memory(stream, body);
    case NOP:
    case SET_BASE:
    case CLEAR_STATE:
    case CONTEXT_CONTROL:
    case PFP_SYNC:
    case EVENT_WRITE: /* caches and stages, which there are none of */
    case ACQUIRE_MEMORY:
    case SET_CONFIG: /* of graphics, and of how the chip does its work */
    case SET_CONTEXT:
    case SET_CONTEXT_PAIRS:
    case SET_CONTEXT_PAIRS_PACKED:
    case SET_USER_CONFIG:
    case SET_USER_CONFIG_INDEX:
        return true;
    default:
        return fail(stream, "the emulated GPU has no packet", opcode);
    }
}

/* Words that the body of a packet must have, for those whose body is read. */
static uint32_t least_words(uint32_t opcode) {
    switch (opcode) {
    case DISPATCH_DIRECT:
    case WRITE_DATA:
        return 4;
    case DISPATCH_INDIRECT:
    case SET_SHADER:
    case SET_SHADER_INDEX:
        return 2;
    case INDIRECT_BUFFER:
        return 3;
    case COPY_DATA:
        return 5;
    case DMA_DATA:
    case WAIT_MEMORY:
    case RELEASE_MEMORY:
        return 6;
    default:
        return 0;
    }
}

/* A header has the type in 31:30, the words of the body less one in 29:16, the operation in 15:8, and whether it depends on a predicate. */
static bool run_words(struct stream *stream, const uint32_t *words, uint64_t count) {
    for (uint64_t at = 0; at < count && stream->next == 0;) {
        const uint32_t header = words[at++], type = header >> 30, opcode = header >> 8 & 0xffu;
        const uint32_t body = (header >> 16 & 0x3fffu) + 1;
        if (type == 2 || (type == 3 && opcode == NOP && body == 0x4000)) { /* one word */
            continue;
        }
        if (type != 3 || body > count - at || body < least_words(opcode) || (header & 1u) != 0) {
            return fail(stream, "a packet with the header", header);
        }
        if (!run_packet(stream, opcode, words + at, body)) {
            return false;
        }
        at += body;
    }
    return true;
}

static bool run(struct stream *stream, uint64_t address, uint64_t bytes) {
    bool runs = true;
    for (uint64_t more = bytes; runs && more > 0;) {
        const uint32_t *words = (const uint32_t *)(const void *)bytes_at(stream, address, more);
        stream->next = 0;
        runs = words && run_words(stream, words, more / 4);
        address = stream->next;
        more = stream->next != 0 ? stream->next_bytes : 0;
    }
    stream->next = 0;
    return runs;
}

/* Registers keep what they have from one submission to the next, as those of a chip do. */
bool kmd_run(struct kmd *kmd, uint64_t address, uint64_t bytes) {
    static struct stream stream;
    stream.kmd = kmd;
    stream.error[0] = '\0';
    stream.depth = 0;
    if (run(&stream, address, bytes)) {
        return true;
    }
    (void)fprintf(stderr, "emulated %s: %s\n", kmd->gpu->name, stream.error);
    return false;
}
