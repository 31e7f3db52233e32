/* SPDX-License-Identifier: MIT */
#include "device/slow.h"

#include <stdio.h>
#include <string.h>

#include "core/harmless.h"
#include "core/host.h"
#include "native/interpreted.h"

/* Why the processor device has no compiler, and the way out; empty where it may have one. */
static const char *explain(char *text, size_t size) {
    const char *fault = weft_native_compiler_fault(), *remedy = weft_native_compiler_remedy();
    /* There may be as many reasons as libraries, and the way out has to fit behind them. */
    char shown[240];
    text[0] = '\0';
    if (fault && remedy) {
        weft_harmless(shown, sizeof shown, fault, strlen(fault), false);
        (void)snprintf(text, size, ": %s; %s, or choose another device", shown, remedy);
    }
    return text;
}

void weft_slow_write(weft_device_info *info, bool interprets) {
    char why[sizeof info->slow - 100]; /* so that what stands before it fits, too */
    info->interpreted = interprets;
    if (interprets) {
        (void)snprintf(info->slow, sizeof info->slow,
                       "its kernels are interpreted, " WEFT_INTERPRETED_SLOWER "%s",
                       explain(why, sizeof why));
    } else if (info->type == WEFT_DEVICE_SOFTWARE) {
        const char *reason = explain(why, sizeof why);
        (void)snprintf(
            info->slow, sizeof info->slow,
            "its driver computes on the processor, slower than Weft's device \"processor\"%s%s",
            reason[0] != '\0' ? ", which has no compiler" : "", reason);
    }
}

void weft_slow_warn(const weft_device_info *info, bool stands_in, const weft_host *host) {
    if (info->slow[0] != '\0' && (info->interpreted || stands_in)) {
        weft_log(host, WEFT_LOG_WARNING, "%s (%s) is slow: %s", info->name, info->driver,
                 info->slow);
    }
}
