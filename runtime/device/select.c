/* SPDX-License-Identifier: MIT */
/* Choosing a device by index, by a part of its name, or by kind. */
#include <stdio.h>
#include <string.h>

#include "core/system/library.h"
#include "device/identity.h"
#include "device/physical.h"
#include "device/software.h"
#include "opencl/devices.h"
#include "opencl/opencl.h"

/* ASCII only, so that the process's locale does not matter. */
static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(const char *text, const char *part) {
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (part[i] != '\0' && lower(text[i]) == lower(part[i])) {
            i++;
        }
        if (part[i] == '\0') {
            return true;
        }
    }
    return false;
}

static bool is_equal(const char *a, const char *b) {
    return strlen(a) == strlen(b) && contains(a, b);
}

/* True if text is a number. *value saturates: that is out of range for any list. */
static bool is_number(const char *text, uint32_t *value) {
    uint32_t number = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9') {
            return false;
        }
        number = number > (UINT32_MAX - 9) / 10 ? UINT32_MAX : number * 10 + (uint32_t)(*c - '0');
    }
    *value = number;
    return *text != '\0';
}

/* "0: name (driver), 1: …", with what is wrong with those that cannot be used; cut where it does
 * not fit. */
static const char *describe(const struct weft_physical *list, uint32_t count, char *text,
                            size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count && used < size; i++) {
        const weft_device_info *info = &list[i].info;
        int written = snprintf(text + used, size - used, "%s%u: %s (%s)%s%s", i == 0 ? "" : ", ", i,
                               info->name, info->driver, info->usable ? "" : " which ",
                               info->usable ? "" : info->reason);
        used += written < 0 ? 0 : (size_t)written;
    }
    return text;
}

/* A name that begins so is of a device of OpenCL's; the rest may be empty. */
static const char opencl[] = "opencl:";

static bool is_opencl(const weft_device_info *info) {
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a list that is not empty is there */
    return strcmp(info->driver, WEFT_OPENCL_DRIVER_NAME) == 0;
}

/* The part behind "opencl:", or null. */
static const char *behind_opencl(const char *part) {
    size_t i = 0;
    while (opencl[i] != '\0' && lower(part[i]) == opencl[i]) {
        i++;
    }
    return opencl[i] == '\0' ? part + i : NULL;
}

static bool matches(const struct weft_physical *physical, const char *part) {
    const weft_device_info *info = &physical->info;
    const struct weft_identity identity = weft_identity_parse(part);
    if (identity.kind != WEFT_IDENTITY_NONE) {
        return identity.is_valid && weft_identity_is(&identity, info);
    }
    const char *rest = behind_opencl(part);
    if (rest) { /* its version begins with the platform's name */
        return is_opencl(info) &&
               (contains(info->name, rest) || contains(info->driver_version, rest));
    }
    return contains(info->name, part) || contains(info->driver, part);
}

static bool serves(const struct weft_physical *physical, bool compile_only) {
    return compile_only ? physical->info.compiles : physical->info.usable;
}

/* The less, the sooner it is taken: one that serves, then a first choice, then by the order of weft_device_type. */
static uint32_t rank(const struct weft_physical *physical, bool compile_only) {
    return (serves(physical, compile_only) ? 0u : 64u) + (physical->info.by_name_only ? 32u : 0u) +
           (uint32_t)physical->info.type;
}

static const struct weft_physical *best(const struct weft_physical *list, uint32_t count,
                                        const char *part, bool compile_only) {
    const struct weft_physical *found = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_physical *candidate = &list[i];
        const bool fits = part ? matches(candidate, part) : !candidate->info.by_name_only;
        if (fits && (!found || rank(candidate, compile_only) < rank(found, compile_only))) {
            found = candidate;
        }
    }
    return found;
}

bool weft_physical_needs_more(const struct weft_physical *list, uint32_t count,
                              const char *select) {
    uint32_t index = 0;
    if (select && is_number(select, &index)) {
        return index >= count;
    }
    if (select && select[0] != '\0') {
        return behind_opencl(select) || !best(list, count, select, false);
    }
    const struct weft_physical *taken = best(list, count, NULL, false);
    return !taken || !taken->info.usable ||
           (taken->info.type >= WEFT_DEVICE_PROCESSOR && weft_software_may_have_gpu());
}

bool weft_physical_stands_in(const struct weft_physical *list, uint32_t count, const char *select) {
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        found = found || list[i].native || list[i].interprets;
    }
    return found && (!select || select[0] == '\0');
}

/* WEFT_INDEX_ALONE as a number. */
static const char alone_text[] = "4294967295";

bool weft_physical_is_own(const char *select, const weft_host *host) {
    for (uint32_t i = 0; select && i < WEFT_SOFTWARE_COUNT; i++) {
        const struct weft_software *software = &weft_software[i];
        if (software->alone &&
            (is_equal(select, software->alone) || is_equal(select, alone_text)) &&
            software->count(host) > 0) {
            return true;
        }
    }
    return false;
}

weft_status weft_physical_expect(const struct weft_physical *list, uint32_t count,
                                 const char *select, const weft_host *host) {
    char reason[WEFT_CL_REASON_SIZE];
    bool found = !select || !behind_opencl(select);
    for (uint32_t i = 0; i < count; i++) {
        found = found || is_opencl(&list[i].info);
    }
    if (found) {
        return WEFT_OK;
    }
    weft_cl_absence(reason);
    return weft_fail(host, WEFT_NOT_FOUND, "no device matches \"%s\": %s", select, reason);
}

weft_status weft_physical_select(const struct weft_physical **chosen,
                                 const struct weft_physical *list, uint32_t count,
                                 const char *select, bool compile_only, const weft_host *host) {
    char there[640];
    describe(list, count, there, sizeof there);
    if (count == 0) {
        return weft_fail(host, WEFT_NO_DEVICE, "no Vulkan driver offers a device");
    }
    const bool any = !select || select[0] == '\0';
    uint32_t index = 0;
    const struct weft_physical *found = NULL;
    if (!any) {
        const struct weft_identity identity = weft_identity_parse(select);
        if (identity.kind != WEFT_IDENTITY_NONE && !identity.is_valid) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "\"%s\" names no device: expected uuid: and 32 hexadecimal digits, "
                             "luid: and 16, or pci: and a place such as 0000:01:00.0",
                             select);
        }
    }
    if (!any && is_equal(select, alone_text)) {
        found = count > 0 && list[0].info.index == WEFT_INDEX_ALONE ? &list[0] : NULL;
    } else if (!any && is_number(select, &index)) {
        found = index < count ? &list[index] : NULL;
    } else {
        found = best(list, count, any ? NULL : select, compile_only);
    }
    if (!found && any) {
        return weft_fail(host, WEFT_NO_DEVICE, "no device but by name; there is %s", there);
    }
    if (!found) {
        const char *refusal = weft_library_refusal();
        return weft_fail(host, WEFT_NOT_FOUND, "no device matches \"%s\"; there is %s%s%s", select,
                         there, refusal ? "; " : "", refusal ? refusal : "");
    }
    const bool good = serves(found, compile_only);
    if (!good && any) {
        return weft_fail(host, WEFT_NO_DEVICE, "no usable device; there is %s", there);
    }
    if (!good) {
        return weft_fail(host, WEFT_UNSUPPORTED, "device %u, %s, cannot be used: it %s",
                         found->info.index, found->info.name, found->info.reason);
    }
    *chosen = found;
    return WEFT_OK;
}
