/* SPDX-License-Identifier: MIT */
/* Running the reproducibility probe on a device, and remembering the verdict for its driver. */
#include "shader/probe.h"

#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/math/float_modes.h"
#include "core/rules.h"
#include "core/system/disk_cache.h"
#include "core/try.h"
#include "core/vendor.h"
#include "native/kernel.h"
#include "shader/embedded.h"
#include "shader/probe_ask.h"
#include "shader/probe_cases.h"
#include "shader/probe_flow.h"
#include "shader/probe_fma.h"
#include "softvk/softvk.h"

#define SHADER      "probe/arithmetic"
#define CACHE_KIND  "probe"
#define LOCAL_SIZE  64u
#define REASON_SIZE 256
#define VERDICT_PASS \
    'P' /* first byte of a cached verdict; followed by NO_NEEDS + needs and NO_NEEDS + weft_fma */
#define NO_NEEDS       '0'
#define VERDICT_REFUSE 'R' /* followed by the reason */

/* All that one run of the probe needs. */
struct probe {
    struct weft_probe_input inputs[WEFT_PROBE_CASES];
    struct weft_probe_result results[WEFT_PROBE_CASES];
    uint32_t verdict;         /* of weft_probe_verdict, in the end: what modules need, or WRONG */
    char reason[REASON_SIZE]; /* unless the device passed: why */
};

static void add_text(weft_sha256 *hash, const char *text) {
    weft_sha256_add(hash, text, strlen(text) + 1);
}

/* Everything the verdict depends on: driver, hardware, shader, questions, and the version whose
 * SPIR-V passes ran. */
static weft_digest verdict_key(const weft_device *device, const struct probe *probe) {
    const weft_device_info *info = &device->info;
    /* Threads of the driver treat subnormals as whoever made its instance does. */
    const uint32_t numbers[] = {info->vendor_id,     info->device_id,      info->subgroup_size,
                                device->float_modes, device->owns_handles, device->math};
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    add_text(&hash, weft_version());
    weft_sha256_add(&hash, info->uuid, sizeof info->uuid);
    add_text(&hash, info->name);
    add_text(&hash, info->driver);
    add_text(&hash, info->driver_version);
    weft_sha256_add(&hash, numbers, sizeof numbers);
    const struct weft_shader *shader = weft_shader_find(SHADER);
    weft_sha256_add(&hash, shader->reproducible.words, shader->reproducible.size);
    weft_probe_flow_identify(&hash);
    weft_probe_fma_identify(&hash, device);
    weft_sha256_add(&hash, probe->inputs, sizeof probe->inputs);
    return weft_sha256_end(&hash);
}

/* True if a byte of a cached verdict says how the device computes an Fma: in fused math, and nothing in another. */
static bool is_fma(const weft_device *device, uint8_t byte) {
    return device->math == WEFT_MATH_FUSED
               ? byte > NO_NEEDS + WEFT_FMA_NONE && byte <= NO_NEEDS + WEFT_FMA_INTEGERS
               : byte == NO_NEEDS + WEFT_FMA_NONE;
}

static weft_status read_verdict(bool *found, struct probe *probe, weft_device *device,
                                const weft_digest *key) {
    uint8_t *data = NULL;
    size_t size = 0;
    *found = false;
    weft_status status =
        weft_cache_read(&data, &size, device->cache, CACHE_KIND, key, &device->host);
    if (status != WEFT_OK || !data) {
        return status;
    }
    if (size == 3 && data[0] == VERDICT_PASS && data[1] >= NO_NEEDS &&
        data[1] < NO_NEEDS + WEFT_PROBE_WRONG && is_fma(device, data[2])) {
        probe->verdict = (uint32_t)data[1] - NO_NEEDS;
        device->info.fma = (weft_fma)(data[2] - NO_NEEDS);
        *found = true;
    } else if (size > 1 && size <= REASON_SIZE && data[0] == VERDICT_REFUSE) {
        memcpy(probe->reason, data + 1, size - 1);
        probe->reason[size - 1] = '\0';
        probe->verdict = WEFT_PROBE_WRONG;
        *found = true;
    }
    weft_free(&device->host, data);
    return WEFT_OK;
}

static void write_verdict(const struct probe *probe, const weft_device *device,
                          const weft_digest *key) {
    char verdict[REASON_SIZE + 1] = {VERDICT_PASS, (char)(NO_NEEDS + (int)probe->verdict),
                                     (char)(NO_NEEDS + (int)device->info.fma)};
    size_t length = 2;
    if (probe->verdict == WEFT_PROBE_WRONG) {
        verdict[0] = VERDICT_REFUSE;
        length = strlen(probe->reason);
        memcpy(verdict + 1, probe->reason, length);
    }
    weft_cache_write(device->cache, CACHE_KIND, key, verdict, 1 + length, &device->host);
}

static weft_status ask_device(struct probe *probe, weft_device *device) {
    const struct weft_probe_question question = {
        .shader = SHADER,
        .inputs = probe->inputs[0].word,
        .input_count = WEFT_PROBE_CASES * (size_t)WEFT_PROBE_INPUTS,
        .results = probe->results[0].word,
        .result_count = WEFT_PROBE_CASES * (size_t)WEFT_PROBE_RESULTS,
        .push = {WEFT_PROBE_CASES},
        .push_count = 1,
        .groups = (WEFT_PROBE_CASES + LOCAL_SIZE - 1) / LOCAL_SIZE};
    WEFT_TRY(weft_probe_ask(&question, device));
    probe->verdict =
        weft_probe_judge(probe->reason, sizeof probe->reason, probe->inputs, probe->results);
    return WEFT_OK;
}

static void set_needs(weft_device *device, uint32_t needs) {
    device->keeps_subnormals = (needs & WEFT_PROBE_KEEPS_SUBNORMALS) != 0;
    device->keeps_small_products = (needs & WEFT_PROBE_KEEPS_SMALL_PRODUCTS) != 0;
    device->loses_small_products =
        (needs & WEFT_PROBE_LOSES_SMALL_PRODUCTS) != 0 || !weft_rule_holds("light-flush");
    device->folds_zeros = (needs & WEFT_PROBE_FOLDS_ZEROS) != 0;
    device->careful = (needs & WEFT_PROBE_MISCOMPILES) != 0;
    device->most_turns = (needs & WEFT_PROBE_ENDS_LOOPS) != 0 ? WEFT_PROBE_SURE_TURNS : 0;
    if (device->in_process) {
        weft_soft_set_careful(device->vk.handle, device->careful);
    }
}

static bool can_be_careful(const weft_device *device) {
    return device->in_process && weft_soft_can_be_careful(device->vk.handle);
}

/* What Weft itself compiles or interprets ends no loop. */
static weft_status ask_turns(struct probe *probe, weft_device *device) {
    probe->verdict = WEFT_PROBE_RIGHT;
    return device->info.type == WEFT_DEVICE_PROCESSOR
               ? WEFT_OK
               : weft_probe_turns(&probe->verdict, probe->reason, sizeof probe->reason, device);
}

/* A device that keeps subnormals or folds zeros is asked again, with modules that see to these
 * themselves, until it is right or nothing new turns up. */
static weft_status find_needs(struct probe *probe, weft_device *device, uint32_t needs) {
    set_needs(device, needs);
    WEFT_TRY(weft_probe_flow(&probe->verdict, probe->reason, sizeof probe->reason, device));
    if (probe->verdict == WEFT_PROBE_RIGHT) {
        WEFT_TRY(ask_turns(probe, device));
    }
    if (probe->verdict == WEFT_PROBE_ENDS_LOOPS) {
        needs |= probe->verdict;
        probe->verdict = WEFT_PROBE_RIGHT;
        set_needs(device, needs);
    }
    if (device->math == WEFT_MATH_FAST || probe->verdict == WEFT_PROBE_WRONG) {
        probe->verdict = probe->verdict == WEFT_PROBE_RIGHT ? needs : WEFT_PROBE_WRONG;
        return WEFT_OK;
    }
    weft_status status = ask_device(probe, device);
    while (status == WEFT_OK && (probe->verdict & WEFT_PROBE_WRONG) == 0 &&
           weft_probe_needs(needs, probe->verdict) != needs) {
        weft_log(&device->host, WEFT_LOG_DEBUG, "%s needs modules of its own: %s",
                 device->info.name, probe->reason);
        needs = weft_probe_needs(needs, probe->verdict);
        set_needs(device, needs);
        status = ask_device(probe, device);
    }
    if (status == WEFT_OK && probe->verdict == WEFT_PROBE_RIGHT &&
        device->math == WEFT_MATH_FUSED) {
        status = weft_probe_fma(&probe->verdict, &needs, probe->reason, sizeof probe->reason,
                                device, set_needs);
    }
    probe->verdict = probe->verdict == WEFT_PROBE_RIGHT ? needs : WEFT_PROBE_WRONG;
    return status;
}

/* LLVM is known to fold zeros: asking without modules that hide them would compile a long kernel to find that out. */
static uint32_t known_needs(const weft_device *device) {
    const bool folds = device->info.type == WEFT_DEVICE_PROCESSOR && weft_native_can_compile();
    return folds && device->math != WEFT_MATH_FAST ? WEFT_PROBE_FOLDS_ZEROS : WEFT_PROBE_RIGHT;
}

static weft_status find_out(struct probe *probe, weft_device *device) {
    const weft_status status = find_needs(probe, device, known_needs(device));
    if (status != WEFT_OK || probe->verdict != WEFT_PROBE_WRONG || !can_be_careful(device)) {
        return status;
    }
    weft_log(&device->host, WEFT_LOG_DEBUG, "%s is asked to compile without optimization: %s",
             device->info.name, probe->reason);
    return find_needs(probe, device, WEFT_PROBE_MISCOMPILES);
}

/* Device-specific modules slow compilation; log which ones a device needs. */
static void log_needs(const weft_device *device) {
    if (device->keeps_subnormals || device->keeps_small_products) {
        weft_log(&device->host, WEFT_LOG_INFO,
                 "%s keeps %s%s: its shaders flush them by instructions", device->info.name,
                 device->keeps_subnormals ? "subnormals" : "small products",
                 device->loses_small_products ? " and loses products that round to none" : "");
    }
    if (device->folds_zeros) {
        weft_log(&device->host, WEFT_LOG_INFO,
                 "%s folds x * 0 and x + 0: its shaders hide zero constants", device->info.name);
    }
    if (device->info.fma == WEFT_FMA_FLOAT64 || device->info.fma == WEFT_FMA_INTEGERS) {
        weft_log(&device->host, WEFT_LOG_INFO,
                 "%s rounds an fma twice: its shaders compute it exactly by %s", device->info.name,
                 device->info.fma == WEFT_FMA_FLOAT64 ? "64-bit floats" : "integers");
    }
    if (device->most_turns > 0) {
        weft_log(&device->host, WEFT_LOG_INFO,
                 "%s ends loops after %u turns: recurrences are cut, longer sums refused",
                 device->info.name, device->most_turns);
    }
    if (device->careful) {
        weft_log(&device->host, WEFT_LOG_INFO,
                 "%s miscompiles: its shaders are compiled without optimization",
                 device->info.name);
    }
}

/* Threads of an OpenCL driver for processors treat subnormals as whoever has used that first in this process, which may be the program. */
static bool is_kept(const weft_device *device) {
    return !device->in_process || device->info.type != WEFT_DEVICE_SOFTWARE;
}

static weft_status refuse(const struct probe *probe, const weft_device *device) {
    return weft_fail(&device->host, WEFT_UNSUPPORTED, "%s cannot be used with %s math: %s",
                     device->info.name, weft_math_name(device->math), probe->reason);
}

static weft_status judge(struct probe *probe, weft_device *device) {
    bool known = false;
    weft_probe_make_inputs(probe->inputs);
    const weft_digest key = verdict_key(device, probe);
    weft_status status = is_kept(device) ? read_verdict(&known, probe, device, &key) : WEFT_OK;
    if (status == WEFT_OK && !known) {
        status = find_out(probe, device);
        if (status == WEFT_OK && is_kept(device)) {
            write_verdict(probe, device, &key);
        }
    }
    set_needs(device, probe->verdict);
    if (status == WEFT_OK && probe->verdict == WEFT_PROBE_WRONG) {
        status = refuse(probe, device);
    }
    if (status == WEFT_OK) {
        log_needs(device);
    }
    return status;
}

static weft_status with_probe(weft_device *device,
                              weft_status (*ask)(struct probe *probe, weft_device *device)) {
    struct probe *probe = weft_alloc_zero(&device->host, 1, sizeof *probe);
    if (!probe) {
        return weft_fail_memory(&device->host, "arithmetic probe");
    }
    const weft_status status = ask(probe, device);
    weft_free(&device->host, probe);
    return status;
}

/* In fast math drivers may compute as they like, but not stop. */
static weft_status judge_turns(struct probe *probe, weft_device *device) {
    WEFT_TRY(ask_turns(probe, device));
    device->most_turns = probe->verdict != WEFT_PROBE_RIGHT ? WEFT_PROBE_SURE_TURNS : 0;
    return probe->verdict == WEFT_PROBE_WRONG ? refuse(probe, device) : WEFT_OK;
}

/* What hardware that is not there would be found to need. */
static uint32_t guess_needs(const weft_device *device) {
    const bool flushes = device->on_processor || (device->float_modes & WEFT_FLOAT_FLUSH) != 0;
    return !flushes                                       ? WEFT_PROBE_KEEPS_SUBNORMALS
           : device->info.vendor_id == WEFT_VENDOR_NVIDIA ? WEFT_PROBE_KEEPS_SMALL_PRODUCTS
                                                          : WEFT_PROBE_RIGHT;
}

weft_status weft_device_probe(weft_device *device) {
    const bool fast = device->math == WEFT_MATH_FAST;
    if (fast && (device->compile_only || !can_be_careful(device))) {
        return device->compile_only || !device->on_processor ? WEFT_OK
                                                             : with_probe(device, judge_turns);
    }
    if (device->compile_only) {
        set_needs(device, guess_needs(device));
        if (device->math == WEFT_MATH_FUSED) {
            weft_probe_fma_guess(device);
        }
        return WEFT_OK;
    }
    return with_probe(device, judge);
}
