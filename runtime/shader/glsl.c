/* SPDX-License-Identifier: MIT */
#include "shader/glsl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#include <glslang/build_info.h>

#include "core/hash.h"
#include "core/system/disk_cache.h"
#include "core/system/fork_gate.h"
#include "core/try.h"
#include "shader/glslang_guard.h"
#include "spirv/cooperative.h"

#define CACHE_KIND    "glsl"
#define FAST_PREAMBLE "#define WEFT_MATH_FAST 1\n"
#define TEXT_OF(x)    #x
#define NUMBER(x)     TEXT_OF(x)

/* Identity of the compiler: besides the text it decides the result. */
static const char compiler_identity[] = "glslang " NUMBER(GLSLANG_VERSION_MAJOR) "." NUMBER(
    GLSLANG_VERSION_MINOR) "." NUMBER(GLSLANG_VERSION_PATCH) " vulkan1.1 spirv1.3";

static pthread_mutex_t glslang_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool glslang_ready; /* under the mutex */
static weft_fork_gate glslang_gate;

weft_status weft_glslang_lock(const weft_host *host) {
    WEFT_TRY(weft_fork_gate_enter(&glslang_gate, "compiling GLSL", host));
    pthread_mutex_lock(&glslang_mutex);
    if (!glslang_ready) {
        glslang_ready = glslang_initialize_process() != 0;
    }
    if (!glslang_ready) {
        weft_glslang_unlock();
        return weft_fail(host, WEFT_COMPILE_ERROR, "glslang cannot be initialised");
    }
    return WEFT_OK;
}

void weft_glslang_unlock(void) {
    pthread_mutex_unlock(&glslang_mutex);
    weft_fork_gate_leave(&glslang_gate);
}

struct job {
    const struct weft_glsl_source *source;
    const char *name; /* the source's */
    const weft_host *host;
    bool fast;
    glslang_input_t input;
    glslang_shader_t *shader;
    glslang_program_t *program;
    uint32_t **words; /* what comes of it, and its bytes */
    size_t *size;
    weft_status status;
};

/*
 * Logs one line of glslang's log with the file's name in place of its number: "ERROR: 2:17: text"
 * becomes "name: math.glsl:17: text".
 */
static void log_message(const struct job *job, weft_log_level level, const char *line,
                        size_t length) {
    const char *end = line + length;
    const char *at = memchr(line, ' ', length);
    const char *file = job->name;
    const struct weft_embedded_include *include = NULL;
    char *rest = NULL;
    if (at && at > line && at[-1] == ':' && at + 1 < end && at[1] >= '0' && at[1] <= '9') {
        unsigned long string = strtoul(at + 1, &rest, 10);
        include = string <= UINT32_MAX ? weft_glsl_included(job->source, (uint32_t)string) : NULL;
        if (rest >= end || *rest != ':' || (string > 0 && !include)) {
            rest = NULL;
        } else if (include) {
            file = include->name;
        }
    }
    if (!rest) {
        weft_log(job->host, level, "%s: %.*s", job->name, (int)length, line);
    } else if (file == job->name) {
        weft_log(job->host, level, "%s%.*s", file, (int)(end - rest), rest);
    } else {
        weft_log(job->host, level, "%s: %s%.*s", job->name, file, (int)(end - rest), rest);
    }
}

static void log_messages(const struct job *job, weft_log_level level, const char *text) {
    while (text && *text != '\0') {
        size_t length = strcspn(text, "\r\n");
        if (length > 0) {
            log_message(job, level, text, length < 4096 ? length : 4096);
        }
        text += length + strspn(text + length, "\r\n");
    }
}

static weft_status fail(const struct job *job, const char *step, const char *messages) {
    log_messages(job, WEFT_LOG_ERROR, messages);
    return weft_fail(job->host, WEFT_COMPILE_ERROR, "%s: %s failed", job->name, step);
}

static weft_status parse(struct job *job) {
    job->shader = glslang_shader_create(&job->input);
    if (!job->shader) {
        return weft_fail_memory(job->host, job->name);
    }
    if (job->fast) {
        glslang_shader_set_preamble(job->shader, FAST_PREAMBLE);
    }
    if (!glslang_shader_preprocess(job->shader, &job->input)) {
        return fail(job, "preprocessing", glslang_shader_get_info_log(job->shader));
    }
    if (!glslang_shader_parse(job->shader, &job->input)) {
        return fail(job, "compiling", glslang_shader_get_info_log(job->shader));
    }
    log_messages(job, WEFT_LOG_DEBUG, glslang_shader_get_info_log(job->shader));
    return WEFT_OK;
}

static weft_status generate(uint32_t **words, size_t *size, struct job *job) {
    job->program = glslang_program_create();
    if (!job->program) {
        return weft_fail_memory(job->host, job->name);
    }
    glslang_program_add_shader(job->program, job->shader);
    if (!glslang_program_link(job->program, (int)job->input.messages)) {
        return fail(job, "linking", glslang_program_get_info_log(job->program));
    }
    glslang_program_SPIRV_generate(job->program, GLSLANG_STAGE_COMPUTE);
    size_t bytes = glslang_program_SPIRV_get_size(job->program) * sizeof(uint32_t);
    if (bytes == 0) {
        return fail(job, "generating SPIR-V", glslang_program_SPIRV_get_messages(job->program));
    }
    uint32_t *copy = weft_alloc(job->host, bytes);
    if (!copy) {
        return weft_fail_memory(job->host, job->name);
    }
    glslang_program_SPIRV_get(job->program, copy);
    const weft_status status = weft_cooperative_translate(&copy, &bytes, job->host);
    if (status != WEFT_OK) {
        weft_free(job->host, copy);
        return status == WEFT_COMPILE_ERROR ? fail(job, "making cooperative matrices", NULL)
                                            : status;
    }
    *words = copy;
    *size = bytes;
    return WEFT_OK;
}

static void run(void *user) {
    struct job *job = user;
    job->status = parse(job);
    job->status = job->status == WEFT_OK ? generate(job->words, job->size, job) : job->status;
}

/* An exception may have left either half-made. */
static void end(void *user) {
    struct job *job = user;
    if (job->program) {
        glslang_program_delete(job->program);
    }
    if (job->shader) {
        glslang_shader_delete(job->shader);
    }
}

/* Compiles text that has no includes left. */
static weft_status compile(uint32_t **words, size_t *size, const struct weft_glsl_source *source,
                           const char *text, bool fast, const weft_host *host) {
    struct job job = {
        .source = source,
        .name = source->name,
        .host = host,
        .fast = fast,
        .words = words,
        .size = size,
        .input = {.language = GLSLANG_SOURCE_GLSL,
                  .stage = GLSLANG_STAGE_COMPUTE,
                  .client = GLSLANG_CLIENT_VULKAN,
                  .client_version = GLSLANG_TARGET_VULKAN_1_1,
                  .target_language = GLSLANG_TARGET_SPV,
                  .target_language_version = GLSLANG_TARGET_SPV_1_3,
                  .code = text,
                  .default_version = 450,
                  .default_profile = GLSLANG_NO_PROFILE,
                  .messages = GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT,
                  .resource = glslang_default_resource()}};
    WEFT_TRY(weft_glslang_lock(host));
    const bool returned = weft_glslang_guard(run, &job);
    (void)weft_glslang_guard(end, &job);
    weft_glslang_unlock();
    return returned ? job.status : weft_fail_memory(host, job.name);
}

static weft_digest key_of(const char *text, size_t size, weft_math math) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, weft_version(), strlen(weft_version()) + 1);
    weft_sha256_add(&hash, compiler_identity, sizeof compiler_identity);
    weft_sha256_add(&hash, weft_math_name(math), strlen(weft_math_name(math)) + 1);
    weft_sha256_add(&hash, text, size);
    return weft_sha256_end(&hash);
}

static weft_status compile_or_read(uint32_t **words, size_t *size, weft_device *device,
                                   const struct weft_glsl_source *source, const char *text,
                                   size_t text_size) {
    const weft_host *host = &device->host;
    weft_digest key = key_of(text, text_size, device->math);
    uint8_t *cached = NULL;
    size_t cached_size = 0;
    WEFT_TRY(weft_cache_read(&cached, &cached_size, device->cache, CACHE_KIND, &key, host));
    if (cached) {
        /* Host memory is aligned for any type. */
        *words = (uint32_t *)(void *)cached;
        *size = cached_size;
        return WEFT_OK;
    }
    WEFT_TRY(compile(words, size, source, text, device->math == WEFT_MATH_FAST, host));
    device->stats.shaders_compiled++;
    weft_cache_write(device->cache, CACHE_KIND, &key, *words, *size, host);
    return WEFT_OK;
}

weft_status weft_glsl_compile(uint32_t **words, size_t *size, weft_device *device, const char *name,
                              const char *text) {
    return weft_glsl_compile_source(words, size, device,
                                    &(struct weft_glsl_source){.name = name, .text = text});
}

weft_status weft_glsl_compile_source(uint32_t **words, size_t *size, weft_device *device,
                                     const struct weft_glsl_source *source) {
    char *expanded = NULL;
    size_t expanded_size = 0;
    WEFT_TRY(weft_device_alive(device));
    WEFT_TRY(weft_glsl_expand(&expanded, &expanded_size, source, &device->host));
    weft_status status = compile_or_read(words, size, device, source, expanded, expanded_size);
    weft_free(&device->host, expanded);
    return status;
}
