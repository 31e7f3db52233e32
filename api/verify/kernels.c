/* SPDX-License-Identifier: MIT */
#include "verify/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/inspect.h>

#include "core/try.h"

#define LARGEST_RADIX 13

/* ---- names ---- */

/* Writes prime factor `index` of a length, in ascending order: "2" and "5" of 1000, "large" for any above the radices, "1" of 1. */
static bool put_factor(char *text, size_t size, uint32_t length, uint32_t index) {
    uint32_t rest = length;
    for (uint32_t factor = 2; factor <= LARGEST_RADIX; factor++) {
        if (rest % factor == 0 && index-- == 0) {
            snprintf(text, size, "%u", factor);
            return true;
        }
        while (rest % factor == 0) {
            rest /= factor;
        }
    }
    const bool is_last = index == 0 && (rest > 1 || length == 1);
    if (is_last) {
        snprintf(text, size, length > 1 ? "large" : "1");
    }
    return is_last;
}

/* A dispatch among those of the same name that follow one another, which for VkFFT's are one transform. */
typedef struct place {
    const char *name;
    uint32_t position, count;
    bool once; /* as weft_case_list_kernels */
} place;

/* The axes of "vkfft/r2c 100x64 batch 3", as names of VkFFT's programs have them: columns, then rows. */
typedef struct transform {
    size_t kind; /* characters of "vkfft/r2c" */
    uint32_t length[2];
    bool transformed[2]; /* a length of 1 or followed by "-" is not */
} transform;

static transform read_transform(const char *name) {
    transform what = {.kind = strcspn(name, " ")};
    const char *at = name + what.kind;
    for (int axis = 0; axis < 2 && *at != '\0'; axis++) {
        char *end = NULL;
        what.length[axis] = (uint32_t)strtoul(at + 1, &end, 10);
        what.transformed[axis] = *end != '-' && what.length[axis] > 1;
        at = end + (*end == '-');
    }
    return what;
}

/*
 * Of "vkfft/r2c 100x64 batch 3" the first dispatch transforms the rows and is "vkfft/r2c rows 2", the second "vkfft/r2c
 * columns 2" and "vkfft/r2c columns 5"; inverses go the other way. Where there are not as many dispatches as axes VkFFT has cut
 * the longer one into several, and all get its factors: "vkfft/r2c in 3 large".
 */
static bool name_transform(char text[WEFT_CASE_KERNEL_SIZE], const place *where, uint32_t index) {
    const transform what = read_transform(where->name);
    const uint32_t axes = (uint32_t)what.transformed[0] + what.transformed[1];
    const bool backward =
        strncmp(where->name, "vkfft/inverse", 13) == 0 || strncmp(where->name, "vkfft/c2r", 9) == 0;
    const size_t size = WEFT_CASE_KERNEL_SIZE;
    size_t at = (size_t)snprintf(text, size, "%.*s ", (int)what.kind, where->name);
    bool columns = what.length[0] > what.length[1];
    if (where->count == axes) {
        columns = axes == 2 ? (where->position == 1) != backward : what.transformed[0];
        at += (size_t)snprintf(text + at, size - at, columns ? "columns " : "rows ");
    } else {
        at += (size_t)snprintf(text + at, size - at, "in %u ", where->count);
    }
    return put_factor(text + at, size - at, what.length[columns ? 0 : 1], index);
}

/* Name `index` of a dispatch's kernel: "matmul/tiled 2:1" where constant 2 of matmul/tiled has the value 1. */
static bool name_kernel(weft_case_kernel *kernel, const place *where, const weft_kernel_info *info,
                        uint32_t index) {
    kernel->made_for_one = strncmp(where->name, "vkfft/", 6) == 0;
    if (where->once) {
        snprintf(kernel->name, sizeof kernel->name, "%.*s", (int)strcspn(where->name, " "),
                 where->name);
        return index == 0;
    }
    if (kernel->made_for_one) {
        return name_transform(kernel->name, where, index);
    }
    if (index < info->specialization_count) {
        snprintf(kernel->name, sizeof kernel->name, "%s %u:%u", where->name, index,
                 info->specialization[index]);
        return true;
    }
    snprintf(kernel->name, sizeof kernel->name, "%s", where->name);
    return index == 0;
}

/* ---- plans ---- */

static bool is_listed(const weft_case_kernels *kernels, const weft_case_kernel *kernel) {
    for (uint32_t i = 0; !kernel->made_for_one && i < kernels->count; i++) {
        if (strcmp(kernels->kernels[i].name, kernel->name) == 0) {
            return true;
        }
    }
    return false;
}

static weft_status add_kernel(weft_case_kernels *kernels, const weft_case_kernel *kernel,
                              const weft_host *host) {
    if (is_listed(kernels, kernel)) {
        return WEFT_OK;
    }
    if (!weft_grow(host, &kernels->kernels, kernels->count, &kernels->capacity,
                   sizeof *kernels->kernels)) {
        return weft_fail_memory(host, "a list of kernels");
    }
    kernels->kernels[kernels->count++] = *kernel;
    return WEFT_OK;
}

/* The kernel of a dispatch, by all of its names. */
static weft_status add_dispatch(weft_case_kernels *kernels, const weft_plan *plan, uint32_t index,
                                const place *where, const weft_host *host) {
    weft_kernel_info info;
    weft_case_kernel kernel = {.number = 0};
    WEFT_TRY(weft_plan_get_kernel(plan, index, &info));
    WEFT_TRY(weft_plan_get_module(plan, index, WEFT_MODULE_PORTABLE, NULL, &kernel.bytes));
    for (uint32_t i = 0; name_kernel(&kernel, where, &info, i); i++) {
        WEFT_TRY(add_kernel(kernels, &kernel, host));
        kernel.bytes = kernel.made_for_one ? 0 : kernel.bytes; /* compiled once */
    }
    return WEFT_OK;
}

/* True if dispatch `index` has that name; false behind the last. */
static bool has_name(const weft_plan *plan, uint32_t index, const char *name) {
    weft_dispatch_info dispatch;
    return weft_plan_get_dispatch(plan, index, &dispatch) == WEFT_OK &&
           strcmp(dispatch.kernel, name) == 0;
}

static weft_status add_plan(weft_case_kernels *kernels, const weft_plan *plan, bool once,
                            const weft_host *host) {
    weft_dispatch_info dispatch;
    place where = {.name = "", .once = once};
    for (uint32_t i = 0; weft_plan_get_dispatch(plan, i, &dispatch) == WEFT_OK; i++) {
        where.position++;
        if (where.position >= where.count) {
            where = (place){.name = dispatch.kernel, .once = once};
            while (has_name(plan, i + where.count, dispatch.kernel)) {
                where.count++;
            }
        }
        WEFT_TRY(add_dispatch(kernels, plan, i, &where, host));
        kernels->groups += (double)dispatch.groups[0] * dispatch.groups[1] * dispatch.groups[2];
        kernels->flops += dispatch.flops;
    }
    return WEFT_OK;
}

weft_status weft_case_list_kernels(weft_case_kernels *kernels, const weft_case *c,
                                   weft_device *device, bool once) {
    weft_status status = WEFT_OK;
    for (int unfused = 0; unfused <= (int)c->check_fusion && status == WEFT_OK; unfused++) {
        weft_plan *plan = NULL;
        const weft_plan_params *params =
            weft_plan_params(.no_fusion = unfused, .implementation = c->implementation);
        if (c->ref.status == WEFT_OK &&
            weft_plan_compile(&plan, device, c->graph, params) == WEFT_OK) {
            status = add_plan(kernels, plan, once, &c->ref.host);
        }
        weft_plan_destroy(&plan);
    }
    weft_device_trim(device);
    return status;
}
