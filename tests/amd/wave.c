/* SPDX-License-Identifier: MIT */
/* Waves, workgroups and dispatches: what registers begin with is in AMDGPUUsage, "Initial Kernel Execution State". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

static const struct amd_gpu gpus[] = {
    {.name = "gfx1030", .wave_size = 32, .wave_ids = true},
    {.name = "gfx1100", .wave_size = 32, .packed_ids = true, .wave_ids = true},
    {.name = "gfx906", .wave_size = 64}};

const struct amd_gpu *amd_gpu_find(const char *name) {
    for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
        if (strcmp(gpus[i].name, name) == 0) {
            return &gpus[i];
        }
    }
    return NULL;
}

/* ---- the mode register ---- */

void amd_mode_set(struct amd_wave *wave, uint32_t bits) {
    const uint32_t of32 = bits >> 4 & 3u, of64 = bits >> 6 & 3u;
    wave->mode_bits = bits;
    wave->mode.least = wave->dispatch->tiny_before ? 0x1p-126 : 0x1p-126 - 0x1p-151;
    wave->mode.round32 = bits & 3u;
    wave->mode.round64 = bits >> 2 & 3u;
    /* 0: both are flushed, 1: results, 2: operands, 3: none */
    wave->mode.flush32_in = (of32 & 1u) == 0 ? UINT32_MAX : 0;
    wave->mode.flush32_out = (of32 & 2u) == 0 ? UINT32_MAX : 0;
    wave->mode.flush64_in = (of64 & 1u) == 0 ? UINT32_MAX : 0;
    wave->mode.flush64_out = (of64 & 2u) == 0 ? UINT32_MAX : 0;
    wave->mode.dx10_clamp = (bits >> 8 & 1u) != 0;
    wave->mode.ieee = (bits >> 9 & 1u) != 0;
}

/* ---- instructions ---- */

/* RDNA 3's two operations at once: both read before one of them writes, and they have different results. */
static void run_pair(struct amd_wave *wave, const struct amd_instruction *first) {
    uint32_t before[AMD_LANES], after[AMD_LANES];
    uint32_t *row = amd_vector_row(wave, &first->operands[0], 1);
    if (!row) {
        return;
    }
    memcpy(before, row, sizeof before);
    first->operation->run(wave, first);
    memcpy(after, row, sizeof after);
    memcpy(row, before, sizeof before);
    first[1].operation->run(wave, first + 1);
    memcpy(row, after, sizeof after);
    wave->at++;
}

void amd_wave_run(struct amd_wave *wave) {
    const struct amd_program *program = wave->program;
    wave->waits = false;
    while (!wave->done && !wave->waits) {
        const uint32_t at = wave->at++;
        if (at >= program->count) {
            amd_fail(wave, "the end of the code without s_endpgm");
            return;
        }
        const struct amd_instruction *instruction = &program->instructions[at];
        if (wave->dispatch->counts) {
            wave->dispatch->counts[at]++;
        }
        if (instruction->is_pair) {
            run_pair(wave, instruction);
        } else {
            instruction->operation->run(wave, instruction);
        }
        if (wave->error[0] != '\0' && !wave->named) {
            const size_t length = strlen(wave->error);
            (void)snprintf(wave->error + length, AMD_TEXT - length, " (%s at byte %u of the code)",
                           instruction->operation->name, 4 * instruction->place);
            wave->named = true;
        }
    }
}

/* ---- how a wave begins ---- */

static void put_pair(struct amd_wave *wave, uint32_t *at, uint64_t value) {
    wave->s[(*at)++] = (uint32_t)value;
    wave->s[(*at)++] = (uint32_t)(value >> 32);
}

/* kernel_code_properties, from the lowest bit */
enum {
    PRIVATE_BUFFER = 1 << 0,
    DISPATCH = 1 << 1,
    QUEUE = 1 << 2,
    ARGUMENTS = 1 << 3,
    DISPATCH_NUMBER = 1 << 4,
    FLAT_SCRATCH = 1 << 5,
    PRIVATE_SIZE = 1 << 6
};

static uint32_t put_user_registers(struct amd_wave *wave, const struct amd_program *program) {
    uint32_t at = 0;
    if ((program->properties & PRIVATE_BUFFER) != 0) {
        put_pair(wave, &at, AMD_SCRATCH_ADDRESS);
        put_pair(wave, &at, UINT64_MAX); /* its size and format, which nothing reads */
    }
    if ((program->properties & ARGUMENTS) != 0) {
        put_pair(wave, &at, AMD_ADDRESS(AMD_REGION_ARGUMENTS));
    }
    if ((program->properties & FLAT_SCRATCH) != 0) {
        put_pair(wave, &at, AMD_SCRATCH_ADDRESS);
    }
    if ((program->properties & PRIVATE_SIZE) != 0) {
        wave->s[at++] = program->private_bytes;
    }
    return at;
}

static uint32_t waves_of(const uint32_t size[3], uint32_t lanes) {
    return (size[0] * size[1] * size[2] + lanes - 1) / lanes;
}

/* How many waves the workgroup has, and which this is. */
static uint32_t group_information(const struct amd_wave *wave, const struct amd_program *program) {
    return waves_of(wave->size, wave->lanes) | wave->number << 6 |
           (program->gpu->wave_ids ? wave->number << 20 : 0);
}

static void put_scalars(struct amd_wave *wave, const struct amd_program *program,
                        const uint32_t group[3]) {
    const uint32_t user = program->resources2 >> 1 & 31u, *given = wave->dispatch->user;
    uint32_t at = given ? 0 : put_user_registers(wave, program);
    if ((program->properties & (DISPATCH | QUEUE | DISPATCH_NUMBER)) != 0 || at > user) {
        amd_fail(wave, "the code asks for a dispatch's packet, queue or number");
        return;
    }
    if (given) {
        memcpy(wave->s, given, user * sizeof *given);
    }
    at = user;
    for (uint32_t i = 0; i < 3; i++) {
        if ((program->resources2 >> (7 + i) & 1u) != 0) {
            wave->s[at++] = group[i];
        }
    }
    if ((program->resources2 >> 10 & 1u) != 0) {
        wave->s[at++] = group_information(wave, program);
    }
    if ((program->resources2 & 1u) != 0 && !program->gpu->packed_ids) {
        wave->s[at] = wave->number * AMD_SCRATCH_STEP; /* where the wave's private memory begins */
    }
}

static void put_vectors(struct amd_wave *wave, const struct amd_program *program) {
    const uint32_t *size = wave->size, ids = program->resources2 >> 11 & 3u;
    const uint32_t all = size[0] * size[1] * size[2];
    uint64_t exec = 0;
    for (uint32_t lane = 0; lane < wave->lanes; lane++) {
        const uint32_t i = wave->number * wave->lanes + lane;
        const uint32_t x = i % size[0], y = i / size[0] % size[1], z = i / (size[0] * size[1]);
        exec |= (uint64_t)(i < all) << lane;
        wave->v[0][lane] = x;
        if (program->gpu->packed_ids) {
            wave->v[0][lane] = x | y << 10 | z << 20;
            continue;
        }
        if (ids >= 1) {
            wave->v[1][lane] = y;
        }
        if (ids >= 2) {
            wave->v[2][lane] = z;
        }
    }
    wave->s[AMD_EXEC] = (uint32_t)exec;
    wave->s[AMD_EXEC + 1] = (uint32_t)(exec >> 32);
}

/* Registers that nothing has set have noise in them, not zeros. */
static void put_noise(struct amd_wave *wave, const uint32_t group[3]) {
    uint32_t state = 0x9e3779b9u * (group[0] + 1 + 977 * group[1] + 6151 * group[2]) + wave->number;
    uint32_t *words = &wave->v[0][0];
    for (uint32_t i = 0; i < wave->vgprs * AMD_LANES; i++) {
        state = state * 1664525u + 1013904223u;
        words[i] = state;
    }
    for (uint32_t i = 0; i < AMD_SCALARS; i++) {
        state = state * 1664525u + 1013904223u;
        wave->s[i] = state;
    }
}

static void begin_wave(struct amd_wave *wave, struct amd_dispatch *dispatch,
                       const uint32_t group[3], const uint32_t size[3], uint32_t number) {
    const struct amd_program *program = dispatch->program;
    memcpy(wave->size, size, sizeof wave->size);
    wave->dispatch = dispatch;
    wave->program = program;
    wave->number = number;
    wave->lanes = program->gpu->wave_size;
    wave->vgprs = program->vgprs;
    wave->private_size = program->private_bytes;
    wave->local_size = program->lds;
    wave->error = dispatch->error;
    wave->at = program->entry;
    wave->scc = wave->done = wave->waits = wave->indexed = wave->active_known = wave->named = false;
    put_noise(wave, group);
    put_scalars(wave, program, group);
    put_vectors(wave, program);
    amd_mode_set(wave, (program->resources1 >> 12 & 0xffu) | (program->resources1 >> 21 & 1u) << 8 |
                           (program->resources1 >> 23 & 1u) << 9 |
                           (dispatch->keeps_subnormals ? 0xf0u : 0));
    wave->mode.side = dispatch->side;
}

/* ---- workgroups ---- */

struct room {
    struct amd_wave **waves;
    uint32_t count;
    uint8_t *local;
};

static void free_room(struct room *room) {
    for (uint32_t i = 0; room->waves && i < room->count; i++) {
        if (room->waves[i]) {
            free(room->waves[i]->private_bytes);
        }
        free(room->waves[i]);
    }
    free(room->waves);
    free(room->local);
}

static bool make_room(struct room *room, const struct amd_program *program) {
    room->count = waves_of(program->local_size, program->gpu->wave_size);
    room->local = calloc(1, program->lds + 1);
    room->waves = calloc(room->count, sizeof *room->waves);
    bool is_there = room->local && room->waves;
    for (uint32_t i = 0; is_there && i < room->count; i++) {
        room->waves[i] = calloc(1, sizeof **room->waves);
        is_there = room->waves[i] != NULL;
        if (is_there && program->private_bytes > 0) {
            room->waves[i]->private_bytes = calloc(program->private_bytes, AMD_LANES);
            is_there = room->waves[i]->private_bytes != NULL;
        }
    }
    return is_there;
}

/* From barrier to barrier; who ended is not waited for. */
static void run_group(struct amd_dispatch *dispatch, const struct room *room,
                      const uint32_t group[3]) {
    uint32_t size[3];
    for (uint32_t i = 0; i < 3; i++) {
        const bool is_last = group[i] == dispatch->groups[i] - 1 && dispatch->last_size[i] > 0;
        size[i] = is_last ? dispatch->last_size[i] : dispatch->program->local_size[i];
    }
    const uint32_t count = waves_of(size, dispatch->program->gpu->wave_size);
    memset(room->local, 0xa5, dispatch->program->lds);
    for (uint32_t i = 0; i < count; i++) {
        room->waves[i]->local = room->local;
        begin_wave(room->waves[i], dispatch, group, size, i);
    }
    for (bool more = true; more && dispatch->error[0] == '\0';) {
        more = false;
        for (uint32_t i = 0; i < count && dispatch->error[0] == '\0'; i++) {
            struct amd_wave *wave = room->waves[dispatch->last_first ? count - 1 - i : i];
            if (!wave->done) {
                amd_wave_run(wave);
                more = more || !wave->done;
            }
        }
    }
}

bool amd_dispatch_run(struct amd_dispatch *dispatch) {
    struct room room = {0};
    dispatch->error[0] = '\0';
    if (!make_room(&room, dispatch->program)) {
        (void)snprintf(dispatch->error, AMD_TEXT, "out of memory for waves");
    }
    for (uint32_t z = dispatch->first[2]; z < dispatch->groups[2]; z++) {
        for (uint32_t y = dispatch->first[1]; y < dispatch->groups[1]; y++) {
            for (uint32_t x = dispatch->first[0];
                 x < dispatch->groups[0] && dispatch->error[0] == '\0'; x++) {
                run_group(dispatch, &room, (const uint32_t[3]){x, y, z});
            }
        }
    }
    free_room(&room);
    return dispatch->error[0] == '\0';
}
