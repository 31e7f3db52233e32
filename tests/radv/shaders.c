/* SPDX-License-Identifier: MIT */
/* Dispatches: code that lies in the GPU's memory is decoded once, and executed by tests/amd. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amd/code_object.h"
#include "kmd.h"

enum { MOST_CODE = 4 << 20 }; /* bytes */

/* One that was decoded. Its memory may hold other code later: `program.bytes` is what was decoded. */
struct kept {
    struct kept *next;
    struct amd_gpu gpu; /* with waves as long as the dispatch's */
    struct amd_program program;
    uint64_t *counts;
};
static struct kept *all;

/* ---- programs ---- */

/* COMPUTE_PGM_RSRC1: registers in 5:0, the mode in 19:12, 21 and 23. RSRC2: shared memory in 23:15, by 512 bytes. */
static bool describe(struct kept *kept, const struct kmd_compute *compute, char error[AMD_TEXT]) {
    struct amd_program *program = &kept->program;
    const uint32_t unit = program->gpu->packed_ids ? 256 : 1024;
    const bool uses_scratch = (compute->resources2 & 1u) != 0;
    program->resources1 = compute->resources1;
    program->resources2 = compute->resources2;
    program->vgprs = ((compute->resources1 & 63u) + 1) * (program->gpu->wave_size == 32 ? 8 : 4);
    program->lds = (compute->resources2 >> 15 & 0x1ffu) * 512;
    program->private_bytes =
        uses_scratch ? (compute->scratch >> 12 & 0x7fffu) * unit / program->gpu->wave_size : 0;
    memcpy(program->local_size, compute->threads, sizeof program->local_size);
    const uint64_t threads =
        (uint64_t)compute->threads[0] * compute->threads[1] * compute->threads[2];
    if (program->vgprs > AMD_VGPRS || program->lds > AMD_LDS_BYTES || threads == 0 ||
        threads > 1024 || (compute->resources2 >> 1 & 31u) > KMD_USER_REGISTERS) {
        (void)snprintf(error, AMD_TEXT, "a workgroup of %llu with %u registers and %u bytes shared",
                       (unsigned long long)threads, program->vgprs, program->lds);
        return false;
    }
    return true;
}

/* The table of words is made for all that there might be, then cut. */
static bool decode(struct kept *kept, uint8_t *code, size_t most, char error[AMD_TEXT]) {
    struct amd_program *program = &kept->program;
    size_t end = 0;
    program->of_word = malloc(most / 4 * sizeof *program->of_word);
    if (!program->of_word) {
        (void)snprintf(error, AMD_TEXT, "out of memory for code");
        return false;
    }
    program->bytes = code;
    memset(program->of_word, 0xff, most / 4 * sizeof *program->of_word);
    const bool decodes = amd_decode_open(program, most, &end, error);
    program->bytes = decodes ? malloc(end) : NULL;
    if (!program->bytes) {
        return false;
    }
    memcpy(program->bytes, code, end);
    program->size = program->code_size = end;
    return amd_decode_end(program, error);
}

static void add_counts(void) {
    for (const struct kept *kept = all; kept; kept = kept->next) {
        if (kept->counts) {
            amd_counts_add(&kept->program, kept->counts);
        }
    }
}

static struct kept *load(uint8_t *code, size_t most, const struct kmd_compute *compute,
                         const struct amd_gpu *gpu, char error[AMD_TEXT]) {
    struct kept *made = calloc(1, sizeof *made);
    if (!made) {
        (void)snprintf(error, AMD_TEXT, "out of memory for a program");
        return NULL;
    }
    made->gpu = *gpu;
    made->gpu.wave_size = compute->waves_of_32 ? 32 : 64;
    made->program = (struct amd_program){.gpu = &made->gpu, .address = compute->code};
    if (!decode(made, code, most, error)) {
        amd_program_free(&made->program);
        free(made);
        return NULL;
    }
    if (getenv("WEFT_AMD_COUNTS")) {
        if (!all) {
            (void)atexit(add_counts);
        }
        made->counts = calloc(made->program.count + 1, sizeof *made->counts);
    }
    made->next = all;
    all = made;
    return made;
}

static struct kept *find(struct kmd *kmd, const struct kmd_compute *compute, char error[AMD_TEXT]) {
    const uint64_t extent = kmd_extent(compute->code);
    const size_t most = extent < MOST_CODE ? (size_t)extent : MOST_CODE;
    uint8_t *code = kmd_bytes(kmd, compute->code, most);
    if (!code || most < 4) {
        (void)snprintf(error, AMD_TEXT, "code at %#llx, where nothing is mapped",
                       (unsigned long long)compute->code);
        return NULL;
    }
    for (struct kept *kept = all; kept; kept = kept->next) {
        if (kept->program.address == compute->code && kept->program.size <= most &&
            (kept->gpu.wave_size == 32) == compute->waves_of_32 &&
            memcmp(kept->program.bytes, code, kept->program.size) == 0) {
            return kept;
        }
    }
    return load(code, most, compute, kmd->gpu, error);
}

/* ---- running ---- */

static uint8_t *memory(void *user, uint64_t address, uint32_t size) {
    return kmd_bytes(user, address, size);
}

static int32_t side(void) {
    const char *text = getenv("WEFT_AMD_SIDE");
    return text ? (int32_t)strtol(text, NULL, 10) : 0;
}

bool kmd_dispatch(struct kmd *kmd, const struct kmd_compute *compute, char error[AMD_TEXT]) {
    struct kept *kept = find(kmd, compute, error);
    struct amd_dispatch *dispatch = kept ? calloc(1, sizeof *dispatch) : NULL;
    if (!dispatch || !describe(kept, compute, error)) {
        free(dispatch);
        return false;
    }
    *dispatch = (struct amd_dispatch){.program = &kept->program,
                                      .memory = memory,
                                      .memory_user = kmd,
                                      .user = compute->user,
                                      .side = side(),
                                      .tiny_before = kmd_is_set("WEFT_AMD_TINY", "before"),
                                      .keeps_subnormals = kmd_is_set("WEFT_AMD_BREAK", "flush"),
                                      .last_first = kmd_is_set("WEFT_AMD_ORDER", "last-first"),
                                      .counts = kept->counts};
    memcpy(dispatch->first, compute->first, sizeof dispatch->first);
    memcpy(dispatch->groups, compute->end, sizeof dispatch->groups);
    memcpy(dispatch->last_size, compute->last_threads, sizeof dispatch->last_size);
    const bool runs = amd_dispatch_run(dispatch);
    (void)snprintf(error, AMD_TEXT, "%s", dispatch->error);
    free(dispatch);
    return runs;
}
