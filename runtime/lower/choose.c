/* SPDX-License-Identifier: MIT */
#include "lower/choose.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/system/disk_cache.h"
#include "core/try.h"
#include "lower/lowering.h"

#define CACHE_KIND     "choice"
#define KEY_SIZE       (sizeof "choice/" + WEFT_DIGEST_TEXT_SIZE)
#define REPORT_MINIMUM 1024

/* ---- the report ---- */

static weft_status report(struct weft_chooser *chooser, const char *format, ...) WEFT_PRINTF(2, 3);

static weft_status report(struct weft_chooser *chooser, const char *format, ...) {
    const weft_host *host = &chooser->device->host;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const size_t size = length < 0 ? 0 : strlen(line);
    if (chooser->used + size + 1 > chooser->capacity) {
        const size_t capacity = 2 * chooser->capacity + REPORT_MINIMUM;
        char *more = weft_realloc(host, chooser->report, capacity);
        if (!more) {
            return weft_fail_memory(host, "a report of choices");
        }
        chooser->report = more;
        chooser->capacity = capacity;
    }
    memcpy(chooser->report + chooser->used, line, size + 1);
    chooser->used += size;
    return WEFT_OK;
}

static weft_status report_choice(struct weft_chooser *chooser, const struct weft_choice *choice,
                                 uint32_t chosen, const char *how) {
    WEFT_TRY(report(chooser, "%s\n", choice->work));
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct weft_candidate *candidate = &choice->candidates[i];
        char time[32] = "";
        if (candidate->ms > 0.0) {
            snprintf(time, sizeof time, "  %.3f ms", candidate->ms);
        }
        WEFT_TRY(report(chooser, "  %c %-16s bits %u%s%s%s%s%s\n", i == chosen ? '*' : ' ',
                        candidate->name, candidate->bits, time,
                        candidate->left_out ? "  left out: " : "",
                        candidate->left_out ? candidate->left_out : "", i == chosen ? "  " : "",
                        i == chosen ? how : ""));
    }
    return WEFT_OK;
}

/* ---- what can be taken ---- */

static void keep_to_group(struct weft_choice *choice, const weft_device *device) {
    for (uint32_t i = 0; i < choice->count; i++) {
        struct weft_candidate *candidate = &choice->candidates[i];
        if (!candidate->left_out && device->math != WEFT_MATH_FAST &&
            candidate->bits != choice->group) {
            candidate->left_out = "other bits than those of this shape";
        }
    }
}

static void leave_out_hopeless(struct weft_choice *choice) {
    double least = DBL_MAX;
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct weft_candidate *candidate = &choice->candidates[i];
        if (!candidate->left_out && candidate->cost < least) {
            least = candidate->cost;
        }
    }
    for (uint32_t i = 0; i < choice->count; i++) {
        struct weft_candidate *candidate = &choice->candidates[i];
        if (!candidate->left_out && candidate->cost > WEFT_HOPELESS_COST * least) {
            candidate->left_out = "expected to take more than twice the time of another";
        }
    }
}

/** How many are left, and the first of them. */
static uint32_t count_left(uint32_t *first, const struct weft_choice *choice) {
    uint32_t left = 0;
    *first = choice->count;
    for (uint32_t i = choice->count; i-- > 0;) {
        if (!choice->candidates[i].left_out) {
            left++;
            *first = i;
        }
    }
    return left;
}

static uint32_t find_forced(const struct weft_choice *choice, const char *name) {
    for (uint32_t i = 0; name && i < choice->count; i++) {
        if (strcmp(choice->candidates[i].name, name) == 0) {
            return i;
        }
    }
    return choice->count;
}

/* ---- what was measured ---- */

struct memory {
    char name[WEFT_ROW_NAME_SIZE];
};

static void destroy_memory(void *object, const weft_host *host) {
    weft_free(host, object);
}

/** A candidate of that name that can still be taken. */
static uint32_t find_left(const struct weft_choice *choice, const void *name, size_t size) {
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct weft_candidate *candidate = &choice->candidates[i];
        if (!candidate->left_out && strlen(candidate->name) == size &&
            memcmp(candidate->name, name, size) == 0) {
            return i;
        }
    }
    return choice->count;
}

static void identify_device(weft_sha256 *hash, const weft_device *device) {
    const weft_device_info *info = &device->info;
    weft_sha256_add(hash, weft_version(), strlen(weft_version()) + 1);
    weft_sha256_add(hash, info->name, strlen(info->name) + 1);
    weft_sha256_add(hash, info->driver_version, strlen(info->driver_version) + 1);
    weft_sha256_add(hash, info->uuid, sizeof info->uuid);
    weft_sha256_add(hash, &device->math, sizeof device->math);
}

static weft_digest key_of(const struct weft_choice *choice, const weft_device *device) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    identify_device(&hash, device);
    if (choice->identify) {
        choice->identify(&hash, choice->user);
    }
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct weft_candidate *candidate = &choice->candidates[i];
        if (!candidate->left_out) {
            weft_sha256_add(&hash, candidate->name, strlen(candidate->name) + 1);
        }
    }
    return weft_sha256_end(&hash);
}

static weft_status remember(weft_device *device, const char *key, const char *name) {
    struct memory *memory = weft_alloc_zero(&device->host, 1, sizeof *memory);
    if (!memory) {
        return weft_fail_memory(&device->host, "a measured choice");
    }
    snprintf(memory->name, sizeof memory->name, "%s", name);
    return weft_device_keep(device, key, memory, destroy_memory);
}

static weft_status measure_all(uint32_t *chosen, struct weft_choice *choice) {
    double best = DBL_MAX;
    if (choice->prepare) {
        WEFT_TRY(choice->prepare(choice));
    }
    for (uint32_t i = 0; i < choice->count; i++) {
        struct weft_candidate *candidate = &choice->candidates[i];
        if (candidate->left_out) {
            continue;
        }
        WEFT_TRY(choice->measure(&candidate->ms, choice->user, i));
        if (candidate->ms < best) {
            best = candidate->ms;
            *chosen = i;
        }
    }
    return WEFT_OK;
}

static weft_status recall_or_measure(uint32_t *chosen, const char **how, struct weft_choice *choice,
                                     weft_device *device) {
    const weft_digest key = key_of(choice, device);
    char digest[WEFT_DIGEST_TEXT_SIZE];
    char kept_key[KEY_SIZE];
    snprintf(kept_key, sizeof kept_key, "choice/%s", weft_digest_text(&key, digest));
    const struct memory *memory = weft_device_find_kept(device, kept_key);
    *how = "measured before, by this device";
    if (memory) {
        *chosen = find_left(choice, memory->name, strlen(memory->name));
        return WEFT_OK;
    }
    uint8_t *data = NULL;
    size_t size = 0;
    WEFT_TRY(weft_cache_read(&data, &size, device->cache, CACHE_KIND, &key, &device->host));
    *chosen = data ? find_left(choice, data, size) : choice->count;
    weft_free(&device->host, data);
    *how = "measured before, found on disk";
    if (*chosen == choice->count) {
        WEFT_TRY(measure_all(chosen, choice));
        *how = "measured now";
        const char *name = choice->candidates[*chosen].name;
        weft_cache_write(device->cache, CACHE_KIND, &key, name, strlen(name), &device->host);
    }
    return remember(device, kept_key, choice->candidates[*chosen].name);
}

/** The one that is expected to take the least time, where none can be measured. */
static uint32_t find_cheapest(const struct weft_choice *choice) {
    uint32_t best = choice->count;
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct weft_candidate *candidate = &choice->candidates[i];
        if (!candidate->left_out &&
            (best == choice->count || candidate->cost < choice->candidates[best].cost)) {
            best = i;
        }
    }
    return best;
}

weft_status weft_choose(uint32_t *chosen, struct weft_choice *choice,
                        struct weft_chooser *chooser) {
    const char *how = "named by the caller";
    *chosen = find_forced(choice, chooser->forced);
    if (*chosen < choice->count) {
        if (choice->candidates[*chosen].left_out) {
            *chosen = choice->count;
        }
    } else {
        keep_to_group(choice, chooser->device);
        leave_out_hopeless(choice);
        how = "the only one";
        const uint32_t left = count_left(chosen, choice);
        if (left > 1 && chooser->device->compile_only) {
            *chosen = find_cheapest(choice);
            how = "expected to be the fastest: nothing runs here that could be timed";
        } else if (left > 1) {
            WEFT_TRY(recall_or_measure(chosen, &how, choice, chooser->device));
        }
    }
    return choice->count > 1 ? report_choice(chooser, choice, *chosen, how) : WEFT_OK;
}
