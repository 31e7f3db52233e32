/* SPDX-License-Identifier: MIT */
#include "core/given.h"

#include <string.h>

#include "core/host.h"

weft_status weft_check_given(const weft_host *host, const char *function, const char *names,
                             const void *const *pointers, size_t count) {
    const char *name = names;
    for (size_t i = 0; i < count; i++) {
        const size_t size = strcspn(name, ",");
        if (!pointers[i]) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: %.*s is null", function, (int)size,
                             name);
        }
        name += size;
        name += strspn(name, ", ");
    }
    return WEFT_OK;
}
