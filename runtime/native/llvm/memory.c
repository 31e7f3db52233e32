/* SPDX-License-Identifier: MIT */
/*
 * Loads, stores and atomics. An address that is one for all lanes is a scalar access; addresses that count up by the
 * size of what is accessed are whole vectors, with the components of vec2 … vec4 taken apart and put together by
 * shuffles; loads whose addresses count up by a few of them are the vectors in which they lie; those that count up for the lanes of a
 * run are a part of a vector for each run; those that count up by another constant, and vec2 and vec4 anywhere, are one access for
 * each lane; the rest are gathers and scatters. Masks only where not all lanes run.
 */
#include "native/llvm/emit.h"

#include "spirv/check.h"

#define MOST_TOGETHER 4u

struct access {
    const struct weft_ir_instruction *instruction;
    LLVMValueRef base; /* address of byte 0 */
    weft_ir_value index;
    uint32_t size;      /* bytes of a scalar */
    LLVMValueRef limit; /* bytes from base on that may be accessed; null: not checked */
    LLVMTypeRef scalar, vector;
};

static uint32_t bytes_of(uint32_t type) {
    return weft_ir_bits(type) / 8;
}

static struct access access_of(struct weft_emit *emit,
                               const struct weft_ir_instruction *instruction) {
    struct access access = {.instruction = instruction,
                            .index = emit->program->arguments[instruction->arguments],
                            .size = bytes_of(instruction->type),
                            .scalar = emit->types[instruction->type],
                            .vector = weft_emit_vector_type(emit, instruction->type)};
    switch (instruction->space) {
    case WEFT_IR_SHARED:
        access.base = emit->scratch;
        access.limit = weft_emit_u64(emit, emit->program->shared_size);
        break;
    case WEFT_IR_PUSH:
        access.base = emit->push;
        access.limit = weft_emit_u64(emit, emit->program->push_size);
        break;
    default:
        access.base = emit->ranges[instruction->root];
        access.limit = emit->sizes[instruction->root];
        break;
    }
    if (!emit->program->checked) {
        access.limit = NULL;
    }
    return access;
}

static struct weft_ir_shape shape_of(const struct weft_emit *emit, const struct access *access) {
    return access->index == 0 ? (struct weft_ir_shape){.kind = WEFT_IR_UNIFORM}
                              : weft_emit_shape(emit, access->index);
}

/* Scratch memory is nobody else's; push constants and ranges do not change while a kernel runs. */
static LLVMValueRef mark(struct weft_emit *emit, const struct access *access, LLVMValueRef made) {
    const bool shared = access->instruction->space == WEFT_IR_SHARED;
    LLVMSetMetadata(made, emit->scope_kind, shared ? emit->scratch_scope : emit->memory_scope);
    LLVMSetMetadata(made, emit->noalias_kind, shared ? emit->memory_scope : emit->scratch_scope);
    if (access->instruction->space == WEFT_IR_PUSH) {
        LLVMSetMetadata(
            made, emit->invariant_kind,
            LLVMMetadataAsValue(emit->context, LLVMMDNodeInContext2(emit->context, NULL, 0)));
    }
    return made;
}

/* ---- addresses ---- */

/* The index of lane 0, or of all lanes, in bytes as an i64. */
static LLVMValueRef scalar_index(struct weft_emit *emit, const struct access *access) {
    if (access->index == 0) {
        return weft_emit_u64(emit, 0);
    }
    /* Lane 0 may be before the memory where it does not run; where it does, no offset is negative, and processors
     * widen unsigned numbers for nothing. */
    const bool runs = !emit->exec || shape_of(emit, access).kind == WEFT_IR_UNIFORM;
    return LLVMBuildCast(emit->builder, runs ? LLVMZExt : LLVMSExt,
                         weft_emit_scalar(emit, access->index), emit->types[WEFT_IR_I64], "");
}

static LLVMValueRef scalar_offset(struct weft_emit *emit, const struct access *access,
                                  uint32_t more) {
    return LLVMBuildAdd(emit->builder, scalar_index(emit, access),
                        weft_emit_u64(emit, access->instruction->place + more), "");
}

static LLVMValueRef vector_offset(struct weft_emit *emit, const struct access *access,
                                  uint32_t more) {
    const LLVMTypeRef wide = weft_emit_vector_type(emit, WEFT_IR_I64);
    const LLVMValueRef index =
        LLVMBuildSExt(emit->builder, weft_emit_vector(emit, access->index), wide, "");
    const LLVMValueRef place =
        weft_emit_splat(emit, weft_emit_u64(emit, access->instruction->place + more));
    return LLVMBuildAdd(emit->builder, index, place, "");
}

static LLVMValueRef address(struct weft_emit *emit, const struct access *access,
                            LLVMValueRef offset) {
    return LLVMBuildGEP2(emit->builder, emit->types[WEFT_IR_I8], access->base, &offset, 1, "");
}

/* `more` bytes behind lane 0's. What is constant comes last, for then it costs nothing in an instruction's address. */
static LLVMValueRef scalar_address(struct weft_emit *emit, const struct access *access,
                                   int64_t more) {
    const LLVMValueRef place = LLVMConstInt(
        emit->types[WEFT_IR_I64], (uint64_t)((int64_t)access->instruction->place + more), 1);
    const LLVMTypeRef byte = emit->types[WEFT_IR_I8];
    const LLVMValueRef index = scalar_index(emit, access);
    return LLVMBuildGEP2(emit->builder, byte, address(emit, access, index), (LLVMValueRef[]){place},
                         1, "");
}

/* Condition that `bytes` bytes from an offset on lie within the limit; for scalars and vectors of offsets. */
static LLVMValueRef within(struct weft_emit *emit, const struct access *access, LLVMValueRef offset,
                           uint32_t bytes) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMValueRef size = access->limit;
    const LLVMValueRef need = weft_emit_u64(emit, bytes);
    const LLVMValueRef any = LLVMBuildICmp(builder, LLVMIntUGE, size, need, "");
    LLVMValueRef last = LLVMBuildSelect(builder, any, LLVMBuildSub(builder, size, need, ""),
                                        weft_emit_u64(emit, 0), "");
    LLVMValueRef enough = any;
    if (weft_emit_is_vector(offset)) {
        last = weft_emit_splat(emit, last);
        enough = weft_emit_splat(emit, any);
    }
    return LLVMBuildAnd(builder, enough, LLVMBuildICmp(builder, LLVMIntULE, offset, last, ""), "");
}

/* The lanes that access a component; null: all. */
static LLVMValueRef lanes_within(struct weft_emit *emit, const struct access *access,
                                 LLVMValueRef offsets) {
    if (!access->limit) {
        return emit->exec;
    }
    const LLVMValueRef inside = within(emit, access, offsets, access->size);
    return emit->exec ? LLVMBuildAnd(emit->builder, emit->exec, inside, "") : inside;
}

/* ---- one address ---- */

static void load_scalars(struct weft_emit *emit, const struct access *access) {
    const struct weft_ir_instruction *instruction = access->instruction;
    for (uint32_t i = 0; i < instruction->n; i++) {
        LLVMValueRef from = scalar_address(emit, access, (int64_t)i * access->size);
        if (access->limit) {
            const LLVMValueRef offset = scalar_offset(emit, access, i * access->size);
            from = LLVMBuildSelect(emit->builder, within(emit, access, offset, access->size), from,
                                   emit->zeros, "");
        }
        const LLVMValueRef made = LLVMBuildLoad2(emit->builder, access->scalar, from, "");
        LLVMSetAlignment(made, access->size);
        mark(emit, access, made);
        weft_emit_define(emit, instruction->result + i, made);
    }
}

/* Lanes that write the same place race in SPIR-V: that of the first lane counts. */
static void store_scalars(struct weft_emit *emit, const struct access *access) {
    const struct weft_ir_instruction *instruction = access->instruction;
    const weft_ir_value *values = emit->program->arguments + instruction->arguments + 1;
    for (uint32_t i = 0; i < instruction->n; i++) {
        LLVMValueRef to = scalar_address(emit, access, (int64_t)i * access->size);
        if (access->limit) {
            const LLVMValueRef offset = scalar_offset(emit, access, i * access->size);
            /* Stores out of bounds go to a place in scratch memory that is never read. */
            to = LLVMBuildSelect(emit->builder, within(emit, access, offset, access->size), to,
                                 emit->dump, "");
        }
        LLVMValueRef value = NULL;
        if (weft_emit_shape(emit, values[i]).kind == WEFT_IR_UNIFORM) {
            value = weft_emit_scalar(emit, values[i]);
        } else {
            value = LLVMBuildExtractElement(emit->builder, weft_emit_vector(emit, values[i]),
                                            weft_emit_first_lane(emit), "");
        }
        const LLVMValueRef made = LLVMBuildStore(emit->builder, value, to);
        LLVMSetAlignment(made, access->size);
        if (!access->limit) {
            mark(emit, access, made);
        }
    }
}

/* ---- consecutive addresses ---- */

static LLVMValueRef lane_number(const struct weft_emit *emit, uint32_t number) {
    return weft_emit_u32(emit, number);
}

/* Which lane, for each element of the k-th vector of memory, reads or writes it. */
static LLVMValueRef mask_of_part(struct weft_emit *emit, LLVMValueRef mask, uint32_t k,
                                 uint32_t n) {
    LLVMValueRef indices[WEFT_NATIVE_MAX_LANES];
    for (uint32_t i = 0; i < emit->lanes; i++) {
        indices[i] = lane_number(emit, (k * emit->lanes + i) / n);
    }
    return LLVMBuildShuffleVector(emit->builder, mask, mask, LLVMConstVector(indices, emit->lanes),
                                  "");
}

static LLVMValueRef masked_load(struct weft_emit *emit, const struct access *access,
                                LLVMValueRef from, LLVMValueRef mask) {
    return mark(emit, access,
                weft_emit_masked_load(emit, access->vector, from, mask, access->size));
}

static void masked_store(struct weft_emit *emit, const struct access *access, LLVMValueRef value,
                         LLVMValueRef to, LLVMValueRef mask) {
    if (!mask) {
        const LLVMValueRef made = LLVMBuildStore(emit->builder, value, to);
        LLVMSetAlignment(made, access->size);
        mark(emit, access, made);
        return;
    }
    mark(emit, access, weft_emit_masked_store(emit, value, to, mask, access->size));
}

/* Element i of a shuffle's result comes from place[i] of the n vectors one after the other, two at a time. */
static LLVMValueRef pick(struct weft_emit *emit, LLVMValueRef *parts, uint32_t n,
                         const uint32_t *place) {
    const uint32_t lanes = emit->lanes;
    LLVMValueRef made = NULL;
    for (uint32_t k = 0; k < n; k++) {
        LLVMValueRef indices[WEFT_NATIVE_MAX_LANES];
        for (uint32_t i = 0; i < lanes; i++) {
            const bool here = place[i] / lanes == k;
            indices[i] = lane_number(emit, here ? lanes + place[i] % lanes : i);
        }
        const LLVMValueRef mask = LLVMConstVector(indices, lanes);
        made = LLVMBuildShuffleVector(emit->builder, made ? made : parts[k], parts[k], mask, "");
    }
    return made;
}

static void load_consecutive(struct weft_emit *emit, const struct access *access) {
    const struct weft_ir_instruction *instruction = access->instruction;
    const uint32_t n = instruction->n;
    const uint32_t lanes = emit->lanes;
    LLVMValueRef mask = emit->exec;
    if (access->limit) {
        mask = lanes_within(emit, access, vector_offset(emit, access, (n - 1) * access->size));
        mask = LLVMBuildAnd(emit->builder, mask,
                            within(emit, access, vector_offset(emit, access, 0), access->size), "");
    }
    LLVMValueRef parts[MOST_TOGETHER];
    for (uint32_t k = 0; k < n; k++) {
        const LLVMValueRef from = scalar_address(emit, access, (int64_t)k * lanes * access->size);
        if (mask) {
            parts[k] =
                masked_load(emit, access, from, n == 1 ? mask : mask_of_part(emit, mask, k, n));
        } else {
            parts[k] = LLVMBuildLoad2(emit->builder, access->vector, from, "");
            LLVMSetAlignment(parts[k], access->size);
            mark(emit, access, parts[k]);
        }
    }
    for (uint32_t c = 0; c < n; c++) {
        uint32_t place[WEFT_NATIVE_MAX_LANES];
        for (uint32_t i = 0; i < lanes; i++) {
            place[i] = i * n + c;
        }
        weft_emit_define(emit, instruction->result + c,
                         n == 1 ? parts[0] : pick(emit, parts, n, place));
    }
}

static void store_consecutive(struct weft_emit *emit, const struct access *access) {
    const struct weft_ir_instruction *instruction = access->instruction;
    const weft_ir_value *values = emit->program->arguments + instruction->arguments + 1;
    const uint32_t n = instruction->n;
    const uint32_t lanes = emit->lanes;
    LLVMValueRef parts[MOST_TOGETHER];
    LLVMValueRef mask = emit->exec;
    if (access->limit) {
        mask = lanes_within(emit, access, vector_offset(emit, access, (n - 1) * access->size));
        mask = LLVMBuildAnd(emit->builder, mask,
                            within(emit, access, vector_offset(emit, access, 0), access->size), "");
    }
    for (uint32_t c = 0; c < n; c++) {
        parts[c] = weft_emit_vector(emit, values[c]);
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t place[WEFT_NATIVE_MAX_LANES] = {0};
        for (uint32_t i = 0; i < lanes; i++) {
            const uint32_t element = k * lanes + i;
            place[i] = element % n * lanes + element / n;
        }
        masked_store(emit, access, n == 1 ? parts[0] : pick(emit, parts, n, place),
                     scalar_address(emit, access, (int64_t)k * lanes * access->size),
                     mask && n > 1 ? mask_of_part(emit, mask, k, n) : mask);
    }
}

/* ---- a few apart ---- */

/* Elements `step` apart lie in so many vectors of memory, the last of which ends with the last lane's element. */
static uint32_t first_of_part(const struct weft_emit *emit, uint32_t step, uint32_t k) {
    return k + 1 < step ? k * emit->lanes : step * (emit->lanes - 1) + 1 - emit->lanes;
}

/* Where lane i's element is in these vectors, one after the other. */
static uint32_t place_in_parts(const struct weft_emit *emit, uint32_t step, uint32_t i) {
    const uint32_t k = step * i / emit->lanes;
    return k * emit->lanes + step * i - first_of_part(emit, step, k);
}

/* Elements of vector k that lanes of the mask read. */
static LLVMValueRef mask_apart(struct weft_emit *emit, LLVMValueRef mask, uint32_t step,
                               uint32_t k) {
    const uint32_t lanes = emit->lanes;
    LLVMValueRef indices[WEFT_NATIVE_MAX_LANES];
    for (uint32_t i = 0; i < lanes; i++) {
        indices[i] = lane_number(emit, lanes); /* of what is false */
    }
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t place = place_in_parts(emit, step, i);
        if (place / lanes == k) {
            indices[place % lanes] = lane_number(emit, i);
        }
    }
    return LLVMBuildShuffleVector(emit->builder, mask, weft_emit_all_lanes(emit, false),
                                  LLVMConstVector(indices, lanes), "");
}

static void load_apart(struct weft_emit *emit, const struct access *access, uint32_t step) {
    LLVMValueRef parts[MOST_TOGETHER];
    uint32_t place[WEFT_NATIVE_MAX_LANES];
    LLVMValueRef mask = lanes_within(emit, access, vector_offset(emit, access, 0));
    mask = mask ? mask : weft_emit_all_lanes(emit, true);
    for (uint32_t k = 0; k < step; k++) {
        const LLVMValueRef from =
            scalar_address(emit, access, (int64_t)first_of_part(emit, step, k) * access->size);
        parts[k] = masked_load(emit, access, from, mask_apart(emit, mask, step, k));
    }
    for (uint32_t i = 0; i < emit->lanes; i++) {
        place[i] = place_in_parts(emit, step, i);
    }
    weft_emit_define(emit, access->instruction->result, pick(emit, parts, step, place));
}

/* How many elements apart a load's addresses are, where it is one of those; else 0. */
static uint32_t step_of(const struct weft_emit *emit, const struct access *access,
                        struct weft_ir_shape shape) {
    const int32_t size = (int32_t)access->size;
    const bool is = shape.kind == WEFT_IR_LINEAR && weft_ir_is_even(emit->program, shape) &&
                    access->instruction->n == 1 && shape.stride > size &&
                    shape.stride % size == 0 && shape.stride / size <= (int32_t)MOST_TOGETHER;
    return is ? (uint32_t)(shape.stride / size) : 0;
}

/* ---- lane by lane ---- */

/* Address of a lane's component when all lanes run. */
static LLVMValueRef lane_address(struct weft_emit *emit, const struct access *access,
                                 struct weft_ir_shape shape, uint32_t component, uint32_t lane) {
    const uint32_t more = component * access->size;
    if (shape.kind == WEFT_IR_LINEAR) {
        return scalar_address(emit, access,
                              (int64_t)more + weft_ir_lane_offset(emit->program, shape, lane));
    }
    const LLVMValueRef index =
        LLVMBuildZExt(emit->builder,
                      LLVMBuildExtractElement(emit->builder, weft_emit_vector(emit, access->index),
                                              lane_number(emit, lane), ""),
                      emit->types[WEFT_IR_I64], "");
    LLVMValueRef place = weft_emit_u64(emit, access->instruction->place + more);
    return LLVMBuildGEP2(emit->builder, emit->types[WEFT_IR_I8], address(emit, access, index),
                         &place, 1, "");
}

static LLVMValueRef shuffle(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b,
                            const uint32_t *place, uint32_t count) {
    LLVMValueRef indices[WEFT_NATIVE_MAX_LANES * MOST_TOGETHER];
    for (uint32_t i = 0; i < count; i++) {
        indices[i] = lane_number(emit, place[i]);
    }
    return LLVMBuildShuffleVector(emit->builder, a, b, LLVMConstVector(indices, count), "");
}

/* Joins a power of 2 of vectors, each of `length`, into one. */
static LLVMValueRef concatenate(struct weft_emit *emit, LLVMValueRef *parts, uint32_t count,
                                uint32_t length) {
    uint32_t place[WEFT_NATIVE_MAX_LANES * MOST_TOGETHER];
    for (uint32_t i = 0; i < count * length; i++) {
        place[i] = i;
    }
    for (; count > 1; count /= 2, length *= 2) {
        for (size_t i = 0; i < count / 2; i++) {
            parts[i] = shuffle(emit, parts[2 * i], parts[2 * i + 1], place, 2 * length);
        }
    }
    return parts[0];
}

/* Components of a lane that are loaded and stored at once. */
static uint32_t together(const struct weft_ir_instruction *instruction) {
    return instruction->n == 2 || instruction->n == 4 ? instruction->n : 1;
}

/* Lanes that are loaded and stored at once: those of a run, where their places follow each other. */
static uint32_t lanes_together(const struct weft_emit *emit, const struct access *access,
                               struct weft_ir_shape shape) {
    const uint32_t n = access->instruction->n;
    const bool follow = shape.kind == WEFT_IR_LINEAR && together(access->instruction) == n &&
                        shape.stride == (int32_t)(access->size * n);
    return follow ? emit->program->run : 1;
}

static void load_lanes(struct weft_emit *emit, const struct access *access,
                       struct weft_ir_shape shape) {
    const struct weft_ir_instruction *instruction = access->instruction;
    const uint32_t n = together(instruction);
    const uint32_t run = lanes_together(emit, access, shape);
    const LLVMTypeRef type = LLVMVectorType(access->scalar, run * n);
    for (uint32_t first = 0; first < instruction->n; first += n) {
        LLVMValueRef parts[WEFT_NATIVE_MAX_LANES];
        for (uint32_t i = 0; i < emit->lanes / run; i++) {
            parts[i] = LLVMBuildLoad2(emit->builder, type,
                                      lane_address(emit, access, shape, first, i * run), "");
            LLVMSetAlignment(parts[i], access->size);
            mark(emit, access, parts[i]);
        }
        const LLVMValueRef all = concatenate(emit, parts, emit->lanes / run, run * n);
        for (uint32_t c = 0; c < n; c++) {
            uint32_t place[WEFT_NATIVE_MAX_LANES];
            for (uint32_t i = 0; i < emit->lanes; i++) {
                place[i] = i * n + c;
            }
            weft_emit_define(emit, instruction->result + first + c,
                             n == 1 ? all : shuffle(emit, all, all, place, emit->lanes));
        }
    }
}

static void store_lanes(struct weft_emit *emit, const struct access *access,
                        struct weft_ir_shape shape) {
    const struct weft_ir_instruction *instruction = access->instruction;
    const weft_ir_value *values = emit->program->arguments + instruction->arguments + 1;
    const uint32_t n = together(instruction);
    const uint32_t run = lanes_together(emit, access, shape);
    for (uint32_t first = 0; first < instruction->n; first += n) {
        LLVMValueRef parts[MOST_TOGETHER];
        for (uint32_t c = 0; c < n; c++) {
            parts[c] = weft_emit_vector(emit, values[first + c]);
        }
        const LLVMValueRef all = concatenate(emit, parts, n, emit->lanes);
        for (uint32_t i = 0; i < emit->lanes; i += run) {
            uint32_t place[WEFT_NATIVE_MAX_LANES * MOST_TOGETHER];
            for (uint32_t k = 0; k < run * n; k++) {
                place[k] = k % n * emit->lanes + i + k / n;
            }
            const LLVMValueRef made = LLVMBuildStore(
                emit->builder,
                run * n == 1 ? LLVMBuildExtractElement(emit->builder, all, lane_number(emit, i), "")
                             : shuffle(emit, all, all, place, run * n),
                lane_address(emit, access, shape, first, i));
            LLVMSetAlignment(made, access->size);
            mark(emit, access, made);
        }
    }
}

/*
 * True if lanes are loaded or stored one by one, with all components at once. Masks would need a branch for each lane, which
 * is what gathers and scatters of the processor are for; these take one component at a time.
 */
static bool is_by_lane(const struct weft_emit *emit, const struct access *access,
                       struct weft_ir_shape shape) {
    return !emit->exec && !access->limit &&
           (shape.kind == WEFT_IR_LINEAR || together(access->instruction) > 1);
}

/* ---- any addresses ---- */

static void gather(struct weft_emit *emit, const struct access *access) {
    const struct weft_ir_instruction *instruction = access->instruction;
    for (uint32_t c = 0; c < instruction->n; c++) {
        const LLVMValueRef offsets = vector_offset(emit, access, c * access->size);
        LLVMValueRef mask = lanes_within(emit, access, offsets);
        mask = mask ? mask : weft_emit_all_lanes(emit, true);
        weft_emit_define(
            emit, instruction->result + c,
            mark(emit, access,
                 weft_emit_masked_load(emit, access->vector, address(emit, access, offsets), mask,
                                       access->size)));
    }
}

static void scatter(struct weft_emit *emit, const struct access *access) {
    const struct weft_ir_instruction *instruction = access->instruction;
    const weft_ir_value *values = emit->program->arguments + instruction->arguments + 1;
    for (uint32_t c = 0; c < instruction->n; c++) {
        const LLVMValueRef offsets = vector_offset(emit, access, c * access->size);
        const LLVMValueRef mask = lanes_within(emit, access, offsets);
        mark(emit, access,
             weft_emit_masked_store(emit, weft_emit_vector(emit, values[c]),
                                    address(emit, access, offsets),
                                    mask ? mask : weft_emit_all_lanes(emit, true), access->size));
    }
}

static bool is_consecutive(const struct weft_emit *emit, const struct access *access,
                           struct weft_ir_shape shape) {
    return shape.kind == WEFT_IR_LINEAR && weft_ir_is_even(emit->program, shape) &&
           shape.stride == (int32_t)(access->size * access->instruction->n);
}

void weft_emit_load(struct weft_emit *emit, const struct weft_ir_instruction *instruction) {
    const struct access access = access_of(emit, instruction);
    const struct weft_ir_shape shape = shape_of(emit, &access);
    if (shape.kind == WEFT_IR_UNIFORM) {
        load_scalars(emit, &access);
    } else if (is_consecutive(emit, &access, shape)) {
        load_consecutive(emit, &access);
    } else if (step_of(emit, &access, shape) != 0) {
        load_apart(emit, &access, step_of(emit, &access, shape));
    } else if (is_by_lane(emit, &access, shape)) {
        load_lanes(emit, &access, shape);
    } else {
        gather(emit, &access);
    }
}

void weft_emit_store(struct weft_emit *emit, const struct weft_ir_instruction *instruction) {
    const struct access access = access_of(emit, instruction);
    const struct weft_ir_shape shape = shape_of(emit, &access);
    if (shape.kind == WEFT_IR_UNIFORM) {
        store_scalars(emit, &access);
    } else if (is_consecutive(emit, &access, shape)) {
        store_consecutive(emit, &access);
    } else if (is_by_lane(emit, &access, shape)) {
        store_lanes(emit, &access, shape);
    } else {
        scatter(emit, &access);
    }
}

/* ---- atomics ---- */

static LLVMValueRef combine(struct weft_emit *emit, const struct weft_ir_instruction *instruction,
                            LLVMValueRef at, LLVMValueRef *operands) {
    static const struct {
        uint16_t op;
        uint8_t rmw;
    } operations[] = {
        {SpvOpAtomicExchange, LLVMAtomicRMWBinOpXchg},
        {SpvOpAtomicStore, LLVMAtomicRMWBinOpXchg},
        {SpvOpAtomicIAdd, LLVMAtomicRMWBinOpAdd},
        {SpvOpAtomicISub, LLVMAtomicRMWBinOpSub},
        {SpvOpAtomicIIncrement, LLVMAtomicRMWBinOpAdd},
        {SpvOpAtomicIDecrement, LLVMAtomicRMWBinOpSub},
        {SpvOpAtomicSMin, LLVMAtomicRMWBinOpMin},
        {SpvOpAtomicUMin, LLVMAtomicRMWBinOpUMin},
        {SpvOpAtomicSMax, LLVMAtomicRMWBinOpMax},
        {SpvOpAtomicUMax, LLVMAtomicRMWBinOpUMax},
        {SpvOpAtomicAnd, LLVMAtomicRMWBinOpAnd},
        {SpvOpAtomicOr, LLVMAtomicRMWBinOpOr},
        {SpvOpAtomicXor, LLVMAtomicRMWBinOpXor},
        {SpvOpAtomicLoad, LLVMAtomicRMWBinOpOr},
    };
    if (instruction->variant == SpvOpAtomicCompareExchange) {
        const LLVMValueRef pair =
            LLVMBuildAtomicCmpXchg(emit->builder, at, operands[1], operands[0],
                                   LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, 0);
        return LLVMBuildExtractValue(emit->builder, pair, 0, "");
    }
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (operations[i].op == instruction->variant) {
            return LLVMBuildAtomicRMW(emit->builder, (LLVMAtomicRMWBinOp)operations[i].rmw, at,
                                      operands[0], LLVMAtomicOrderingMonotonic, 0);
        }
    }
    weft_ir_error(emit->program, WEFT_UNSUPPORTED, "the atomic operation %u", instruction->variant);
    return LLVMGetPoison(emit->types[instruction->type]);
}

/* One running lane after the other. */
void weft_emit_atomic(struct weft_emit *emit, const struct weft_ir_instruction *instruction) {
    const LLVMBuilderRef builder = emit->builder;
    const struct access access = access_of(emit, instruction);
    const weft_ir_value *values = emit->program->arguments + instruction->arguments + 1;
    if (weft_ir_is_float(instruction->type)) {
        weft_ir_error(emit->program, WEFT_UNSUPPORTED, "an atomic operation on floats");
        return;
    }
    const LLVMValueRef offsets = access.index == 0
                                     ? weft_emit_splat(emit, scalar_offset(emit, &access, 0))
                                     : vector_offset(emit, &access, 0);
    const LLVMValueRef lanes = lanes_within(emit, &access, offsets);
    const LLVMValueRef mask = lanes ? lanes : weft_emit_all_lanes(emit, true);
    const LLVMValueRef addresses = address(emit, &access, offsets);
    const LLVMValueRef results = weft_emit_variable(emit, access.vector);
    LLVMBuildStore(builder, LLVMConstNull(access.vector), results);
    for (uint32_t i = 0; i < emit->lanes; i++) {
        const LLVMValueRef lane = weft_emit_u32(emit, i);
        const LLVMBasicBlockRef run = weft_emit_block(emit, "lane");
        const LLVMBasicBlockRef next = weft_emit_block(emit, "next");
        LLVMBuildCondBr(builder, LLVMBuildExtractElement(builder, mask, lane, ""), run, next);
        weft_emit_at(emit, run);
        LLVMValueRef operands[2] = {
            LLVMConstInt(access.scalar, instruction->variant == SpvOpAtomicLoad ? 0 : 1, 0)};
        for (uint32_t k = 0; k + 1 < instruction->argument_count && k < 2; k++) {
            operands[k] =
                LLVMBuildExtractElement(builder, weft_emit_vector(emit, values[k]), lane, "");
        }
        const LLVMValueRef old = combine(
            emit, instruction, LLVMBuildExtractElement(builder, addresses, lane, ""), operands);
        const LLVMValueRef before = LLVMBuildLoad2(builder, access.vector, results, "");
        LLVMBuildStore(builder, LLVMBuildInsertElement(builder, before, old, lane, ""), results);
        LLVMBuildBr(builder, next);
        weft_emit_at(emit, next);
    }
    if (instruction->result != 0) {
        weft_emit_define(emit, instruction->result,
                         LLVMBuildLoad2(builder, access.vector, results, ""));
    }
}

void weft_emit_length(struct weft_emit *emit, const struct weft_ir_instruction *instruction) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMValueRef size = emit->sizes[instruction->root];
    const LLVMValueRef place = weft_emit_u64(emit, instruction->place);
    const LLVMValueRef some = LLVMBuildICmp(builder, LLVMIntUGT, size, place, "");
    const LLVMValueRef bytes = LLVMBuildSelect(
        builder, some, LLVMBuildSub(builder, size, place, ""), weft_emit_u64(emit, 0), "");
    const LLVMValueRef count =
        LLVMBuildUDiv(builder, bytes, weft_emit_u64(emit, instruction->stride), "");
    weft_emit_define(emit, instruction->result,
                     LLVMBuildTrunc(builder, count, emit->types[WEFT_IR_I32], ""));
}
