/* SPDX-License-Identifier: MIT */
#include "verify/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/inspect.h>

#include "core/try.h"

#define LARGEST_RADIX 13

/* ---- names ---- */

/* Appends "2,5" for 1000, "large" for a prime above the radices, and "1" for 1. */
static size_t put_factors(char *text, size_t size, uint32_t length) {
    size_t at = 0;
    uint32_t rest = length;
    for (uint32_t factor = 2; factor <= LARGEST_RADIX && at < size; factor++) {
        if (rest % factor == 0) {
            at += (size_t)snprintf(text + at, size - at, "%s%u", at > 0 ? "," : "", factor);
        }
        while (rest % factor == 0) {
            rest /= factor;
        }
    }
    if ((rest > 1 || at == 0) && at < size) {
        at += (size_t)snprintf(text + at, size - at, "%s%s", at > 0 ? "," : "",
                               rest > 1 ? "large" : "1");
    }
    return at;
}

/* "vkfft/r2c 100x64 batch 3" becomes "vkfft/r2c 2,5x2". */
static void name_transform(char text[WEFT_CASE_KERNEL_SIZE], const char *name) {
    size_t at = strcspn(name, " ");
    memcpy(text, name, at);
    text[at] = '\0';
    const char *end = strstr(name, " batch");
    for (const char *digits = name + at; digits < end; digits += strcspn(digits, "x ")) {
        text[at++] = *digits++;
        at += put_factors(text + at, WEFT_CASE_KERNEL_SIZE - at, (uint32_t)atoi(digits));
    }
}

static void name_kernel(weft_case_kernel *kernel, const char *name, const weft_kernel_info *info) {
    kernel->made_for_one = strncmp(name, "vkfft/", 6) == 0;
    if (kernel->made_for_one) {
        name_transform(kernel->name, name);
        return;
    }
    const size_t size = sizeof kernel->name;
    size_t at = (size_t)snprintf(kernel->name, size, "%s", name);
    for (uint32_t i = 0; i < info->specialization_count && at < size; i++) {
        at += (size_t)snprintf(kernel->name + at, size - at, " %u", info->specialization[i]);
    }
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

static weft_status add_kernel(weft_case_kernels *kernels, const weft_plan *plan, uint32_t index,
                              const char *name, const weft_host *host) {
    weft_kernel_info info;
    weft_case_kernel kernel = {.number = 0};
    WEFT_TRY(weft_plan_get_kernel(plan, index, &info));
    name_kernel(&kernel, name, &info);
    if (is_listed(kernels, &kernel)) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_plan_get_module(plan, index, WEFT_MODULE_PORTABLE, NULL, &kernel.bytes));
    if (!weft_grow(host, &kernels->kernels, kernels->count, &kernels->capacity,
                   sizeof *kernels->kernels)) {
        return weft_fail_memory(host, "a list of kernels");
    }
    kernels->kernels[kernels->count++] = kernel;
    return WEFT_OK;
}

static weft_status add_plan(weft_case_kernels *kernels, const weft_plan *plan,
                            const weft_host *host) {
    weft_dispatch_info dispatch;
    for (uint32_t i = 0; weft_plan_get_dispatch(plan, i, &dispatch) == WEFT_OK; i++) {
        WEFT_TRY(add_kernel(kernels, plan, i, dispatch.kernel, host));
        kernels->groups += (double)dispatch.groups[0] * dispatch.groups[1] * dispatch.groups[2];
        kernels->flops += dispatch.flops;
    }
    return WEFT_OK;
}

weft_status weft_case_list_kernels(weft_case_kernels *kernels, const weft_case *c,
                                   weft_device *device) {
    weft_status status = WEFT_OK;
    for (int unfused = 0; unfused <= (int)c->check_fusion && status == WEFT_OK; unfused++) {
        weft_plan *plan = NULL;
        const weft_plan_params *params =
            weft_plan_params(.no_fusion = unfused, .implementation = c->implementation);
        if (c->ref.status == WEFT_OK &&
            weft_plan_compile(&plan, device, c->graph, params) == WEFT_OK) {
            status = add_plan(kernels, plan, &c->ref.host);
        }
        weft_plan_destroy(&plan);
    }
    weft_device_trim(device);
    return status;
}
