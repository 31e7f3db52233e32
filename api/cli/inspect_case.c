/* SPDX-License-Identifier: MIT */
#include "inspect_case.h"

#include <string.h>

#include "core/try.h"
#include "verify/conformance.h"

struct weft_cli_case {
    const weft_host *host;
    weft_case made;
};

/* Null when there is none. */
static const weft_case_family *find(uint32_t *index, const char *name) {
    char text[WEFT_CASE_NAME_SIZE];
    const weft_case_family *family = NULL;
    for (uint32_t i = 0; (family = weft_case_family_at(i)); i++) {
        for (*index = 0; *index < family->count; (*index)++) {
            if (strcmp(weft_case_name(text, family, *index), name) == 0) {
                return family;
            }
        }
    }
    return NULL;
}

weft_status weft_cli_case_make(weft_cli_case **out, const char *name, const weft_host *host) {
    uint32_t index = 0;
    const weft_case_family *family = find(&index, name);
    if (!family) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "weft verify has no case '%s'; with --json it prints all their names",
                         name);
    }
    weft_cli_case *of = weft_alloc_zero(host, 1, sizeof *of);
    if (!of) {
        return weft_fail_memory(host, "a case");
    }
    of->host = host;
    weft_status status = weft_case_create(&of->made, family, index, host);
    status = status ? status : of->made.ref.status;
    if (status != WEFT_OK) {
        weft_cli_case_free(&of);
        return status;
    }
    *out = of;
    return WEFT_OK;
}

weft_status weft_cli_case_compile(weft_plan **plan, const weft_cli_case *of, weft_device *device) {
    return weft_plan_compile(plan, device, of->made.graph,
                             weft_plan_params(.implementation = of->made.implementation));
}

void weft_cli_case_free(weft_cli_case **of) {
    if (*of) {
        const weft_host *host = (*of)->host;
        weft_case_destroy(&(*of)->made);
        weft_free(host, *of);
        *of = NULL;
    }
}
