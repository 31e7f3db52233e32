/* SPDX-License-Identifier: MIT */
#include "mixers/vkfft/fft_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/system/disk_cache.h"
#include "core/try.h"
#include "mixers/vkfft/program_file.h"
#include "mixers/vkfft/vkfft_unit.h"
#include "shader/glsl.h"
#include "shader/glslang_guard.h"

#define CACHE_KIND "fft"

/* Buffers up to what a Vulkan device can bind at all: maxStorageBufferRange is a 32-bit number. */
#define MAX_BUFFER_BYTES UINT32_MAX

static bool is_real(enum weft_fft_kind kind) {
    return kind == WEFT_FFT_R2C || kind == WEFT_FFT_C2R;
}

static weft_status check(const struct weft_fft_desc *desc, const weft_host *host) {
    if ((unsigned)desc->kind > WEFT_FFT_C2R || desc->rank < 1 || desc->rank > 2 ||
        desc->batch == 0 || desc->size[0] == 0 || (desc->rank == 2 && desc->size[1] == 0)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "FFT: kind %d or rank %" PRIu32 " is unknown, or a size or the batch is 0",
                         (int)desc->kind, desc->rank);
    }
    if (is_real(desc->kind) && !desc->transform_axis[0]) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "FFT: a real transform must include the innermost axis");
    }
    return WEFT_OK;
}

/* Simplest form of a transform: axes that are really batches become batches. */
static struct weft_fft_desc canonical(const struct weft_fft_desc *desc, uint64_t *batch) {
    struct weft_fft_desc simple = *desc;
    *batch = desc->batch;
    simple.transform_axis[0] =
        desc->transform_axis[0] && (desc->size[0] > 1 || is_real(desc->kind));
    if (desc->rank == 1) {
        simple.size[1] = 1;
    }
    simple.transform_axis[1] = desc->rank == 2 && desc->transform_axis[1] && desc->size[1] > 1;
    if (!simple.transform_axis[1]) {
        *batch *= simple.size[1];
        simple.rank = 1;
        simple.size[1] = 1;
    } else if (simple.size[0] == 1 && !is_real(desc->kind)) {
        simple.rank = 1;
        simple.size[0] = simple.size[1];
        simple.transform_axis[0] = true;
        simple.size[1] = 1;
        simple.transform_axis[1] = false;
    }
    return simple;
}

/* Bytes of `rows` rows; saturates, so that rows which are too long stay too long. */
static uint64_t bytes_of(uint64_t batch, uint64_t rows, uint64_t row_bytes) {
    if (row_bytes > MAX_BUFFER_BYTES || rows > MAX_BUFFER_BYTES / row_bytes ||
        batch > MAX_BUFFER_BYTES / (rows * row_bytes)) {
        return UINT64_MAX;
    }
    return batch * rows * row_bytes;
}

static void measure(struct weft_fft_program *program, const struct weft_fft_desc *desc,
                    uint64_t batch) {
    uint64_t n = desc->size[0];
    uint64_t complex_row = 8 * (is_real(desc->kind) ? n / 2 + 1 : n);
    uint64_t real_row = 4 * n;
    program->input_bytes =
        bytes_of(batch, desc->size[1], desc->kind == WEFT_FFT_R2C ? real_row : complex_row);
    program->output_bytes =
        bytes_of(batch, desc->size[1], desc->kind == WEFT_FFT_C2R ? real_row : complex_row);
}

static void put_u32(uint8_t *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

static weft_digest cache_key(const struct weft_fft_desc *desc) {
    char identity[WEFT_FFT_IDENTITY_SIZE];
    weft_fft_vkfft_identity(identity);
    const uint32_t numbers[] = {WEFT_FFT_PROGRAM_FORMAT,
                                (uint32_t)desc->kind,
                                desc->rank,
                                desc->size[0],
                                desc->size[1],
                                desc->batch,
                                desc->transform_axis[0],
                                desc->transform_axis[1],
                                desc->columns,
                                desc->share};
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, identity, strlen(identity) + 1);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        uint8_t bytes[4];
        put_u32(bytes, numbers[i]);
        weft_sha256_add(&hash, bytes, sizeof bytes);
    }
    return weft_sha256_end(&hash);
}

/* *found says whether `program`, which has its sizes already, was filled. Only running out of
   memory is an error. */
static weft_status read_cached(struct weft_fft_program *program, bool *found,
                               struct weft_cache *cache, const weft_digest *key,
                               const weft_host *host) {
    uint8_t *data = NULL;
    size_t size = 0;
    *found = false;
    weft_status status = weft_cache_read(&data, &size, cache, CACHE_KIND, key, host);
    if (status != WEFT_OK || !data) {
        return status;
    }
    status = weft_fft_program_read(program, data, size, host);
    weft_free(host, data);
    *found = status == WEFT_OK;
    if (status == WEFT_BAD_FILE) {
        weft_log(host, WEFT_LOG_WARNING, "a cached FFT program is malformed and is made anew");
        return WEFT_OK;
    }
    return status;
}

static void write_cached(const struct weft_fft_program *program, struct weft_cache *cache,
                         const weft_digest *key, const weft_host *host) {
    uint8_t *data = NULL;
    size_t size = 0;
    if (!cache || weft_fft_program_write(&data, &size, program, host) != WEFT_OK) {
        return; /* the program is good without being cached */
    }
    weft_cache_write(cache, CACHE_KIND, key, data, size, host);
    weft_free(host, data);
}

struct planning {
    struct weft_fft_program *program;
    const struct weft_fft_desc *desc;
    uint32_t *compiled;
    const char *reason;
    const weft_host *host;
    weft_status status;
};

static void run_vkfft(void *user) {
    struct planning *p = user;
    p->status = weft_fft_vkfft_plan(p->program, p->desc, p->compiled, &p->reason, p->host);
}

static weft_status plan(struct weft_fft_program *program, const struct weft_fft_desc *desc,
                        uint32_t *compiled, const weft_host *host) {
    struct planning planning = {.program = program,
                                .desc = desc,
                                .compiled = compiled,
                                .reason = "glslang has no memory",
                                .host = host,
                                .status = WEFT_OUT_OF_HOST_MEMORY};
    WEFT_TRY(weft_glslang_lock(host));
    (void)weft_glslang_guard(run_vkfft, &planning);
    weft_glslang_unlock();
    const weft_status status = planning.status;
    const char *reason = planning.reason;
    if (status != WEFT_OK) {
        return weft_fail(host, status,
                         "FFT of kind %d, %" PRIu32 " × %" PRIu32 ", batch %" PRIu32 ": %s",
                         (int)desc->kind, desc->size[1], desc->size[0], desc->batch, reason);
    }
    return WEFT_OK;
}

static weft_status fill(struct weft_fft_program *program, const struct weft_fft_desc *desc,
                        struct weft_cache *cache, uint32_t *compiled, const weft_host *host) {
    uint64_t batch;
    struct weft_fft_desc simple = canonical(desc, &batch);
    measure(program, &simple, batch);
    if (!simple.transform_axis[0] && !simple.transform_axis[1]) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "FFT: every transformed axis has length 1: nothing to compute");
    }
    if (program->input_bytes > MAX_BUFFER_BYTES || program->output_bytes > MAX_BUFFER_BYTES) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "FFT of %" PRIu32 " × %" PRIu32 ", batch %" PRIu64 ": over 4 GiB",
                         simple.size[1], simple.size[0], batch);
    }
    simple.batch = (uint32_t)batch; /* at most a quarter of the bytes */
    weft_digest key = cache_key(&simple);
    bool found;
    weft_status status = read_cached(program, &found, cache, &key, host);
    if (status != WEFT_OK || found) {
        return status;
    }
    status = plan(program, &simple, compiled, host);
    if (status == WEFT_OK) {
        write_cached(program, cache, &key, host);
    }
    return status;
}

weft_status weft_fft_program_create(struct weft_fft_program **program,
                                    const struct weft_fft_desc *desc, struct weft_cache *cache,
                                    uint32_t *compiled, const weft_host *host) {
    *compiled = 0;
    WEFT_TRY(check(desc, host));
    struct weft_fft_program *made = weft_alloc_zero(host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(host, "an FFT program");
    }
    weft_status status = fill(made, desc, cache, compiled, host);
    if (status != WEFT_OK) {
        weft_fft_program_destroy(&made, host);
        return status;
    }
    *program = made;
    return WEFT_OK;
}

void weft_fft_program_destroy(struct weft_fft_program **program, const weft_host *host) {
    if (!*program) {
        return;
    }
    for (uint32_t i = 0; i < (*program)->module_count; i++) {
        weft_free(host, (*program)->modules[i].words);
    }
    for (uint32_t i = 0; i < (*program)->table_count; i++) {
        weft_free(host, (*program)->tables[i].data);
    }
    weft_free(host, (*program)->modules);
    weft_free(host, (*program)->tables);
    weft_free(host, (*program)->dispatches);
    weft_free(host, *program);
    *program = NULL;
}
